/* How a tool in the process has dispatches of the virtual GPU profiled. It is found by dlsym in
 * libhsa-runtime64.so.1, and the two libraries share nothing but this: C, so that each may come from
 * another compiler. Structs grow at their end; the elements of lists stay as they are. */
#ifndef ROCM_PERF_PROFILER_H
#define ROCM_PERF_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The waves a thread trace keeps: those of one compute unit of the chosen shader engines, which are
 * numbered over the whole device, XCC by XCC. */
typedef struct rocm_perf_trace_select {
  uint64_t se_mask;
  uint32_t target_cu; /* within its shader engine */
  uint32_t simd_mask;
} rocm_perf_trace_select;

/* All zero: the dispatch runs as without a profiler. */
typedef struct rocm_perf_wanted {
  uint8_t timing, counters, att;
  const char* const* only; /* of the counters, sorted by name; NULL: all */
  size_t only_count;
  rocm_perf_trace_select att_select;
  uint64_t detailed_steps; /* wave-instructions simulated in detail at most; 0: the model's own limit */
} rocm_perf_wanted;

/* One hardware instance of a counter. `instance` counts within the shader engine (SQ, TA, TD, TCP) or
 * within the XCC (TCC channels); 0 where there is one per XCC or per shader engine. */
typedef struct rocm_perf_counter {
  const char* name; /* AMD's base name, "TCC_HIT"; static storage */
  uint32_t xcc, shader_engine, instance;
  double value;
} rocm_perf_counter;

/* Fields as rocprofv3's decoder defines them: issued at time + stall, done at time + duration. */
typedef struct rocm_perf_instruction {
  uint64_t time; /* shader clocks since the dispatch began */
  uint64_t pc;
  uint32_t stall, duration;
  uint8_t category; /* 1 SMEM 2 SALU 3 VMEM 4 FLAT 5 LDS 6 VALU 7 JUMP 8 NEXT 9 IMMED 11 MESSAGE */
} rocm_perf_instruction;

typedef struct rocm_perf_state {
  uint8_t state; /* 0 empty 1 idle 2 exec 3 wait 4 stall */
  uint64_t duration;
} rocm_perf_state;

typedef struct rocm_perf_wait { /* an s_waitcnt, and the instructions it waited for */
  uint64_t pc;
  const uint64_t* waited_for;
  size_t waited_for_count;
} rocm_perf_wait;

typedef struct rocm_perf_wave {
  uint32_t shader_engine, cu, simd, slot, id; /* id: the n-th wave of its slot */
  uint64_t begin, end;
  const rocm_perf_instruction* instructions;
  size_t instruction_count;
  const rocm_perf_state* timeline;
  size_t timeline_count;
  const rocm_perf_wait* waits;
  size_t wait_count;
} rocm_perf_wave;

typedef struct rocm_perf_occupancy { /* every compute unit of a traced shader engine, in order of time */
  uint64_t time;
  uint32_t shader_engine, cu, simd, slot;
  uint8_t start;
} rocm_perf_occupancy;

typedef struct rocm_perf_dispatch {
  const void* packet; /* its hsa_kernel_dispatch_packet_t */
  const char* kernel;
} rocm_perf_dispatch;

typedef struct rocm_perf_profile {
  uint8_t ok; /* it ran to its end */
  uint64_t launched_waves, wave_instructions;
  uint64_t duration_ns, cycles; /* of the shader clock, begin to end of the dispatch */
  double clock_mhz;
  double detailed_fraction; /* of the wave-instructions, simulated in detail */
  uint32_t compute_units_used;
  const rocm_perf_counter* counters; /* by name, then instance */
  size_t counter_count;
  const rocm_perf_wave* waves; /* by shader engine, simd, slot, id */
  size_t wave_count;
  const rocm_perf_occupancy* occupancy;
  size_t occupancy_count;
  double sampling_error; /* standard error of the duration from simulating a part, as a share of it */
} rocm_perf_profile;

/* `want` is asked before each dispatch runs, on the thread that runs it; `done` hears of those it wanted
 * something of, and what it gets is valid until it returns. Both may be called from several threads. */
typedef struct rocm_perf_profiler {
  size_t size; /* sizeof(rocm_perf_profiler) */
  void (*want)(const rocm_perf_dispatch* dispatch, rocm_perf_wanted* wanted, void* user);
  void (*done)(const rocm_perf_dispatch* dispatch, const rocm_perf_profile* profile, void* user);
  void* user;
} rocm_perf_profiler;

/* NULL: none. It must outlive the dispatches. 0 where it was taken, else it is of an older kind. */
__attribute__((visibility("default"))) int hsa_rocm_perf_set_profiler(const rocm_perf_profiler* profiler);
/* Names of the counters modelled on an architecture, one per line; the length, like snprintf. */
__attribute__((visibility("default"))) int hsa_rocm_perf_counters(const char* architecture, char* text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
