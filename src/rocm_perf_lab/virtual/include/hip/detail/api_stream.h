// Streams and events. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_STREAM_H
#define ROCM_PERF_HIP_DETAIL_API_STREAM_H

HIP_API hipError_t hipStreamCreate(hipStream_t* stream);
HIP_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags);
HIP_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags, int
    priority);
HIP_API hipError_t hipDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority);
HIP_API hipError_t hipStreamDestroy(hipStream_t stream);
HIP_API hipError_t hipStreamQuery(hipStream_t stream);
HIP_API hipError_t hipStreamSynchronize(hipStream_t stream);
HIP_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags
    HIP_DEFAULT(0));
HIP_API hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags);
HIP_API hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* streamId);
HIP_API hipError_t hipStreamGetPriority(hipStream_t stream, int* priority);
HIP_API hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
HIP_API hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t cuMaskSize, const
    uint32_t* cuMask);
HIP_API hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize, uint32_t* cuMask);
HIP_API hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void*
    userData, unsigned int flags);
HIP_API hipError_t hipStreamCopyAttributes(hipStream_t dst, hipStream_t src);
HIP_API hipError_t hipStreamSetAttribute(hipStream_t stream, hipLaunchAttributeID attr, const
    hipLaunchAttributeValue* value);
HIP_API hipError_t hipStreamGetAttribute(hipStream_t stream, hipLaunchAttributeID attr,
    hipLaunchAttributeValue* value_out);
HIP_API hipError_t hipStreamWaitValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int
    flags, uint32_t mask HIP_DEFAULT(0xFFFFFFFF));
HIP_API hipError_t hipStreamWaitValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int
    flags, uint64_t mask HIP_DEFAULT(0xFFFFFFFFFFFFFFFF));
HIP_API hipError_t hipStreamWriteValue32(hipStream_t stream, void* ptr, uint32_t value, unsigned int
    flags);
HIP_API hipError_t hipStreamWriteValue64(hipStream_t stream, void* ptr, uint64_t value, unsigned int
    flags);
HIP_API hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count,
    hipStreamBatchMemOpParams* paramArray, unsigned int flags);
HIP_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned int flags);
HIP_API hipError_t hipEventCreate(hipEvent_t* event);
HIP_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream HIP_DEFAULT(0),
    unsigned int flags HIP_DEFAULT(0));
HIP_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipEventDestroy(hipEvent_t event);
HIP_API hipError_t hipEventSynchronize(hipEvent_t event);
HIP_API hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop);
HIP_API hipError_t hipEventQuery(hipEvent_t event);
HIP_API hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* dev_ptr, size_t length
    HIP_DEFAULT(0), unsigned int flags HIP_DEFAULT(hipMemAttachSingle));
HIP_API hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind
    kind, hipStream_t stream);
HIP_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void* userData);
HIP_API int hipGetStreamDeviceId(hipStream_t stream);
HIP_API hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* pCaptureStatus);

#endif
