// Memory pools and virtual memory. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_POOL_H
#define ROCM_PERF_HIP_DETAIL_API_POOL_H

HIP_API hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* mem_pool, int device);
HIP_API hipError_t hipDeviceSetMemPool(int device, hipMemPool_t mem_pool);
HIP_API hipError_t hipDeviceGetMemPool(hipMemPool_t* mem_pool, int device);
HIP_API hipError_t hipMallocAsync(void** dev_ptr, size_t size, hipStream_t stream);
HIP_API hipError_t hipFreeAsync(void* dev_ptr, hipStream_t stream);
HIP_API hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t min_bytes_to_hold);
HIP_API hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void* value);
HIP_API hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr, void* value);
HIP_API hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool, const hipMemAccessDesc* desc_list,
    size_t count);
HIP_API hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t mem_pool,
    hipMemLocation* location);
HIP_API hipError_t hipMemPoolCreate(hipMemPool_t* mem_pool, const hipMemPoolProps* pool_props);
HIP_API hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool);
HIP_API hipError_t hipMallocFromPoolAsync(void** dev_ptr, size_t size, hipMemPool_t mem_pool,
    hipStream_t stream);
HIP_API hipError_t hipMemPoolExportToShareableHandle(void* shared_handle, hipMemPool_t mem_pool,
    hipMemAllocationHandleType handle_type, unsigned int flags);
HIP_API hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t* mem_pool, void* shared_handle,
    hipMemAllocationHandleType handle_type, unsigned int flags);
HIP_API hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData* export_data, void* dev_ptr);
HIP_API hipError_t hipMemPoolImportPointer(void** dev_ptr, hipMemPool_t mem_pool,
    hipMemPoolPtrExportData* export_data);
HIP_API hipError_t hipMemGetHandleForAddressRange(void* handle, hipDeviceptr_t dptr, size_t size,
    hipMemRangeHandleType handleType, unsigned long long flags);
HIP_API hipError_t hipMemAddressFree(void* devPtr, size_t size);
HIP_API hipError_t hipMemAddressReserve(void** ptr, size_t size, size_t alignment, void* addr,
    unsigned long long flags);
HIP_API hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size, const
    hipMemAllocationProp* prop, unsigned long long flags);
HIP_API hipError_t hipMemExportToShareableHandle(void* shareableHandle,
    hipMemGenericAllocationHandle_t handle, hipMemAllocationHandleType handleType, unsigned long
    long flags);
HIP_API hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void*
    ptr);
HIP_API hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp*
    prop, hipMemAllocationGranularity_flags option);
HIP_API hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop,
    hipMemGenericAllocationHandle_t handle);
HIP_API hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* handle, void*
    osHandle, hipMemAllocationHandleType shHandleType);
HIP_API hipError_t hipMemMap(void* ptr, size_t size, size_t offset, hipMemGenericAllocationHandle_t
    handle, unsigned long long flags);
HIP_API hipError_t hipMemMapArrayAsync(hipArrayMapInfo* mapInfoList, unsigned int count, hipStream_t
    stream);
HIP_API hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle);
HIP_API hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void*
    addr);
HIP_API hipError_t hipMemSetAccess(void* ptr, size_t size, const hipMemAccessDesc* desc, size_t
    count);
HIP_API hipError_t hipMemUnmap(void* ptr, size_t size);

#endif
