// Typed C++ forms of the C API: they forward, and add nothing.
#ifndef ROCM_PERF_HIP_DETAIL_TEMPLATES_H
#define ROCM_PERF_HIP_DETAIL_TEMPLATES_H

#include <utility>

template <class T> static inline hipError_t hipMalloc(T** ptr, size_t size) {
  return ::hipMalloc((void**)ptr, size);
}
template <class T>
static inline hipError_t hipMallocPitch(T** ptr, size_t* pitch, size_t width, size_t height) {
  return ::hipMallocPitch((void**)ptr, pitch, width, height);
}
template <class T>
static inline hipError_t hipHostMalloc(T** ptr, size_t size,
                                       unsigned int flags = hipHostMallocDefault) {
  return ::hipHostMalloc((void**)ptr, size, flags);
}
template <class T>
static inline hipError_t hipHostAlloc(T** ptr, size_t size,
                                      unsigned int flags = hipHostAllocDefault) {
  return ::hipHostAlloc((void**)ptr, size, flags);
}
template <class T> static inline hipError_t hipMallocHost(T** ptr, size_t size) {
  return ::hipMallocHost((void**)ptr, size);
}
template <class T>
static inline hipError_t hipMallocManaged(T** ptr, size_t size,
                                          unsigned int flags = hipMemAttachGlobal) {
  return ::hipMallocManaged((void**)ptr, size, flags);
}
template <class T>
static inline hipError_t hipHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::hipHostGetDevicePointer((void**)device, host, flags);
}

static inline hipError_t hipMallocAsync(void** ptr, size_t size, hipMemPool_t pool,
                                        hipStream_t stream) {
  return ::hipMallocFromPoolAsync(ptr, size, pool, stream);
}
template <class T>
static inline hipError_t hipMallocAsync(T** ptr, size_t size, hipMemPool_t pool,
                                        hipStream_t stream) {
  return ::hipMallocFromPoolAsync((void**)ptr, size, pool, stream);
}
template <class T>
static inline hipError_t hipMallocAsync(T** ptr, size_t size, hipStream_t stream) {
  return ::hipMallocAsync((void**)ptr, size, stream);
}
template <class T>
static inline hipError_t hipMallocFromPoolAsync(T** ptr, size_t size, hipMemPool_t pool,
                                                hipStream_t stream) {
  return ::hipMallocFromPoolAsync((void**)ptr, size, pool, stream);
}

template <class T> hipError_t hipGetSymbolAddress(void** ptr, const T& symbol) {
  return ::hipGetSymbolAddress(ptr, (const void*)&symbol);
}
template <class T> hipError_t hipGetSymbolSize(size_t* size, const T& symbol) {
  return ::hipGetSymbolSize(size, (const void*)&symbol);
}
template <class T>
hipError_t hipMemcpyToSymbol(const T& symbol, const void* src, size_t size, size_t offset = 0,
                             hipMemcpyKind kind = hipMemcpyHostToDevice) {
  return ::hipMemcpyToSymbol((const void*)&symbol, src, size, offset, kind);
}
template <class T>
hipError_t hipMemcpyToSymbolAsync(const T& symbol, const void* src, size_t size, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream = 0) {
  return ::hipMemcpyToSymbolAsync((const void*)&symbol, src, size, offset, kind, stream);
}
template <class T>
hipError_t hipMemcpyFromSymbol(void* dst, const T& symbol, size_t size, size_t offset = 0,
                               hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  return ::hipMemcpyFromSymbol(dst, (const void*)&symbol, size, offset, kind);
}
template <class T>
hipError_t hipMemcpyFromSymbolAsync(void* dst, const T& symbol, size_t size, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream = 0) {
  return ::hipMemcpyFromSymbolAsync(dst, (const void*)&symbol, size, offset, kind, stream);
}

template <class T>
static inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, T* kernel) {
  return ::hipFuncGetAttributes(attributes, (const void*)kernel);
}
template <class T>
static inline hipError_t hipFuncSetAttribute(T* kernel, hipFuncAttribute attribute, int value) {
  return ::hipFuncSetAttribute((const void*)kernel, attribute, value);
}
template <class T>
static inline hipError_t hipFuncSetCacheConfig(T* kernel, hipFuncCache_t config) {
  return ::hipFuncSetCacheConfig((const void*)kernel, config);
}

