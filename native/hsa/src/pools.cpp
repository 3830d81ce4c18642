// What programs ask about memory pools and regions.
#include "answers.h"
#include "arena.h"
#include "hsa_impl.h"
#include "runtime.h"

namespace impl {

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent, hsa_status_t (*visit)(hsa_amd_memory_pool_t, void*),
                                                void* data) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* found = runtime->agent(agent);
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const auto& pool : found->pools)
    if (const hsa_status_t status = visit(pool->handle(), data); status != HSA_STATUS_SUCCESS) return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
                                          void* value) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Pool* pool = runtime->pool(handle);
  if (!pool) return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool allocatable = pool->allocatable();
  switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      return give(value, allocatable ? HSA_AMD_SEGMENT_GLOBAL : HSA_AMD_SEGMENT_GROUP);
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS: return give(value, pool->flags());
    case HSA_AMD_MEMORY_POOL_INFO_SIZE: return give(value, size_t(pool->size()));
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED: return give(value, allocatable);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE: return give(value, size_t(allocatable ? gpu::kPage : 0));
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT: return give(value, size_t(allocatable ? gpu::kPage : 0));
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL: return give(value, allocatable && !pool->agent->is_gpu());
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE: return give(value, size_t(allocatable ? pool->size() : 0));
    case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
      return give(value, pool->agent->is_gpu() ? HSA_AMD_MEMORY_POOL_LOCATION_GPU : HSA_AMD_MEMORY_POOL_LOCATION_CPU);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
      return give(value, size_t(allocatable ? size_t{2} << 20 : 0));
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent, hsa_amd_memory_pool_t handle,
                                                hsa_amd_agent_memory_pool_info_t attribute, void* value) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* found = runtime->agent(agent);
  Pool* pool = runtime->pool(handle);
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!pool) return hsa_status_t(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool own = pool->agent == found;
  switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
      if (!pool->allocatable() && !own) return give(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
      return give(value, own || !found->is_gpu() ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                                 : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS: return give(value, uint32_t(own ? 0 : 1));
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: {
      if (own) return HSA_STATUS_SUCCESS;
      hsa_amd_memory_pool_link_info_t link{};
      link.atomic_support_32bit = link.atomic_support_64bit = link.coherent_support = true;
      const bool peers = pool->agent->is_gpu() && found->is_gpu();
      link.link_type = peers ? HSA_AMD_LINK_INFO_TYPE_XGMI : HSA_AMD_LINK_INFO_TYPE_PCIE;
      link.numa_distance = peers ? 15 : 20;
      return give(value, link);
    }
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

// ---- regions: HSA 1.0's name for pools; a GPU agent shows the host's too ------------------------

hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent, hsa_status_t (*visit)(hsa_region_t, void*), void* data) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* found = runtime->agent(agent);
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<Agent*> shown{found};
  if (found->is_gpu()) shown.push_back(&runtime->cpu());
  for (Agent* each : shown)
    for (const auto& pool : each->pools)
      if (const hsa_status_t status = visit({pool->handle().handle}, data); status != HSA_STATUS_SUCCESS) return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void* value) {
  Runtime* runtime = Runtime::get();
  Pool* pool = runtime ? runtime->pool({region.handle}) : nullptr;
  if (!pool) return HSA_STATUS_ERROR_INVALID_REGION;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (int(attribute)) {
    case HSA_REGION_INFO_SEGMENT:
      return give(value, pool->allocatable() ? HSA_REGION_SEGMENT_GLOBAL : HSA_REGION_SEGMENT_GROUP);
    case HSA_REGION_INFO_GLOBAL_FLAGS: return give(value, pool->flags());
    case HSA_REGION_INFO_SIZE:
    case HSA_REGION_INFO_ALLOC_MAX_SIZE: return give(value, size_t(pool->size()));
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED: return give(value, pool->allocatable());
    case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT: return give(value, size_t(gpu::kPage));
    case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE: return give(value, uint32_t(0));
    case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE: return give(value, pool->allocatable());
    case HSA_AMD_REGION_INFO_BASE: return give(value, static_cast<void*>(nullptr));
    case HSA_AMD_REGION_INFO_BUS_WIDTH:
      return give(value, uint32_t(pool->agent->is_gpu() ? pool->agent->gpu->device().memory_bus_bits : 64));
    case HSA_AMD_REGION_INFO_MAX_CLOCK_FREQUENCY:
      return give(value, uint32_t(pool->agent->is_gpu() ? pool->agent->gpu->device().memory_clock_mhz : 0));
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_amd_coherency_get_type(hsa_agent_t agent, hsa_amd_coherency_type_t* type) {
  Runtime* runtime = Runtime::get();
  if (!runtime || !runtime->agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!type) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *type = HSA_AMD_COHERENCY_TYPE_COHERENT;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_coherency_set_type(hsa_agent_t agent, hsa_amd_coherency_type_t) {
  Runtime* runtime = Runtime::get();
  return runtime && runtime->agent(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

}  // namespace impl
