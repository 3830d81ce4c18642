// Code objects, kernels, launches and occupancy. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_MODULE_H
#define ROCM_PERF_HIP_DETAIL_API_MODULE_H

HIP_API hipError_t hipFuncSetAttribute(const void* func, hipFuncAttribute attr, int value);
HIP_API hipError_t hipFuncSetCacheConfig(const void* func, hipFuncCache_t config);
HIP_API hipError_t hipFuncSetSharedMemConfig(const void* func, hipSharedMemConfig config);
HIP_API hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* fatbin);
HIP_API hipError_t hipModuleLoad(hipModule_t* module, const char* fname);
HIP_API hipError_t hipModuleUnload(hipModule_t module);
HIP_API hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char*
    kname);
HIP_API hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t mod);
HIP_API hipError_t hipLibraryLoadData(hipLibrary_t* library, const void* code, hipJitOption*
    jitOptions, void** jitOptionsValues, unsigned int numJitOptions, hipLibraryOption*
    libraryOptions, void** libraryOptionValues, unsigned int numLibraryOptions);
HIP_API hipError_t hipLibraryLoadFromFile(hipLibrary_t* library, const char* fileName,
    hipJitOption* jitOptions, void** jitOptionsValues, unsigned int numJitOptions,
    hipLibraryOption* libraryOptions, void** libraryOptionValues, unsigned int numLibraryOptions);
HIP_API hipError_t hipLibraryUnload(hipLibrary_t library);
HIP_API hipError_t hipLibraryGetKernel(hipKernel_t* pKernel, hipLibrary_t library, const char*
    name);
HIP_API hipError_t hipLibraryGetKernelCount(unsigned int* count, hipLibrary_t library);
HIP_API hipError_t hipLibraryEnumerateKernels(hipKernel_t* kernels, unsigned int numKernels,
    hipLibrary_t library);
HIP_API hipError_t hipKernelGetLibrary(hipLibrary_t* library, hipKernel_t kernel);
HIP_API hipError_t hipKernelGetName(const char** name, hipKernel_t kernel);
HIP_API hipError_t hipFuncGetAttributes(hipFuncAttributes* attr, const void* func);
HIP_API hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attrib, hipFunction_t
    hfunc);
HIP_API hipError_t hipGetFuncBySymbol(hipFunction_t* functionPtr, const void* symbolPtr);
HIP_API hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
HIP_API hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int
    numOptions, hipJitOption* options, void** optionValues);
HIP_API hipError_t hipLinkAddData(hipLinkState_t state, hipJitInputType type, void* data, size_t
    size, const char* name, unsigned int numOptions, hipJitOption* options, void** optionValues);
HIP_API hipError_t hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char* path,
    unsigned int numOptions, hipJitOption* options, void** optionValues);
HIP_API hipError_t hipLinkComplete(hipLinkState_t state, void** hipBinOut, size_t* sizeOut);
HIP_API hipError_t hipLinkCreate(unsigned int numOptions, hipJitOption* options, void**
    optionValues, hipLinkState_t* stateOut);
HIP_API hipError_t hipLinkDestroy(hipLinkState_t state);
HIP_API hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int
    gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned int
    blockDimZ, unsigned int sharedMemBytes, hipStream_t stream, void** kernelParams, void** extra);
HIP_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX, unsigned
    int gridDimY, unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY, unsigned
    int blockDimZ, unsigned int sharedMemBytes, hipStream_t stream, void** kernelParams);
HIP_API hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams*
    launchParamsList, unsigned int numDevices, unsigned int flags);
HIP_API hipError_t hipLaunchCooperativeKernel(const void* f, dim3 gridDim, dim3 blockDimX, void**
    kernelParams, unsigned int sharedMemBytes, hipStream_t stream);
HIP_API hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* launchParamsList, int
    numDevices, unsigned int flags);
HIP_API hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* launchParamsList, int
    numDevices, unsigned int flags);
HIP_API hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* config, const void* fPtr, void**
    args);
HIP_API hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* config, hipFunction_t f, void**
    params, void** extra);
HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize,
    hipFunction_t f, size_t dynSharedMemPerBlk, int blockSizeLimit);
HIP_API hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* gridSize, int* blockSize,
    hipFunction_t f, size_t dynSharedMemPerBlk, int blockSizeLimit, unsigned int flags);
HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, hipFunction_t
    f, int blockSize, size_t dynSharedMemPerBlk);
HIP_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks,
    hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk, unsigned int flags);
HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* f, int
    blockSize, size_t dynSharedMemPerBlk);
HIP_API hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void*
    f, int blockSize, size_t dynSharedMemPerBlk, unsigned int flags
    HIP_DEFAULT(hipOccupancyDefault));
HIP_API hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* f,
    int numBlocks, int blockSize);
HIP_API hipError_t hipOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize, const void* f,
    size_t dynSharedMemPerBlk, int blockSizeLimit);
HIP_API hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem HIP_DEFAULT(0),
    hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipSetupArgument(const void* arg, size_t size, size_t offset);
HIP_API hipError_t hipLaunchByPtr(const void* func);
HIP_API hipError_t hipLaunchKernel(const void* function_address, dim3 numBlocks, dim3 dimBlocks,
    void** args, size_t sharedMemBytes HIP_DEFAULT(0), hipStream_t stream HIP_DEFAULT(0));
HIP_API hipError_t hipExtLaunchKernel(const void* function_address, dim3 numBlocks, dim3 dimBlocks,
    void** args, size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent, hipEvent_t
    stopEvent, int flags);
HIP_API const char* hipApiName(uint32_t id);
HIP_API const char* hipKernelNameRef(const hipFunction_t f);
HIP_API const char* hipKernelNameRefByPtr(const void* hostFunction, hipStream_t stream);

#endif
