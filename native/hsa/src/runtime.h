// What hsa_init brings to life: the agents, their memory pools, and the books of allocations.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu.h"
#include "hsa/hsa_api_trace.h"

struct Agent;

struct Pool {
  enum class Kind : uint8_t { Fine, Kernarg, Coarse, Group };
  Agent* agent;
  Kind kind;

  uint32_t flags() const;
  uint64_t size() const;
  bool allocatable() const { return kind != Kind::Group; }
  gpu::RangeKind range_kind() const;
  hsa_amd_memory_pool_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

struct Agent {
  uint32_t node = 0;
  std::unique_ptr<gpu::Gpu> gpu;  // nullptr for the CPU
  std::vector<std::unique_ptr<Pool>> pools;
  std::atomic<uint64_t> allocated{0};  // bytes, of a GPU's memory
  std::string cpu_name;

  bool is_gpu() const { return gpu != nullptr; }
  hsa_agent_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};

class Runtime {
 public:
  static Runtime* get();                   // nullptr before hsa_init and after the last hsa_shut_down
  static gpu::AddressSpace& memory();      // of the process, older and younger than any Runtime
  static hsa_status_t acquire();
  static hsa_status_t release();

  Agent* agent(hsa_agent_t handle) const;  // nullptr if it is none of ours
  Pool* pool(hsa_amd_memory_pool_t handle) const;
  const std::vector<std::unique_ptr<Agent>>& agents() const { return agents_; }
  Agent& cpu() const { return *agents_.front(); }

  // Host memory is what stands behind device memory: both limits are kept.
  bool charge(Agent& agent, uint64_t bytes);
  void discharge(Agent& agent, uint64_t bytes);
  uint64_t available(const Agent& agent) const;

  std::mutex event_mutex;
  std::vector<std::pair<hsa_amd_system_event_callback_t, void*>> event_handlers;

 private:
  Runtime();
  std::vector<std::unique_ptr<Agent>> agents_;
  std::atomic<uint64_t> charged_{0};
  uint64_t host_limit_ = 0;
  std::string error_;
};

// Devices asked for by ROCM_PERF_DEVICE: "virtual:mi300x", "virtual:mi300x*2", "a,b".
std::vector<const gpu::DeviceSpec*> requested_devices(std::string& error);

void load_tools();    // HSA_TOOLS_LIB
void unload_tools();
void forget_allocations();
void forget_executables();
void stop_copies();

// Shared with queues, executables and copies.
std::string isa_name(const gpu::DeviceSpec& device);
bool copy_allowed(const void* address, size_t size);
