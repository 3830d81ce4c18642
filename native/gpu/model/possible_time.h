// What a dispatch takes at least and at most, whatever the model makes of it: a time outside is no
// time, but a mistake of the model. docs/virtual-model.md, "Possible times".
#pragma once

#include <stdexcept>

#include "counters.h"
#include "sample.h"

namespace gpu {

struct PossibleTime {
  double least = 0, most = 0;  // cycles from the first wave's start to the last one's end
  bool hold(double cycles) const { return cycles >= least && cycles <= most; }  // no: of what is no number
};

// What ran on one XCD.
struct Ran {
  const Executed& executed;
  std::array<uint64_t, kMaxClasses> classes{};
};

// What the bounds are made of besides the instructions.
struct PossibleInput {
  const DeviceSpec& device;
  const Parameters& parameters;
  const StaticTable& table;
  uint32_t active_xccs = 1, waves_per_group = 1;
  bool grid_walk = false;
};

// At least: every unit of the compute units that have a workgroup is busy from end to end with its own
// instructions; no wave issues more than one in four cycles.
double least_of(const Ran& ran, const PossibleInput& input);
// At most: each compute unit issues one instruction after the other, every access of all of them goes to
// HBM, and nothing overlaps; by those of the workgroups written down that cost most for an instruction.
double most_of(const std::vector<Ran>& xccs, const std::vector<const GroupTrace*>& recorded,
               const PossibleInput& input);

// A modelled time outside its bounds; the text is for a person and names the kernel.
struct ImpossibleTime : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace gpu
