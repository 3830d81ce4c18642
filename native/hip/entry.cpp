#include "entry.h"

#include <dlfcn.h>

#include <array>
#include <bitset>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "thread_state.h"
#include "timeline_costs.h"

namespace hip {

std::atomic<const hip_api_hook*> g_hook{nullptr};
std::atomic<bool> g_forked{false};

namespace {
std::atomic<uint64_t> g_correlation{0};

using Costs = std::array<uint64_t, size_t(ApiId::count)>;

// By ApiId. A name of the table stands for those that begin with it, the longest one first. Made when
// the first call asks: it takes more steps than clang allows a constant.
const Costs& costs_ns() {
  static const Costs made = [] {
    Costs costs{};
    for (size_t id = 0; id < costs.size(); ++id) {
      costs[id] = cost::call_ns;
      size_t longest = 0;
      for (const cost::Call& call : cost::kCalls) {
        const std::string_view known = call.name;
        if (known.size() <= longest || !std::string_view(kApiNames[id]).starts_with(known)) continue;
        longest = known.size();
        costs[id] = call.ns;
      }
    }
    return costs;
  }();
  return made;
}
}  // namespace

hipError_t finish(hipError_t status) {
  if (status != hipSuccess && status != hipErrorNotReady) thread_state().last_error = status;
  thread_state().last_status = status;
  return status;
}

hipError_t refuse_forked() {
  static std::once_flag said;
  std::call_once(said, [] {
    std::fputs(
        "rocm-perf: HIP cannot be used in a process forked after HIP was initialised: "
        "fork first, or start a new program\n",
        stderr);
  });
  return hipErrorNotInitialized;
}

void not_supported(const char* api) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (said.insert(api).second) std::fprintf(stderr, "rocm-perf: %s is not supported on the virtual GPU\n", api);
}

TracedCall::TracedCall(ApiId id, const hip_api_argument* arguments, uint32_t count)
    : hook_(g_hook.load(std::memory_order_acquire)), modelled_(time_is_modelled()) {
  call_.id = uint32_t(id);
  call_.name = kApiNames[call_.id];
  call_.correlation_id = g_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  call_.argument_count = count;
  call_.arguments = arguments;
  call_.result = 0;
  // What the compiler wrote follows at once.
  const uint64_t before_ns = call_.name[0] == '_' ? 0 : cost::between_calls_ns;
  call_.start_ns = modelled_ ? hsa_rocm_perf_call_begins(before_ns, costs_ns()[call_.id]) : 0;
  call_.end_ns = 0;
  outer_correlation_ = thread_state().correlation_id;
  thread_state().correlation_id = call_.correlation_id;
  if (hook_ && hook_->enter) hook_->enter(&call_, hook_->user);
}

TracedCall::~TracedCall() {
  if (modelled_) call_.end_ns = hsa_rocm_perf_call_ends(call_.result == hipErrorNotReady);
  if (hook_ && hook_->exit) hook_->exit(&call_, hook_->user);
  thread_state().correlation_id = outer_correlation_;
}

}  // namespace hip

extern "C" {

void rocm_perf_hip_set_hook(const hip_api_hook* hook) { hip::g_hook.store(hook, std::memory_order_release); }
uint64_t rocm_perf_hip_correlation_id() { return hip::thread_state().correlation_id; }
uint64_t rocm_perf_hip_stream_id() { return hip::thread_state().stream_id; }

}  // extern "C"

namespace {
__attribute__((constructor)) void load_tool() {
  const char* path = std::getenv("ROCM_PERF_HIP_TOOL");
  if (!path || !*path) return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* found = library ? dlsym(library, "rocm_perf_hip_tool") : nullptr;
  if (!found) {
    std::fprintf(stderr, "rocm-perf: ROCM_PERF_HIP_TOOL: %s\n", dlerror());
    return;
  }
  reinterpret_cast<rocm_perf_hip_tool_function>(found)(rocm_perf_hip_set_hook, rocm_perf_hip_correlation_id,
                                                       rocm_perf_hip_stream_id);
}
}  // namespace
