// Memory: allocation, copies, fills, pointers and symbols. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_MEMORY_H
#define ROCM_PERF_HIP_DETAIL_API_MEMORY_H

HIP_API hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device);
HIP_API hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* pConfig);
HIP_API hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
HIP_API hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute,
    hipDeviceptr_t ptr);
HIP_API hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr);
HIP_API hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t
    ptr);
HIP_API hipError_t hipDrvPointerGetAttributes(unsigned int numAttributes, hipPointer_attribute*
    attributes, void** data, hipDeviceptr_t ptr);
HIP_API hipError_t hipMalloc(void** ptr, size_t size);
HIP_API hipError_t hipExtMallocWithFlags(void** ptr, size_t sizeBytes, unsigned int flags);
HIP_API hipError_t hipMallocHost(void** ptr, size_t size);
HIP_API hipError_t hipMemAllocHost(void** ptr, size_t size);
HIP_API hipError_t hipHostMalloc(void** ptr, size_t size, unsigned int flags);
HIP_API hipError_t hipMallocManaged(void** dev_ptr, size_t size, unsigned int flags
    HIP_DEFAULT(hipMemAttachGlobal));
HIP_API hipError_t hipMemPrefetchAsync(const void* dev_ptr, size_t count, int device, hipStream_t
    stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemPrefetchAsync_v2(const void* dev_ptr, size_t count, hipMemLocation
    location, unsigned int flags, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemAdvise(const void* dev_ptr, size_t count, hipMemoryAdvise advice, int
    device);
HIP_API hipError_t hipMemAdvise_v2(const void* dev_ptr, size_t count, hipMemoryAdvise advice,
    hipMemLocation location);
HIP_API hipError_t hipMemRangeGetAttribute(void* data, size_t data_size, hipMemRangeAttribute
    attribute, const void* dev_ptr, size_t count);
HIP_API hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes, hipMemRangeAttribute*
    attributes, size_t num_attributes, const void* dev_ptr, size_t count);
HIP_API hipError_t hipHostAlloc(void** ptr, size_t size, unsigned int flags);
HIP_API hipError_t hipHostGetDevicePointer(void** devPtr, void* hstPtr, unsigned int flags);
HIP_API hipError_t hipHostGetFlags(unsigned int* flagsPtr, void* hostPtr);
HIP_API hipError_t hipHostRegister(void* hostPtr, size_t sizeBytes, unsigned int flags);
HIP_API hipError_t hipHostUnregister(void* hostPtr);
HIP_API hipError_t hipMallocPitch(void** ptr, size_t* pitch, size_t width, size_t height);
HIP_API hipError_t hipMemAllocPitch(hipDeviceptr_t* dptr, size_t* pitch, size_t widthInBytes, size_t
    height, unsigned int elementSizeBytes);
HIP_API hipError_t hipFree(void* ptr);
HIP_API hipError_t hipFreeHost(void* ptr);
HIP_API hipError_t hipHostFree(void* ptr);
HIP_API hipError_t hipMemcpy(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void* src, size_t sizeBytes);
HIP_API hipError_t hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t sizeBytes);
HIP_API hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes);
HIP_API hipError_t hipMemcpyAtoD(hipDeviceptr_t dstDevice, hipArray_t srcArray, size_t srcOffset,
    size_t ByteCount);
HIP_API hipError_t hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, hipDeviceptr_t srcDevice,
    size_t ByteCount);
HIP_API hipError_t hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray, size_t
    srcOffset, size_t ByteCount);
HIP_API hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void* src, size_t sizeBytes,
    hipStream_t stream);
HIP_API hipError_t hipMemcpyDtoHAsync(void* dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t
    stream);
HIP_API hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes,
    hipStream_t stream);
HIP_API hipError_t hipMemcpyAtoHAsync(void* dstHost, hipArray_t srcArray, size_t srcOffset, size_t
    ByteCount, hipStream_t stream);
HIP_API hipError_t hipMemcpyHtoAAsync(hipArray_t dstArray, size_t dstOffset, const void* srcHost,
    size_t ByteCount, hipStream_t stream);
HIP_API hipError_t hipModuleGetGlobal(hipDeviceptr_t* dptr, size_t* bytes, hipModule_t hmod, const
    char* name);
HIP_API hipError_t hipGetSymbolAddress(void** devPtr, const void* symbol);
HIP_API hipError_t hipGetSymbolSize(size_t* size, const void* symbol);
HIP_API hipError_t hipMemcpyToSymbol(const void* symbol, const void* src, size_t sizeBytes, size_t
    offset HIP_DEFAULT(0), hipMemcpyKind kind HIP_DEFAULT(hipMemcpyHostToDevice));
