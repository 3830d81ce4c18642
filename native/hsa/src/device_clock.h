// Modelled time. With ROCM_PERF_VIRTUAL_TIMING=model, or while a tool asks for it, every dispatch,
// copy and fill takes as long as the models say, and the time stamps of its signal, hence of events,
// are theirs: the same on every run. Each host thread has a clock that what it submits and what it
// waits for move on; device work starts when it has been submitted, when what it follows is done, and
// when the device has room. The rules and costs are those of the profiler's timeline
// (virtual/rocprofv3/timeline.py, arch/data/virtual/timeline.toml).
#pragma once

#include <hsa/hsa.h>

#include <cstdint>

#include "gpu.h"

namespace device_clock {

bool modelled();

// The calling thread's clock.
uint64_t host_ns();
void host_saw(uint64_t end_ns);  // it waited for work that ended then
uint64_t host_asks();            // it asked for the time, which takes some
enum class Call : uint8_t { Launch, Marker, Copy };
uint64_t host_submits(Call call);  // the time at which the work is handed over

struct Span {
  uint64_t start, end;
};
// Device work, in the order of turns (turns.h). `device` is any address that stands for the GPU.
uint64_t ready_ns(uint64_t submitted_ns, uint64_t queue_done_ns, bool after_kernel);
Span dispatch(const void* device, uint32_t device_units, uint64_t ready_ns, uint64_t duration_ns, uint32_t units);
enum class Way : uint8_t { HostToDevice, DeviceToHost, DeviceToDevice, HostToHost, Fill };
// No spec: the host's own work.
Span transfer(const gpu::DeviceSpec* spec, const void* device, Way way, uint64_t ready_ns, uint64_t bytes);
// What the host does in a stream: a copy within its memory, or, of no bytes, a function.
uint64_t host_work_ns(uint64_t copied_bytes);
// The soonest that an event is told after another with a launch between them.
uint64_t least_after_ns(uint64_t marker_ns);
// When work that waits for another queue's may start.
uint64_t heard_ns(uint64_t own_ns, uint64_t other_done_ns);

}  // namespace device_clock

// For tools in the process: from now on modelled (1), or as the environment says (0).
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_modelled_time(int on);
extern "C" __attribute__((visibility("default"))) int hsa_rocm_perf_is_time_modelled(void);
// For libamdhip64. A graph is launched by one call, whatever the number of its nodes.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_graph_launch(int begins);
// The host's own work in a stream, done by a thread that has no clock: after it was submitted and after
// those signals. Copies of the calling thread's own move its clock on.
extern "C" __attribute__((visibility("default"))) uint64_t hsa_rocm_perf_host_work_submitted(void);
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_host_work_done(
    uint64_t submitted_ns, uint32_t count, const hsa_signal_t* waits, uint64_t copied_bytes, hsa_signal_t completion);
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_host_copied(uint64_t bytes);
// Pageable memory that goes by way of a buffer of the runtime's: what filling or reading it takes.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_staged(uint64_t bytes, int to_host);
// The caches of every device as after enough other traffic: cold.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_forget_caches(void);
