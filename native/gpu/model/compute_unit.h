// One compute unit replaying the traces of its waves: in-order issue per wave, four SIMDs, counters
// of outstanding memory operations, LDS and vector L1.
#pragma once

#include <array>

#include "dispatch_profile.h"
#include "xcc_memory.h"

namespace gpu {

struct CuCounts {
  uint64_t waves = 0, wave_cycles = 0, busy_cycles = 0, groups = 0;
  uint64_t wait_any = 0, wait_inst = 0, wait_inst_lds = 0;                     // cycles
  uint64_t active_valu = 0, active_lds = 0, active_vmem = 0, active_flat = 0, active_scalar = 0,
           active_misc = 0;  // quads
  uint64_t valu_lane_quads = 0, matrix_busy = 0;
  uint64_t lds_active = 0, lds_conflicts = 0, lds_atomic_returns = 0;
  uint64_t ifetch = 0, ifetch_level = 0, vmem_level = 0, smem_level = 0, lds_level = 0;
  uint64_t steps = 0, issued = 0, vmem = 0, accesses = 0;  // issued: those that take a wave's turn
  // Texture addresser, L1 and data return.
  uint64_t ta_wavefronts[2][3] = {};  // buffer, flat x read, write, atomic
  uint64_t tcp_lanes_read = 0, tcp_lanes_write = 0, tcp_lanes_atomic[2] = {}, tcp_accesses = 0, tcp_tag_hits = 0;
  uint64_t tcc_reads = 0, tcc_writes = 0, tcc_atomics[2] = {};  // without and with return
  uint64_t tcc_read_latency = 0, tcc_write_latency = 0;
  uint64_t td_loads = 0, td_stores = 0, td_atomics = 0;
};

// What a dispatch lets a compute unit hold.
struct Residency {
  uint32_t waves_per_simd = 8, groups_per_cu = 16, lds_per_group = 0, lds_per_cu = 65536;
};

// A wave in a slot of a compute unit.
struct SimWave {
  static constexpr uint64_t kNoBlock = ~uint64_t(0) - 1;
  struct Open {
    uint64_t done;
    uint32_t inst;  // in the table
  };
  // Operations not yet back, oldest first.
  struct OpenRing {
    std::array<Open, 64> ring;
    uint32_t head = 0, count = 0;
    const Open& oldest() const { return ring[head]; }
    const Open& newest() const { return ring[(head + count - 1) & 63]; }
    bool full() const { return count == 63; }  // as the hardware's counters are
    void push(Open open) { ring[(head + count++) & 63] = open; }
    void pop() {
      head = (head + 1) & 63;
      --count;
    }
    void clear() { head = count = 0; }
  };
  const WaveTrace* trace = nullptr;
  const uint32_t *step = nullptr, *steps_end = nullptr;
  const uint64_t* data = nullptr;
  uint64_t start = 0, stores_done = 0, arrived = 0, block = kNoBlock;
  uint32_t group = 0, simd = 0, slot = 0;
  OpenRing vm, lgkm;
  struct Result {
    RegisterSpan span;
    uint64_t ready = 0;
  };
  std::array<Result, 4> results{};  // of matrix instructions in flight
  uint32_t result_at = 0;
  uint64_t results_until = 0;
  int32_t att = -1;
  uint64_t att_until = 0;
  void reset() {
    vm.clear();
    lgkm.clear();
    results = {};
    result_at = 0;
    stores_done = results_until = 0;
    block = kNoBlock;
    att = -1;
  }
};
// What of a compute unit is large: kept from one dispatch to the next.
struct CuStorage {
  CuStorage(const DeviceSpec& device, const Parameters& parameters);
  void clear();
  std::array<SimWave, 40> slots;   // all free between dispatches
  TagCache l1;
  std::vector<uint64_t> l1_ready;  // when a line being fetched is there
};

struct WorkSource;  // the workgroups of an XCD still to start

class ComputeUnit {
 public:
  ComputeUnit(const Parameters& parameters, const StaticTable& table, XccMemory& memory, const Residency& residency,
              uint32_t sqc, CuStorage& storage);
  ~ComputeUnit();
  ComputeUnit(const ComputeUnit&) = delete;
  ComputeUnit& operator=(const ComputeUnit&) = delete;

  bool fits(uint32_t waves) const;
  // Places a workgroup; its waves start at `time`, one every `interval` cycles.
  void start(const GroupTrace& group, uint64_t time, double interval);
  // Runs every instruction that can be tried before `until`, refilling from `source`.
  void run(uint64_t until, WorkSource& source);
  bool idle() const { return live_ == 0; }
  uint64_t next() const { return next_; }
  uint64_t last_end() const { return last_end_; }

