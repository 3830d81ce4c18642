// Instruction sets: each GPU agent has one.
#include "answers.h"
#include "hsa_impl.h"
#include "runtime.h"

namespace {

// An ISA's handle is its agent's: one instruction set each.
Agent* isa_agent(hsa_isa_t isa) {
  Runtime* runtime = Runtime::get();
  Agent* agent = runtime ? runtime->agent({isa.handle}) : nullptr;
  return agent && agent->is_gpu() ? agent : nullptr;
}

}  // namespace

namespace impl {

hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*visit)(hsa_isa_t, void*), void* data) {
  Runtime* runtime = Runtime::get();
  Agent* found = runtime ? runtime->agent(agent) : nullptr;
  if (!found) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return found->is_gpu() ? visit({agent.handle}, data) : HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_isa_from_name(const char* name, hsa_isa_t* isa) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!name || !isa) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (const auto& agent : runtime->agents()) {
    if (!agent->is_gpu()) continue;
    const std::string full = isa_name(agent->gpu->device()), bare = full.substr(0, full.find(':'));
    // Features left out are "any".
    if (full == name || bare == name || bare + ":xnack-" == name || bare + ":sramecc+" == name) {
      isa->handle = agent->handle().handle;
      return HSA_STATUS_SUCCESS;
    }
  }
  return HSA_STATUS_ERROR_INVALID_ISA_NAME;
}
hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* value) {
  Agent* agent = isa_agent(isa);
  if (!agent) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::string name = isa_name(agent->gpu->device());
  const auto of_agent = [&](hsa_agent_info_t same) { return impl::hsa_agent_get_info(agent->handle(), same, value); };
  switch (attribute) {
    case HSA_ISA_INFO_NAME_LENGTH: return give(value, uint32_t(name.size() + 1));
    case HSA_ISA_INFO_NAME: std::memcpy(value, name.c_str(), name.size() + 1); return HSA_STATUS_SUCCESS;
    case HSA_ISA_INFO_CALL_CONVENTION_COUNT: return give(value, uint32_t(1));
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE: return of_agent(HSA_AGENT_INFO_WAVEFRONT_SIZE);
    case HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT:
      return of_agent(hsa_agent_info_t(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU));
    case HSA_ISA_INFO_MACHINE_MODELS: {
      const bool models[2] = {false, true};
      std::memcpy(value, models, sizeof models);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_ISA_INFO_PROFILES: {
      const bool profiles[2] = {true, false};
      std::memcpy(value, profiles, sizeof profiles);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES:
    case HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES: {
      const bool modes[3] = {false, false, true};
      std::memcpy(value, modes, sizeof modes);
      return HSA_STATUS_SUCCESS;
    }
    case HSA_ISA_INFO_FAST_F16_OPERATION: return give(value, true);
    case HSA_ISA_INFO_WORKGROUP_MAX_DIM: return of_agent(HSA_AGENT_INFO_WORKGROUP_MAX_DIM);
    case HSA_ISA_INFO_WORKGROUP_MAX_SIZE: return of_agent(HSA_AGENT_INFO_WORKGROUP_MAX_SIZE);
    case HSA_ISA_INFO_GRID_MAX_DIM: return of_agent(HSA_AGENT_INFO_GRID_MAX_DIM);
    case HSA_ISA_INFO_GRID_MAX_SIZE: return give(value, UINT64_MAX);
    case HSA_ISA_INFO_FBARRIER_MAX_SIZE: return of_agent(HSA_AGENT_INFO_FBARRIER_MAX_SIZE);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void* value) {
  return index ? HSA_STATUS_ERROR_INVALID_INDEX : impl::hsa_isa_get_info_alt(isa, attribute, value);
}
hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t, uint16_t* mask) {
  if (!isa_agent(isa)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t, hsa_flush_mode_t, hsa_round_method_t* method) {
  if (!isa_agent(isa)) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!method) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *method = HSA_ROUND_METHOD_SINGLE;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa, hsa_status_t (*visit)(hsa_wavefront_t, void*), void* data) {
  if (!isa_agent(isa)) return HSA_STATUS_ERROR_INVALID_ISA;
  return visit ? visit({isa.handle}, data) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t, void* value) {
  if (!isa_agent({wavefront.handle})) return HSA_STATUS_ERROR_INVALID_WAVEFRONT;
  return value ? give(value, uint32_t(64)) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_isa_compatible(hsa_isa_t code_object_isa, hsa_isa_t agent_isa, bool* result) {
  Agent *one = isa_agent(code_object_isa), *other = isa_agent(agent_isa);
  if (!one || !other) return HSA_STATUS_ERROR_INVALID_ISA;
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = one->gpu->device().architecture == other->gpu->device().architecture;
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
