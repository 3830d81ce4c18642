#include "modelled_time.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace hip {

void tell_kind_of_time() {
  static std::once_flag said;
  std::call_once(said, [] {
    const char* chosen = std::getenv("ROCM_PERF_VIRTUAL_TIMING");
    const bool recorded = std::getenv("ROCM_PERF_RECORD") != nullptr;  // the profile says it
    if (!hsa_rocm_perf_is_time_modelled || recorded) return;
    const bool model = chosen && std::strcmp(chosen, "model") == 0;
    if (model)
      std::fputs(
          "rocm-perf: times of events and of clocks in kernels are modelled, not measured; "
          "the host's own clocks show the emulation's\n",
          stderr);
    else if ((!chosen || !*chosen) && !time_is_modelled())
      std::fputs(
          "rocm-perf: event times are the emulation's, not a GPU's; "
          "rocm-perf run --timing model gives modelled ones\n",
          stderr);
  });
}

}  // namespace hip
