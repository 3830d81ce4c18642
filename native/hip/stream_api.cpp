// hipStream*: creation, order, host functions and memory operations in streams.
#include <algorithm>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "api_impl.h"
#include "event.h"
#include "graph.h"
#include "memory.h"
#include "thread_state.h"

namespace hip {

namespace {

struct LiveStreams {
  std::mutex mutex;
  std::unordered_set<const void*> handles;
};
LiveStreams& live_streams() {
  static auto* instance = new LiveStreams;
  return *instance;
}

// Per-thread streams of threads that have ended. They are given to new threads rather than
// destroyed: that would wait for their work, and a thread's end waits for nothing.
struct LeftStreams {
  std::mutex mutex;
  std::vector<Stream*> streams;
};
LeftStreams& left_streams() {
  static auto* instance = new LeftStreams;
  return *instance;
}

// One on this device whose work is done, as if it were new.
Stream* adopt_stream(Device& device) {
  LeftStreams& left = left_streams();
  std::scoped_lock lock(left.mutex, device.mutex);
  const auto found = std::find_if(left.streams.begin(), left.streams.end(), [&](Stream* stream) {
    return &stream->device == &device && !stream->capture && !stream->last.pending();
  });
  if (found == left.streams.end()) return nullptr;
  Stream* stream = *found;
  left.streams.erase(found);
  stream->id = next_stream_id();
  return stream;
}

constexpr int kLowestPriority = 1, kHighestPriority = -1;

hipError_t create(hipStream_t* handle, unsigned flags, int priority, std::vector<uint32_t> cu_mask = {}) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!handle || (flags & ~unsigned{hipStreamNonBlocking})) return hipErrorInvalidValue;
  auto* stream = new Stream(*device, flags, std::clamp(priority, kHighestPriority, kLowestPriority));
  stream->cu_mask = std::move(cu_mask);
  {
    std::lock_guard lock(device->mutex);
    stream->id = next_stream_id();
    device->streams.push_back(stream);
  }
  std::lock_guard lock(live_streams().mutex);
  live_streams().handles.insert(stream);
  *handle = reinterpret_cast<hipStream_t>(stream);
  return hipSuccess;
}

bool compare(unsigned flags, uint64_t value, uint64_t wanted) {
  switch (flags) {
    case hipStreamWaitValueEq: return value == wanted;
    case hipStreamWaitValueAnd: return (value & wanted) != 0;
    case hipStreamWaitValueNor: return ~(value | wanted) != 0;
    default: return int64_t(value - wanted) >= 0;
  }
}

// Memory operations are host functions: they watch or write memory in stream order.
template <class T>
hipError_t wait_value(hipStream_t handle, void* ptr, T value, unsigned flags, T mask) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!ptr || flags > hipStreamWaitValueNor) return hipErrorInvalidValue;
  if (stream->capture) return capture_invalidate(*stream);
  Device* device = &stream->device;
  std::lock_guard lock(device->mutex);
  return stream->host([=](hipError_t) {
    auto* word = static_cast<T*>(ptr);
    while (!compare(flags, __atomic_load_n(word, __ATOMIC_ACQUIRE) & mask, value & mask)) {
      if (device->fault_status() != hipSuccess) return;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    if (order_is_checked()) hsa_rocm_perf_learns_all();
  });
}

template <class T>
hipError_t write_value(hipStream_t handle, void* ptr, T value) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!ptr) return hipErrorInvalidValue;
  if (stream->capture) return capture_invalidate(*stream);
  std::lock_guard lock(stream->device.mutex);
  return stream->host([=](hipError_t) {
    __atomic_store_n(static_cast<T*>(ptr), value, __ATOMIC_RELEASE);
    if (hsa_rocm_perf_was_written) hsa_rocm_perf_was_written(ptr, sizeof value);
  });
}

}  // namespace

ThreadState::~ThreadState() {
  // In a forked child the lock may be held for ever.
  std::unique_lock lock(left_streams().mutex, std::try_to_lock);
  if (!lock) return;
  for (hipStream_t handle : default_streams)
    if (handle) left_streams().streams.push_back(reinterpret_cast<Stream*>(handle));
}

