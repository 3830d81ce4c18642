// Copies and fills: checked against the allocations, then handed to the copy engines or, where
// only host memory is involved, done by the host in stream order.
#include <cstring>

#include "graph.h"
#include "memory.h"
#include "misuse.h"

namespace hip {

namespace {

// First byte after the last one a pitched box touches.
size_t span(const Pitched& box, size_t width, size_t height, size_t depth) {
  return (depth - 1) * box.slice + (height - 1) * box.pitch + width;
}

hipError_t check_side(const Pitched& side, size_t bytes, bool must_be_known, bool& device) {
  auto found = memory_map().find(side.base);
  // What is unknown is the host's own memory, but for what was a device's until it was freed.
  const bool freed = !found && hsa_rocm_perf_is_freed && hsa_rocm_perf_is_freed(side.base);
  if (!found) return must_be_known || freed ? hipErrorInvalidValue : hipSuccess;
  if (reinterpret_cast<uintptr_t>(side.base) + bytes > found->end()) return hipErrorInvalidValue;
  device = found->on_device();
  return hipSuccess;
}

void copy_box(const CopyRequest& request) {
  for (size_t z = 0; z < request.depth; ++z) {
    for (size_t y = 0; y < request.height; ++y) {
      char* to = static_cast<char*>(request.to.base) + z * request.to.slice + y * request.to.pitch;
      const char* from = static_cast<const char*>(request.from.base) + z * request.from.slice + y * request.from.pitch;
      std::memmove(to, from, request.width);
      if (order_is_checked()) hsa_rocm_perf_was_copied(to, from, request.width);
    }
  }
}

template <class T>
void fill_row(void* to, T value, size_t count) {
  T* out = static_cast<T*>(to);
  for (size_t i = 0; i < count; ++i) out[i] = value;
}

void fill_box(const FillRequest& request) {
  for (size_t z = 0; z < request.depth; ++z) {
    for (size_t y = 0; y < request.height; ++y) {
      void* row = static_cast<char*>(request.to.base) + z * request.to.slice + y * request.to.pitch;
      if (request.element == 1) std::memset(row, int(request.value), request.width);
      else if (request.element == 2) fill_row(row, uint16_t(request.value), request.width);
      else fill_row(row, request.value, request.width);
      if (hsa_rocm_perf_was_written) hsa_rocm_perf_was_written(row, request.width * request.element);
    }
  }
}

// By the calling thread, as one piece of work, of whose end the host knows.
void at_once(const std::function<void()>& work) {
  hsa_rocm_perf_work_begins(hsa_rocm_perf_work_submitted());
  work();
  hsa_rocm_perf_host_learns();
  hsa_rocm_perf_work_is_over();
  hsa_rocm_perf_work_begins(0);
}

// Runs `work`, which writes so many bytes, in stream order on the host: at once where nothing is in the way.
hipError_t run_on_host(Stream& stream, Blocking blocking, uint64_t bytes, std::function<void()> work) {
  if (blocking == Blocking::Yes) {
    {
      std::lock_guard lock(stream.device.mutex);
      if (!stream.queue()) return hipErrorOutOfMemory;
    }
    if (hipError_t status = synchronize(stream)) return status;
    if (order_is_checked()) at_once(work);
    else work();
    if (time_is_modelled()) hsa_rocm_perf_host_copied(bytes);
    return hipSuccess;
  }
  std::lock_guard lock(stream.device.mutex);
  if (!stream.queue()) return hipErrorOutOfMemory;
  // Where time is modelled, work may be done and its time still to come; where order is checked, that there is
  // nothing in the way is luck.
  if (!time_is_modelled() && !order_is_checked() && stream.idle()) {
    work();
    return hipSuccess;
  }
  return stream.host([work = std::move(work)](hipError_t) { work(); }, bytes);
}

Device* device_of(const void* address) {
  auto found = memory_map().find(address);
  return found && found->on_device() ? device_at(found->device) : nullptr;
}
hsa_agent_t agent_of(const void* address) {
  Device* device = device_of(address);
  return device ? device->agent : runtime().cpu;
}

bool pageable(const void* address) { return !memory_map().find(address); }

// Between pageable memory and a device the host copies too, from or to a buffer of the runtime's: before the
// device's part, or after it.
void fill_stage(const void* from, const void* to, size_t bytes) {
  if (time_is_modelled() && pageable(from) && device_of(to)) hsa_rocm_perf_staged(bytes, 0);
}
void read_stage(const void* from, const void* to, size_t bytes) {
  if (time_is_modelled() && pageable(to) && device_of(from)) hsa_rocm_perf_staged(bytes, 1);
}

hipError_t submit_linear(Stream& stream, const CopyRequest& request, Blocking blocking) {
  const size_t size = request.width * request.height * request.depth;
  const void* from = request.from.base;
  const bool from_pageable = pageable(from);
  bool wait_for_it = blocking == Blocking::Yes || pageable(request.to.base);
  // ROCm's host does not wait for copies within a device, which only a clock and a check of order show.
  if (time_is_modelled() && device_of(from) && device_of(request.to.base)) wait_for_it = false;
  if (order_is_checked() && device_of(from) && device_of(from) == device_of(request.to.base)) wait_for_it = false;
  CompletionRef done;
  fill_stage(from, request.to.base, size);
  {
    std::lock_guard lock(stream.device.mutex);
    // Pageable sources may change as soon as the call returns: small ones are copied aside first.
    constexpr size_t kStaged = 64 << 10;
    bool staged = false;
    if (from_pageable && !wait_for_it) {
      // HIP says that the host waits, and programs may rely on it.
      if (size <= kStaged && !order_is_checked()) {
        void* stage = stream.kernargs.allocate(size, stream.device);
        if (!stage) return hipErrorOutOfMemory;
        std::memcpy(stage, from, size);
        from = stage;
        staged = true;
      } else {
        wait_for_it = true;
      }
    }
    hipError_t status = stream.copy(request.to.base, agent_of(request.to.base), from, agent_of(from), size);
    if (status != hipSuccess) return status;
    done = stream.last;
    if (staged) stream.kernargs.used_by(done);
  }
  const hipError_t status = wait_for_it ? wait(done) : hipSuccess;
  read_stage(request.from.base, request.to.base, size);
  return status;
}

hipError_t submit_rect(Stream& stream, const CopyRequest& request, Blocking blocking, bool to_device,
                       bool from_device) {
  const hsa_pitched_ptr_t to{request.to.base, request.to.pitch, request.to.slice};
  const hsa_pitched_ptr_t from{request.from.base, request.from.pitch, request.from.slice};
  const hsa_dim3_t zero{0, 0, 0};
  const hsa_dim3_t range{uint32_t(request.width), uint32_t(request.height), uint32_t(request.depth)};
  auto direction = to_device ? (from_device ? hsaDeviceToDevice : hsaHostToDevice) : hsaDeviceToHost;
  const size_t size = request.width * request.height * request.depth;
  CompletionRef done;
  fill_stage(request.from.base, request.to.base, size);
  {
    std::lock_guard lock(stream.device.mutex);
    hipError_t status = stream.copy_rect(to, zero, from, zero, range, direction);
    if (status != hipSuccess) return status;
    done = stream.last;
  }
  const bool wait_for_it = blocking == Blocking::Yes || pageable(request.to.base) || pageable(request.from.base);
  const hipError_t status = wait_for_it ? wait(done) : hipSuccess;
  read_stage(request.from.base, request.to.base, size);
  return status;
}

}  // namespace

hipError_t check_copy(const CopyRequest& request) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  if (!request.to.base || !request.from.base) return hipErrorInvalidValue;
  switch (request.kind) {
    case hipMemcpyHostToHost:
    case hipMemcpyHostToDevice:
    case hipMemcpyDeviceToHost:
    case hipMemcpyDeviceToDevice:
    case hipMemcpyDefault:
    case hipMemcpyDeviceToDeviceNoCU: break;
    default: return hipErrorInvalidMemcpyDirection;
  }
  if (request.height > 1 && (request.to.pitch < request.width || request.from.pitch < request.width))
    return hipErrorInvalidPitchValue;
  const bool device_to_device = request.kind == hipMemcpyDeviceToDevice || request.kind == hipMemcpyDeviceToDeviceNoCU;
  // As ROCm does, a plain copy believes the pointers where they and the direction disagree.
  const bool one_side = (request.kind == hipMemcpyHostToDevice || request.kind == hipMemcpyDeviceToHost) &&
                        request.height == 1 && request.depth == 1;
  if (one_side && !memory_map().find(request.to.base) && !memory_map().find(request.from.base))
    return hipErrorInvalidValue;
  auto known = [&](hipMemcpyKind kind) { return device_to_device || (request.kind == kind && !one_side); };
  bool device = false;
  size_t bytes = span(request.to, request.width, request.height, request.depth);
  hipError_t status = check_side(request.to, bytes, known(hipMemcpyHostToDevice), device);
  if (status != hipSuccess) return status;
  bytes = span(request.from, request.width, request.height, request.depth);
  return check_side(request.from, bytes, known(hipMemcpyDeviceToHost), device);
}

