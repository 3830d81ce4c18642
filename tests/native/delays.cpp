// Preloaded into a program, it holds threads up at random where they meet: at locks, and between a packet
// and its doorbell. A result that depends on which thread is faster shows within a few seeds.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

constexpr unsigned kOneIn = 60, kMost_us = 400;

void maybe_pause() {
  static const char* seed = std::getenv("DELAYS_SEED");
  thread_local unsigned state = seed ? unsigned(std::atoi(seed)) * 2654435761u + unsigned(gettid()) * 40503u : 0;
  if (!seed || rand_r(&state) % kOneIn) return;
  const timespec time{0, long(rand_r(&state) % kMost_us) * 1000};
  nanosleep(&time, nullptr);
}

template <class Function>
Function* next(const char* name, const char* version = nullptr) {
  return reinterpret_cast<Function*>(version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name));
}

struct Signal {
  uint64_t handle;
};

}  // namespace

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* real = next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  maybe_pause();
  return real(mutex);
}
extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  static auto* real = next<int(pthread_mutex_t*)>("pthread_mutex_unlock");
  const int result = real(mutex);
  maybe_pause();
  return result;
}
// Without its version the linker gives the oldest one, which is another type's.
extern "C" int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  static auto* real = next<int(pthread_cond_t*)>("pthread_cond_broadcast", "GLIBC_2.3.2");
  maybe_pause();
  return real(condition);
}
extern "C" void hsa_signal_store_screlease(Signal signal, int64_t value) {
  static auto* real = next<void(Signal, int64_t)>("hsa_signal_store_screlease");
  maybe_pause();
  real(signal, value);
  maybe_pause();
}
