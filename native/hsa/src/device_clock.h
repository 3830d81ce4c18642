// Modelled time: the one clock of the virtual machine. With ROCM_PERF_VIRTUAL_TIMING=model, or while a tool
// asks for it, every HIP call takes what arch/data/virtual/timeline.toml says, and every dispatch, copy and
// fill as long as the models say. The time stamps of signals, hence of events, are the clock's, and a profiler
// writes down what it says (clock_tool.h): the same on every run. Each host thread has a clock that its calls
// and what it waits for move on; device work starts when it has been submitted, when what it follows is done,
// and when the device has room.
#pragma once

#include <hsa/hsa.h>

#include <cstdint>
#include <vector>

#include "clock_tool.h"
#include "signals.h"

struct Agent;

namespace device_clock {

bool modelled();

// The calling thread. Where time is not modelled, these do nothing.
uint64_t host_ns();
void host_saw(const Signal& signal);   // it waited for the signal, or found it set
void host_sets(Signal& signal);
uint64_t host_asks();                  // it asks for the time, which takes some
uint64_t host_submits(bool recorded);  // the time at which work is handed over; a tool that records it takes some

struct Span {
  uint64_t start, end;
};

// The time of a queue's packets, taken in order. `submitted_ns` is when the host handed them over.
class QueueTime {
 public:
  // When a dispatch may start: after what the queue did before.
  uint64_t ready_ns(uint64_t submitted_ns) const;
  Span dispatched(const Agent& on, const hsa_kernel_dispatch_packet_t& packet, uint64_t ready_ns, uint64_t duration_ns,
                  uint32_t units);
  // A packet that waited for those signals; a marker is one whose end somebody is told of.
  uint64_t passed(uint64_t submitted_ns, bool marker, const std::vector<hsa_signal_t>& waited_for);

 private:
  uint64_t now_ns_ = 0, last_marker_ns_ = 0;
  bool after_kernel_ = false;
};

enum class Way : uint8_t { HostToDevice, DeviceToHost, DeviceToDevice, HostToHost, Fill };
// A copy, a fill, or managed memory that moves.
struct Transfer {
  Way way = Way::HostToHost;
  uint64_t bytes = 0;
  Agent* gpu = nullptr;         // whose engine it is; none: the host's own work
  const void* through[2] = {};  // its memory that the bytes go through
  uint64_t submitted_ns = 0, number = 0;

  void submit(const rocm_perf_transfer* told);  // on the host's thread; nullptr: no tool is told
  // The time of it; the completion knows how soon queues hear of it.
  Span done(const std::vector<hsa_signal_t>& waited_for, hsa_signal_t completion);
};
// Workgroups of the kernel by which the runtime fills: one to a compute unit unless the memory is small.
uint32_t fill_groups(const Agent& gpu, uint64_t bytes);

}  // namespace device_clock

// For tools in the process: from now on modelled (1), or as the environment says (0).
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_modelled_time(int on);
extern "C" __attribute__((visibility("default"))) int hsa_rocm_perf_is_time_modelled(void);
// For libamdhip64. A call begins, so long after the last one, which takes so long beside what it waits for, and
// ends; the time then. A poll that finds work unfinished takes none: how often a program asks is a matter of the
// real host.
extern "C" __attribute__((visibility("default"))) uint64_t hsa_rocm_perf_call_begins(uint64_t before_ns,
                                                                                     uint64_t cost_ns);
extern "C" __attribute__((visibility("default"))) uint64_t hsa_rocm_perf_call_ends(int polled);
// The host's own work in a stream, done by a thread that has no clock: after it was submitted and after
// those signals. Copies of the calling thread's own move its clock on.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_host_work_done(
    uint64_t submitted_ns, uint32_t count, const hsa_signal_t* waits, uint64_t copied_bytes, hsa_signal_t completion);
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_host_copied(uint64_t bytes);
// Pageable memory that goes by way of a buffer of the runtime's: what filling or reading it takes.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_staged(uint64_t bytes, int to_host);
// The caches of every device as after enough other traffic: cold.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_forget_caches(void);
