// The launch functions of the API.
#include <cstring>

#include "api_impl.h"
#include "graph.h"
#include "launch.h"
#include "thread_state.h"

namespace hip {

namespace {

void set_shape(LaunchRequest& request, dim3 blocks, dim3 threads) {
  request.grid[0] = uint64_t{blocks.x} * threads.x;
  request.grid[1] = uint64_t{blocks.y} * threads.y;
  request.grid[2] = uint64_t{blocks.z} * threads.z;
  request.block[0] = threads.x;
  request.block[1] = threads.y;
  request.block[2] = threads.z;
}

// A kernel of the program, launched on the stream's device.
hipError_t launch_host_kernel(const void* kernel, dim3 blocks, dim3 threads, void** args, size_t shared,
                              hipStream_t handle, LaunchRequest request = {}) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!kernel) return hipErrorInvalidDeviceFunction;
  if (hipError_t status = find_kernel(kernel, stream->device, request.function)) return status;
  set_shape(request, blocks, threads);
  request.dynamic_shared = shared;
  request.arguments.pointers = args;
  return launch(*stream, request);
}

hipError_t launch_function(hipFunction_t f, dim3 blocks, dim3 threads, unsigned shared, hipStream_t handle,
                           void** params, void** extra, bool cooperative) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!f) return hipErrorInvalidResourceHandle;
  LaunchRequest request;
  request.function = reinterpret_cast<Function*>(f);
  if (request.function->device != &stream->device) return hipErrorInvalidResourceHandle;
  set_shape(request, blocks, threads);
  request.dynamic_shared = shared;
  request.arguments.pointers = params;
  if (params && extra) return hipErrorInvalidValue;
  if (!params && extra && !read_extra(extra, request.arguments)) return hipErrorInvalidValue;
  request.cooperative = cooperative;
  return launch(*stream, request);
}

struct GridLaunch {
  Stream* stream;
  LaunchRequest request;
};

// Kernels of one cooperative launch over several devices: they may wait for each other, so each
// stream first waits for the work before it on all, and afterwards for all of them.
hipError_t launch_together(std::vector<GridLaunch>& grids, unsigned flags) {
  void* words = nullptr;
  const bool cooperative = !grids.empty() && grids[0].request.cooperative;
  if (cooperative) {
    if (hipError_t status = allocate_host(64, 0, MemoryKind::Host, &words)) return status;
    std::memset(words, 0, 64);
    uint64_t items = 0;
    for (GridLaunch& grid : grids) {
      grid.request.group.items_before = items;
      items += grid.request.grid[0] * grid.request.grid[1] * grid.request.grid[2];
    }
    for (size_t i = 0; i < grids.size(); ++i) {
      grids[i].request.group.shared_words = words;
      grids[i].request.group.index = uint32_t(i);
      grids[i].request.group.count = uint32_t(grids.size());
      grids[i].request.group.items_all = items;
    }
  }
  for (GridLaunch& grid : grids)
    if (hipError_t status = check_launch(grid.request)) return status;
  auto join = [&]() -> hipError_t {
    std::vector<CompletionRef> points;
    for (GridLaunch& grid : grids) {
      std::lock_guard lock(grid.stream->device.mutex);
      for (CompletionRef& point : grid.stream->pending()) points.push_back(point);
    }
    for (GridLaunch& grid : grids) {
      std::lock_guard lock(grid.stream->device.mutex);
      if (hipError_t status = grid.stream->marker(nullptr, points)) return status;
    }
    return hipSuccess;
  };
  if (!(flags & hipCooperativeLaunchMultiDeviceNoPreSync))
    if (hipError_t status = join()) return status;
  for (GridLaunch& grid : grids)
    if (hipError_t status = submit_launch(*grid.stream, grid.request)) return status;
  if (!(flags & hipCooperativeLaunchMultiDeviceNoPostSync))
    if (hipError_t status = join()) return status;
  if (words) {  // freed when the last grid is done with it
    GridLaunch& last = grids.back();
    std::lock_guard lock(last.stream->device.mutex);
    return last.stream->host([words](hipError_t) {
      auto found = memory_map().remove(reinterpret_cast<uintptr_t>(words));
      if (found) (void)free_allocation(*found);
    });
  }
  return hipSuccess;
}

