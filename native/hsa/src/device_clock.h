// Modelled time. With ROCM_PERF_VIRTUAL_TIMING=model, or while a tool asks for it, every dispatch
// takes as long as the model says, and the time stamps of its signal, hence of events, are the
// model's: the same on every run. The time of a queue moves by what it runs and by what it waits
// for; the host's by what it has waited for.
#pragma once

#include <cstdint>

namespace device_clock {

bool modelled();
uint64_t host_ns();              // what the host has seen the end of
void host_saw(uint64_t end_ns);  // it waited for work that ended then

// What a copy of so many bytes takes on the way its two sides have between them.
uint64_t copy_ns(uint64_t bytes, bool over_the_bus);

}  // namespace device_clock

// For tools in the process: from now on modelled (1), or as the environment says (0).
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_modelled_time(int on);
// The caches of every device as after enough other traffic: cold.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_forget_caches(void);
