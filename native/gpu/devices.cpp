#include <utility>

#include "gpu.h"

namespace gpu {

const std::vector<DeviceSpec>& devices() {
  // Never destroyed: a program may end before its kernels do.
  static const auto& all = *new std::vector<DeviceSpec>{
#include "devices.inc"
  };
  return all;
}

const DeviceSpec* find_device(std::string_view name) {
  for (const DeviceSpec& device : devices())
    if (device.name == name) return &device;
  return nullptr;
}

const char* not_executed(std::string_view name) {
  static constexpr std::pair<std::string_view, const char*> kAll[] = {
#include "not_executed.inc"
  };
  for (const auto& [known, architecture] : kAll)
    if (known == name) return architecture;
  return nullptr;
}

}  // namespace gpu
