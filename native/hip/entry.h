// What the generated entry points are made of: the hook, the arguments as text, the last error.
#pragma once

#include <atomic>
#include <cstdio>
#include <type_traits>

#include "api_ids.h"
#include "hip_hook.h"
#include "internal_api.h"
#include "modelled_time.h"

namespace hip {

extern std::atomic<const hip_api_hook*> g_hook;

// Whether calls are told to a tool, or to the clock.
inline bool watched() { return g_hook.load(std::memory_order_relaxed) || time_is_modelled(); }

// Whether this is the child of a process that had started the runtime. The threads that run kernels
// stayed with the parent: nothing asked for here would ever end, so every entry refuses.
extern std::atomic<bool> g_forked;
inline bool forked() { return g_forked.load(std::memory_order_relaxed); }
hipError_t refuse_forked();  // with a sentence, the first time

// Remembers a failure for hipGetLastError. hipErrorNotReady is an answer, not a failure.
hipError_t finish(hipError_t status);

// Says once per API on stderr that it is missing.
void not_supported(const char* api);

// What stands for an argument where one API is another with it.
inline hipStream_t own_stream(hipStream_t stream) { return stream ? stream : hipStreamPerThread; }
hipGraphNode_t in_exec(hipGraphExec_t exec, hipGraphNode_t node);  // its counterpart there; null: none

// Opens and closes a call on this thread: for the clock, and for a tool.
class TracedCall {
 public:
  TracedCall(ApiId id, const hip_api_argument* arguments, uint32_t count);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;
  void set_result(int64_t result) { call_.result = result; }

 private:
  const hip_api_hook* hook_;
  const bool modelled_;
  hip_api_call call_;
  uint64_t outer_correlation_;
};

template <class F>
auto traced(ApiId id, const hip_api_argument* arguments, uint32_t count, F&& body) {
  TracedCall call(id, arguments, count);
  if constexpr (std::is_same_v<decltype(body()), hipError_t>) {
    hipError_t status = body();
    call.set_result(status);
    return status;
  } else {
    return body();
  }
}

template <class T>
int format_value(const void* value, char* text, size_t size) {
  const T& v = *static_cast<const T*>(value);
  if constexpr (std::is_same_v<T, const char*>) {
    return v ? std::snprintf(text, size, "%s", v) : std::snprintf(text, size, "nullptr");
  } else if constexpr (std::is_pointer_v<T>) {
    return std::snprintf(text, size, "%p", reinterpret_cast<const void*>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::snprintf(text, size, "%g", double(v));
  } else if constexpr (std::is_enum_v<T> || std::is_signed_v<T>) {
    return std::snprintf(text, size, "%lld", static_cast<long long>(v));
  } else if constexpr (std::is_unsigned_v<T>) {
    return std::snprintf(text, size, "%llu", static_cast<unsigned long long>(v));
  } else if constexpr (std::is_same_v<T, dim3>) {
    return std::snprintf(text, size, "{%u, %u, %u}", v.x, v.y, v.z);
  } else if constexpr (std::is_same_v<T, hipExtent>) {
    return std::snprintf(text, size, "{%zu, %zu, %zu}", v.width, v.height, v.depth);
  } else if constexpr (std::is_same_v<T, hipPitchedPtr>) {
    return std::snprintf(text, size, "{%p, %zu, %zu, %zu}", v.ptr, v.pitch, v.xsize, v.ysize);
  } else {
    return std::snprintf(text, size, "{%zu bytes}", sizeof(T));
  }
}

template <class T>
hip_api_argument argument(const char* name, const char* type, const T& value) {
  return {name, type, &value, &format_value<T>};
}

// For hipGetProcAddress.
struct ApiAddress {
  const char* name;
  void* address;
};
extern const ApiAddress kApiAddresses[];
extern const unsigned kApiAddressCount;

}  // namespace hip
