// What the model of the virtual GPU says of one dispatch: its duration, hardware counters under AMD's
// names, and thread-trace data. docs/virtual-model.md describes the model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler.h"

namespace gpu {

struct DispatchRequest;
struct DispatchResult;
struct DeviceSpec;

// What has no lists is the same on both sides of the library.
using AttSelect = rocm_perf_trace_select;
using ProfileRequest = rocm_perf_wanted;
using CounterValue = rocm_perf_counter;
using AttInstruction = rocm_perf_instruction;
using AttState = rocm_perf_state;
using AttOccupancy = rocm_perf_occupancy;

inline bool anything(const ProfileRequest& request) { return request.timing || request.counters || request.att; }

enum WaveState : uint8_t { kIdle = 1, kExec = 2, kWaiting = 3, kStalled = 4 };  // of an AttState

struct AttWait {
  uint64_t pc;
  std::vector<uint64_t> waited_for;
};

struct AttWave {
  uint32_t shader_engine = 0, cu = 0, simd = 0, slot = 0, id = 0;
  uint64_t begin = 0, end = 0;
  std::vector<AttInstruction> instructions;
  std::vector<AttState> timeline;
  std::vector<AttWait> waits;
};

struct DispatchProfile {
  uint64_t duration_ns = 0;
  uint64_t cycles = 0;
  double clock_mhz = 0;
  double detailed_fraction = 1;
  double sampling_error = 0;
  uint32_t compute_units_used = 0;  // compute units that had at least one workgroup
  std::vector<CounterValue> counters;
  std::vector<AttWave> waves;
  std::vector<AttOccupancy> occupancy;
};

// Every counter modelled on the architecture ("gfx942"), sorted; any other must be refused by name.
const std::vector<const char*>& modelled_counters(std::string_view architecture);

const rocm_perf_profiler* profiler();  // nullptr: none
ProfileRequest wanted_by(const rocm_perf_profiler& tool, const DispatchRequest& request, const std::string& kernel);
void tell(const rocm_perf_profiler& tool, const DispatchRequest& request, const std::string& kernel,
          const DispatchResult& result, const DispatchProfile& profile);

}  // namespace gpu
