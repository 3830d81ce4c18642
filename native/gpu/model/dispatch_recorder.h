// What is written down of one running dispatch: traces of the workgroups that will be simulated, exact
// counts of all of them; and the profile made of it at the end.
#pragma once

#include <deque>

#include "possible_time.h"
#include "workgroup.h"

namespace gpu {

class DispatchRecorder final : public GroupWatcher {
 public:
  DispatchRecorder(const DeviceSpec& device, DeviceState& state, const Launch& launch, const ProfileRequest& request);

  Observer* begin(WorkgroupContext& group) override;
  void finished(const WorkgroupContext& group) override;
  DispatchProfile profile(unsigned threads);  // throws ImpossibleTime
  // After profile(): what waves that read the clock saw.
  ClockTimes clock_times(const DispatchProfile& profile) const;

 private:
  void keep(GroupTrace group);
  bool simulated(uint64_t index) const {
    return all_xccs_ || (index % device_.xccs == 0 && windows_.takes(index / device_.xccs));
  }
  bool recorded(uint64_t index) const {
    return simulated(index) || (index % device_.xccs == 0 && windows_.precedes(index / device_.xccs));
  }
  void drop_unwanted();
  double shared_by() const;
  Estimate estimate_of(uint32_t xcc, const SimulationInput& input, const XccResult& result) const;
  SimulationInput simulation_input(unsigned threads);
  PossibleTime possible_time(const SimulationInput& input) const;

  const DeviceSpec& device_;
  DeviceState& state_;
  const Launch& launch_;
  const ProfileRequest& request_;
  const size_t detailed_steps_;
  StaticTable table_;
  std::vector<EngineCounts> engines_;
  std::vector<Executed> executed_;             // per XCD
  std::vector<uint64_t> vmem_;                 // the same
  Windows windows_;
  std::deque<GroupTrace> groups_;
  std::vector<std::pair<WorkgroupContext*, std::unique_ptr<GroupRecorder>>> open_;
  std::vector<std::unique_ptr<GroupRecorder>> spare_;
  size_t steps_ = 0, bytes_ = 0, steps_per_wave_ = 0;
  uint32_t waves_per_group_ = 1;
  double shared_by_ = 1;
  bool all_xccs_ = true;
};

}  // namespace gpu
