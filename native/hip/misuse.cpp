#include "misuse.h"

#include <string>

#include "api_impl.h"

namespace hip {
namespace {

enum Checked { kMemory = 1, kSync = 2 };
bool wanted(Checked what) { return hsa_rocm_perf_checks_calls && (hsa_rocm_perf_checks_calls() & what); }

const char* kind_of(const std::optional<Allocation>& side) {
  if (!side) return "memory of the host's own";
  switch (side->kind) {
    case MemoryKind::Device: return "device memory";
    case MemoryKind::Variable: return "a variable of the device";
    case MemoryKind::Managed: return "managed memory";
    case MemoryKind::Host:
    case MemoryKind::Registered: return "pinned memory of the host";
  }
  return "";
}

}  // namespace

// Pinned and managed memory is the host's and the device's.
void check_kind(const CopyRequest& request) {
  if (!wanted(kMemory) || !request.width || !request.height || !request.depth) return;
  const auto to = memory_map().find(request.to.base), from = memory_map().find(request.from.base);
  const auto only_device = [](const auto& side) { return side && side->on_device(); };
  const char* name = nullptr;
  switch (request.kind) {
    case hipMemcpyHostToDevice:
      if (only_device(from) || !to) name = "hipMemcpyHostToDevice";
      break;
    case hipMemcpyDeviceToHost:
      if (only_device(to) || !from) name = "hipMemcpyDeviceToHost";
      break;
    case hipMemcpyHostToHost:
      if (only_device(to) || only_device(from)) name = "hipMemcpyHostToHost";
      break;
    default: break;
  }
  if (!name) return;
  const std::string text = std::string(name) + ", and it goes from " + kind_of(from) + " to " + kind_of(to);
  hsa_rocm_perf_misused("memory", "copy-kind", text.c_str());
}

void check_recorded(const Event& event, const Stream& stream) {
  if (!wanted(kSync) || event.home == &stream.device) return;
  const std::string text = "an event of device " + std::to_string(event.home->index) +
                           " is recorded in a stream of device " + std::to_string(stream.device.index);
  hsa_rocm_perf_misused("sync", "event-device", text.c_str());
}

}  // namespace hip