Stream* per_thread_stream() {
  Device* device = current_device();
  if (!device) return nullptr;
  auto& streams = thread_state().default_streams;
  if (streams.size() <= size_t(device->index)) streams.resize(size_t(device->index) + 1);
  hipStream_t& handle = streams[size_t(device->index)];
  if (!handle) handle = reinterpret_cast<hipStream_t>(adopt_stream(*device));
  if (!handle && create(&handle, hipStreamDefault, 0) != hipSuccess) return nullptr;
  return reinterpret_cast<Stream*>(handle);
}

Stream* resolve_stream(hipStream_t handle) {
  if (!handle || handle == hipStreamLegacy) {
    Device* device = current_device();
    return device ? device->null_stream : nullptr;
  }
  if (handle == hipStreamPerThread) return per_thread_stream();
  std::lock_guard lock(live_streams().mutex);
  return live_streams().handles.count(handle) ? reinterpret_cast<Stream*>(handle) : nullptr;
}

hipError_t stream_for_work(hipStream_t handle, Stream*& stream) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  stream = resolve_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->legacy && legacy_stream_blocked(*device)) return hipErrorStreamCaptureImplicit;
  return stream->device.fault_status();
}

// ---- creation and attributes --------------------------------------------------------------------------

hipError_t hipStreamCreate(hipStream_t* stream) { return create(stream, hipStreamDefault, 0); }
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) { return create(stream, flags, 0); }
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int priority) {
  return create(stream, flags, priority);
}
hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t cuMaskSize, const uint32_t* cuMask) {
  if (!cuMask || cuMaskSize == 0) return hipErrorInvalidValue;
  return create(stream, hipStreamDefault, 0, {cuMask, cuMask + cuMaskSize});
}
hipError_t hipExtStreamGetCUMask(hipStream_t handle, uint32_t cuMaskSize, uint32_t* cuMask) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorInvalidHandle;
  const auto units = uint32_t(stream->device.properties.multiProcessorCount);
  if (!cuMask || cuMaskSize * 32 < units) return hipErrorInvalidValue;
  for (uint32_t i = 0; i < cuMaskSize; ++i) {
    uint32_t all = units >= 32 * (i + 1) ? ~0u : units > 32 * i ? (1u << (units - 32 * i)) - 1 : 0;
    cuMask[i] = stream->cu_mask.empty() ? all : i < stream->cu_mask.size() ? stream->cu_mask[i] & all : 0;
  }
  return hipSuccess;
}
hipError_t hipDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  if (leastPriority) *leastPriority = kLowestPriority;
  if (greatestPriority) *greatestPriority = kHighestPriority;
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t handle) {
  if (!handle || handle == hipStreamLegacy || handle == hipStreamPerThread) return hipErrorInvalidResourceHandle;
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->capture) capture_abandon(*stream);
  hipError_t status = synchronize(*stream);
  {
    std::lock_guard lock(live_streams().mutex);
    live_streams().handles.erase(stream);
  }
  {
    std::lock_guard lock(stream->device.mutex);
    auto& streams = stream->device.streams;
    streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
  }
  delete stream;
  return status;
}

hipError_t hipStreamGetFlags(hipStream_t handle, unsigned int* flags) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorInvalidHandle;
  if (!flags) return hipErrorInvalidValue;
  *flags = stream->flags;
  return hipSuccess;
}
hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorInvalidHandle;
  if (!priority) return hipErrorInvalidValue;
  *priority = stream->priority;
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t handle, hipDevice_t* device) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorInvalidHandle;
  if (!device) return hipErrorInvalidValue;
  *device = stream->device.index;
  return hipSuccess;
}
hipError_t hipStreamGetId(hipStream_t handle, unsigned long long* streamId) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorInvalidHandle;
  if (!streamId) return hipErrorInvalidValue;
  *streamId = stream->id;
  return hipSuccess;
}
int hipGetStreamDeviceId(hipStream_t handle) {
  Stream* stream = resolve_stream(handle);
  return stream ? stream->device.index : -1;
}
hipError_t hipStreamGetAttribute(hipStream_t handle, hipLaunchAttributeID attr, hipLaunchAttributeValue* value_out) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorInvalidHandle;
  if (!value_out) return hipErrorInvalidValue;
  *value_out = {};
  if (attr == hipLaunchAttributePriority) value_out->priority = stream->priority;
  else if (attr == hipLaunchAttributeSynchronizationPolicy) value_out->syncPolicy = hipSyncPolicyAuto;
  else if (attr == hipLaunchAttributeMemSyncDomain) value_out->memSyncDomain = hipLaunchMemSyncDomainDefault;
  return hipSuccess;
}
// What can be set is a hint, and no hint is kept: there is nothing to carry over.
hipError_t hipStreamCopyAttributes(hipStream_t dst, hipStream_t src) {
  return resolve_stream(dst) && resolve_stream(src) ? hipSuccess : hipErrorInvalidHandle;
}
hipError_t hipStreamSetAttribute(hipStream_t handle, hipLaunchAttributeID attr, const hipLaunchAttributeValue* value) {
  if (!resolve_stream(handle)) return hipErrorInvalidHandle;
  const bool hint = attr == hipLaunchAttributeAccessPolicyWindow || attr == hipLaunchAttributeSynchronizationPolicy ||
                    attr == hipLaunchAttributeMemSyncDomain || attr == hipLaunchAttributeMemSyncDomainMap;
  return value && hint ? hipSuccess : hipErrorInvalidValue;
}