HIP_API hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* src, size_t sizeBytes,
    size_t offset, hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyFromSymbol(void* dst, const void* symbol, size_t sizeBytes, size_t
    offset HIP_DEFAULT(0), hipMemcpyKind kind HIP_DEFAULT(hipMemcpyDeviceToHost));
HIP_API hipError_t hipMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t sizeBytes, size_t
    offset, hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyAsync(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemset(void* dst, int value, size_t sizeBytes);
HIP_API hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count);
HIP_API hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count);
HIP_API hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count);
HIP_API hipError_t hipMemsetAsync(void* dst, int value, size_t sizeBytes, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height);
HIP_API hipError_t hipMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent);
HIP_API hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t
    width, size_t height);
HIP_API hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch, unsigned char value,
    size_t width, size_t height, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t
    width, size_t height);
HIP_API hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch, unsigned short value,
    size_t width, size_t height, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t
    width, size_t height);
HIP_API hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch, unsigned int value,
    size_t width, size_t height, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemGetInfo(size_t* free, size_t* total);
HIP_API hipError_t hipMemPtrGetInfo(void* ptr, size_t* size);
HIP_API hipError_t hipMallocArray(hipArray_t* array, const hipChannelFormatDesc* desc, size_t width,
    size_t height HIP_DEFAULT(0), unsigned int flags HIP_DEFAULT(hipArrayDefault));
HIP_API hipError_t hipArrayCreate(hipArray_t* pHandle, const HIP_ARRAY_DESCRIPTOR* pAllocateArray);
HIP_API hipError_t hipArrayDestroy(hipArray_t array);
HIP_API hipError_t hipArray3DCreate(hipArray_t* array, const HIP_ARRAY3D_DESCRIPTOR*
    pAllocateArray);
HIP_API hipError_t hipMalloc3D(hipPitchedPtr* pitchedDevPtr, hipExtent extent);
HIP_API hipError_t hipFreeArray(hipArray_t array);
HIP_API hipError_t hipMalloc3DArray(hipArray_t* array, const hipChannelFormatDesc* desc, hipExtent
    extent, unsigned int flags);
HIP_API hipError_t hipArrayGetInfo(hipChannelFormatDesc* desc, hipExtent* extent, unsigned int*
    flags, hipArray_t array);
HIP_API hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR* pArrayDescriptor, hipArray_t array);
HIP_API hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR* pArrayDescriptor, hipArray_t
    array);
HIP_API hipError_t hipMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t
    width, size_t height, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpyParam2D(const hip_Memcpy2D* pCopy);
HIP_API hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* pCopy, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t
    width, size_t height, hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void*
    src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy2DToArrayAsync(hipArray_t dst, size_t wOffset, size_t hOffset, const
    void* src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
    hipArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
    hipMemcpyKind kind);
HIP_API hipError_t hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void* src,
    size_t count, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpyFromArray(void* dst, hipArray_const_t srcArray, size_t wOffset, size_t
    hOffset, size_t count, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy2DFromArray(void* dst, size_t dpitch, hipArray_const_t src, size_t
    wOffset, size_t hOffset, size_t width, size_t height, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy2DFromArrayAsync(void* dst, size_t dpitch, hipArray_const_t src, size_t
    wOffset, size_t hOffset, size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyAtoH(void* dst, hipArray_t srcArray, size_t srcOffset, size_t count);
HIP_API hipError_t hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void* srcHost, size_t
    count);
HIP_API hipError_t hipMemcpy3D(const hipMemcpy3DParms* p);
HIP_API hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* pCopy);
HIP_API hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* pCopy, hipStream_t stream);
HIP_API hipError_t hipMemGetAddressRange(hipDeviceptr_t* pbase, size_t* psize, hipDeviceptr_t dptr);
HIP_API hipError_t hipMemcpyBatchAsync(void** dsts, void** srcs, size_t* sizes, size_t count,
    hipMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx, hipStream_t
    stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy3DBatchAsync(size_t numOps, hipMemcpy3DBatchOp* opList, size_t* failIdx,
    unsigned long long flags, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms* p);
HIP_API hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms* p, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyPeer(void* dst, int dstDeviceId, const void* src, int srcDeviceId,
    size_t sizeBytes);
HIP_API hipError_t hipMemcpyPeerAsync(void* dst, int dstDeviceId, const void* src, int srcDevice,
    size_t sizeBytes, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config);
HIP_API hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* pConfig);
HIP_API hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* pCopy);

#endif
