#include <cstdlib>

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

}  // namespace gpu
