// hipEvent*.
#include <mutex>
#include <unordered_set>

#include "api_impl.h"
#include "event.h"
#include "graph.h"
#include "memory.h"
#include "misuse.h"

namespace hip {

namespace {

struct LiveEvents {
  std::mutex mutex;
  std::unordered_set<const void*> handles;
};
LiveEvents& live_events() {
  static auto* instance = new LiveEvents;
  return *instance;
}

// The time of the point, in ticks of the system clock.
bool time_of(const Event& event, uint64_t& ticks) {
  hsa_amd_profiling_dispatch_time_t time{};
  if (hsa_amd_profiling_get_dispatch_time(event.device->agent, event.completion->signal, &time) != HSA_STATUS_SUCCESS)
    return false;
  ticks = event.edge == Event::Edge::Start ? time.start : time.end;
  return true;
}

}  // namespace

Event* resolve_event(hipEvent_t handle) {
  if (!handle) return nullptr;
  std::lock_guard lock(live_events().mutex);
  return live_events().handles.count(handle) ? reinterpret_cast<Event*>(handle) : nullptr;
}

void Event::attach(CompletionRef done, Stream& stream, Edge which) {
  completion = std::move(done);
  device = &stream.device;
  edge = which;
  recorded = true;
  capture = nullptr;
  captured_nodes.clear();
}

hipError_t record_event(Event& event, Stream& stream) {
  std::lock_guard lock(stream.device.mutex);
  CompletionRef done;
  if (hipError_t status = stream.marker(&done)) return status;
  event.attach(std::move(done), stream, Event::Edge::End);
  return hipSuccess;
}

hipError_t wait_event(Stream& stream, Event& event) {
  CompletionRef point = event.completion;
  if (!point.orders()) return hipSuccess;
  std::lock_guard lock(stream.device.mutex);
  return stream.marker(nullptr, {point});
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  constexpr unsigned kAllowed = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                                hipEventDisableSystemFence | hipEventReleaseToDevice | hipEventReleaseToSystem;
  if (!event || (flags & ~kAllowed)) return hipErrorInvalidValue;
  if ((flags & hipEventReleaseToDevice) && (flags & hipEventReleaseToSystem)) return hipErrorInvalidValue;
  if (flags & hipEventInterprocess) return flags & hipEventDisableTiming ? hipErrorNotSupported : hipErrorInvalidValue;
  auto* created = new Event(*device, flags);
  std::lock_guard lock(live_events().mutex);
  live_events().handles.insert(created);
  *event = reinterpret_cast<hipEvent_t>(created);
  return hipSuccess;
}
hipError_t hipEventCreate(hipEvent_t* event) { return hip::hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipEventDestroy(hipEvent_t handle) {
  Event* event = resolve_event(handle);
  if (!event) return hipErrorInvalidHandle;
  {
    std::lock_guard lock(live_events().mutex);
    live_events().handles.erase(event);
  }
  capture_forget(*event);
  delete event;  // what was recorded stays alive with the stream
  return hipSuccess;
}

hipError_t hipEventRecordWithFlags(hipEvent_t handle, hipStream_t stream_handle, unsigned int flags) {
  Stream* stream;
  if (hipError_t status = stream_for_work(stream_handle, stream)) return status;
  if (flags > hipEventRecordExternal) return hipErrorInvalidValue;
  Event* event = resolve_event(handle);
  if (!event) return hipErrorInvalidHandle;
  if (stream->capture) return capture_record(*stream, *event, flags);
  check_recorded(*event, *stream);
  if (event->device != &stream->device && event->recorded == false) event->device = &stream->device;
  return record_event(*event, *stream);
}
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return hip::hipEventRecordWithFlags(event, stream, hipEventRecordDefault);
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  Event* event = resolve_event(handle);
  if (!event) return hipErrorInvalidHandle;
  if (event->capture) return hipErrorCapturedEvent;
  return event->recorded ? wait(event->completion) : hipSuccess;
}

hipError_t hipEventQuery(hipEvent_t handle) {
  Event* event = resolve_event(handle);
  if (!event) return hipErrorInvalidHandle;
  if (event->capture) return hipErrorCapturedEvent;
  if (hipError_t fault = event->device->fault_status()) return fault;
  return event->completion.pending() ? hipErrorNotReady : wait(event->completion);
}

hipError_t hipEventElapsedTime(float* ms, hipEvent_t start_handle, hipEvent_t stop_handle) {
  Event* start = resolve_event(start_handle);
  Event* stop = resolve_event(stop_handle);
  if (!ms) return hipErrorInvalidValue;
  if (!start || !stop || !start->timed() || !stop->timed()) return hipErrorInvalidHandle;
  if (!start->recorded || !stop->recorded) return hipErrorInvalidHandle;
  if (start->completion.pending() || stop->completion.pending()) {
    hipError_t fault = start->device->fault_status();
    return fault != hipSuccess ? fault : hipErrorNotReady;
  }
  tell_kind_of_time();
  uint64_t from = 0, to = 0;
  if (!time_of(*start, from) || !time_of(*stop, to)) return hipErrorUnknown;
  double ticks = double(int64_t(to - from));
  *ms = float(ticks * 1000.0 / double(runtime().timestamp_hz));
  return hipSuccess;
}

}  // namespace hip