// ---- waiting -------------------------------------------------------------------------------------------

hipError_t hipStreamQuery(hipStream_t handle) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (stream->capture) return capture_invalidate(*stream);
  {
    std::lock_guard lock(stream->device.mutex);
    if (!stream->idle()) return hipErrorNotReady;
  }
  return synchronize(*stream);  // the host has seen its end
}
hipError_t hipStreamSynchronize(hipStream_t handle) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (stream->capture) return capture_invalidate(*stream);
  return synchronize(*stream);
}
hipError_t hipDeviceSynchronize() {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (legacy_stream_blocked(*device)) return hipErrorStreamCaptureUnsupported;
  return synchronize(*device);
}

hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event_handle, unsigned int flags) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (flags > hipEventWaitExternal) return hipErrorInvalidValue;
  Event* event = resolve_event(event_handle);
  if (!event) return hipErrorInvalidHandle;
  if (event->capture || stream->capture) return capture_wait(*stream, *event, flags);
  return wait_event(*stream, *event);
}

// ---- host functions ---------------------------------------------------------------------------------------

hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t fn, void* userData) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!fn) return hipErrorInvalidValue;
  if (stream->capture) return capture_host(*stream, {fn, userData});
  std::lock_guard lock(stream->device.mutex);
  return stream->host([=](hipError_t status) {
    if (order_is_checked()) hsa_rocm_perf_host_learns();
    if (status == hipSuccess) fn(userData);
  });
}
hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* userData, unsigned int flags) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!callback || flags != 0) return hipErrorInvalidValue;
  if (stream->capture) return capture_invalidate(*stream);
  std::lock_guard lock(stream->device.mutex);
  return stream->host([=](hipError_t status) {
    if (order_is_checked()) hsa_rocm_perf_host_learns();
    callback(handle, status, userData);
  });
}

// ---- memory operations --------------------------------------------------------------------------------------

hipError_t hipStreamWaitValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int flags, uint32_t mask) {
  return wait_value<uint32_t>(stream, ptr, value, flags, mask);
}
hipError_t hipStreamWaitValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int flags, uint64_t mask) {
  return wait_value<uint64_t>(stream, ptr, value, flags, mask);
}
hipError_t hipStreamWriteValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int) {
  return write_value<uint32_t>(stream, ptr, value);
}
hipError_t hipStreamWriteValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int) {
  return write_value<uint64_t>(stream, ptr, value);
}
hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count, hipStreamBatchMemOpParams* paramArray,
                               unsigned int) {
  if (!paramArray || count == 0 || count > 256) return hipErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    const hipStreamBatchMemOpParams& p = paramArray[i];
    hipError_t status = hipErrorInvalidValue;
    switch (p.operation) {
      case hipStreamMemOpWaitValue32:
        status = wait_value<uint32_t>(stream, p.waitValue.address, p.waitValue.value, p.waitValue.flags, ~0u);
        break;
      case hipStreamMemOpWaitValue64:
        status =
            wait_value<uint64_t>(stream, p.waitValue.address, p.waitValue.value64, p.waitValue.flags, ~uint64_t{0});
        break;
      case hipStreamMemOpWriteValue32:
        status = write_value<uint32_t>(stream, p.writeValue.address, p.writeValue.value);
        break;
      case hipStreamMemOpWriteValue64:
        status = write_value<uint64_t>(stream, p.writeValue.address, p.writeValue.value64);
        break;
      default: break;
    }
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

// ---- the default stream of the calling thread -------------------------------------------------------------------

}  // namespace hip
