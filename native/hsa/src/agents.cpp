// What programs ask about the system, its agents and their caches.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

#include "answers.h"
#include "device_clock.h"
#include "hsa_impl.h"
#include "queues.h"
#include "runtime.h"
#include "signals.h"

namespace {

uint64_t clock_ns() { return device_clock::modelled() ? device_clock::host_asks() : now_ns(); }

hsa_status_t give_text(void* value, const std::string& text, size_t bytes) {
  std::memset(value, 0, bytes);
  std::memcpy(value, text.data(), std::min(text.size(), bytes - 1));
  return HSA_STATUS_SUCCESS;
}

void set_extension(uint8_t bits[128], unsigned extension) { bits[extension / 8 % 128] |= uint8_t(1u << extension % 8); }

constexpr uint32_t kMaxWorkgroup = 1024;

hsa_status_t common_info(const Agent& agent, int attribute, void* value) {
  switch (attribute) {
    case HSA_AGENT_INFO_MACHINE_MODEL: return give(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_AGENT_INFO_PROFILE: return give(value, agent.is_gpu() ? HSA_PROFILE_BASE : HSA_PROFILE_FULL);
    case HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE:
    case HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES:
      return give(value, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR);
    case HSA_AGENT_INFO_NODE: return give(value, agent.node);
    case HSA_AGENT_INFO_DEVICE: return give(value, agent.is_gpu() ? HSA_DEVICE_TYPE_GPU : HSA_DEVICE_TYPE_CPU);
    case HSA_AGENT_INFO_VERSION_MAJOR:
    case HSA_AGENT_INFO_VERSION_MINOR: return give(value, uint16_t(1));
    case HSA_AGENT_INFO_EXTENSIONS: {
      uint8_t bits[128] = {};
      set_extension(bits, HSA_EXTENSION_AMD_LOADER & 0xff);
      std::memcpy(value, bits, sizeof bits);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID: return give(value, agent.node);
    case HSA_AMD_AGENT_INFO_DOMAIN: return give(value, uint32_t(0));
    case HSA_AMD_AGENT_INFO_CACHELINE_SIZE: return give(value, uint32_t(agent.is_gpu() ? 128 : 64));
    case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS: return give(value, uint32_t(agent.is_gpu() ? 4 : 1));
    case HSA_AMD_AGENT_INFO_NEAREST_CPU: return give(value, Runtime::get()->cpu().handle());
    case HSA_AMD_AGENT_INFO_AQL_EXTENSIONS: return give(value, uint64_t(0));
    case HSA_AMD_AGENT_INFO_IOMMU_SUPPORT: return give(value, HSA_IOMMU_SUPPORT_NONE);
    case HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY: return give(value, uint64_t(1'000'000'000));
    case HSA_AMD_AGENT_INFO_CLOCK_COUNTERS: {
      const uint64_t now = clock_ns();
      return give(value, hsa_amd_clock_counters_t{now, now, now, 1'000'000'000});
    }
    case HSA_AMD_AGENT_INFO_MEMORY_AVAIL: return give(value, Runtime::get()->available(agent));
    case HSA_AMD_AGENT_INFO_HDP_FLUSH: return give(value, hsa_amd_hdp_flush_t{nullptr, nullptr});
    case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS: return give(value, true);
  }
  if (attribute >= HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS &&
      attribute <= HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT) {
    // Two-dimensional limits are pairs, the three-dimensional one a triple.
    const size_t words = attribute == HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS ? 3
                         : attribute >= HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS &&
                                 attribute <= HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS
                             ? 2
                             : 1;
    std::memset(value, 0, words * 4);
    return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t gpu_info(const Agent& agent, int attribute, void* value) {
  const gpu::DeviceSpec& m = agent.gpu->device();
  switch (attribute) {
    case HSA_AGENT_INFO_NAME: return give_text(value, m.architecture, 64);
    case HSA_AGENT_INFO_VENDOR_NAME: return give_text(value, "AMD", 64);
    case HSA_AGENT_INFO_FEATURE: return give(value, HSA_AGENT_FEATURE_KERNEL_DISPATCH);
    case HSA_AGENT_INFO_FAST_F16_OPERATION: return give(value, true);
    case HSA_AGENT_INFO_WAVEFRONT_SIZE: return give(value, uint32_t(64));
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: {
      const uint16_t dims[3] = {kMaxWorkgroup, kMaxWorkgroup, kMaxWorkgroup};
      std::memcpy(value, dims, sizeof dims);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE: return give(value, kMaxWorkgroup);
    case HSA_AGENT_INFO_GRID_MAX_DIM: return give(value, hsa_dim3_t{INT32_MAX, UINT16_MAX, UINT16_MAX});
    case HSA_AGENT_INFO_GRID_MAX_SIZE: return give(value, UINT32_MAX);
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE: return give(value, uint32_t(32));
    case HSA_AGENT_INFO_QUEUES_MAX: return give(value, uint32_t(128));
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE: return give(value, uint32_t(64));
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE: return give(value, kMaxPackets);
    case HSA_AGENT_INFO_QUEUE_TYPE: return give(value, HSA_QUEUE_TYPE_MULTI);
    case HSA_AGENT_INFO_CACHE_SIZE: {
      const uint32_t sizes[4] = {m.l1_bytes, m.l2_bytes, m.l3_bytes, 0};
      std::memcpy(value, sizes, sizeof sizes);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_ISA: return give(value, hsa_isa_t{agent.handle().handle});
    case HSA_AMD_AGENT_INFO_CHIP_ID: return give(value, m.chip_id);
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT: return give(value, m.compute_units);
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY: return give(value, m.clock_mhz);
    case HSA_AMD_AGENT_INFO_BDFID: return give(value, uint32_t((agent.node + 1) << 8));
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH: return give(value, m.memory_bus_bits);
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY: return give(value, m.memory_clock_mhz);
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME: return give_text(value, m.marketing_name, 64);
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU: return give(value, m.simds_per_cu * m.waves_per_simd);
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU: return give(value, m.simds_per_cu);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES: return give(value, m.shader_engines);
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE: return give(value, uint32_t(1));
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES: return give(value, true);
    case HSA_AMD_AGENT_INFO_UUID: {
      char text[24];
      std::snprintf(text, sizeof text, "GPU-%08x%08x", m.chip_id, agent.node);
      return give_text(value, text, 21);
    }
    case HSA_AMD_AGENT_INFO_ASIC_REVISION: return give(value, m.revision);
    case HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID: return give(value, uint32_t(141));  // AI, the driver's family of gfx9
    case HSA_AMD_AGENT_INFO_UCODE_VERSION:
    case HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION: return give(value, uint32_t(0));
    case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG: return give(value, uint32_t(2));
    case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG: return give(value, uint32_t(0));
    case HSA_AMD_AGENT_INFO_NUM_XCC: return give(value, m.xccs);
    case HSA_AMD_AGENT_INFO_DRIVER_UID: return give(value, m.chip_id + agent.node);
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
      return give(value, uint64_t(m.apu ? HSA_AMD_MEMORY_PROPERTY_AGENT_IS_APU : 0));
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT: return give(value, uint64_t{64} << 30);
  }
  return common_info(agent, attribute, value);
}

hsa_status_t cpu_info(const Agent& agent, int attribute, void* value) {
  switch (attribute) {
    case HSA_AGENT_INFO_NAME:
    case HSA_AMD_AGENT_INFO_PRODUCT_NAME: return give_text(value, agent.cpu_name, 64);
    case HSA_AGENT_INFO_VENDOR_NAME: return give_text(value, "CPU", 64);
    case HSA_AGENT_INFO_WORKGROUP_MAX_DIM: std::memset(value, 0, 6); return HSA_STATUS_SUCCESS;
    case HSA_AGENT_INFO_GRID_MAX_DIM: return give(value, hsa_dim3_t{0, 0, 0});
    case HSA_AGENT_INFO_CACHE_SIZE: {
      const uint32_t sizes[4] = {32768, 0, 0, 0};
      std::memcpy(value, sizes, sizeof sizes);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AGENT_INFO_ISA: return give(value, hsa_isa_t{0});
    case HSA_AGENT_INFO_FAST_F16_OPERATION:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES: return give(value, false);
    case HSA_AMD_AGENT_INFO_UUID: return give_text(value, "CPU-XX", 21);
    case HSA_AGENT_INFO_QUEUE_TYPE: return give(value, HSA_QUEUE_TYPE_MULTI);
    case HSA_AMD_AGENT_INFO_MEMORY_PROPERTIES:
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_MAX:
    case HSA_AMD_AGENT_INFO_SCRATCH_LIMIT_CURRENT: return give(value, uint64_t(0));
    case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
      return give(value, uint32_t(std::max(1u, std::thread::hardware_concurrency())));
    case HSA_AGENT_INFO_FEATURE:
    case HSA_AGENT_INFO_WAVEFRONT_SIZE:
    case HSA_AGENT_INFO_WORKGROUP_MAX_SIZE:
    case HSA_AGENT_INFO_GRID_MAX_SIZE:
    case HSA_AGENT_INFO_FBARRIER_MAX_SIZE:
    case HSA_AGENT_INFO_QUEUES_MAX:
    case HSA_AGENT_INFO_QUEUE_MIN_SIZE:
    case HSA_AGENT_INFO_QUEUE_MAX_SIZE:
    case HSA_AMD_AGENT_INFO_CHIP_ID:
    case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
    case HSA_AMD_AGENT_INFO_BDFID:
    case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
    case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
    case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
    case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
    case HSA_AMD_AGENT_INFO_ASIC_REVISION:
    case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
    case HSA_AMD_AGENT_INFO_ASIC_FAMILY_ID:
    case HSA_AMD_AGENT_INFO_UCODE_VERSION:
    case HSA_AMD_AGENT_INFO_SDMA_UCODE_VERSION:
    case HSA_AMD_AGENT_INFO_NUM_SDMA_ENG:
    case HSA_AMD_AGENT_INFO_NUM_SDMA_XGMI_ENG:
    case HSA_AMD_AGENT_INFO_NUM_XCC:
    case HSA_AMD_AGENT_INFO_DRIVER_UID: return give(value, uint32_t(0));
  }
  return common_info(agent, attribute, value);
}

struct Cache {
  const char* name;
  uint8_t level;
  uint32_t bytes;
};

std::vector<Cache> caches_of(const Agent& agent) {
  if (!agent.is_gpu()) return {};
  const gpu::DeviceSpec& m = agent.gpu->device();
  std::vector<Cache> out{{"L1", 1, m.l1_bytes}, {"L2", 2, m.l2_bytes}};
  if (m.l3_bytes) out.push_back({"L3", 3, m.l3_bytes});
  return out;
}
constexpr uint64_t kCacheBits = 3;  // an agent is aligned: the low bits of its handle number the cache

}  // namespace

namespace impl {

hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_SYSTEM_INFO_VERSION_MAJOR: return give(value, uint16_t(1));
    case HSA_SYSTEM_INFO_VERSION_MINOR: return give(value, uint16_t(18));
    case HSA_SYSTEM_INFO_TIMESTAMP: return give(value, clock_ns());
    case HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY: return give(value, uint64_t(1'000'000'000));
    case HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT: return give(value, UINT64_MAX);
    case HSA_SYSTEM_INFO_ENDIANNESS: return give(value, HSA_ENDIANNESS_LITTLE);
    case HSA_SYSTEM_INFO_MACHINE_MODEL: return give(value, HSA_MACHINE_MODEL_LARGE);
    case HSA_SYSTEM_INFO_EXTENSIONS: {
      uint8_t bits[128] = {};
      set_extension(bits, HSA_EXTENSION_AMD_LOADER & 0xff);
      std::memcpy(value, bits, sizeof bits);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_AMD_SYSTEM_INFO_BUILD_VERSION: return give(value, static_cast<const char*>("rocm-perf-lab virtual GPU"));
    case HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED: return give(value, true);
    case HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT:
    case HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED:
    case HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED:
    case HSA_AMD_SYSTEM_INFO_XNACK_ENABLED: return give(value, false);
    case HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED: return give(value, true);
    case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR: return give(value, uint16_t(HSA_AMD_INTERFACE_VERSION_MAJOR));
    case HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR: return give(value, uint16_t(HSA_AMD_INTERFACE_VERSION_MINOR));
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_iterate_agents(hsa_status_t (*visit)(hsa_agent_t, void*), void* data) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const auto& agent : runtime->agents())
    if (const hsa_status_t status = visit(agent->handle(), data); status != HSA_STATUS_SUCCESS) return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* found = runtime->agent(agent);
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return found->is_gpu() ? gpu_info(*found, int(attribute), value) : cpu_info(*found, int(attribute), value);
}

hsa_status_t hsa_amd_image_get_info_max_dim(hsa_agent_t agent, hsa_agent_info_t attribute, void* value) {
  return impl::hsa_agent_get_info(agent, attribute, value);
}
hsa_status_t hsa_amd_agent_set_async_scratch_limit(hsa_agent_t agent, size_t) {
  Runtime* runtime = Runtime::get();
  return runtime && runtime->agent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_amd_enable_logging(uint8_t*, void*) { return HSA_STATUS_SUCCESS; }
hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t handler, void* data) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!handler) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(runtime->event_mutex);
  runtime->event_handlers.emplace_back(handler, data);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t, hsa_profile_t, uint16_t* mask) {
  if (!mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*visit)(hsa_cache_t, void*), void* data) {
  Runtime* runtime = Runtime::get();
  Agent* found = runtime ? runtime->agent(agent) : nullptr;
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint64_t i = 0; i < caches_of(*found).size(); ++i)
    if (const hsa_status_t status = visit({agent.handle + i + 1}, data); status != HSA_STATUS_SUCCESS) return status;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void* value) {
  Runtime* runtime = Runtime::get();
  const uint64_t number = cache.handle & kCacheBits;
  Agent* agent = runtime && number ? runtime->agent({cache.handle - number}) : nullptr;
  const std::vector<Cache> caches = agent ? caches_of(*agent) : std::vector<Cache>{};
  if (number == 0 || number > caches.size()) return HSA_STATUS_ERROR_INVALID_CACHE;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const Cache& found = caches[number - 1];
  switch (attribute) {
    case HSA_CACHE_INFO_NAME_LENGTH: return give(value, uint32_t(std::strlen(found.name)));
    case HSA_CACHE_INFO_NAME: std::memcpy(value, found.name, std::strlen(found.name) + 1); return HSA_STATUS_SUCCESS;
    case HSA_CACHE_INFO_LEVEL: return give(value, found.level);
    case HSA_CACHE_INFO_SIZE: return give(value, found.bytes);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

}  // namespace impl
