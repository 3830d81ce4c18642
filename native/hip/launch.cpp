#include "launch.h"

#include <hsa/amd_hsa_queue.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "graph.h"
#include "hostcall.h"

namespace hip {

namespace {

// What a cooperative kernel finds behind hidden_multigrid_sync_arg: ROCm's device library's layout.
struct MultigridInfo {
  void* shared_words;
  uint32_t grid_index, grid_count;
  uint64_t items_before, items_all;
  uint32_t barrier[2];
  uint32_t workgroups;
};

void* device_heap(Device& device) {
  std::lock_guard lock(device.mutex);
  if (!device.heap) {
    constexpr size_t kHeapBytes = 128 << 10;
    if (hsa_amd_memory_pool_allocate(device.coarse, kHeapBytes, 0, &device.heap) != HSA_STATUS_SUCCESS) return nullptr;
    hsa_amd_memory_fill(device.heap, 0, kHeapBytes / 4);
  }
  return device.heap;
}

template <class T>
void put(char* kernarg, const KernelArgument& argument, T value) {
  std::memset(kernarg + argument.offset, 0, argument.size);
  std::memcpy(kernarg + argument.offset, &value, std::min<size_t>(argument.size, sizeof value));
}

hipError_t put_hidden(char* kernarg, const LaunchRequest& request, Stream& stream, void* group) {
  const auto& grid = request.grid;
  const auto& block = request.block;
  for (const KernelArgument& argument : request.function->metadata->hidden_arguments) {
    switch (argument.hidden) {
      case Hidden::BlockCountX: put(kernarg, argument, grid[0] / block[0]); break;
      case Hidden::BlockCountY: put(kernarg, argument, grid[1] / block[1]); break;
      case Hidden::BlockCountZ: put(kernarg, argument, grid[2] / block[2]); break;
      case Hidden::GroupSizeX: put(kernarg, argument, block[0]); break;
      case Hidden::GroupSizeY: put(kernarg, argument, block[1]); break;
      case Hidden::GroupSizeZ: put(kernarg, argument, block[2]); break;
      case Hidden::RemainderX: put(kernarg, argument, grid[0] % block[0]); break;
      case Hidden::RemainderY: put(kernarg, argument, grid[1] % block[1]); break;
      case Hidden::RemainderZ: put(kernarg, argument, grid[2] % block[2]); break;
      case Hidden::GridDims:
        put(kernarg, argument, uint16_t(grid[2] > 1 || block[2] > 1 ? 3 : grid[1] > 1 || block[1] > 1 ? 2 : 1));
        break;
      case Hidden::HostcallBuffer: {
        void* buffer = hostcall_buffer(stream.device);
        if (!buffer) return hipErrorOutOfMemory;
        put(kernarg, argument, buffer);
        break;
      }
      case Hidden::MultigridSync: put(kernarg, argument, group); break;
      case Hidden::HeapV1: {
        void* heap = device_heap(stream.device);
        if (!heap) return hipErrorOutOfMemory;
        put(kernarg, argument, heap);
        break;
      }
      case Hidden::DynamicLdsSize: put(kernarg, argument, uint32_t(request.dynamic_shared)); break;
      case Hidden::PrivateBase:
      case Hidden::SharedBase:
      case Hidden::QueuePtr: {
        const auto* queue = reinterpret_cast<const amd_queue_t*>(stream.queue());
        if (!queue) return hipErrorOutOfMemory;
        if (argument.hidden == Hidden::QueuePtr) put(kernarg, argument, queue);
        else
          put(kernarg, argument,
              argument.hidden == Hidden::PrivateBase ? queue->private_segment_aperture_base_hi
                                                     : queue->group_segment_aperture_base_hi);
        break;
      }
      default: put(kernarg, argument, uint64_t{0}); break;  // offsets, device enqueue: not HIP's
    }
  }
  return hipSuccess;
}

void put_explicit(char* kernarg, const Function& function, const Arguments& arguments) {
  if (arguments.packed) {
    std::memcpy(kernarg, arguments.packed, arguments.packed_bytes);
  } else if (arguments.pointers) {
    const auto& list = function.metadata->explicit_arguments;
    for (size_t i = 0; i < list.size(); ++i) std::memcpy(kernarg + list[i].offset, arguments.pointers[i], list[i].size);
  }
}

}  // namespace

bool read_extra(void** extra, Arguments& arguments) {
  for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER) arguments.packed = extra[1];
    else if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE) arguments.packed_bytes = *static_cast<const size_t*>(extra[1]);
    else return false;
  }
  return arguments.packed || arguments.packed_bytes == 0;
}

std::vector<char> pack_arguments(const Function& function, const Arguments& arguments) {
  size_t bytes = arguments.packed_bytes;
  for (const KernelArgument& argument : function.metadata->explicit_arguments)
    bytes = std::max<size_t>(bytes, argument.offset + argument.size);
  std::vector<char> image(bytes);
  put_explicit(image.data(), function, arguments);
  return image;
}

