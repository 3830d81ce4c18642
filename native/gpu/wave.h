// The architectural state of one wave64, and what the executor needs of its surroundings.
// Instruction functions (native/gpu/exec) read and write this and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory.h"

namespace gpu {

inline constexpr int kLanes = 64;
inline constexpr int kMaxSgprs = 128;
inline constexpr int kMaxVgprs = 512;
inline constexpr int kAccRow = 256;      // a0 is row 256 whatever acc_offset says
inline constexpr int kMaxClasses = 64;   // instruction classes; the generated isa.h names them

enum class FaultKind : uint8_t {
  None,
  Unmapped,
  Freed,
  ReadOnly,
  Misaligned,
  LdsOutOfRange,
  IllegalInstruction,
  IllegalRegister,
  Trap,
  Abort,
  BarrierDivergence,
  InstructionLimit,
  ScratchOutOfRange,
  HostBusy,  // no fault: the wave asks for an answer that the host has not given yet
};

struct Fault {
  FaultKind kind = FaultKind::None;
  uint64_t pc = 0;       // device address of the instruction
  uint64_t address = 0;  // of the access, the LDS or scratch offset; the words of an illegal instruction
  uint32_t size = 0;
  uint8_t lane = 0;
  bool write = false;
  uint32_t trap_id = 0;
};

// Why the executor handed control back to the scheduler of the workgroup.
enum class Stop : uint8_t { Barrier, End, Fault, Sleep, Budget };

struct WorkgroupContext;  // LDS, barrier, ids: owned by dispatch.cpp
struct Wave;

// Accesses outside of a kernel's memory that need not end it (out_of_bounds.h).
class OutOfBounds {
 public:
  // What would be this fault goes on, as far as hardware does. Memory a device maps is there to be read
  // and written; LDS and private memory past their end are for the caller, who reads 0 and drops writes.
  virtual bool passes(const Wave& wave, const Fault& fault) = 0;

 protected:
  ~OutOfBounds() = default;
};

struct Inst;
struct MemAccess;
// Told of an access before it happens: what is overwritten can still be read.
class AccessWatcher {
 public:
  virtual void touching(const Wave& wave, const Inst& inst, const MemAccess& access) = 0;

 protected:
  ~AccessWatcher() = default;
};

// What one memory instruction touched, filled only where Wave::access is set (observers).
enum class Space : uint8_t { None, Global, Lds, Scratch, Scalar };
struct MemAccess {
  Space space = Space::None;
  bool write = false, atomic = false;
  uint16_t size = 0;            // bytes per lane
  uint64_t mask = 0;            // lanes that accessed `space`
  uint64_t lds_mask = 0;        // FLAT only: lanes that went to LDS (space says Global)
  uint64_t scratch_mask = 0;    // FLAT only: lanes that went to scratch
  uint64_t address[kLanes];     // device address, LDS byte offset or scratch byte offset; [0] for Scalar
  uint64_t address2[kLanes];    // second address of ds_read2/write2
  bool two = false;
  AccessWatcher* watcher = nullptr;
};

// Where instructions found their memory, by program counter. A snapshot's number says for which
// memory it holds: it may outlive the wave, not the list of ranges.
struct RangeCache {
  static constexpr unsigned kEntries = 16;
  uint64_t snapshot = 0;
  Range entry[kEntries];
};

// What the clock shows at each reading of a wave, in shader clocks after time_base. Past the last one
// it goes on with the instructions: at the whole wave's pace where that is given, else at the last.
struct ClockReadings {
  const uint64_t *next = nullptr, *end = nullptr;
  double whole_pace = 0;  // clocks per instruction
  uint64_t last = 0, last_executed = 0;
  double last_pace = 0;
  explicit operator bool() const { return end != nullptr; }
  uint64_t read(uint64_t executed) {
    const double instructions = double(executed - last_executed);
    last_executed = executed;
    if (next == end) return last += uint64_t(instructions * (whole_pace > 0 ? whole_pace : last_pace));
    if (instructions > 0) last_pace = double(*next - last) / instructions;
    return last = *next++;
  }
};

// Behind a workgroup's LDS and its zeros, for every lane: two places that are written and not read.
inline constexpr uint32_t kLdsNowhere = kLanes * 32;

struct alignas(64) Wave {
  // Rows 0..255 are v0..v255, rows 256..511 a0..a255. Rows below vgpr_count must be filled (or
  // hold launch values) when a wave starts, or results depend on the wave that ran before.
  alignas(64) uint32_t vgpr[kMaxVgprs][kLanes];

