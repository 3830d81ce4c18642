/* How a tool watches the HIP calls of a process: one hook, called before and after every exported
 * API, on the calling thread. Found by dlsym in libamdhip64. */
#ifndef ROCM_PERF_HIP_HOOK_H
#define ROCM_PERF_HIP_HOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hip_api_argument {
  const char *name, *type;
  const void* value;
  /* Writes the value as text and returns its length, like snprintf. */
  int (*format)(const void* value, char* text, size_t size);
} hip_api_argument;

typedef struct hip_api_call {
  uint32_t id; /* position among all API names in alphabetical order */
  const char* name;
  uint64_t correlation_id; /* 1, 2, ...: the order in which calls began */
  uint32_t argument_count;
  const hip_api_argument* arguments;
  int64_t result; /* on exit: the hipError_t, or 0 for an API that returns something else */
  uint64_t start_ns, end_ns; /* where time is modelled; the end on exit */
} hip_api_call;

typedef struct hip_api_hook {
  void (*enter)(const hip_api_call* call, void* user);
  void (*exit)(const hip_api_call* call, void* user);
  void* user;
} hip_api_hook;

#define HIP_HOOK_API __attribute__((visibility("default")))
/* The hook has to stay valid; NULL removes it. */
HIP_HOOK_API void rocm_perf_hip_set_hook(const hip_api_hook* hook);
/* Of the call in progress on this thread, for packets seen by queue interception; 0: none. */
HIP_HOOK_API uint64_t rocm_perf_hip_correlation_id(void);
/* The stream that the packet being submitted on this thread belongs to; 0: the null stream. */
HIP_HOOK_API uint64_t rocm_perf_hip_stream_id(void);
/* When it is loaded, libamdhip64 opens the library named by ROCM_PERF_HIP_TOOL and calls its
 * rocm_perf_hip_tool with the three functions above, so that a tool sees the very first call. */
typedef void (*rocm_perf_hip_tool_function)(void (*set_hook)(const hip_api_hook* hook),
                                            uint64_t (*correlation_id)(void), uint64_t (*stream_id)(void));
#undef HIP_HOOK_API

#ifdef __cplusplus
}
#endif
#endif
