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

// The furthest any thread's calls have come: where a new thread starts.
std::atomic<uint64_t>& latest() {
  static std::atomic<uint64_t> value{by_environment() ? kOrigin_ns : now_ns()};
  return value;
}

// A thread's clock, and of the HIP call that it is in what is still to come.
struct Host {
  uint64_t now = latest().load(std::memory_order_relaxed), rest = 0, call_begun = 0;
  uint32_t depth = 0;
};
Host& host() {
  thread_local Host value;
  return value;
}

// After a call.
uint64_t publish(uint64_t now) {
  host().now = now;
  uint64_t seen = latest().load(std::memory_order_relaxed);
  while (now > seen && !latest().compare_exchange_weak(seen, now)) {}
  return now;
}

std::atomic<const rocm_perf_clock_tool*> tool{nullptr};
const rocm_perf_clock_tool* recording() { return tool.load(std::memory_order_acquire); }

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

// Where dispatches may not overlap, each takes the whole device.
uint32_t units_taken(uint32_t units, const Agent& gpu) {
  const rocm_perf_clock_tool* told = recording();
  return told && told->one_at_a_time ? gpu.gpu->device().compute_units : units;
}

// The first row is every device's that has none of its own.
double bytes_per_ns(std::string_view device, Way way) {
  const auto* own = std::ranges::find(cost::kCopyRates, device, &cost::CopyRates::device);
  return (own == std::end(cost::kCopyRates) ? *cost::kCopyRates : *own).bytes_per_ns[size_t(way)];
}

// What the host does in a stream: a copy within its memory, or, of no bytes, a function.
uint64_t host_work_ns(uint64_t copied_bytes) {
  return copied_bytes ? uint64_t(std::llround(double(copied_bytes) / bytes_per_ns("", Way::HostToHost)))
                      : uint64_t(cost::host_function_ns);
}

}  // namespace

bool modelled() { return by_environment() || asked.load(std::memory_order_relaxed); }

uint64_t host_ns() { return host().now; }

void host_saw(const Signal& signal) {
  if (!modelled() || signal.amd.end_ts <= host().now + host().rest) return;
  host().now = signal.amd.end_ts + cost::wake_up_ns;
  host().rest = 0;
}

void host_sets(Signal& signal) {
  if (!modelled()) return;
  signal.amd.end_ts = host().now;
  signal.heard_at_once = false;
}

uint64_t host_asks() {
  return host().depth ? host().now : publish(host().now + cost::between_calls_ns + cost::call_ns);
}

uint64_t host_submits(bool recorded) {
  if (!modelled()) return 0;
  if (!host().depth && recorded) publish(host().now + cost::between_calls_ns + cost::packet_ns);
  const uint64_t handed_over = host().now;
  if (recorded && recording()) host().now += cost::tracer_ns;
  return handed_over;
}

uint64_t QueueTime::ready_ns(uint64_t submitted_ns) const {
  return std::max(submitted_ns + cost::submit_to_start_ns,
                  now_ns_ + (after_kernel_ ? uint64_t(cost::between_kernels_ns) : 0));
}

Span QueueTime::dispatched(const Agent& on, const hsa_kernel_dispatch_packet_t& packet, uint64_t ready,
                           uint64_t duration, uint32_t units) {
  Span span{};
  {
    std::lock_guard lock(devices_mutex);
    span = device_of(&on).units.place(on.gpu->device().compute_units, ready, std::max<uint64_t>(duration, 1),
                                      units_taken(units, on));
  }
  now_ns_ = span.end;
  after_kernel_ = true;
  if (const rocm_perf_clock_tool* told = recording()) told->dispatched(&packet, span.start, span.end);
  return span;
}

uint64_t QueueTime::passed(uint64_t submitted_ns, bool marker, const std::vector<hsa_signal_t>& waited_for) {
  if (marker) {  // it needs nothing of the device
    const uint64_t least = after_kernel_ && last_marker_ns_ ? last_marker_ns_ + cost::event_least_ns : 0;
    now_ns_ = std::max({now_ns_, submitted_ns + cost::submit_to_start_ns, least});
    last_marker_ns_ = now_ns_;
    after_kernel_ = false;
  }
  for (hsa_signal_t handle : waited_for)
    if (const Signal* signal = signal_of(handle); signal && signal->amd.end_ts > now_ns_)
      now_ns_ = signal->amd.end_ts + (signal->heard_at_once ? 0 : cost::signal_ns);
  return now_ns_;
}

