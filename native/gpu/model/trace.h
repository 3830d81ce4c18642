// What the timing model needs of a wave's run: its instructions in order, and for those that touch
// memory the cache lines and conflicts, worked out once while the addresses are at hand.
#pragma once

#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "exec.h"
#include "launch.h"
#include "managed_memory.h"
#include "model_parameters.h"

namespace gpu {

// Vector registers that lie one after the other.
struct RegisterSpan {
  uint16_t first = 0, count = 0;
};

// One instruction of the program, as the timing model sees it.
struct StaticInst {
  uint64_t pc = 0;
  uint64_t fetch_address = 0;  // of its code, the same on every run
  Unit unit = Unit::Idle;
  InstClass cls = InstClass::OTHER;
  uint8_t words = 1;
  bool flat = false;        // waits on LGKM too, as LDS may answer
  bool returns = false;     // an atomic that returns the old value
  uint16_t cycles = 4;      // of its unit
  uint16_t alone = 4;       // of a matrix instruction: those in which the vector unit cannot work
  uint16_t vmcnt = 63, lgkmcnt = 15;  // s_waitcnt: how many may stay open
  RegisterSpan dst, src[3]; // vector registers, for matrix dependencies
};

class StaticTable {
 public:
  StaticTable(const Program& program, const Parameters& parameters);
  uint32_t id(const Inst& inst) {
    const size_t slot = size_t(inst.pc - base_) / 4;
    const uint32_t known = ids_[slot];
    return known ? known - 1 : add(inst, slot);
  }
  const StaticInst& operator[](uint32_t id) const { return table_[id]; }

 private:
  uint32_t add(const Inst& inst, size_t slot);

  uint64_t base_, code_at_;
  Arch arch_;
  const Parameters& parameters_;
  std::vector<uint32_t> ids_;  // per word of code, id + 1
  std::vector<StaticInst> table_;
};

// A line of 128 bytes in the canonical address space (see Addresses), with what was touched of it.
inline constexpr uint64_t kLineBytes = 128;
// Code lies above every other canonical address: a line has 39 bits.
inline constexpr uint64_t kCodeBase = uint64_t{1} << 38;
enum LineFlag : uint64_t {
  kLow = 1,
  kHigh = 2,
  kLowFull = 4,
  kHighFull = 8,
  kUncached = 16,
  kHost = 32,
  kWritten = 64,
  kLineFlags = 127
};

// Header of a memory instruction's data; `lines` words of line | flags follow.
struct MemHeader {
  uint8_t lines = 0;
  uint8_t accesses = 0;      // tag look-ups: a quad of lanes each, more where it straddles lines
  uint8_t lanes = 0;
  uint8_t lds_passes = 0;    // cycles of the LDS banks without conflicts
  uint16_t lds_conflicts = 0;
  uint16_t bytes_per_lane : 12 = 0, write : 1 = 0, atomic : 1 = 0, scalar : 1 = 0;
  uint16_t hostcall : 1 = 0;  // the load that ends a call of the host
};
static_assert(sizeof(MemHeader) == 8);

inline constexpr uint32_t kHasData = 1u << 31;

struct WaveTrace {
  std::vector<uint32_t> steps;   // ids, kHasData where `data` has a header for it
  std::vector<uint64_t> data;
  uint64_t executed = 0;         // wave-instructions, traced or not
  uint64_t valu_lane_quads = 0;  // active lanes times issue quads of VALU instructions
  uint64_t valu_quads = 0;
  bool cut = false;              // longer than what was traced
  mutable std::vector<uint64_t> clocks;  // cycle of each reading of the clock, written by the simulation
  // f(MemHeader, line and flags) for every line that the wave touches, in order.
  template <class F>
  void each_line(F f) const {
    for (size_t i = 0; i < data.size();) {
      const MemHeader header = std::bit_cast<MemHeader>(data[i++]);
      for (uint32_t k = 0; k < header.lines; ++k) f(header, data[i++]);
    }
  }
};

struct GroupTrace {
  uint64_t index = 0;
  mutable uint64_t begun = 0, ended = 0;  // cycles, written by the simulation
  // Of a workgroup that is not simulated, the lines it leaves in the L2, kWritten among the flags; of
  // one that is, those that come right before it.
  std::vector<uint64_t> lines;
  std::vector<const GroupTrace*> before;
  void only_lines();
  std::vector<WaveTrace> waves;
  size_t steps() const;
  size_t bytes() const;
};

// Device addresses without what depends on the host: every range of memory gets a base of its
// own, in the order of their addresses when a dispatch first sees them.
class Addresses {
 public:
  void learn(const AddressSpace::Snapshot& memory);
  uint64_t canonical(uint64_t address, const AddressSpace::Snapshot& memory);
  // Of the line flags, those that the last address's range has: kUncached, kHost.
  uint64_t last_flags() const { return flags_; }
  bool shared_with_host = false;  // the host's memory is the device's own
  // Managed memory comes here, or goes.
  void move(uint64_t address, uint64_t bytes, const AddressSpace::Snapshot& memory, bool here);
  ManagedMemory managed;
  const Range& last_range() const { return range_; }

 private:
  struct Place {
    uint64_t end, base;
  };
  const Place& place(const Range& range);
  void enter_piece(uint64_t address, const Range& range);
  uint64_t begin_ = 1, end_ = 0, delta_ = 0, next_ = uint64_t{1} << 32;
  uint64_t flags_ = 0;
  Range range_;
  std::unordered_map<uint64_t, Place> places_;
};

// Records a workgroup. At most `limit` instructions of each wave are kept.
class GroupRecorder final : public Observer {
 public:
  GroupRecorder(StaticTable& table, Addresses& addresses, size_t limit)
      : table_(table), addresses_(addresses), limit_(limit) {}
  void begin(uint64_t index, const std::vector<Wave*>& waves, uint32_t count);
  void executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess& access) override;
  GroupTrace take();

 private:
  void vector_access(const Wave& wave, const MemAccess& access, WaveTrace& trace);
  void lds_access(const MemAccess& access, uint64_t mask, MemHeader& header, bool write);
  bool contiguous(const Wave& wave, const MemAccess& access, WaveTrace& trace);
  void add_line(uint64_t address, uint32_t size, bool write);

  StaticTable& table_;
  Addresses& addresses_;
  const size_t limit_;
  GroupTrace group_;
  std::vector<const Wave*> waves_;
  const Wave* last_ = nullptr;
  size_t current_ = 0, usual_steps_ = 0, usual_data_ = 0;
  // Lines of the instruction at hand: a small hash, emptied by its generation.
  uint64_t line_[128] = {};
  uint32_t filled_[128][2] = {};
  uint32_t generation_[128] = {}, now_ = 0;
  uint8_t order_[128] = {};
  uint32_t count_ = 0;
};

}  // namespace gpu
