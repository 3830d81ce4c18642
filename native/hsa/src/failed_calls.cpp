// Calls of the program that the runtime refused, or that do hardly what was meant, where it is checked: copies
// past an end, frees of what is not allocated, events that do not belong there.
#include "check/findings.h"
#include "check/host_stack.h"
#include "check/settings.h"

// For libamdhip64. What it wants to hear of: calls about memory (1), calls about order (2).
extern "C" __attribute__((visibility("default"))) int hsa_rocm_perf_checks_calls(void) {
  const gpu::check::Settings* checks = gpu::check::settings();
  return checks ? (checks->memory ? 1 : 0) | (checks->sync ? 2 : 0) : 0;
}

extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_call_refused(const char* tool, const char* call,
                                                                                  const char* why) {
  const gpu::check::HostStack stack = gpu::check::HostStack::here();
  record::Line line("refused");
  line.string("tool", tool).string("call", call).string("why", why);
  stack.write(line);
  line.write();
}

extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_misused(const char* tool, const char* kind,
                                                                             const char* what) {
  const gpu::check::HostStack stack = gpu::check::HostStack::here();
  gpu::check::Counter* const counter =
      gpu::check::findings().place(std::string(kind) + " " + stack.key(), [&](record::Line& line) {
        line.string("tool", tool).string("kind", kind).string("why", "call").number("bytes", 0).string("text", what);
        stack.write(line);
        line.open("sides", '[').close(']');
      });
  ++*counter;
}
