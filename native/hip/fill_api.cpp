// The memset functions of the API.
#include "api_impl.h"
#include "memory.h"

namespace hip {

namespace {

hipError_t run(hipStream_t handle, const FillRequest& request, Blocking blocking) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  return fill(*stream, request, blocking);
}

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

FillRequest box_3d(const hipPitchedPtr& p, int value, const hipExtent& extent) {
  return box(p.ptr, p.pitch, p.ysize, low_byte(value), 1, extent.width, extent.height, extent.depth);
}

}  // namespace

hipError_t hipMemset(void* dst, int value, size_t sizeBytes) {
  return run(nullptr, row(dst, low_byte(value), 1, sizeBytes), Blocking::Yes);
}
hipError_t hipMemset_spt(void* dst, int value, size_t sizeBytes) {
  return run(hipStreamPerThread, row(dst, low_byte(value), 1, sizeBytes), Blocking::Yes);
}
hipError_t hipMemsetAsync(void* dst, int value, size_t sizeBytes, hipStream_t stream) {
  return run(stream, row(dst, low_byte(value), 1, sizeBytes), Blocking::No);
}
hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count) {
  return run(nullptr, row(dest, value, 1, count), Blocking::Yes);
}
hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count, hipStream_t stream) {
  return run(stream, row(dest, value, 1, count), Blocking::No);
}
hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count) {
  return run(nullptr, row(dest, value, 2, count), Blocking::Yes);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count, hipStream_t stream) {
  return run(stream, row(dest, value, 2, count), Blocking::No);
}
hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count) {
  return run(nullptr, row(dest, uint32_t(value), 4, count), Blocking::Yes);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return run(stream, row(dst, uint32_t(value), 4, count), Blocking::No);
}
hipError_t hipMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return run(nullptr, box(dst, pitch, height, low_byte(value), 1, width, height, 1), Blocking::Yes);
}
hipError_t hipMemset2D_spt(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return run(hipStreamPerThread, box(dst, pitch, height, low_byte(value), 1, width, height, 1), Blocking::Yes);
}
hipError_t hipMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return run(stream, box(dst, pitch, height, low_byte(value), 1, width, height, 1), Blocking::No);
}
hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent) {
  return run(nullptr, box_3d(pitchedDevPtr, value, extent), Blocking::Yes);
}
hipError_t hipMemset3D_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent) {
  return run(hipStreamPerThread, box_3d(pitchedDevPtr, value, extent), Blocking::Yes);
}
hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent, hipStream_t stream) {
  return run(stream, box_3d(pitchedDevPtr, value, extent), Blocking::No);
}
hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width, size_t height) {
  return run(nullptr, box(dst, dstPitch, height, value, 1, width, height, 1), Blocking::Yes);
}
hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width, size_t height,
                              hipStream_t stream) {
  return run(stream, box(dst, dstPitch, height, value, 1, width, height, 1), Blocking::No);
}
hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width, size_t height) {
  return run(nullptr, box(dst, dstPitch, height, value, 2, width, height, 1), Blocking::Yes);
}
hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width, size_t height,
                               hipStream_t stream) {
  return run(stream, box(dst, dstPitch, height, value, 2, width, height, 1), Blocking::No);
}
hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width, size_t height) {
  return run(nullptr, box(dst, dstPitch, height, value, 4, width, height, 1), Blocking::Yes);
}
hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width, size_t height,
                               hipStream_t stream) {
  return run(stream, box(dst, dstPitch, height, value, 4, width, height, 1), Blocking::No);
}

}  // namespace hip