template <class F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F kernel,
                                                                      int block_size,
                                                                      size_t dynamic_shared) {
  return ::hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, block_size,
                                                        dynamic_shared);
}
template <class F>
static inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, F kernel, int block_size, size_t dynamic_shared, unsigned int flags) {
  return ::hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)kernel,
                                                                 block_size, dynamic_shared, flags);
}
template <class F>
static inline hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, F kernel,
                                                                  int blocks, int block_size) {
  return ::hipOccupancyAvailableDynamicSMemPerBlock(bytes, (const void*)kernel, blocks, block_size);
}
// ROCm 7.1 had these options behind two pointers. Templates: a plain nullptr is no candidate.
template <class Jit, class Option>
static inline hipError_t hipLibraryLoadData(hipLibrary_t* library, const void* code, Jit** jit,
                                            void** jit_values, unsigned int jit_count,
                                            Option** options, void** values, unsigned int count) {
  return ::hipLibraryLoadData(library, code, jit ? *jit : nullptr, jit_values, jit_count,
                              options ? *options : nullptr, values, count);
}
template <class Jit, class Option>
static inline hipError_t hipLibraryLoadFromFile(hipLibrary_t* library, const char* file, Jit** jit,
                                                void** jit_values, unsigned int jit_count,
                                                Option** options, void** values,
                                                unsigned int count) {
  return ::hipLibraryLoadFromFile(library, file, jit ? *jit : nullptr, jit_values, jit_count,
                                  options ? *options : nullptr, values, count);
}
template <class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, F kernel,
                                                           size_t dynamic_shared = 0,
                                                           int limit = 0) {
  return ::hipOccupancyMaxPotentialBlockSize(grid, block, (const void*)kernel, dynamic_shared,
                                             limit);
}
template <class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeWithFlags(
    int* grid, int* block, F kernel, size_t dynamic_shared = 0, int limit = 0,
    unsigned int flags = 0) {
  (void)flags;
  return ::hipOccupancyMaxPotentialBlockSize(grid, block, (const void*)kernel, dynamic_shared,
                                             limit);
}

// The largest block by occupancy where the block's dynamic shared memory depends on its size.
template <class Bytes, class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* grid, int* block, F kernel, Bytes bytes_for_block, int limit = 0, unsigned int flags = 0) {
  if (!grid || !block || !kernel) return hipErrorInvalidValue;
  int device = 0, processors = 0, warp = 0;
  hipFuncAttributes attributes;
  hipError_t status = ::hipGetDevice(&device);
  if (status == hipSuccess)
    status = ::hipDeviceGetAttribute(&processors, hipDeviceAttributeMultiprocessorCount, device);
  if (status == hipSuccess)
    status = ::hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, device);
  if (status == hipSuccess) status = ::hipFuncGetAttributes(&attributes, (const void*)kernel);
  if (status != hipSuccess) return status;
  int largest = attributes.maxThreadsPerBlock;
  if (limit > 0 && limit < largest) largest = limit;
  int best_threads = 0;
  *grid = *block = 0;
  for (int size = (largest + warp - 1) / warp * warp; size > 0; size -= warp) {
    int threads = size < largest ? size : largest, blocks = 0;
    status = ::hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        &blocks, (const void*)kernel, threads, bytes_for_block(threads), flags);
    if (status != hipSuccess) return status;
    if (blocks * threads > best_threads) {
      best_threads = blocks * threads;
      *grid = blocks * processors;
      *block = threads;
    }
  }
  return hipSuccess;
}
template <class Bytes, class F>
static inline hipError_t hipOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block,
                                                                       F kernel,
                                                                       Bytes bytes_for_block,
                                                                       int limit = 0) {
  return hipOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel,
                                                                bytes_for_block, limit, 0u);
}

template <class F>
static inline hipError_t hipLaunchCooperativeKernel(F kernel, dim3 grid, dim3 block, void** args,
                                                    unsigned int dynamic_shared,
                                                    hipStream_t stream) {
  return ::hipLaunchCooperativeKernel((const void*)kernel, grid, block, args, dynamic_shared,
                                      stream);
}
template <class F>
static inline hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* list, unsigned int n,
                                                               unsigned int flags = 0) {
  return ::hipLaunchCooperativeKernelMultiDevice(list, n, flags);
}
template <class F>
static inline hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* list, unsigned int n,
                                                            unsigned int flags = 0) {
  return ::hipExtLaunchMultiKernelMultiDevice(list, n, flags);
}
template <class... Parameters, class... Arguments>
static inline hipError_t hipLaunchKernelEx(const hipLaunchConfig_t* config,
                                           void (*kernel)(Parameters...), Arguments&&... arguments) {
  return [&](Parameters... values) {
    void* pointers[sizeof...(Parameters) + 1] = {(void*)&values..., nullptr};
    return ::hipLaunchKernelExC(config, (const void*)kernel, pointers);
  }(std::forward<Arguments>(arguments)...);
}

#endif
