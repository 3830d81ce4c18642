// The copy functions of the API: each says in its own way from where to where.
#include "api_impl.h"
#include "array.h"
#include "copy_params.h"
#include "memory.h"
#include "module.h"

namespace hip {

namespace {

hipError_t run(hipStream_t handle, const CopyRequest& request, Blocking blocking) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  return copy(*stream, request, blocking);
}

// Blocking copies go through the null stream, of the thread where `handle` says so.
hipError_t run_now(const CopyRequest& request, hipStream_t handle = nullptr) {
  return run(handle, request, Blocking::Yes);
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

hipError_t symbol_copy(const void* symbol, size_t offset, size_t size, Variable& variable) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!symbol) return hipErrorInvalidSymbol;
  if (hipError_t status = find_variable(symbol, *device, variable)) return status;
  if (offset > variable.size || size > variable.size - offset) return hipErrorInvalidValue;
  variable.address = static_cast<char*>(variable.address) + offset;
  return hipSuccess;
}

hipError_t to_symbol(const void* symbol, const void* src, size_t size, size_t offset, hipMemcpyKind kind,
                     hipStream_t stream, Blocking blocking) {
  if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  Variable variable;
  if (hipError_t status = symbol_copy(symbol, offset, size, variable)) return status;
  return run(stream, linear_copy(variable.address, src, size, kind), blocking);
}

hipError_t from_symbol(void* dst, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind,
                       hipStream_t stream, Blocking blocking) {
  if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  Variable variable;
  if (hipError_t status = symbol_copy(symbol, offset, size, variable)) return status;
  return run(stream, linear_copy(dst, variable.address, size, kind), blocking);
}

hipError_t to_array(hipArray_t dst, size_t x, size_t y, const void* src, size_t spitch, size_t width, size_t height,
                    hipMemcpyKind kind, hipStream_t stream, Blocking blocking) {
  if (!fits_2d(dst, x, y, width, height)) return hipErrorInvalidValue;
  return run(stream, box_2d(at(dst, x, y), dst->pitch(), src, spitch, width, height, kind), blocking);
}

hipError_t from_array(void* dst, size_t dpitch, hipArray_const_t src, size_t x, size_t y, size_t width, size_t height,
                      hipMemcpyKind kind, hipStream_t stream, Blocking blocking) {
  if (!fits_2d(src, x, y, width, height)) return hipErrorInvalidValue;
  return run(stream, box_2d(dst, dpitch, at(src, x, y), src->pitch(), width, height, kind), blocking);
}

hipError_t run_3d(const hipMemcpy3DParms* p, hipStream_t stream, Blocking blocking) {
  CopyRequest request;
  if (hipError_t status = copy_request(p, request)) return status;
  return run(stream, request, blocking);
}

hipError_t run_driver_3d(const HIP_MEMCPY3D* p, hipStream_t stream, Blocking blocking) {
  CopyRequest request;
  if (hipError_t status = copy_request(p, request)) return status;
  return run(stream, request, blocking);
}

hipError_t run_param_2d(const hip_Memcpy2D* p, hipStream_t stream, Blocking blocking) {
  CopyRequest request;
  if (hipError_t status = copy_request(p, request)) return status;
  return run(stream, request, blocking);
}

hipError_t run_peer(void* dst, int dst_device, const void* src, int src_device, size_t size, hipStream_t stream,
                    Blocking blocking) {
  if (!device_at(dst_device) || !device_at(src_device)) return hipErrorInvalidDevice;
  return run(stream, linear_copy(dst, src, size, hipMemcpyDeviceToDevice), blocking);
}

}  // namespace

