// Calls of the program that the runtime refused, where it is checked: copies past an end, frees of what is
// not allocated.
#include "check/findings.h"
#include "check/host_stack.h"
#include "check/settings.h"

// For libamdhip64. 1: it wants to hear of refused calls.
extern "C" __attribute__((visibility("default"))) int hsa_rocm_perf_checks_calls(void) {
  const gpu::check::Settings* checks = gpu::check::settings();
  return checks && checks->memory;
}

extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_call_refused(const char* call, const char* why) {
  const gpu::check::HostStack stack = gpu::check::HostStack::here();
  record::Line line("refused");
  line.string("call", call).string("why", why);
  stack.write(line);
  line.write();
}
