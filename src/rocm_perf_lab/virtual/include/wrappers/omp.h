// OpenMP's header where the compiler comes without its runtime: one thread, the real clock.
#pragma once
#pragma clang system_header
#if defined(_OPENMP) && __has_include_next(<omp.h>)
#include_next <omp.h>
#else
#include <time.h>
#if defined(__cplusplus)
extern "C" {
#endif
typedef int omp_lock_t;
typedef int omp_nest_lock_t;
typedef enum omp_sched_t { omp_sched_static = 1, omp_sched_dynamic = 2, omp_sched_guided = 3, omp_sched_auto = 4 } omp_sched_t;
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline int omp_get_num_devices(void) { return 0; }
static inline int omp_get_team_num(void) { return 0; }
static inline int omp_get_num_teams(void) { return 1; }
static inline void omp_set_num_threads(int n) { (void)n; }
static inline void omp_set_dynamic(int n) { (void)n; }
static inline void omp_set_nested(int n) { (void)n; }
static inline void omp_set_schedule(omp_sched_t kind, int chunk) { (void)kind; (void)chunk; }
static inline void omp_init_lock(omp_lock_t* lock) { *lock = 0; }
static inline void omp_destroy_lock(omp_lock_t* lock) { (void)lock; }
static inline void omp_set_lock(omp_lock_t* lock) { *lock = 1; }
static inline void omp_unset_lock(omp_lock_t* lock) { *lock = 0; }
static inline int omp_test_lock(omp_lock_t* lock) { int was = *lock; *lock = 1; return !was; }
static inline double omp_get_wtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }
#if defined(__cplusplus)
}
#endif
#endif