hipError_t hipMemcpy(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind) {
  return run_now(linear_copy(dst, src, sizeBytes, kind));
}
hipError_t hipMemcpy_spt(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind) {
  return run_now(linear_copy(dst, src, sizeBytes, kind), hipStreamPerThread);
}
hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream) {
  return run(stream, linear_copy(dst, src, sizeBytes, kind), Blocking::Yes);
}
hipError_t hipMemcpyAsync(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream) {
  return run(stream, linear_copy(dst, src, sizeBytes, kind), Blocking::No);
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void* src, size_t sizeBytes) {
  return run_now(linear_copy(dst, src, sizeBytes, hipMemcpyHostToDevice));
}
hipError_t hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t sizeBytes) {
  return run_now(linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToHost));
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes) {
  return run_now(linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice));
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void* src, size_t sizeBytes, hipStream_t stream) {
  return run(stream, linear_copy(dst, src, sizeBytes, hipMemcpyHostToDevice), Blocking::No);
}
hipError_t hipMemcpyDtoHAsync(void* dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream) {
  return run(stream, linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToHost), Blocking::No);
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream) {
  return run(stream, linear_copy(dst, src, sizeBytes, hipMemcpyDeviceToDevice), Blocking::No);
}
hipError_t hipMemcpyPeer(void* dst, int dstDeviceId, const void* src, int srcDeviceId, size_t sizeBytes) {
  return run_peer(dst, dstDeviceId, src, srcDeviceId, sizeBytes, nullptr, Blocking::Yes);
}
hipError_t hipMemcpyPeerAsync(void* dst, int dstDeviceId, const void* src, int srcDevice, size_t sizeBytes,
                              hipStream_t stream) {
  return run_peer(dst, dstDeviceId, src, srcDevice, sizeBytes, stream, Blocking::No);
}
hipError_t hipMemcpyBatchAsync(void** dsts, void** srcs, size_t* sizes, size_t count, hipMemcpyAttributes*, size_t*,
                               size_t, size_t* failIdx, hipStream_t stream) {
  if (!dsts || !srcs || !sizes || count == 0) return hipErrorInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    hipError_t status = run(stream, linear_copy(dsts[i], srcs[i], sizes[i], hipMemcpyDefault), Blocking::No);
    if (status == hipSuccess) continue;
    if (failIdx) *failIdx = i;
    return status;
  }
  return hipSuccess;
}

// ---- two dimensions and more ------------------------------------------------------------------------

hipError_t hipMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return run_now(box_2d(dst, dpitch, src, spitch, width, height, kind));
}
hipError_t hipMemcpy2D_spt(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                           hipMemcpyKind kind) {
  return run_now(box_2d(dst, dpitch, src, spitch, width, height, kind), hipStreamPerThread);
}
hipError_t hipMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return run(stream, box_2d(dst, dpitch, src, spitch, width, height, kind), Blocking::No);
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D* pCopy) { return run_param_2d(pCopy, nullptr, Blocking::Yes); }
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* pCopy, hipStream_t stream) {
  return run_param_2d(pCopy, stream, Blocking::No);
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) { return run_3d(p, nullptr, Blocking::Yes); }
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* p) { return run_3d(p, hipStreamPerThread, Blocking::Yes); }
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t stream) { return run_3d(p, stream, Blocking::No); }
hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* pCopy) { return run_driver_3d(pCopy, nullptr, Blocking::Yes); }
hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* pCopy, hipStream_t stream) {
  return run_driver_3d(pCopy, stream, Blocking::No);
}

// ---- symbols ---------------------------------------------------------------------------------------

hipError_t hipMemcpyToSymbol(const void* symbol, const void* src, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, nullptr, Blocking::Yes);
}
hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* src, size_t sizeBytes, size_t offset,
                                 hipMemcpyKind kind) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, hipStreamPerThread, Blocking::Yes);
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* src, size_t sizeBytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  return to_symbol(symbol, src, sizeBytes, offset, kind, stream, Blocking::No);
}
hipError_t hipMemcpyFromSymbol(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, nullptr, Blocking::Yes);
}
hipError_t hipMemcpyFromSymbol_spt(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, hipStreamPerThread, Blocking::Yes);
}
hipError_t hipMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return from_symbol(dst, symbol, sizeBytes, offset, kind, stream, Blocking::No);
}

// ---- arrays ----------------------------------------------------------------------------------------

