// One dispatch, decoded: what the kernel descriptor and the packet say a wave starts with.
#pragma once

#include "code_object.h"
#include "footprint.h"

namespace gpu {

// When the waves of a launch read the clock, by the model: cycles since its start.
struct ClockTimes {
  struct WaveTimes {
    std::vector<uint64_t> readings;
    double pace = 0;  // clocks per instruction, of a wave of which only the beginning was simulated
  };
  struct Group {
    uint64_t index = 0;
    std::vector<WaveTimes> waves;
  };
  std::vector<Group> groups;  // those that were simulated, in order
  uint64_t duration = 0;
  // The readings of a wave; those of a workgroup that was not simulated are another's, as much later
  // as its place in the launch.
  void give(Wave& wave, uint64_t group, uint32_t number, uint64_t group_count) const;
};

struct Launch {
  std::shared_ptr<CodeObject> object;
  const KernelSymbol* kernel = nullptr;
  Program* program = nullptr;
  DispatchRequest request;
  std::shared_ptr<const AddressSpace::Snapshot> memory;
  std::shared_ptr<Footprint> footprint;  // set where what the launch touches is to be known

  uint32_t groups[3] = {1, 1, 1};
  uint64_t group_count = 0;
  uint32_t group_bytes = 0, group_bytes_taken = 0,
           private_bytes = 0;  // taken: of a compute unit's LDS, in whole granules
  uint16_t vgpr_count = 0, acc_offset = 0;
  uint32_t waves_per_simd = 0, groups_per_cu = 0;  // what the device holds of this kernel at once
  uint32_t mode = 0;
  uint64_t entry = 0;
  uint16_t properties = 0, preload_count = 0, preload_offset = 0;
  uint32_t user_sgprs = 0;
  bool group_id[3] = {true, false, false}, group_info = false, private_segment = false;
  uint8_t work_item_ids = 0;  // 0: x, 1: x and y, 2: all
  uint64_t time_base = 0;
  std::shared_ptr<const ClockTimes> clocks;  // set once the model has said
};

// The reason, when the packet or the kernel cannot be launched on this device.
std::string prepare(Launch& launch, const DeviceSpec& device);

// The work-items of one workgroup: smaller than asked for at the edges of the grid.
struct GroupShape {
  uint32_t id[3], size[3];
  uint32_t items() const { return size[0] * size[1] * size[2]; }
  uint32_t waves() const { return (items() + kLanes - 1) / kLanes; }
};
GroupShape shape_of(const Launch& launch, uint64_t index);

// Work-item `flat` of the group, as (x, y, z).
void work_item(const GroupShape& shape, uint32_t flat, uint32_t out[3]);

// Registers, masks and surroundings of wave `number` of a group. wave.lds and wave.scratch are set
// by the caller, as are the rows of vector registers to be cleared.
void start_wave(Wave& wave, const Launch& launch, const GroupShape& shape, uint32_t number, uint64_t group_index,
                const DeviceSpec& device);

// Bases of the LDS and scratch windows in the flat address space, as on gfx9: outside every
// address a host can map.
inline constexpr uint64_t kSharedAperture = uint64_t{1} << 48, kPrivateAperture = uint64_t{2} << 48;

}  // namespace gpu