hipError_t check_fill(const FillRequest& request) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  if (!request.to.base) return hipErrorInvalidValue;
  const size_t row = request.width * request.element;
  if (request.height > 1 && request.to.pitch < row) return hipErrorInvalidPitchValue;
  bool device = false;
  return check_side(request.to, span(request.to, row, request.height, request.depth), true, device);
}

hipError_t submit_copy(Stream& stream, const CopyRequest& request, Blocking blocking) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  bool to_device = false, from_device = false;
  (void)check_side(request.to, 0, false, to_device);
  (void)check_side(request.from, 0, false, from_device);
  if (!to_device && !from_device) {
    if (pageable(request.to.base) || pageable(request.from.base)) blocking = Blocking::Yes;
    return run_on_host(stream, blocking, request.width * request.height * request.depth,
                       [request] { copy_box(request); });
  }
  if (request.linear()) return submit_linear(stream, request, blocking);
  if (request.width > UINT32_MAX) return hipErrorInvalidValue;
  return submit_rect(stream, request, blocking, to_device, from_device);
}

hipError_t submit_fill(Stream& stream, const FillRequest& request, Blocking blocking) {
  if (request.width == 0 || request.height == 0 || request.depth == 0) return hipSuccess;
  const size_t bytes = request.width * request.element * request.height * request.depth;
  if (!time_is_modelled()) return run_on_host(stream, blocking, bytes, [request] { fill_box(request); });
  CompletionRef done;
  {
    std::lock_guard lock(stream.device.mutex);
    const bool rows = request.height * request.depth > 1;
    hipError_t status = stream.timed_fill(request.to.base, bytes, rows, [request] { fill_box(request); });
    if (status != hipSuccess) return status;
    done = stream.last;
  }
  return blocking == Blocking::Yes ? wait(done) : hipSuccess;
}

hipError_t copy(Stream& stream, const CopyRequest& request, Blocking blocking) {
  if (hipError_t status = check_copy(request)) return status;
  check_kind(request);
  if (stream.capture) {
    if (blocking == Blocking::Yes) return capture_invalidate(stream);
    return capture_copy(stream, request);
  }
  return submit_copy(stream, request, blocking);
}

hipError_t fill(Stream& stream, const FillRequest& request, Blocking blocking) {
  if (hipError_t status = check_fill(request)) return status;
  if (stream.capture) {
    if (blocking == Blocking::Yes) return capture_invalidate(stream);
    return capture_fill(stream, request);
  }
  return submit_fill(stream, request, blocking);
}

}  // namespace hip
