#include "device_clock.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "runtime.h"
#include "signals.h"
#include "timeline_costs.h"

namespace device_clock {

namespace {

constexpr uint64_t kOrigin_ns = 1'000'000'000;

bool by_environment() {
  static const bool value = [] {
    const char* text = std::getenv("ROCM_PERF_VIRTUAL_TIMING");
    return text && std::strcmp(text, "model") == 0;
  }();
  return value;
}

std::atomic<bool> asked{false};

// The furthest any thread has come: where a new one starts.
std::atomic<uint64_t>& latest() {
  static std::atomic<uint64_t> value{by_environment() ? kOrigin_ns : now_ns()};
  return value;
}

uint64_t& own() {
  thread_local uint64_t value = latest().load(std::memory_order_relaxed);
  return value;
}

thread_local bool in_one_call = false;

uint64_t advance(uint64_t to) {
  own() = to;
  uint64_t seen = latest().load(std::memory_order_relaxed);
  while (to > seen && !latest().compare_exchange_weak(seen, to)) {}
  return to;
}

// Compute units in use over time. Only the latest spans are remembered: earlier ones are over for
// every thread of a program that synchronises now and then.
class Units {
 public:
  // The earliest start from `ready` on at which the units are free to the end.
  Span place(uint32_t total, uint64_t ready, uint64_t duration, uint32_t units) {
    units = std::clamp<uint32_t>(units, 1, total);
    uint64_t start = ready;
    while (true) {
      std::vector<Use> live;
      for (auto at = uses_.upper_bound({start, UINT64_MAX, 0}); at != uses_.end(); ++at)
        if (at->start < start + duration) live.push_back(*at);
      if (peak(live) + units <= total) break;
      start = live.front().end;
    }
    uses_.insert({start + duration, start, units});
    if (uses_.size() > kRemembered) uses_.erase(uses_.begin());
    return {start, start + duration};
  }

 private:
  static constexpr size_t kRemembered = 256;
  struct Use {
    uint64_t end, start;
    uint32_t units;
    auto operator<=>(const Use&) const = default;
  };
  // The most units in use at once: that can only be where one of them starts.
  static uint32_t peak(const std::vector<Use>& uses) {
    uint32_t most = 0;
    for (const Use& at : uses) {
      uint32_t sum = 0;
      for (const Use& use : uses) sum += use.start <= at.start && at.start < use.end ? use.units : 0;
      most = std::max(most, sum);
    }
    return most;
  }
  std::multiset<Use> uses_;
};

struct Device {
  Units units;
  uint64_t engine_free[5] = {};  // by Way
};

std::mutex devices_mutex;
Device& device_of(const void* device) {
  static auto* all = new std::map<const void*, Device>;
  return (*all)[device];
}

// The first row is every device's that has none of its own.
double bytes_per_ns(std::string_view device, Way way) {
  const auto* own = std::ranges::find(cost::kCopyRates, device, &cost::CopyRates::device);
  return (own == std::end(cost::kCopyRates) ? *cost::kCopyRates : *own).bytes_per_ns[size_t(way)];
}
// The runtime's fill kernel: 16 bytes to a work-item, 256 of them to a workgroup.
constexpr uint64_t kFillGroupBytes = 16 * 256;

}  // namespace

bool modelled() { return by_environment() || asked.load(std::memory_order_relaxed); }

uint64_t host_ns() { return own(); }

void host_saw(uint64_t end_ns) {
  if (end_ns > own()) advance(end_ns + cost::wake_up_ns);
}

uint64_t host_asks() { return advance(own() + cost::between_calls_ns + cost::call_ns); }

uint64_t host_submits(Call call) {
  if (in_one_call) return own();
  const uint64_t whole = call == Call::Launch   ? cost::launch_ns
                         : call == Call::Marker ? cost::hipEventRecord
                                                : cost::hipMemcpyAsync;
  const uint64_t handed_over = own() + cost::between_calls_ns + whole / 2;
  advance(own() + cost::between_calls_ns + whole);
  return handed_over;
}

uint64_t ready_ns(uint64_t submitted_ns, uint64_t queue_done_ns, bool after_kernel) {
  return std::max(submitted_ns + cost::submit_to_start_ns,
                  queue_done_ns + (after_kernel ? uint64_t(cost::between_kernels_ns) : 0));
}

Span dispatch(const void* device, uint32_t device_units, uint64_t ready, uint64_t duration, uint32_t units) {
  std::lock_guard lock(devices_mutex);
  return device_of(device).units.place(device_units, ready, std::max<uint64_t>(duration, 1), units);
}

Span transfer(const gpu::DeviceSpec* spec, const void* device, Way way, uint64_t ready, uint64_t bytes) {
  const uint32_t device_units = spec ? spec->compute_units : 1;
  // The runtime copies within a device by a kernel of its own in the same queue. Here an engine does, and
  // the signal by which the queue hears of its end takes what starting that kernel does.
  const uint64_t start_ns = way == Way::HostToDevice     ? cost::host_copy_start_ns
                            : way == Way::DeviceToHost   ? cost::read_back_start_ns
                            : way == Way::DeviceToDevice ? 0
                                                         : cost::copy_start_ns;
  const uint64_t duration =
      start_ns + uint64_t(std::llround(double(bytes) / bytes_per_ns(spec ? spec->name : "", way)));
  std::lock_guard lock(devices_mutex);
  Device& on = device_of(device);
  if (way == Way::Fill)
    return on.units.place(device_units, ready, duration,
                          uint32_t(std::min<uint64_t>(device_units, bytes / kFillGroupBytes + 1)));
  uint64_t& free = on.engine_free[size_t(way)];
  const uint64_t start = std::max(ready, free);
  return {start, free = start + duration};
}

uint64_t host_work_ns(uint64_t copied_bytes) {
  return copied_bytes ? uint64_t(std::llround(double(copied_bytes) / bytes_per_ns("", Way::HostToHost)))
                      : uint64_t(cost::host_function_ns);
}

uint64_t least_after_ns(uint64_t marker_ns) { return marker_ns ? marker_ns + cost::event_least_ns : 0; }

uint64_t heard_ns(uint64_t own_ns, uint64_t other_done_ns) {
  return other_done_ns > own_ns ? other_done_ns + cost::signal_ns : own_ns;
}

}  // namespace device_clock

