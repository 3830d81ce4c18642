// What kernels need and how many of their blocks a compute unit holds.
#include <algorithm>

#include "api_impl.h"
#include "launch.h"

namespace hip {

namespace {

hipError_t resolve_function(const void* kernel, Function*& function) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!kernel) return hipErrorInvalidDeviceFunction;
  return find_kernel(kernel, *device, function);
}

// The block with the most resident threads, and the grid that fills the device with it.
hipError_t potential_block_size(const Function& function, size_t shared, int limit, int* grid, int* block) {
  if (!grid || !block) return hipErrorInvalidValue;
  const int wave = int(function.metadata->wave_size);
  int largest = int(function.metadata->max_threads);
  largest = std::min(largest, function.device->properties.maxThreadsPerBlock);
  if (limit > 0) largest = std::min(largest, limit);
  int best_threads = 0, best_block = 0, best_blocks = 0;
  for (int size = (largest + wave - 1) / wave * wave; size > 0; size -= wave) {
    int threads = std::min(size, largest);
    int blocks = blocks_per_cu(function, threads, shared);
    if (blocks * threads > best_threads) {
      best_threads = blocks * threads;
      best_block = threads;
      best_blocks = blocks;
    }
  }
  *block = best_block;
  *grid = best_blocks * function.device->properties.multiProcessorCount;
  return best_block ? hipSuccess : hipErrorInvalidValue;
}

hipError_t active_blocks(const Function& function, int* blocks, int threads, size_t shared) {
  if (!blocks || threads <= 0) return hipErrorInvalidValue;
  *blocks = blocks_per_cu(function, threads, shared);
  return hipSuccess;
}

const Function* from_handle(hipFunction_t f) { return reinterpret_cast<const Function*>(f); }

hipError_t function_attribute(const Function& function, hipFunction_attribute attribute, int* value) {
  const KernelMetadata& kernel = *function.metadata;
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = int(function.group_bytes); break;
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = int(kernel.max_threads); break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = int(function.private_bytes); break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = int(kernel.vgprs); break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = function.device->properties.major * 10 + function.device->properties.minor;
      break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = int(function.device->properties.sharedMemPerBlock) - int(function.group_bytes);
      break;
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break;
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

}  // namespace

hipError_t hipFuncGetAttributes(hipFuncAttributes* attr, const void* func) {
  if (!attr) return hipErrorInvalidValue;
  Function* function;
  if (hipError_t status = resolve_function(func, function)) return status;
  *attr = {};
  struct Row {
    hipFunction_attribute attribute;
    int hipFuncAttributes::* field;
  };
  constexpr Row kRows[] = {
      {HIP_FUNC_ATTRIBUTE_BINARY_VERSION, &hipFuncAttributes::binaryVersion},
      {HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &hipFuncAttributes::maxDynamicSharedSizeBytes},
      {HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &hipFuncAttributes::maxThreadsPerBlock},
      {HIP_FUNC_ATTRIBUTE_NUM_REGS, &hipFuncAttributes::numRegs},
      {HIP_FUNC_ATTRIBUTE_PTX_VERSION, &hipFuncAttributes::ptxVersion}};
  for (const Row& row : kRows)
    if (hipError_t status = function_attribute(*function, row.attribute, &(attr->*row.field))) return status;
  attr->localSizeBytes = function->private_bytes;
  attr->sharedSizeBytes = function->group_bytes;
  return hipSuccess;
}
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attrib, hipFunction_t hfunc) {
  if (!value) return hipErrorInvalidValue;
  if (!hfunc) return hipErrorInvalidResourceHandle;
  return function_attribute(*from_handle(hfunc), attrib, value);
}
hipError_t hipFuncSetAttribute(const void* func, hipFuncAttribute attr, int value) {
  Function* function;
  if (hipError_t status = resolve_function(func, function)) return status;
  if (attr == hipFuncAttributeMaxDynamicSharedMemorySize) {
    int largest = 0;
    (void)function_attribute(*function, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &largest);
    if (value < 0 || value > largest) return hipErrorInvalidValue;
    function->max_dynamic_shared = value;
    return hipSuccess;
  }
  return attr == hipFuncAttributePreferredSharedMemoryCarveout && value >= -1 && value <= 100 ? hipSuccess
                                                                                              : hipErrorInvalidValue;
}
hipError_t hipFuncSetCacheConfig(const void* func, hipFuncCache_t) {
  Function* function;
  return resolve_function(func, function);
}
hipError_t hipFuncSetSharedMemConfig(const void* func, hipSharedMemConfig) {
  Function* function;
  return resolve_function(func, function);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* f, int blockSize,
                                                        size_t dynSharedMemPerBlk) {
  Function* function;
  if (hipError_t status = resolve_function(f, function)) return status;
  return active_blocks(*function, numBlocks, blockSize, dynSharedMemPerBlk);
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* f, int blockSize,
                                                                 size_t dynSharedMemPerBlk, unsigned int flags) {
  if (flags > hipOccupancyDisableCachingOverride) return hipErrorInvalidValue;
  return hip::hipOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, f, blockSize, dynSharedMemPerBlk);
}
// The most dynamic LDS with which `numBlocks` still fit on a compute unit.
hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* f, int numBlocks,
                                                    int blockSize) {
  Function* function;
  if (hipError_t status = resolve_function(f, function)) return status;
  if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0) return hipErrorInvalidValue;
  if (blocks_per_cu(*function, blockSize, 0) < numBlocks) return hipErrorInvalidValue;
  size_t fits = 0, too_much = function->device->properties.sharedMemPerBlock + 1;
  while (too_much - fits > 1) {
    const size_t middle = fits + (too_much - fits) / 2;
    (blocks_per_cu(*function, blockSize, middle) < numBlocks ? too_much : fits) = middle;
  }
  *dynamicSmemSize = fits;
  return hipSuccess;
}
hipError_t hipOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize, const void* f, size_t dynSharedMemPerBlk,
                                             int blockSizeLimit) {
  Function* function;
  if (hipError_t status = resolve_function(f, function)) return status;
  return potential_block_size(*function, dynSharedMemPerBlk, blockSizeLimit, gridSize, blockSize);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, hipFunction_t f, int blockSize,
                                                              size_t dynSharedMemPerBlk) {
  if (!f) return hipErrorInvalidValue;
  return active_blocks(*from_handle(f), numBlocks, blockSize, dynSharedMemPerBlk);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize, hipFunction_t f,
                                                   size_t dynSharedMemPerBlk, int blockSizeLimit) {
  if (!f) return hipErrorInvalidValue;
  return potential_block_size(*from_handle(f), dynSharedMemPerBlk, blockSizeLimit, gridSize, blockSize);
}

}  // namespace hip
