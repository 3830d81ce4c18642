// The same functions with the default stream of the calling thread. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_SPT_H
#define ROCM_PERF_HIP_DETAIL_API_SPT_H

HIP_API hipError_t hipMemcpy_spt(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* src, size_t sizeBytes,
    size_t offset HIP_DEFAULT(0), hipMemcpyKind kind HIP_DEFAULT(hipMemcpyHostToDevice));
HIP_API hipError_t hipMemcpyFromSymbol_spt(void* dst, const void* symbol, size_t sizeBytes, size_t
    offset HIP_DEFAULT(0), hipMemcpyKind kind HIP_DEFAULT(hipMemcpyDeviceToHost));
HIP_API hipError_t hipMemcpy2D_spt(void* dst, size_t dpitch, const void* src, size_t spitch, size_t
    width, size_t height, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy2DFromArray_spt(void* dst, size_t dpitch, hipArray_const_t src, size_t
    wOffset, size_t hOffset, size_t width, size_t height, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* p);
HIP_API hipError_t hipMemset_spt(void* dst, int value, size_t sizeBytes);
HIP_API hipError_t hipMemsetAsync_spt(void* dst, int value, size_t sizeBytes, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemset2D_spt(void* dst, size_t pitch, int value, size_t width, size_t height);
HIP_API hipError_t hipMemset2DAsync_spt(void* dst, size_t pitch, int value, size_t width, size_t
    height, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemset3DAsync_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemset3D_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent);
HIP_API hipError_t hipMemcpyAsync_spt(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind
    kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* p, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy2DAsync_spt(void* dst, size_t dpitch, const void* src, size_t spitch,
    size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyFromSymbolAsync_spt(void* dst, const void* symbol, size_t sizeBytes,
    size_t offset, hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* src, size_t sizeBytes,
    size_t offset, hipMemcpyKind kind, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpyFromArray_spt(void* dst, hipArray_const_t src, size_t wOffsetSrc, size_t
    hOffset, size_t count, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy2DToArray_spt(hipArray_t dst, size_t wOffset, size_t hOffset, const
    void* src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind);
HIP_API hipError_t hipMemcpy2DFromArrayAsync_spt(void* dst, size_t dpitch, hipArray_const_t src,
    size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height, hipMemcpyKind kind,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipMemcpy2DToArrayAsync_spt(hipArray_t dst, size_t wOffset, size_t hOffset, const
    void* src, size_t spitch, size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream
    HIP_DEFAULT(0));
HIP_API hipError_t hipStreamQuery_spt(hipStream_t stream);
HIP_API hipError_t hipStreamSynchronize_spt(hipStream_t stream);
HIP_API hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority);
HIP_API hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags
    HIP_DEFAULT(0));
HIP_API hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned int* flags);
HIP_API hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback, void*
    userData, unsigned int flags);
HIP_API hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipLaunchCooperativeKernel_spt(const void* f, dim3 gridDim, dim3 blockDim, void**
    kernelParams, uint32_t sharedMemBytes, hipStream_t hStream HIP_DEFAULT(0));
HIP_API hipError_t hipLaunchKernel_spt(const void* function_address, dim3 numBlocks, dim3 dimBlocks,
    void** args, size_t sharedMemBytes, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream);
HIP_API hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode);
HIP_API hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* pGraph);
HIP_API hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus*
    pCaptureStatus);
HIP_API hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus*
    pCaptureStatus, unsigned long long* pId);
HIP_API hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus*
    captureStatus_out, unsigned long long* id_out, hipGraph_t* graph_out, const hipGraphNode_t**
    dependencies_out, size_t* numDependencies_out);
HIP_API hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t fn, void* userData);
HIP_API hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** funcPtr, unsigned long long
    flags, hipDriverEntryPointQueryResult* status);

#endif