hipError_t launch_list(hipLaunchParams* list, int count, unsigned flags, bool cooperative) {
  if (!list || count <= 0 || size_t(count) > runtime().devices.size()) return hipErrorInvalidValue;
  std::vector<GridLaunch> grids;
  for (int i = 0; i < count; ++i) {
    GridLaunch grid;
    grid.stream = resolve_stream(list[i].stream);
    if (!grid.stream || grid.stream->legacy) return hipErrorInvalidResourceHandle;
    for (const GridLaunch& other : grids)
      if (&other.stream->device == &grid.stream->device) return hipErrorInvalidDevice;
    hipError_t status = find_kernel(list[i].func, grid.stream->device, grid.request.function);
    if (status != hipSuccess) return status;
    set_shape(grid.request, list[i].gridDim, list[i].blockDim);
    grid.request.dynamic_shared = list[i].sharedMem;
    grid.request.arguments.pointers = list[i].args;
    grid.request.cooperative = cooperative;
    grids.push_back(grid);
  }
  return launch_together(grids, flags);
}

hipError_t launch_with_attributes(const hipLaunchAttribute* attributes, unsigned count, bool& cooperative) {
  if (count && !attributes) return hipErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i].id == hipLaunchAttributeCooperative) cooperative = attributes[i].val.cooperative != 0;
    else if (attributes[i].id < hipLaunchAttributeAccessPolicyWindow || attributes[i].id >= hipLaunchAttributeMax)
      return hipErrorInvalidValue;
  }
  return hipSuccess;
}

}  // namespace

// ---- the <<< >>> of the compiler ---------------------------------------------------------------------------

hipError_t __hipPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream) {
  thread_state().configurations.push_back({gridDim, blockDim, sharedMem, stream, {}});
  return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* gridDim, dim3* blockDim, size_t* sharedMem, hipStream_t* stream) {
  auto& stack = thread_state().configurations;
  if (stack.empty()) return hipErrorMissingConfiguration;
  *gridDim = stack.back().grid;
  *blockDim = stack.back().block;
  *sharedMem = stack.back().dynamic_shared;
  *stream = stack.back().stream;
  stack.pop_back();
  return hipSuccess;
}
hipError_t hipConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem, hipStream_t stream) {
  return hip::__hipPushCallConfiguration(gridDim, blockDim, sharedMem, stream);
}
hipError_t hipSetupArgument(const void* arg, size_t size, size_t offset) {
  auto& stack = thread_state().configurations;
  if (stack.empty()) return hipErrorMissingConfiguration;
  auto& arguments = stack.back().arguments;
  if (arguments.size() < offset + size) arguments.resize(offset + size);
  std::memcpy(arguments.data() + offset, arg, size);
  return hipSuccess;
}
hipError_t hipLaunchByPtr(const void* func) {
  auto& stack = thread_state().configurations;
  if (stack.empty()) return hipErrorMissingConfiguration;
  LaunchConfiguration configuration = std::move(stack.back());
  stack.pop_back();
  LaunchRequest request;
  request.arguments.packed = configuration.arguments.data();
  request.arguments.packed_bytes = configuration.arguments.size();
  return launch_host_kernel(func, configuration.grid, configuration.block, nullptr, configuration.dynamic_shared,
                            configuration.stream, request);
}

hipError_t hipLaunchKernel(const void* function_address, dim3 numBlocks, dim3 dimBlocks, void** args,
                           size_t sharedMemBytes, hipStream_t stream) {
  return launch_host_kernel(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream);
}
hipError_t hipExtLaunchKernel(const void* function_address, dim3 numBlocks, dim3 dimBlocks, void** args,
                              size_t sharedMemBytes, hipStream_t stream, hipEvent_t startEvent, hipEvent_t stopEvent,
                              int) {
  LaunchRequest request;
  request.start = resolve_event(startEvent);
  request.stop = resolve_event(stopEvent);
  if ((startEvent && !request.start) || (stopEvent && !request.stop)) return hipErrorInvalidHandle;
  return launch_host_kernel(function_address, numBlocks, dimBlocks, args, sharedMemBytes, stream, request);
}
hipError_t hipLaunchKernelExC(const hipLaunchConfig_t* config, const void* fPtr, void** args) {
  if (!config) return hipErrorInvalidValue;
  LaunchRequest request;
  hipError_t status = launch_with_attributes(config->attrs, config->numAttrs, request.cooperative);
  if (status != hipSuccess) return status;
  return launch_host_kernel(fPtr, config->gridDim, config->blockDim, args, config->dynamicSmemBytes, config->stream,
                            request);
}
hipError_t hipLaunchCooperativeKernel(const void* f, dim3 gridDim, dim3 blockDimX, void** kernelParams,
                                      unsigned int sharedMemBytes, hipStream_t stream) {
  LaunchRequest request;
  request.cooperative = true;
  return launch_host_kernel(f, gridDim, blockDimX, kernelParams, sharedMemBytes, stream, request);
}
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* launchParamsList, int numDevices,
                                                 unsigned int flags) {
  return launch_list(launchParamsList, numDevices, flags, true);
}
hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* launchParamsList, int numDevices, unsigned int flags) {
  return launch_list(launchParamsList, numDevices, flags, false);
}