extern "C" void hsa_rocm_perf_graph_launch(int begins) {
  using namespace device_clock;
  if (!modelled()) return;
  in_one_call = begins != 0;
  const uint64_t before_work = cost::hipGraphLaunch / 2;
  advance(own() + (begins ? cost::between_calls_ns + before_work : cost::hipGraphLaunch - before_work));
}
extern "C" uint64_t hsa_rocm_perf_host_work_submitted(void) {
  return device_clock::modelled() ? device_clock::host_submits(device_clock::Call::Marker) : 0;
}
extern "C" void hsa_rocm_perf_host_work_done(uint64_t submitted_ns, uint32_t count, const hsa_signal_t* waits,
                                             uint64_t copied_bytes, hsa_signal_t completion) {
  uint64_t start = submitted_ns;
  for (uint32_t i = 0; i < count; ++i)
    if (const Signal* signal = signal_of(waits[i])) start = std::max(start, signal->amd.end_ts + cost::wake_up_ns);
  complete(completion, start, start + device_clock::host_work_ns(copied_bytes));
}
extern "C" void hsa_rocm_perf_host_copied(uint64_t bytes) {
  using namespace device_clock;
  if (modelled()) advance(own() + host_work_ns(bytes));
}
extern "C" void hsa_rocm_perf_staged(uint64_t bytes, int to_host) {
  using namespace device_clock;
  if (!modelled() || bytes > cost::staged_bytes) return;
  const uint64_t in_ns = 1000 * bytes / cost::stage_in_bytes_per_us,
                 out_ns = cost::stage_out_ns + 1000 * bytes / cost::stage_out_bytes_per_us;
  advance(own() + (to_host ? out_ns : in_ns));
}

extern "C" void hsa_rocm_perf_modelled_time(int on) { device_clock::asked = on != 0; }
extern "C" int hsa_rocm_perf_is_time_modelled(void) { return device_clock::modelled(); }

extern "C" void hsa_rocm_perf_forget_caches(void) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return;
  for (const auto& agent : runtime->agents())
    if (agent->is_gpu()) agent->gpu->flush_caches();
}
