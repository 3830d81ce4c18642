// The memset functions of the API: what each fills. As with copies, gen_api.py makes the ways to call them.
#include "api_impl.h"
#include "memory.h"

namespace hip {

namespace {

FillRequest row(void* dst, uint32_t value, uint32_t element, size_t count) {
  FillRequest request;
  request.to = {dst, count * element, count * element};
  request.value = value;
  request.element = element;
  request.width = count;
  return request;
}

FillRequest box(void* dst, size_t pitch, size_t rows, uint32_t value, uint32_t element, size_t width, size_t height,
                size_t depth) {
  FillRequest request;
  request.to = {dst, pitch, pitch * rows};
  request.value = value;
  request.element = element;
  request.width = width;
  request.height = height;
  request.depth = depth;
  return request;
}

uint32_t low_byte(int value) { return uint32_t(value) & 0xff; }

}  // namespace

hipError_t move(const FillRequest& request, hipStream_t handle, Blocking blocking) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  return fill(*stream, request, blocking);
}

namespace requests {

FillRequest hipMemset(void* dst, int value, size_t sizeBytes) { return row(dst, low_byte(value), 1, sizeBytes); }
FillRequest hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count) { return row(dest, value, 1, count); }
FillRequest hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count) { return row(dest, value, 2, count); }
FillRequest hipMemsetD32(hipDeviceptr_t dest, int value, size_t count) { return row(dest, uint32_t(value), 4, count); }
FillRequest hipMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return box(dst, pitch, height, low_byte(value), 1, width, height, 1);
}
FillRequest hipMemset3D(hipPitchedPtr p, int value, hipExtent extent) {
  return box(p.ptr, p.pitch, p.ysize, low_byte(value), 1, extent.width, extent.height, extent.depth);
}
FillRequest hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width, size_t height) {
  return box(dst, dstPitch, height, value, 1, width, height, 1);
}
FillRequest hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width, size_t height) {
  return box(dst, dstPitch, height, value, 2, width, height, 1);
}
FillRequest hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width, size_t height) {
  return box(dst, dstPitch, height, value, 4, width, height, 1);
}

}  // namespace requests
}  // namespace hip
