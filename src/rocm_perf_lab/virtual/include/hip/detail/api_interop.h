// Other processes and other APIs. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_INTEROP_H
#define ROCM_PERF_HIP_DETAIL_API_INTEROP_H

HIP_API hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* devPtr);
HIP_API hipError_t hipIpcOpenMemHandle(void** devPtr, hipIpcMemHandle_t handle, unsigned int flags);
HIP_API hipError_t hipIpcCloseMemHandle(void* devPtr);
HIP_API hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event);
HIP_API hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle);
HIP_API hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t* extSem_out, const
    hipExternalSemaphoreHandleDesc* semHandleDesc);
HIP_API hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t* extSemArray, const
    hipExternalSemaphoreSignalParams* paramsArray, unsigned int numExtSems, hipStream_t stream);
HIP_API hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t* extSemArray, const
    hipExternalSemaphoreWaitParams* paramsArray, unsigned int numExtSems, hipStream_t stream);
HIP_API hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t extSem);
HIP_API hipError_t hipImportExternalMemory(hipExternalMemory_t* extMem_out, const
    hipExternalMemoryHandleDesc* memHandleDesc);
HIP_API hipError_t hipExternalMemoryGetMappedBuffer(void** devPtr, hipExternalMemory_t extMem, const
    hipExternalMemoryBufferDesc* bufferDesc);
HIP_API hipError_t hipDestroyExternalMemory(hipExternalMemory_t extMem);
HIP_API hipError_t hipExternalMemoryGetMappedMipmappedArray(hipMipmappedArray_t* mipmap,
    hipExternalMemory_t extMem, const hipExternalMemoryMipmappedArrayDesc* mipmapDesc);
HIP_API hipError_t hipGraphicsMapResources(int count, hipGraphicsResource_t* resources, hipStream_t
    stream HIP_DEFAULT(0));
HIP_API hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t* array, hipGraphicsResource_t
    resource, unsigned int arrayIndex, unsigned int mipLevel);
HIP_API hipError_t hipGraphicsResourceGetMappedPointer(void** devPtr, size_t* size,
    hipGraphicsResource_t resource);
HIP_API hipError_t hipGraphicsUnmapResources(int count, hipGraphicsResource_t* resources,
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource);

#endif