  CuCounts counts;
  // Thread trace: set before the first wave starts.
  bool trace_occupancy = false;
  uint32_t trace_simds = 0, shader_engine = 0, cu = 0;
  std::vector<AttWave> waves;
  std::vector<AttOccupancy> occupancy;

 private:
  static constexpr uint64_t kNever = ~uint64_t(0);
  static constexpr uint32_t kSimds = 4, kMaxWaves = std::tuple_size_v<decltype(CuStorage::slots)>;
  struct SimGroup {
    uint32_t live = 0, arrived = 0;
    uint64_t latest = 0;
    std::array<uint8_t, 16> members{};
    uint32_t size = 0;
    const GroupTrace* trace = nullptr;
  };

  // An instruction about to be issued, and what became of it.
  struct Step {
    SimWave& wave;
    const StaticInst& inst;
    uint32_t id;      // in the table
    bool has_data;    // the wave's trace has its memory accesses
    uint64_t now;
    uint64_t ready;   // now, or when the matrix results it needs are there
  };
  struct Issue {
    uint64_t at, next;  // the wave's next instruction
    uint8_t category;
    uint64_t duration = 4;
  };
  void step(uint32_t w, uint64_t now, WorkSource& source);
  uint64_t fetched(SimWave& wave, const StaticInst& s, uint64_t now);
  Issue valu(const Step& step);
  Issue matrix(const Step& step);
  Issue salu(const Step& step);
  Issue scalar_load(const Step& step);
  Issue vector_access(const Step& step);
  Issue lds_access(const Step& step);
  Issue branch(const Step& step);
  uint64_t vector_memory(SimWave& wave, const StaticInst& s, const MemHeader& header, uint64_t issue);
  // All bits count, or rows a power of two apart would share one of four sets; and lines that follow one another
  // fill the sets evenly.
  uint32_t l1_set(uint32_t tag) const {
    for (uint32_t shift = 16; shift && 1u << shift >= l1_.sets(); shift /= 2) tag ^= tag >> shift;
    return tag & (l1_.sets() - 1);
  }
  uint64_t wait(SimWave& wave, const StaticInst& s, uint64_t now);
  uint64_t matrix_ready(const SimWave& wave, const StaticInst& s, uint64_t now) const;
  void count_lds(const MemHeader& header);
  void end_wave(uint32_t w, uint64_t now, WorkSource& source);
  void arrive(SimGroup& group);
  void refresh(uint32_t simd);
  void note(SimWave& wave, const StaticInst& s, uint64_t time, uint64_t stall, uint64_t duration, uint8_t category,
            uint8_t stall_state);

  const Parameters& parameters_;
  const StaticTable& table_;
  XccMemory& memory_;
  const Residency& residency_;
  const uint32_t sqc_;
  TagCache& l1_;
  std::vector<uint64_t>& l1_ready_;

  std::array<SimWave, 40>& slots_;
  std::array<uint64_t, kMaxWaves> ready_;
  std::array<uint32_t, kMaxWaves> slot_uses_{};
  std::array<SimGroup, 40> groups_;
  uint64_t group_mask_ = 0;
  std::array<uint64_t, kSimds> simd_next_;
  std::array<uint32_t, kSimds> simd_best_{}, simd_waves_{};
  std::array<uint64_t, kSimds> valu_free_{}, matrix_free_{}, scalar_free_{}, smem_free_{}, vmem_free_{}, lds_issue_{},
      branch_free_{};
  Places scalar_queue_;          // loads that the scalar cache has not taken
  std::vector<Places> fetches_;  // per SIMD, those that wait for a line; its other waves do not ask
  uint64_t next_ = kNever, ta_free_ = 0, lds_free_ = 0, fill_free_ = 0, busy_since_ = 0, last_end_ = 0;
  uint32_t live_ = 0, group_count_ = 0, lds_used_ = 0, next_simd_ = 0;
};

// Hands out workgroups in order.
struct WorkSource {
  std::vector<const GroupTrace*> groups;
  size_t next = 0;
  double launch_cycles = 4;           // from one wave of a shader engine to the next
  double walk_cycles = 0;             // from one of these workgroups to the next, where the grid is walked
  std::vector<double> engine_free;    // per shader engine of the XCD
  // Takes the next workgroup to a compute unit that has room for it.
  void place(ComputeUnit& cu, uint64_t time, uint32_t engine);
  // Fills what fits of a compute unit from `time` on.
  void refill(ComputeUnit& cu, uint64_t time, uint32_t engine);
};

}  // namespace gpu
