// The copy functions of the API: each says in its own way from where to where. gen_api.py makes the ways to
// call them (at once, in a stream, in the thread's own), of those that api_table.txt lists under [moves].
#include "api_impl.h"
#include "array.h"
#include "copy_params.h"
#include "memory.h"
#include "module.h"

namespace hip {

namespace {

CopyRequest not_possible(hipError_t why) {
  CopyRequest request;
  request.refused = why;
  return request;
}

CopyRequest box_2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                   hipMemcpyKind kind) {
  CopyRequest request;
  request.to = {dst, dpitch, dpitch * height};
  request.from = {const_cast<void*>(src), spitch, spitch * height};
  request.width = width;
  request.height = height;
  request.kind = kind;
  return request;
}

char* at(const hipArray* array, size_t x_bytes, size_t y) {
  return static_cast<char*>(array->data) + y * array->pitch() + x_bytes;
}

// `bytes` in row-major order from a place in an array; rows follow each other without gaps.
bool fits(const hipArray* array, size_t x_bytes, size_t y, size_t bytes) {
  return array && y * array->pitch() + x_bytes + bytes <= array->bytes();
}

bool fits_2d(const hipArray* array, size_t x_bytes, size_t y, size_t width, size_t height) {
  return array && x_bytes + width <= array->pitch() && y + height <= array->rows();
}

// `kind` is one of the two that may be, or left open.
CopyRequest symbol_copy(const void* symbol, size_t offset, size_t size, void* to, const void* from, hipMemcpyKind kind,
                        hipMemcpyKind with_host) {
  if (kind != with_host && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return not_possible(hipErrorInvalidMemcpyDirection);
  Device* device;
  if (hipError_t status = check_device(device)) return not_possible(status);
  if (!symbol) return not_possible(hipErrorInvalidSymbol);
  Variable variable;
  if (hipError_t status = find_variable(symbol, *device, variable)) return not_possible(status);
  if (offset > variable.size || size > variable.size - offset) return not_possible(hipErrorInvalidValue);
  char* const place = static_cast<char*>(variable.address) + offset;
  return with_host == hipMemcpyHostToDevice ? linear_copy(place, from, size, kind) : linear_copy(to, place, size, kind);
}

template <class Params>
CopyRequest described(const Params* params) {
  CopyRequest request;
  request.refused = copy_request(params, request);
  return request;
}

}  // namespace

hipError_t move(const CopyRequest& request, hipStream_t handle, Blocking blocking) {
  if (request.refused) return request.refused;
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  return copy(*stream, request, blocking);
}

namespace requests {

CopyRequest hipMemcpy(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind) {
  return linear_copy(dst, src, sizeBytes, kind);
}
CopyRequest hipMemcpyHtoD(hipDeviceptr_t dst, const void* src, size_t sizeBytes) {
  return linear_copy(dst, src, sizeBytes, hipMemcpyHostToDevice);
}
CopyRequest hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t sizeBytes) {
  return linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToHost);
}
CopyRequest hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes) {
  return linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice);
}
CopyRequest hipMemcpyPeer(void* dst, int dstDeviceId, const void* src, int srcDeviceId, size_t sizeBytes) {
  if (!device_at(dstDeviceId) || !device_at(srcDeviceId)) return not_possible(hipErrorInvalidDevice);
  return linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice);
}

// ---- two dimensions and more ------------------------------------------------------------------------

CopyRequest hipMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                        hipMemcpyKind kind) {
  return box_2d(dst, dpitch, src, spitch, width, height, kind);
}
CopyRequest hipMemcpyParam2D(const hip_Memcpy2D* pCopy) { return described(pCopy); }
CopyRequest hipMemcpy3D(const hipMemcpy3DParms* p) { return described(p); }
CopyRequest hipDrvMemcpy3D(const HIP_MEMCPY3D* pCopy) { return described(pCopy); }

// ---- symbols ---------------------------------------------------------------------------------------

