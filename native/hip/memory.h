// Allocations, copies and fills as the API functions, graphs and pools use them.
#pragma once

#include "memory_map.h"
#include "stream.h"

namespace hip {

// Device memory; `alignment` above HSA's own is honoured.
hipError_t allocate_device(Device& device, size_t size, unsigned flags, void** address);
hipError_t allocate_host(size_t size, unsigned flags, MemoryKind kind, void** address);
hipError_t free_allocation(const Allocation& allocation);

// A box of bytes in memory with rows and planes at a distance.
struct Pitched {
  void* base = nullptr;
  size_t pitch = 0, slice = 0;  // bytes from row to row, from plane to plane
};

struct CopyRequest {
  Pitched to, from;
  size_t width = 0, height = 1, depth = 1;  // bytes, rows, planes
  hipMemcpyKind kind = hipMemcpyDefault;
  hipError_t refused = hipSuccess;  // why there is no such copy
  bool linear() const { return depth == 1 && (height == 1 || (to.pitch == width && from.pitch == width)); }
};

struct FillRequest {
  Pitched to;
  uint32_t value = 0, element = 1;          // element size in bytes
  size_t width = 0, height = 1, depth = 1;  // elements, rows, planes
};

enum class Blocking : bool { No, Yes };  // whether the call returns only when the work is done

// What an API function asks for, in the stream that `handle` names.
hipError_t move(const CopyRequest& request, hipStream_t handle, Blocking blocking);
hipError_t move(const FillRequest& request, hipStream_t handle, Blocking blocking);
// Checks, then captures or submits.
hipError_t copy(Stream& stream, const CopyRequest& request, Blocking blocking);
hipError_t fill(Stream& stream, const FillRequest& request, Blocking blocking);
// Checks and submits.
hipError_t submit_copy(Stream& stream, const CopyRequest& request, Blocking blocking);
hipError_t submit_fill(Stream& stream, const FillRequest& request, Blocking blocking);

hipError_t check_copy(const CopyRequest& request);
hipError_t check_fill(const FillRequest& request);

inline CopyRequest linear_copy(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  CopyRequest request;
  request.to = {to, size, size};
  request.from = {const_cast<void*>(from), size, size};
  request.width = size;
  request.kind = kind;
  return request;
}

// The device stream `handle` names, after the checks every enqueuing call makes.
hipError_t stream_for_work(hipStream_t handle, Stream*& stream);

}  // namespace hip
