// What the HSA test programs share: checking calls, one GPU agent, loading and launching.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.h"
#include "hsa/hsa_ext_amd.h"

#define OK(call) \
  do { \
    const int status_ = int(call); \
    if (status_ != 0) { \
      std::fprintf(stderr, "%s:%d: %s: status %#x\n", __FILE__, __LINE__, #call, unsigned(status_)); \
      std::exit(1); \
    } \
  } while (0)

struct Machine {
  hsa_agent_t cpu{}, gpu{};
  hsa_amd_memory_pool_t vram{}, host{}, kernarg{};
  hsa_queue_t* queue = nullptr;
  hsa_executable_t executable{};
  std::atomic<hsa_status_t> error{HSA_STATUS_SUCCESS};  // of the queue's callback

  explicit Machine(const char* object = nullptr, uint32_t queue_size = 64) {
    OK(hsa_init());
    OK(hsa_iterate_agents(
        [](hsa_agent_t agent, void* data) {
          auto* machine = static_cast<Machine*>(data);
          hsa_device_type_t type;
          OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
          hsa_agent_t& slot = type == HSA_DEVICE_TYPE_GPU ? machine->gpu : machine->cpu;
          if (!slot.handle) slot = agent;
          return HSA_STATUS_SUCCESS;
        },
        this));
    CHECK(cpu.handle && gpu.handle);
    vram = pool(gpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
    host = pool(cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
    kernarg = pool(cpu, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
    OK(hsa_queue_create(
        gpu, queue_size, HSA_QUEUE_TYPE_MULTI,
        [](hsa_status_t status, hsa_queue_t*, void* data) { static_cast<Machine*>(data)->error = status; }, this, 0, 0, &queue));
    if (object) load(object);
  }
  ~Machine() {
    if (executable.handle) OK(hsa_executable_destroy(executable));
    OK(hsa_queue_destroy(queue));
    OK(hsa_shut_down());
  }

  static hsa_amd_memory_pool_t pool(hsa_agent_t agent, uint32_t flags) {
    struct Wanted { uint32_t flags; hsa_amd_memory_pool_t found; } wanted{flags, {}};
    const hsa_status_t status = hsa_amd_agent_iterate_memory_pools(
        agent,
        [](hsa_amd_memory_pool_t candidate, void* data) {
          auto* w = static_cast<Wanted*>(data);
          uint32_t have = 0;
          OK(hsa_amd_memory_pool_get_info(candidate, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &have));
          if (have != w->flags) return HSA_STATUS_SUCCESS;
          w->found = candidate;
          return HSA_STATUS_INFO_BREAK;
        },
        &wanted);
    CHECK(status == HSA_STATUS_INFO_BREAK);
    return wanted.found;
  }

  template <class T>
  T* allocate(size_t count, hsa_amd_memory_pool_t from) {
    void* address = nullptr;
    OK(hsa_amd_memory_pool_allocate(from, count * sizeof(T), 0, &address));
    OK(hsa_amd_agents_allow_access(1, &gpu, nullptr, address));
    return static_cast<T*>(address);
  }
  template <class T>
  T* allocate(size_t count) { return allocate<T>(count, vram); }

  void load(const char* path) {
    const int file = open(path, O_RDONLY);
    CHECK(file >= 0);
    hsa_code_object_reader_t reader;
    OK(hsa_code_object_reader_create_from_file(file, &reader));
    OK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
    OK(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
    OK(hsa_executable_freeze(executable, nullptr));
    OK(hsa_code_object_reader_destroy(reader));
    close(file);
  }

  hsa_executable_symbol_t symbol(const char* name) {
    hsa_executable_symbol_t found;
    OK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &found));
    return found;
  }
  template <class T>
  T about(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what) {
    T value{};
    OK(hsa_executable_symbol_get_info(symbol, what, &value));
    return value;
  }

  struct Size { uint32_t x = 1, y = 1, z = 1; };

  // Writes the packet, rings, and gives the completion signal back.
  hsa_signal_t launch(const char* kernel, Size grid, Size block, const void* arguments, size_t bytes, uint32_t dynamic_lds = 0) {
    const hsa_executable_symbol_t found = symbol((std::string(kernel) + ".kd").c_str());
    const auto size = about<uint32_t>(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE);
    auto* memory = allocate<uint8_t>(size + 256, kernarg);
    std::memcpy(memory, arguments, bytes);
    hsa_signal_t done;
    OK(hsa_signal_create(1, 0, nullptr, &done));
    const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {}
    auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue->base_address) + (index & (queue->size - 1));
    packet->setup = 3;
    packet->workgroup_size_x = uint16_t(block.x), packet->workgroup_size_y = uint16_t(block.y), packet->workgroup_size_z = uint16_t(block.z);
    packet->grid_size_x = grid.x, packet->grid_size_y = grid.y, packet->grid_size_z = grid.z;
    packet->private_segment_size = about<uint32_t>(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE);
    packet->group_segment_size = about<uint32_t>(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE) + dynamic_lds;
    packet->kernel_object = about<uint64_t>(found, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
    packet->kernarg_address = memory;
    packet->completion_signal = done;
    const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, hsa_signal_value_t(index));
    return done;
  }
  template <class Arguments>
  hsa_signal_t launch(const char* kernel, Size grid, Size block, const Arguments& arguments, uint32_t dynamic_lds = 0) {
    return launch(kernel, grid, block, &arguments, sizeof arguments, dynamic_lds);
  }

  // 0 when the kernel has finished; the queue's error when it never will.
  hsa_status_t wait(hsa_signal_t done) {
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000, HSA_WAIT_STATE_BLOCKED) >= 1)
      if (error != HSA_STATUS_SUCCESS) break;
    OK(hsa_signal_destroy(done));
    return error;
  }
  template <class Arguments>
  void run(const char* kernel, Size grid, Size block, const Arguments& arguments, uint32_t dynamic_lds = 0) {
    OK(wait(launch(kernel, grid, block, arguments, dynamic_lds)));
  }
};

struct Case { const char* name; void (*function)(const char* object); };

inline int run_case(const std::vector<Case>& cases, int count, char** words) {
  for (const Case& each : cases) {
    if (count < 2 || std::strcmp(words[1], each.name) != 0) continue;
    each.function(count > 2 ? words[2] : nullptr);
    std::printf("%s: ok\n", each.name);
    return 0;
  }
  for (const Case& each : cases) std::printf("%s\n", each.name);
  return count < 2 ? 0 : 2;
}