hipError_t hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                              size_t width, size_t height, hipMemcpyKind kind) {
  return to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, nullptr, Blocking::Yes);
}
hipError_t hipMemcpy2DToArray_spt(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                                  size_t width, size_t height, hipMemcpyKind kind) {
  return to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, hipStreamPerThread, Blocking::Yes);
}
hipError_t hipMemcpy2DToArrayAsync(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t spitch,
                                   size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return to_array(dst, wOffset, hOffset, src, spitch, width, height, kind, stream, Blocking::No);
}
hipError_t hipMemcpy2DFromArray(void* dst, size_t dpitch, hipArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t width, size_t height, hipMemcpyKind kind) {
  return from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, nullptr, Blocking::Yes);
}
hipError_t hipMemcpy2DFromArray_spt(void* dst, size_t dpitch, hipArray_const_t src, size_t wOffset, size_t hOffset,
                                    size_t width, size_t height, hipMemcpyKind kind) {
  return from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, hipStreamPerThread, Blocking::Yes);
}
hipError_t hipMemcpy2DFromArrayAsync(void* dst, size_t dpitch, hipArray_const_t src, size_t wOffset, size_t hOffset,
                                     size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return from_array(dst, dpitch, src, wOffset, hOffset, width, height, kind, stream, Blocking::No);
}
hipError_t hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst, hipArray_const_t src,
                                   size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
                                   hipMemcpyKind kind) {
  if (!fits_2d(src, wOffsetSrc, hOffsetSrc, width, height)) return hipErrorInvalidValue;
  return to_array(dst, wOffsetDst, hOffsetDst, at(src, wOffsetSrc, hOffsetSrc), src->pitch(), width, height, kind,
                  nullptr, Blocking::Yes);
}
hipError_t hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src, size_t count,
                            hipMemcpyKind kind) {
  if (!fits(dst, wOffset, hOffset, count)) return hipErrorInvalidValue;
  return run_now(linear_copy(at(dst, wOffset, hOffset), src, count, kind));
}
hipError_t hipMemcpyFromArray(void* dst, hipArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                              hipMemcpyKind kind) {
  if (!fits(src, wOffset, hOffset, count)) return hipErrorInvalidValue;
  return run_now(linear_copy(dst, at(src, wOffset, hOffset), count, kind));
}
hipError_t hipMemcpyFromArray_spt(void* dst, hipArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
                                  hipMemcpyKind kind) {
  if (!fits(src, wOffset, hOffset, count)) return hipErrorInvalidValue;
  return run_now(linear_copy(dst, at(src, wOffset, hOffset), count, kind), hipStreamPerThread);
}
hipError_t hipMemcpyAtoH(void* dst, hipArray_t srcArray, size_t srcOffset, size_t count) {
  if (!fits(srcArray, srcOffset, 0, count)) return hipErrorInvalidValue;
  return run_now(linear_copy(dst, at(srcArray, srcOffset, 0), count, hipMemcpyDeviceToHost));
}
hipError_t hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void* srcHost, size_t count) {
  if (!fits(dstArray, dstOffset, 0, count)) return hipErrorInvalidValue;
  return run_now(linear_copy(at(dstArray, dstOffset, 0), srcHost, count, hipMemcpyHostToDevice));
}
hipError_t hipMemcpyAtoHAsync(void* dstHost, hipArray_t srcArray, size_t srcOffset, size_t ByteCount,
                              hipStream_t stream) {
  if (!fits(srcArray, srcOffset, 0, ByteCount)) return hipErrorInvalidValue;
  return run(stream, linear_copy(dstHost, at(srcArray, srcOffset, 0), ByteCount, hipMemcpyDeviceToHost), Blocking::No);
}
hipError_t hipMemcpyHtoAAsync(hipArray_t dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount,
                              hipStream_t stream) {
  if (!fits(dstArray, dstOffset, 0, ByteCount)) return hipErrorInvalidValue;
  return run(stream, linear_copy(at(dstArray, dstOffset, 0), srcHost, ByteCount, hipMemcpyHostToDevice), Blocking::No);
}
hipError_t hipMemcpyAtoD(hipDeviceptr_t dstDevice, hipArray_t srcArray, size_t srcOffset, size_t ByteCount) {
  if (!fits(srcArray, srcOffset, 0, ByteCount)) return hipErrorInvalidValue;
  return run_now(linear_copy(dstDevice, at(srcArray, srcOffset, 0), ByteCount, hipMemcpyDeviceToDevice));
}
hipError_t hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, hipDeviceptr_t srcDevice, size_t ByteCount) {
  if (!fits(dstArray, dstOffset, 0, ByteCount)) return hipErrorInvalidValue;
  return run_now(linear_copy(at(dstArray, dstOffset, 0), srcDevice, ByteCount, hipMemcpyDeviceToDevice));
}
hipError_t hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray, size_t srcOffset,
                         size_t ByteCount) {
  if (!fits(dstArray, dstOffset, 0, ByteCount) || !fits(srcArray, srcOffset, 0, ByteCount)) return hipErrorInvalidValue;
  return run_now(
      linear_copy(at(dstArray, dstOffset, 0), at(srcArray, srcOffset, 0), ByteCount, hipMemcpyDeviceToDevice));
}

// ---- the default stream of the calling thread ---------------------------------------------------------

}  // namespace hip