uint32_t fill_groups(const Agent& gpu, uint64_t bytes) {
  constexpr uint64_t kGroupBytes = 16 * 256;  // 16 to a work-item, as ROCm's clr has it
  return uint32_t(std::min<uint64_t>(gpu.gpu->device().compute_units, (bytes + kGroupBytes - 1) / kGroupBytes));
}

void Transfer::submit(const rocm_perf_transfer* told) {
  submitted_ns = host_submits(told != nullptr);
  if (told && recording()) number = recording()->submitted(told);
}

Span Transfer::done(const std::vector<hsa_signal_t>& waited_for, hsa_signal_t completion) {
  uint64_t ready = submitted_ns + cost::submit_to_start_ns;
  for (hsa_signal_t handle : waited_for)
    if (const Signal* signal = signal_of(handle)) ready = std::max(ready, signal->amd.end_ts);
  if (gpu)
    for (const void* at : through)
      if (at) gpu->gpu->streamed(at, bytes);
  // AMD's runtime fills, and copies within a device, by kernels of its own in the queue.
  if (Signal* signal = signal_of(completion)) signal->heard_at_once = way == Way::Fill || way == Way::DeviceToDevice;
  const uint64_t start_ns = way == Way::HostToDevice   ? cost::host_copy_start_ns
                            : way == Way::DeviceToHost ? cost::read_back_start_ns
                                                       : cost::copy_start_ns;
  const uint64_t duration =
      start_ns + uint64_t(std::llround(double(bytes) / bytes_per_ns(gpu ? gpu->gpu->device().name : "", way)));
  Span span{};
  {
    std::lock_guard lock(devices_mutex);
    Device& on = device_of(gpu);
    if (way == Way::Fill) {
      const uint32_t units = units_taken(fill_groups(*gpu, bytes), *gpu);
      span = on.units.place(gpu->gpu->device().compute_units, ready, duration, units);
    } else {
      uint64_t& free = on.engine_free[size_t(way)];
      span.start = std::max(ready, free);
      span.end = free = span.start + duration;
    }
  }
  if (number) recording()->transferred(number, span.start, span.end);
  return span;
}

}  // namespace device_clock

extern "C" void hsa_rocm_perf_set_clock_tool(const rocm_perf_clock_tool* tool) { device_clock::tool = tool; }
extern "C" uint64_t hsa_rocm_perf_host_ns(void) { return device_clock::host_ns(); }
extern "C" uint64_t hsa_rocm_perf_call_begins(uint64_t before_ns, uint64_t cost_ns) {
  using namespace device_clock;
  Host& own = host();
  if (own.depth++) return own.now;  // part of the call around it
  own.call_begun = own.now;
  const uint64_t start = own.now + before_ns;
  own.rest = cost_ns - cost_ns / 2;
  own.now = start + cost_ns / 2;
  return start;
}
extern "C" uint64_t hsa_rocm_perf_call_ends(int polled) {
  using namespace device_clock;
  Host& own = host();
  if (--own.depth) return own.now;
  publish(polled ? own.call_begun : own.now + own.rest);
  own.rest = 0;
  return own.now;
}
extern "C" void hsa_rocm_perf_host_work_done(uint64_t submitted_ns, uint32_t count, const hsa_signal_t* waits,
                                             uint64_t copied_bytes, hsa_signal_t completion) {
  using namespace device_clock;
  uint64_t start = submitted_ns;
  for (uint32_t i = 0; i < count; ++i)
    if (const Signal* signal = signal_of(waits[i])) start = std::max(start, signal->amd.end_ts + cost::wake_up_ns);
  complete(completion, start, start + host_work_ns(copied_bytes));
}
extern "C" void hsa_rocm_perf_host_copied(uint64_t bytes) {
  using namespace device_clock;
  if (modelled()) host().now += host_work_ns(bytes);
}
extern "C" void hsa_rocm_perf_staged(uint64_t bytes, int to_host) {
  using namespace device_clock;
  if (!modelled() || bytes > cost::staged_bytes) return;
  const uint64_t in_ns = 1000 * bytes / cost::stage_in_bytes_per_us,
                 out_ns = cost::stage_out_ns + 1000 * bytes / cost::stage_out_bytes_per_us;
  host().now += to_host ? out_ns : in_ns;
}

extern "C" void hsa_rocm_perf_modelled_time(int on) { device_clock::asked = on != 0; }
extern "C" int hsa_rocm_perf_is_time_modelled(void) { return device_clock::modelled(); }

extern "C" void hsa_rocm_perf_forget_caches(void) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return;
  for (const auto& agent : runtime->agents())
    if (agent->is_gpu()) agent->gpu->flush_caches();
}
