// Under `rocm-perf check`: calls about memory, streams and events that were refused are told to it, with their
// arguments.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api_impl.h"
#include "entry.h"

namespace hip {
namespace {

// After a fault every call fails, and some answers are no failure: these are the call's own.
constexpr hipError_t kAboutMemory[] = {hipErrorInvalidValue, hipErrorInvalidDevicePointer,
                                       hipErrorInvalidMemcpyDirection, hipErrorInvalidPitchValue,
                                       hipErrorHostMemoryNotRegistered};
constexpr hipError_t kAboutOrder[] = {hipErrorInvalidHandle, hipErrorInvalidResourceHandle, hipErrorContextIsDestroyed};

struct Subject {
  const char* tool;
  int bit;  // of hsa_rocm_perf_checks_calls
  std::vector<std::string_view> names;  // that begin so
  std::vector<int64_t> errors;
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all{
      {"memory",
       1,
       {"hipMemcpy", "hipMemset", "hipFree", "hipHostFree", "hipHostUnregister"},
       {std::begin(kAboutMemory), std::end(kAboutMemory)}},
      {"sync",
       2,
       {"hipEvent", "hipStreamWaitEvent", "hipStreamSynchronize", "hipStreamDestroy", "hipStreamQuery"},
       {std::begin(kAboutOrder), std::end(kAboutOrder)}}};
  return all;
}

const Subject* subject_of(std::string_view name, int64_t result) {
  for (const Subject& subject : subjects()) {
    if (!(hsa_rocm_perf_checks_calls() & subject.bit)) continue;
    const auto is_of = [&](std::string_view start) { return name.starts_with(start); };
    if (std::any_of(subject.names.begin(), subject.names.end(), is_of) &&
        std::find(subject.errors.begin(), subject.errors.end(), result) != subject.errors.end())
      return &subject;
  }
  return nullptr;
}

void left(const hip_api_call* call, void*) {
  const Subject* subject = call->result ? subject_of(call->name, call->result) : nullptr;
  if (!subject) return;
  std::string text = std::string(call->name) + "(";
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    const hip_api_argument& argument = call->arguments[i];
    char value[128];
    argument.format(argument.value, value, sizeof value);
    text += std::string(i ? ", " : "") + argument.name + " = " + value;
  }
  hsa_rocm_perf_call_refused(subject->tool, (text + ")").c_str(), hip::hipGetErrorName(hipError_t(call->result)));
}

const hip_api_hook kHook{nullptr, left, nullptr};

__attribute__((constructor)) void begin() {
  if (hsa_rocm_perf_checks_calls && hsa_rocm_perf_checks_calls()) rocm_perf_hip_set_hook(&kHook);
}

}  // namespace
}  // namespace hip
