#include <cstdlib>
#include <utility>

#include "gpu.h"

namespace gpu {

const std::vector<DeviceModel>& models() {
  static const std::vector<DeviceModel> all = {
#include "models.inc"
  };
  return all;
}

const DeviceModel* find_model(std::string_view name) {
  for (const DeviceModel& model : models())
    if (model.name == name) return &model;
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
