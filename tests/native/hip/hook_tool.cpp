// A tool that lists the HIP calls of a program, loaded with LD_PRELOAD.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "hip_hook.h"

namespace {

void enter(const hip_api_call* call, void* file) {
  fprintf(static_cast<FILE*>(file), "enter %llu %s(", (unsigned long long)call->correlation_id, call->name);
  for (uint32_t i = 0; i < call->argument_count; ++i) {
    char text[256];
    call->arguments[i].format(call->arguments[i].value, text, sizeof text);
    fprintf(static_cast<FILE*>(file), "%s%s %s=%s", i ? ", " : "", call->arguments[i].type,
            call->arguments[i].name, text);
  }
  fprintf(static_cast<FILE*>(file), ")\n");
}

void leave(const hip_api_call* call, void* file) {
  fprintf(static_cast<FILE*>(file), "exit %llu %lld\n", (unsigned long long)call->correlation_id,
          (long long)call->result);
  fflush(static_cast<FILE*>(file));
}

struct Start {
  Start() {
    auto set = reinterpret_cast<void (*)(const hip_api_hook*)>(dlsym(RTLD_DEFAULT, "rocm_perf_hip_set_hook"));
    const char* path = getenv("HIP_CALLS");
    if (!set || !path) return;
    static hip_api_hook hook{enter, leave, fopen(path, "w")};
    set(&hook);
  }
} start;

}  // namespace
