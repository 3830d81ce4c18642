// Devices, contexts, errors and versions. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_DEVICE_H
#define ROCM_PERF_HIP_DETAIL_API_DEVICE_H

HIP_API void __hipGetPCH(const char** pch, unsigned int* size);
HIP_API hipError_t hipInit(unsigned int flags);
HIP_API hipError_t hipDriverGetVersion(int* driverVersion);
HIP_API hipError_t hipRuntimeGetVersion(int* runtimeVersion);
HIP_API hipError_t hipDeviceGet(hipDevice_t* device, int ordinal);
HIP_API hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device);
HIP_API hipError_t hipDeviceGetName(char* name, int len, hipDevice_t device);
HIP_API hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device);
HIP_API hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attr, int srcDevice, int
    dstDevice);
HIP_API hipError_t hipDeviceGetPCIBusId(char* pciBusId, int len, int device);
HIP_API hipError_t hipDeviceGetByPCIBusId(int* device, const char* pciBusId);
HIP_API hipError_t hipDeviceSynchronize(void);
HIP_API hipError_t hipDeviceReset(void);
HIP_API hipError_t hipSetDevice(int deviceId);
HIP_API hipError_t hipSetValidDevices(int* device_arr, int len);
HIP_API hipError_t hipGetDevice(int* deviceId);
HIP_API hipError_t hipGetDeviceCount(int* count);
HIP_API hipError_t hipDeviceGetAttribute(int* pi, hipDeviceAttribute_t attr, int deviceId);
HIP_API hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* prop, int deviceId);
HIP_API hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig);
HIP_API hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* cacheConfig);
HIP_API hipError_t hipDeviceGetLimit(size_t* pValue, hipLimit_t limit);
HIP_API hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);
HIP_API hipError_t hipGetDeviceFlags(unsigned int* flags);
HIP_API hipError_t hipSetDeviceFlags(unsigned int flags);
HIP_API hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* prop);
HIP_API hipError_t hipExtGetLinkTypeAndHopCount(int device1, int device2, uint32_t* linktype,
    uint32_t* hopcount);
HIP_API hipError_t hipGetLastError(void);
HIP_API hipError_t hipExtGetLastError(void);
HIP_API hipError_t hipPeekAtLastError(void);
HIP_API const char* hipGetErrorName(hipError_t hip_error);
HIP_API const char* hipGetErrorString(hipError_t hipError);
HIP_API hipError_t hipDrvGetErrorName(hipError_t hipError, const char** errorString);
HIP_API hipError_t hipDrvGetErrorString(hipError_t hipError, const char** errorString);
HIP_API hipError_t hipGetProcAddress(const char* symbol, void** pfn, int hipVersion, uint64_t flags,
    hipDriverProcAddressQueryResult* symbolStatus);
HIP_API hipError_t hipDeviceCanAccessPeer(int* canAccessPeer, int deviceId, int peerDeviceId);
HIP_API hipError_t hipDeviceEnablePeerAccess(int peerDeviceId, unsigned int flags);
HIP_API hipError_t hipDeviceDisablePeerAccess(int peerDeviceId);
HIP_API hipError_t hipCtxCreate(hipCtx_t* ctx, unsigned int flags, hipDevice_t device);
HIP_API hipError_t hipCtxDestroy(hipCtx_t ctx);
HIP_API hipError_t hipCtxPopCurrent(hipCtx_t* ctx);
HIP_API hipError_t hipCtxPushCurrent(hipCtx_t ctx);
HIP_API hipError_t hipCtxSetCurrent(hipCtx_t ctx);
HIP_API hipError_t hipCtxGetCurrent(hipCtx_t* ctx);
HIP_API hipError_t hipCtxGetDevice(hipDevice_t* device);
HIP_API hipError_t hipCtxGetApiVersion(hipCtx_t ctx, unsigned int* apiVersion);
HIP_API hipError_t hipCtxGetCacheConfig(hipFuncCache_t* cacheConfig);
HIP_API hipError_t hipCtxSetCacheConfig(hipFuncCache_t cacheConfig);
HIP_API hipError_t hipCtxSynchronize(void);
HIP_API hipError_t hipCtxGetFlags(unsigned int* flags);
HIP_API hipError_t hipCtxEnablePeerAccess(hipCtx_t peerCtx, unsigned int flags);
HIP_API hipError_t hipCtxDisablePeerAccess(hipCtx_t peerCtx);
HIP_API hipError_t hipDevicePrimaryCtxGetState(hipDevice_t dev, unsigned int* flags, int* active);
HIP_API hipError_t hipDevicePrimaryCtxRelease(hipDevice_t dev);
HIP_API hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* pctx, hipDevice_t dev);
HIP_API hipError_t hipDevicePrimaryCtxReset(hipDevice_t dev);
HIP_API hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t dev, unsigned int flags);
HIP_API hipError_t hipGetDriverEntryPoint(const char* symbol, void** funcPtr, unsigned long long
    flags, hipDriverEntryPointQueryResult* driverStatus);
HIP_API hipError_t hipProfilerStart(void);
HIP_API hipError_t hipProfilerStop(void);
HIP_API hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
    hipStream_t stream);
HIP_API hipError_t __hipPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem,
    hipStream_t* stream);

#endif
