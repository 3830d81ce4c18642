#include "device_clock.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "runtime.h"
#include "signals.h"

namespace device_clock {

namespace {

// PCIe 5 x16 as programs see it, and HBM read and written at once: a copy engine's rates.
constexpr double kBusGbps = 55, kMemoryGbps = 1600, kCopyLatency_ns = 10'000;

bool by_environment() {
  static const bool value = [] {
    const char* text = std::getenv("ROCM_PERF_VIRTUAL_TIMING");
    return text && std::strcmp(text, "model") == 0;
  }();
  return value;
}

std::atomic<bool> asked{false};

std::atomic<uint64_t>& host() {
  static std::atomic<uint64_t> value{now_ns()};
  return value;
}

}  // namespace

bool modelled() { return by_environment() || asked.load(std::memory_order_relaxed); }

uint64_t host_ns() { return host().load(std::memory_order_relaxed); }

void host_saw(uint64_t end_ns) {
  uint64_t seen = host_ns();
  while (end_ns > seen && !host().compare_exchange_weak(seen, end_ns)) {}
}

uint64_t copy_ns(uint64_t bytes, bool over_the_bus) {
  return uint64_t(kCopyLatency_ns + double(bytes) / (over_the_bus ? kBusGbps : kMemoryGbps));
}

}  // namespace device_clock

extern "C" void hsa_rocm_perf_modelled_time(int on) { device_clock::asked = on != 0; }

extern "C" void hsa_rocm_perf_forget_caches(void) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return;
  for (const auto& agent : runtime->agents())
    if (agent->is_gpu()) agent->gpu->flush_caches();
}
