// Hardware counters under AMD's names, from exact instruction counts and the simulation.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "simulation.h"

namespace gpu {

// Counted for every workgroup, simulated or not.
struct EngineCounts {
  std::array<uint64_t, kMaxClasses> classes{};
  uint64_t waves = 0, groups = 0, items = 0, waves_by_lanes[4] = {}, full_waves = 0;  // below 16, 32, 48, 64 lanes
  uint64_t executed = 0;
};

struct CounterInput {
  const DeviceSpec& device;
  const Parameters& parameters;
  const std::vector<EngineCounts>& engines;  // per shader engine of the device
  const SimulationResult& simulation;
  std::vector<uint32_t> source_xcc{};          // per XCD: the simulated one that stands for it
  std::vector<double> scale{}, memory_scale{};   // per XCD: of that one's counts
  uint64_t cycles = 0;                       // of the whole dispatch
  std::optional<std::span<const char* const>> only{};  // counters asked for, sorted; none: all
};

std::vector<CounterValue> count(const CounterInput& input);

}  // namespace gpu
