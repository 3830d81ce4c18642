// Under `rocm-perf check`: calls about memory that were refused are told to it, with their arguments.
#include <string>
#include <string_view>

#include "api_impl.h"
#include "entry.h"

namespace hip {
namespace {

bool about_memory(std::string_view name) {
  for (const std::string_view start : {"hipMemcpy", "hipMemset", "hipFree", "hipHostFree", "hipHostUnregister"})
    if (name.starts_with(start)) return true;
  return false;
}

// After a fault every call fails: that is not theirs.
bool its_own_fault(int64_t result) {
  return result == hipErrorInvalidValue || result == hipErrorInvalidDevicePointer ||
         result == hipErrorInvalidMemcpyDirection || result == hipErrorInvalidPitchValue ||
         result == hipErrorHostMemoryNotRegistered;
}

void left(const hip_api_call* call, void*) {
  if (!its_own_fault(call->result) || !about_memory(call->name)) return;
  std::string text = std::string(call->name) + "(";
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const hip_api_argument& argument = call->arguments[i];
    char value[128];
    argument.format(argument.value, value, sizeof value);
    text += std::string(i ? ", " : "") + argument.name + " = " + value;
  }
  hsa_rocm_perf_call_refused((text + ")").c_str(), hip::hipGetErrorName(hipError_t(call->result)));
}

const hip_api_hook kHook{nullptr, left, nullptr};

__attribute__((constructor)) void begin() {
  if (hsa_rocm_perf_checks_calls && hsa_rocm_perf_checks_calls()) rocm_perf_hip_set_hook(&kHook);
}

}  // namespace
}  // namespace hip