int blocks_per_cu(const Function& function, int threads, size_t dynamic_shared) {
  const Device& device = *function.device;
  const KernelMetadata& kernel = *function.metadata;
  const residency::Limits* limits = device.wave_limits;
  const size_t lds = function.group_bytes + dynamic_shared;
  if (!limits || threads <= 0 || uint32_t(threads) > kernel.max_threads || lds > limits->lds_bytes_per_workgroup)
    return 0;
  // .vgpr_count of these targets counts the accumulation registers too.
  return int(residency::workgroups(*limits, uint32_t(threads), kernel.vgprs, kernel.sgprs, uint32_t(lds)));
}

hipError_t check_launch(const LaunchRequest& request) {
  const Function& function = *request.function;
  const Device& device = *function.device;
  uint64_t threads = 1, blocks = 1;
  for (int i = 0; i < 3; ++i) {
    if (request.grid[i] == 0 || request.block[i] == 0) return hipErrorInvalidConfiguration;
    if (request.grid[i] > UINT32_MAX) return hipErrorInvalidConfiguration;
    if (request.block[i] > uint32_t(device.properties.maxThreadsDim[i])) return hipErrorInvalidConfiguration;
    threads *= request.block[i];
    blocks *= (request.grid[i] + request.block[i] - 1) / request.block[i];
  }
  if (threads > uint64_t(device.properties.maxThreadsPerBlock)) return hipErrorInvalidConfiguration;
  if (threads > function.metadata->max_threads) {
    std::fprintf(stderr,
                 "rocm-perf: %s was built for at most %u threads per block (__launch_bounds__) and "
                 "is launched with %llu\n",
                 function.name().c_str(), function.metadata->max_threads, static_cast<unsigned long long>(threads));
    return hipErrorLaunchFailure;
  }
  const uint32_t* required = function.metadata->required_block;
  if (required[0] &&
      (required[0] != request.block[0] || required[1] != request.block[1] || required[2] != request.block[2]))
    return hipErrorInvalidConfiguration;
  if (function.group_bytes + request.dynamic_shared > device.properties.sharedMemPerBlock) {
    std::fprintf(stderr, "rocm-perf: %s needs %zu bytes of LDS, a workgroup has %zu\n", function.name().c_str(),
                 function.group_bytes + request.dynamic_shared, device.properties.sharedMemPerBlock);
    return hipErrorInvalidValue;
  }
  if (!request.arguments.packed && !request.arguments.pointers && !function.metadata->explicit_arguments.empty())
    return hipErrorInvalidValue;
  if (request.cooperative) {
    uint64_t resident = uint64_t(blocks_per_cu(function, int(threads), request.dynamic_shared)) *
                        uint64_t(device.properties.multiProcessorCount);
    if (blocks > resident) return hipErrorCooperativeLaunchTooLarge;
  }
  return hipSuccess;
}

hipError_t submit_launch(Stream& stream, const LaunchRequest& request) {
  Function& function = *request.function;
  std::lock_guard lock(stream.device.mutex);
  if (hipError_t fault = stream.device.fault_status()) return fault;

  const size_t argument_bytes = std::max<size_t>(function.kernarg_bytes, request.arguments.packed_bytes);
  const size_t group_offset = (argument_bytes + 63) & ~size_t{63};
  const size_t bytes = request.cooperative ? group_offset + sizeof(MultigridInfo) : argument_bytes;
  char* kernarg = nullptr;
  if (bytes) {
    kernarg = static_cast<char*>(stream.kernargs.allocate(bytes, stream.device));
    if (!kernarg) return hipErrorOutOfMemory;
  }
  MultigridInfo* group = nullptr;
  if (request.cooperative) {
    uint64_t items = request.grid[0] * request.grid[1] * request.grid[2];
    uint64_t workgroups = 1;
    for (int i = 0; i < 3; ++i) workgroups *= request.grid[i] / request.block[i];
    group = new (kernarg + group_offset) MultigridInfo{request.group.shared_words,
                                                       request.group.index,
                                                       request.group.count,
                                                       request.group.items_before,
                                                       request.group.items_all ? request.group.items_all : items,
                                                       {0, 0},
                                                       uint32_t(workgroups)};
  }
  if (kernarg) {
    put_explicit(kernarg, function, request.arguments);
    if (hipError_t status = put_hidden(kernarg, request, stream, group)) return status;
  }
  KernelDispatch packet;
  packet.kernel_object = function.kernel_object;
  packet.kernarg = kernarg;
  for (int i = 0; i < 3; ++i) {
    packet.grid[i] = uint32_t(request.grid[i]);
    packet.block[i] = uint16_t(request.block[i]);
  }
  packet.group_bytes = function.group_bytes + uint32_t(request.dynamic_shared);
  packet.private_bytes = function.private_bytes;
  if (function.metadata->dynamic_stack)
    packet.private_bytes = std::max<uint32_t>(packet.private_bytes, uint32_t(stream.device.limits[hipLimitStackSize]));
  CompletionRef done;
  if (hipError_t status = stream.dispatch(packet, &done)) return status;
  if (request.start) request.start->attach(done, stream, Event::Edge::Start);
  if (request.stop) request.stop->attach(done, stream, Event::Edge::End);
  return hipSuccess;
}

hipError_t launch(Stream& stream, const LaunchRequest& request) {
  if (hipError_t status = check_launch(request)) return status;
  if (stream.capture) return capture_launch(stream, request);
  return submit_launch(stream, request);
}

}  // namespace hip
