// The dispatch on the modelled device: workgroups over XCDs and compute units, all of them advanced
// together in short quanta so that the outcome does not depend on the host's threads.
#pragma once

#include <memory>
#include <mutex>

#include "compute_unit.h"

namespace gpu {

// What stays in a device between dispatches, which are profiled one at a time.
struct DeviceState {
  explicit DeviceState(const DeviceSpec& device);
  const Parameters& parameters;
  std::mutex mutex;
  Addresses addresses;
  std::unique_ptr<SampledCache> mall;              // where the device has one
  std::vector<std::unique_ptr<XccMemory>> memory;  // per XCD, made when first used
  std::vector<std::unique_ptr<CuStorage>> units;   // per compute unit, the same
};

struct SimulationInput {
  const DeviceSpec& device;
  const Parameters& parameters;
  const StaticTable& table;
  Residency residency{};
  // Workgroups per XCD, in order of launch; an empty list: that XCD is not simulated.
  std::vector<std::vector<const GroupTrace*>> groups{};
  std::vector<uint32_t> compute_units{};  // per XCD: how many of them are simulated
  uint32_t active_xccs = 1;             // sharing Infinity Cache and HBM, simulated or not
  double traffic_share = 1;             // of the dispatch's memory traffic, the part simulated
  bool whole = true;                    // of an XCD that is simulated, all workgroups are
  double page_weight = 1;               // pages of the dispatch that a page seen stands for
  double from_others = 0;               // of lines asked for, those that XCDs not simulated brought already
  bool grid_walk = false;               // the grid has rows: every XCD steps through all of it
  // With counters no cache keeps data from one dispatch to the next, and the instruction caches start empty:
  // vcopy counted on an MI300X has one miss in each of them in every launch, and its reads take longer beyond
  // the L2 than a chase through HBM. Its code comes sooner.
  bool counting = false;
  bool att = false;
  AttSelect att_select{};
  unsigned threads = 1;
};

struct XccResult {
  std::vector<CuCounts> cus;
  std::vector<TccCounts> channels;
  std::vector<SqcCounts> sqcs;
  uint64_t end = 0;              // cycle of the last wave's end
  uint64_t write_back = 0;       // cycles of the flush that follows
  uint64_t exhausted = 0;        // cycle when the last workgroup had been started
  uint64_t exhausted_steps = 0;  // wave-instructions by then
  uint64_t steps = 0, vmem = 0;
};

struct SimulationResult {
  std::vector<XccResult> xccs;
  std::vector<AttWave> waves;
  std::vector<AttOccupancy> occupancy;
};

SimulationResult simulate(const SimulationInput& input, DeviceState& state);

// Position of a compute unit: they go round the shader engines of their XCD.
inline uint32_t engines_per_xcc(const DeviceSpec& device) { return std::max(1u, device.shader_engines / device.xccs); }
inline uint32_t cus_per_xcc(const DeviceSpec& device) { return std::max(1u, device.compute_units / device.xccs); }

}  // namespace gpu