  RangeCache ranges;  // kept from wave to wave

  // Indexed by the 7-bit scalar operand code: exec, m0, vcc and the rest have names in it.
  union {
    alignas(64) uint32_t sgpr[kMaxSgprs];
    struct {
      uint32_t s_[102];
      uint32_t flat_scratch[2];
      uint32_t xnack_mask[2];
      uint64_t vcc;
      uint32_t ttmp[16];
      uint32_t m0;
      uint32_t reserved_;
      uint64_t exec;
    };
  };
  uint64_t pc;              // device address; valid whenever the executor is not running
  uint32_t mode;            // MODE register: round [3:0], denorm [7:4], dx10_clamp 8, ieee 9
  uint8_t scc;
  uint16_t vgpr_count;      // allocated, arch + acc; an access past it is IllegalRegister
  uint16_t acc_offset;      // arch VGPRs; accumulation VGPRs are vgpr_count - acc_offset
  uint32_t hw_id;           // HW_REG_HW_ID
  uint32_t xcc_id;          // HW_REG_XCC_ID
  uint32_t lds_alloc, gpr_alloc;  // HW_REG_LDS_ALLOC, HW_REG_GPR_ALLOC
  uint64_t time_base;       // s_memtime at the wave's start, in shader clocks
  uint32_t clock_mhz;
  ClockReadings clock;      // where the model has said what s_memtime reads

  // Surroundings.
  const AddressSpace::Snapshot* memory;
  uint8_t* lds;
  uint32_t lds_bytes;
  uint32_t lds_taken;         // with what an allocation of LDS is rounded up to
  uint32_t lds_zeros;         // zeros after that: what may be read past the end as on hardware
  // This wave's private segment, dword-interleaved over lanes as hardware lays it out: byte `o`
  // of lane `l` is scratch[(o & ~3) * 64 + l * 4 + (o & 3)].
  uint8_t* scratch;
  uint32_t scratch_bytes_per_lane;
  uint64_t shared_aperture;   // value of src_shared_base; 4 GiB, low half zero
  uint64_t private_aperture;  // value of src_private_base; 4 GiB, low half zero
  WorkgroupContext* group;
  OutOfBounds* outside;       // set where accesses out of bounds need not end the wave

  Fault fault;
  uint64_t executed;            // wave-instructions
  uint64_t counts[kMaxClasses]; // the same by instruction class

  // The executor's own; zero at the start of a wave.
  MemAccess* access;
  Stop stop;
  void* program;
  uint64_t mask_exec;           // the mask that mask_row spells out, valid once mask_valid
  bool mask_valid;
  bool unchecked;               // the loop does not look at register numbers
  // Since the waves started (3) or left a barrier (1, 2) together: this one has not waited for memory, and
  // has read scalars (2; at the start those are the kernel's arguments).
  uint8_t together;
  // Where there are other waves beside it and their order is as on hardware, it lets them go first when
  // it loads after it has stored.
  bool gives_way, stored;
  bool stops_at_waits;  // at every wait for memory another wave has its turn
  bool calls_host;  // it is adding a call to the host's list, or waits for the answer
  alignas(64) uint32_t mask_row[kLanes];
};
static_assert(offsetof(Wave, exec) - offsetof(Wave, sgpr) == 126 * 4);
static_assert(offsetof(Wave, vcc) - offsetof(Wave, sgpr) == 106 * 4);
static_assert(offsetof(Wave, m0) - offsetof(Wave, sgpr) == 124 * 4);

// Everything but the vector registers to its value at the start of a wave.
void reset(Wave& wave);

}  // namespace gpu