// ---- functions of modules -----------------------------------------------------------------------------------

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                 unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                 unsigned int sharedMemBytes, hipStream_t stream, void** kernelParams, void** extra) {
  return launch_function(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, stream,
                         kernelParams, extra, false);
}
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned int gridDimX, unsigned int gridDimY,
                                            unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
                                            unsigned int blockDimZ, unsigned int sharedMemBytes, hipStream_t stream,
                                            void** kernelParams) {
  return launch_function(f, {gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, stream,
                         kernelParams, nullptr, true);
}
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(hipFunctionLaunchParams* list, unsigned int numDevices,
                                                       unsigned int flags) {
  if (!list || numDevices == 0 || numDevices > runtime().devices.size()) return hipErrorInvalidValue;
  std::vector<GridLaunch> grids;
  for (unsigned i = 0; i < numDevices; ++i) {
    GridLaunch grid;
    grid.stream = resolve_stream(list[i].hStream);
    grid.request.function = reinterpret_cast<Function*>(list[i].function);
    if (!grid.stream || grid.stream->legacy || !grid.request.function) return hipErrorInvalidResourceHandle;
    set_shape(grid.request, {list[i].gridDimX, list[i].gridDimY, list[i].gridDimZ},
              {list[i].blockDimX, list[i].blockDimY, list[i].blockDimZ});
    grid.request.dynamic_shared = list[i].sharedMemBytes;
    grid.request.arguments.pointers = list[i].kernelParams;
    grid.request.cooperative = true;
    grids.push_back(grid);
  }
  return launch_together(grids, flags);
}
hipError_t hipDrvLaunchKernelEx(const HIP_LAUNCH_CONFIG* config, hipFunction_t f, void** params, void** extra) {
  if (!config) return hipErrorInvalidValue;
  bool cooperative = false;
  hipError_t status = launch_with_attributes(config->attrs, config->numAttrs, cooperative);
  if (status != hipSuccess) return status;
  return launch_function(f, {config->gridDimX, config->gridDimY, config->gridDimZ},
                         {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes,
                         config->hStream, params, extra, cooperative);
}
// Sizes in work-items: the grid need not be a multiple of the block.
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
                                    void** kernelParams, void** extra, hipEvent_t startEvent, hipEvent_t stopEvent,
                                    uint32_t) {
  Stream* stream;
  if (hipError_t status = stream_for_work(hStream, stream)) return status;
  if (!f) return hipErrorInvalidResourceHandle;
  LaunchRequest request;
  request.function = reinterpret_cast<Function*>(f);
  request.grid[0] = globalWorkSizeX;
  request.grid[1] = globalWorkSizeY;
  request.grid[2] = globalWorkSizeZ;
  request.block[0] = localWorkSizeX;
  request.block[1] = localWorkSizeY;
  request.block[2] = localWorkSizeZ;
  request.dynamic_shared = sharedMemBytes;
  request.arguments.pointers = kernelParams;
  if (!kernelParams && extra && !read_extra(extra, request.arguments)) return hipErrorInvalidValue;
  request.start = resolve_event(startEvent);
  request.stop = resolve_event(stopEvent);
  if ((startEvent && !request.start) || (stopEvent && !request.stop)) return hipErrorInvalidHandle;
  return launch(*stream, request);
}
hipError_t hipHccModuleLaunchKernel(hipFunction_t f, uint32_t globalWorkSizeX, uint32_t globalWorkSizeY,
                                    uint32_t globalWorkSizeZ, uint32_t localWorkSizeX, uint32_t localWorkSizeY,
                                    uint32_t localWorkSizeZ, size_t sharedMemBytes, hipStream_t hStream,
                                    void** kernelParams, void** extra, hipEvent_t startEvent, hipEvent_t stopEvent) {
  return hip::hipExtModuleLaunchKernel(f, globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ, localWorkSizeX,
                                       localWorkSizeY, localWorkSizeZ, sharedMemBytes, hStream, kernelParams, extra,
                                       startEvent, stopEvent, 0);
}

}  // namespace hip

// ROCm 5 declared these without extern "C".
__attribute__((visibility("default"))) hipError_t
hipExtModuleLaunchKernel_cpp(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t lx, uint32_t ly, uint32_t lz, size_t shared, hipStream_t stream, void** params, void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) __asm__(
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_"
    "P11ihipEvent_tS6_j");
hipError_t hipExtModuleLaunchKernel_cpp(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t lx,
                                        uint32_t ly, uint32_t lz, size_t shared, hipStream_t stream, void** params,
                                        void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  return ::hipExtModuleLaunchKernel(f, gx, gy, gz, lx, ly, lz, shared, stream, params, extra, start, stop, flags);
}