CopyRequest hipMemcpyToSymbol(const void* symbol, const void* src, size_t sizeBytes, size_t offset,
                              hipMemcpyKind kind) {
  return symbol_copy(symbol, offset, sizeBytes, nullptr, src, kind, hipMemcpyHostToDevice);
}
CopyRequest hipMemcpyFromSymbol(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return symbol_copy(symbol, offset, sizeBytes, dst, nullptr, kind, hipMemcpyDeviceToHost);
}

// ---- arrays ----------------------------------------------------------------------------------------

CopyRequest hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                               size_t width, size_t height, hipMemcpyKind kind) {
  if (!fits_2d(dst, wOffset, hOffset, width, height)) return not_possible(hipErrorInvalidValue);
  return box_2d(at(dst, wOffset, hOffset), dst->pitch(), src, spitch, width, height, kind);
}
CopyRequest hipMemcpy2DFromArray(void* dst, size_t dpitch, hipArray_const_t src, size_t wOffset, size_t hOffset,
                                 size_t width, size_t height, hipMemcpyKind kind) {
  if (!fits_2d(src, wOffset, hOffset, width, height)) return not_possible(hipErrorInvalidValue);
  return box_2d(dst, dpitch, at(src, wOffset, hOffset), src->pitch(), width, height, kind);
}
CopyRequest hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst, hipArray_const_t src,
                                    size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                    hipMemcpyKind kind) {
  if (!fits_2d(src, wOffsetSrc, hOffsetSrc, width, height)) return not_possible(hipErrorInvalidValue);
  return requests::hipMemcpy2DToArray(dst, wOffsetDst, hOffsetDst, at(src, wOffsetSrc, hOffsetSrc), src->pitch(), width,
                                      height, kind);
}
CopyRequest hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                             hipMemcpyKind kind) {
  if (!fits(dst, wOffset, hOffset, count)) return not_possible(hipErrorInvalidValue);
  return linear_copy(at(dst, wOffset, hOffset), src, count, kind);
}
CopyRequest hipMemcpyFromArray(void* dst, hipArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                               hipMemcpyKind kind) {
  if (!fits(src, wOffset, hOffset, count)) return not_possible(hipErrorInvalidValue);
  return linear_copy(dst, at(src, wOffset, hOffset), count, kind);
}
CopyRequest hipMemcpyAtoH(void* dst, hipArray_t srcArray, size_t srcOffset, size_t count) {
  return requests::hipMemcpyFromArray(dst, srcArray, srcOffset, 0, count, hipMemcpyDeviceToHost);
}
CopyRequest hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void* srcHost, size_t count) {
  return requests::hipMemcpyToArray(dstArray, dstOffset, 0, srcHost, count, hipMemcpyHostToDevice);
}
CopyRequest hipMemcpyAtoD(hipDeviceptr_t dstDevice, hipArray_t srcArray, size_t srcOffset, size_t ByteCount) {
  return requests::hipMemcpyFromArray(dstDevice, srcArray, srcOffset, 0, ByteCount, hipMemcpyDeviceToDevice);
}
CopyRequest hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, hipDeviceptr_t srcDevice, size_t ByteCount) {
  return requests::hipMemcpyToArray(dstArray, dstOffset, 0, srcDevice, ByteCount, hipMemcpyDeviceToDevice);
}
CopyRequest hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray, size_t srcOffset,
                          size_t ByteCount) {
  if (!fits(srcArray, srcOffset, 0, ByteCount)) return not_possible(hipErrorInvalidValue);
  return requests::hipMemcpyDtoA(dstArray, dstOffset, at(srcArray, srcOffset, 0), ByteCount);
}

}  // namespace requests

hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream) {
  return move(linear_copy(dst, src, sizeBytes, kind), stream, Blocking::Yes);
}
hipError_t hipMemcpyBatchAsync(void** dsts, void** srcs, size_t* sizes, size_t count, hipMemcpyAttributes*, size_t*,
                               size_t, size_t* failIdx, hipStream_t stream) {
  if (!dsts || !srcs || !sizes || count == 0) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    hipError_t status = move(linear_copy(dsts[i], srcs[i], sizes[i], hipMemcpyDefault), stream, Blocking::No);
    if (status == hipSuccess) continue;
    if (failIdx) *failIdx = i;
    return status;
  }
  return hipSuccess;
}

}  // namespace hip
