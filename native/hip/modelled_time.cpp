#include "modelled_time.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hip {

namespace {

// Null where there is nothing to say now: the profile says it, or a tool that asked for modelled time does.
const char* kind_of_time() {
  if (!hsa_rocm_perf_is_time_modelled || std::getenv("ROCM_PERF_RECORD")) return nullptr;
  const char* chosen = std::getenv("ROCM_PERF_VIRTUAL_TIMING");
  if (chosen && std::strcmp(chosen, "model") == 0)
    return "rocm-perf: times of events and of clocks in kernels are modelled, not measured; "
           "the host's own clocks show the emulation's\n";
  if ((chosen && *chosen) || time_is_modelled()) return nullptr;
  return "rocm-perf: event times are the emulation's, not a GPU's; "
         "rocm-perf run --timing model gives modelled ones\n";
}

}  // namespace

void tell_kind_of_time() {
  static std::atomic<bool> said{false};
  if (said.load(std::memory_order_relaxed)) return;
  const char* text = kind_of_time();
  if (text && !said.exchange(true)) std::fputs(text, stderr);
}

}  // namespace hip
