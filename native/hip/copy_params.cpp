#include "copy_params.h"

#include "array.h"

namespace hip {

namespace {

Pitched in_array(const hipArray* array, size_t x_bytes, size_t y, size_t z) {
  size_t slice = array->pitch() * array->rows();
  return {static_cast<char*>(array->data) + z * slice + y * array->pitch() + x_bytes, array->pitch(), slice};
}

Pitched in_memory(const void* base, size_t pitch, size_t rows, size_t x_bytes, size_t y, size_t z) {
  size_t slice = pitch * rows;
  return {const_cast<char*>(static_cast<const char*>(base)) + z * slice + y * pitch + x_bytes, pitch, slice};
}

// One side of a driver-style copy: which of its three pointers counts is said by its type.
struct DriverSide {
  hipMemoryType type;
  const void* host;
  const void* device;
  const hipArray* array;
  size_t pitch, rows, x, y, z;
};

hipError_t resolve(const DriverSide& side, size_t width, Pitched& place, bool& host) {
  host = false;
  size_t pitch = side.pitch ? side.pitch : width;
  switch (side.type) {
    case hipMemoryTypeHost:
      host = true;
      place = in_memory(side.host, pitch, side.rows, side.x, side.y, side.z);
      return side.host ? hipSuccess : hipErrorInvalidValue;
    case hipMemoryTypeDevice:
    case hipMemoryTypeUnified:
    case hipMemoryTypeManaged:
      place = in_memory(side.device, pitch, side.rows, side.x, side.y, side.z);
      return side.device ? hipSuccess : hipErrorInvalidValue;
    case hipMemoryTypeArray:
      if (!side.array || !side.array->data) return hipErrorInvalidValue;
      if (side.x + width > side.array->pitch()) return hipErrorInvalidValue;
      place = in_array(side.array, side.x, side.y, side.z);
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

hipError_t from_sides(const DriverSide& to, const DriverSide& from, size_t width, size_t height, size_t depth,
                      CopyRequest& request) {
  bool to_host, from_host;
  if (hipError_t status = resolve(to, width, request.to, to_host)) return status;
  if (hipError_t status = resolve(from, width, request.from, from_host)) return status;
  request.width = width;
  request.height = height;
  request.depth = depth;
  request.kind = to_host ? (from_host ? hipMemcpyHostToHost : hipMemcpyDeviceToHost)
                         : (from_host ? hipMemcpyHostToDevice : hipMemcpyDeviceToDevice);
  // "Unified" addresses may be anywhere.
  if (to.type == hipMemoryTypeUnified || from.type == hipMemoryTypeUnified) request.kind = hipMemcpyDefault;
  return hipSuccess;
}

}  // namespace

hipError_t copy_request(const hipMemcpy3DParms* p, CopyRequest& request) {
  if (!p) return hipErrorInvalidValue;
  if ((p->srcArray && p->srcPtr.ptr) || (p->dstArray && p->dstPtr.ptr)) return hipErrorInvalidValue;
  // Widths and x positions count elements where an array takes part, else bytes.
  size_t element = p->srcArray ? p->srcArray->element_bytes : p->dstArray ? p->dstArray->element_bytes : 1;
  request.width = p->extent.width * element;
  request.height = p->extent.height;
  request.depth = p->extent.depth;
  request.kind = p->kind;
  const auto place = [&](const hipArray* array, const hipPitchedPtr& memory, const hipPos& at, Pitched& found) {
    if (array && at.x * element + request.width > array->pitch()) return hipErrorInvalidValue;
    if (array) found = in_array(array, at.x * element, at.y, at.z);
    else if (memory.ptr) found = in_memory(memory.ptr, memory.pitch, memory.ysize, at.x, at.y, at.z);
    return array || memory.ptr ? hipSuccess : hipErrorInvalidValue;
  };
  if (hipError_t status = place(p->srcArray, p->srcPtr, p->srcPos, request.from)) return status;
  return place(p->dstArray, p->dstPtr, p->dstPos, request.to);
}

hipError_t copy_request(const HIP_MEMCPY3D* p, CopyRequest& request) {
  if (!p) return hipErrorInvalidValue;
  size_t source_rows = p->srcHeight ? p->srcHeight : p->Height;
  size_t target_rows = p->dstHeight ? p->dstHeight : p->Height;
  return from_sides({p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch, target_rows, p->dstXInBytes,
                     p->dstY, p->dstZ},
                    {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcPitch, source_rows, p->srcXInBytes,
                     p->srcY, p->srcZ},
                    p->WidthInBytes, p->Height, p->Depth, request);
}

hipError_t copy_request(const hip_Memcpy2D* p, CopyRequest& request) {
  if (!p) return hipErrorInvalidValue;
  return from_sides(
      {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstPitch, p->Height, p->dstXInBytes, p->dstY, 0},
      {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcPitch, p->Height, p->srcXInBytes, p->srcY, 0},
      p->WidthInBytes, p->Height, 1, request);
}

}  // namespace hip
