#include "reader.h"

#include <algorithm>

#include "tool.h"

namespace capture {

namespace {

struct Agents {
  std::vector<hsa_agent_t>& gpus;
  hsa_agent_t& cpu;
};

hsa_status_t on_agent(hsa_agent_t agent, void* data) {
  auto& agents = *static_cast<Agents*>(data);
  hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
  core().hsa_agent_get_info_fn(agent, HSA_AGENT_INFO_DEVICE, &type);
  if (type == HSA_DEVICE_TYPE_GPU) agents.gpus.push_back(agent);
  else if (type == HSA_DEVICE_TYPE_CPU && !agents.cpu.handle) agents.cpu = agent;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void* data) {
  hsa_amd_segment_t segment{};
  uint32_t flags = 0;
  bool allowed = false;
  amd().hsa_amd_memory_pool_get_info_fn(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  amd().hsa_amd_memory_pool_get_info_fn(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  amd().hsa_amd_memory_pool_get_info_fn(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
  if (!allowed || !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)) return HSA_STATUS_SUCCESS;
  *static_cast<hsa_amd_memory_pool_t*>(data) = pool;
  return HSA_STATUS_INFO_BREAK;
}

}  // namespace

Reader::Reader() : plain_(kMost) {
  Agents agents{gpus_, cpu_};
  core().hsa_iterate_agents_fn(on_agent, &agents);
  hsa_amd_memory_pool_t pool{};
  amd().hsa_amd_agent_iterate_memory_pools_fn(cpu_, on_pool, &pool);
  const bool have =
      pool.handle && amd().hsa_amd_memory_pool_allocate_fn(pool, kMost, 0, &pinned_) == HSA_STATUS_SUCCESS;
  if (have && !gpus_.empty() &&
      amd().hsa_amd_agents_allow_access_fn(uint32_t(gpus_.size()), gpus_.data(), nullptr, pinned_) !=
          HSA_STATUS_SUCCESS) {
    amd().hsa_amd_memory_pool_free_fn(pinned_);
    pinned_ = nullptr;
  }
  core().hsa_signal_create_fn(1, 0, nullptr, &copied_);
}

Reader::~Reader() {
  if (pinned_) amd().hsa_amd_memory_pool_free_fn(pinned_);
  core().hsa_signal_destroy_fn(copied_);
}

bool Reader::is_gpu(uint64_t agent) const {
  return std::any_of(gpus_.begin(), gpus_.end(), [&](hsa_agent_t gpu) { return gpu.handle == agent; });
}

const uint8_t* Reader::read(uint64_t address, uint64_t size, uint64_t agent, std::string& failure) {
  const void* from = reinterpret_cast<const void*>(address);
  hsa_status_t status = HSA_STATUS_SUCCESS;
  if (pinned_ && is_gpu(agent)) {
    core().hsa_signal_store_screlease_fn(copied_, 1);
    status = amd().hsa_amd_memory_async_copy_fn(pinned_, cpu_, from, {agent}, size, 0, nullptr, copied_);
    if (status == HSA_STATUS_SUCCESS) {
      // A copy that fails says so by a negative value.
      if (core().hsa_signal_wait_scacquire_fn(copied_, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) ==
          0)
        return static_cast<const uint8_t*>(pinned_);
      status = HSA_STATUS_ERROR;
    }
  } else {
    status = core().hsa_memory_copy_fn(plain_.data(), from, size);
    if (status == HSA_STATUS_SUCCESS) return plain_.data();
  }
  failure = "HSA status " + std::to_string(status);
  return nullptr;
}

}  // namespace capture
