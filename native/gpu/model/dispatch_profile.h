// What the models of the virtual GPU say of one dispatch: its duration, hardware counters under
// AMD's names, and thread-trace data. docs/virtual-model.md describes the models.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpu {

struct DispatchRequest;
struct DispatchResult;
struct DeviceSpec;

// The waves a thread trace keeps: those of one compute unit of the chosen shader engines.
// Shader engines are numbered over the whole device, XCC by XCC.
struct AttSelect {
  uint32_t target_cu = 1;     // within its shader engine
  uint64_t se_mask = 0x1;
  uint32_t simd_mask = 0xf;
};

struct ProfileRequest {
  bool timing = false;
  bool counters = false;
  const std::set<std::string, std::less<>>* only = nullptr;  // of the counters, by name; nullptr: all
  bool att = false;
  AttSelect att_select;
  // Wave-instructions simulated in detail at most; 0: the model's own limit.
  uint64_t detailed_steps = 0;
  bool any() const { return timing || counters || att; }
};

// One hardware instance of a counter. `instance` counts within the shader engine (SQ, TA, TD, TCP)
// or within the XCC (TCC channels); 0 where there is one per XCC or per shader engine.
struct CounterValue {
  const char* name;  // AMD's base name, "TCC_HIT"; static storage
  uint32_t xcc = 0, shader_engine = 0, instance = 0;
  double value = 0;
};

// Fields as rocprofv3's decoder defines them: issued at time + stall, done at time + duration.
struct AttInstruction {
  uint64_t time = 0;      // shader clocks since the dispatch began
  uint64_t pc = 0;
  uint32_t stall = 0, duration = 0;
  uint8_t category = 0;   // 1 SMEM 2 SALU 3 VMEM 4 FLAT 5 LDS 6 VALU 7 JUMP 8 NEXT 9 IMMED 11 MESSAGE
};
struct AttState {
  uint8_t state;
  uint64_t duration;
};  // 0 empty 1 idle 2 exec 3 wait 4 stall
struct AttWait {
  uint64_t pc;
  std::vector<uint64_t> waited_for;
};  // s_waitcnt -> instructions

struct AttWave {
  uint32_t shader_engine = 0, cu = 0, simd = 0, slot = 0, id = 0;  // id: the n-th wave of its slot
  uint64_t begin = 0, end = 0;
  std::vector<AttInstruction> instructions;
  std::vector<AttState> timeline;
  std::vector<AttWait> waits;
};

struct AttOccupancy {  // every compute unit of a traced shader engine, in order of time
  uint64_t time;
  uint32_t shader_engine, cu, simd, slot;
  bool start;
};

struct DispatchProfile {
  uint64_t duration_ns = 0;
  uint64_t cycles = 0;              // of the shader clock, begin to end of the dispatch
  double clock_mhz = 0;
  double detailed_fraction = 1;     // of the wave-instructions, simulated in detail
  uint32_t compute_units_used = 0;  // compute units that had at least one workgroup
  std::vector<CounterValue> counters;       // ordered by name, then instance
  std::vector<AttWave> waves;               // ordered by shader engine, simd, slot, id
  std::vector<AttOccupancy> occupancy;
};

// Every counter modelled on the architecture ("gfx942"), sorted; any other must be refused by name.
const std::vector<const char*>& modelled_counters(std::string_view architecture);

// How a tool in the process has dispatches profiled. `want` is asked before each dispatch runs, on
// the thread that runs it; `done` hears of it after it ran. Both may be called from several
// threads at once.
class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual ProfileRequest want(const DispatchRequest& request, std::string_view kernel) = 0;
  virtual void done(const DispatchRequest& request, std::string_view kernel, const DispatchResult& result,
                    const DispatchProfile& profile) = 0;
};
void set_profiler(Profiler* profiler);  // nullptr: none; must outlive the dispatches
Profiler* profiler();

}  // namespace gpu

// The same for a library that does not link this one: found by dlsym in libhsa-runtime64.so.1.
// `profiler` is a gpu::Profiler*, built against this header.
extern "C" __attribute__((visibility("default"))) void hsa_rocm_perf_set_profiler(void* profiler);
// Names of the counters modelled on an architecture, one per line; the length, like snprintf.
extern "C" __attribute__((visibility("default"))) int hsa_rocm_perf_counters(const char* architecture, char* text,
                                                                             unsigned long size);
