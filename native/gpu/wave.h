// The architectural state of one wave64, and what the executor needs of its surroundings.
// Generated instruction functions (exec) read and write this and nothing else.
#pragma once

#include <cstdint>

#include "memory.h"

namespace gpu {

inline constexpr int kLanes = 64;
inline constexpr int kMaxSgprs = 128;  // s0..s101, then flat_scratch/xnack/vcc/ttmp by encoding
inline constexpr int kMaxVgprs = 512;  // arch + accumulation, unified file (gfx90a and later)

enum class FaultKind : uint8_t {
  None, Unmapped, Freed, ReadOnly, Misaligned, LdsOutOfRange, IllegalInstruction,
  IllegalRegister, Trap, Abort, BarrierDivergence, InstructionLimit, ScratchOutOfRange,
};

struct Fault {
  FaultKind kind = FaultKind::None;
  uint64_t pc = 0;       // device address of the instruction
  uint64_t address = 0;  // of the access, or the LDS offset
  uint32_t size = 0;
  uint8_t lane = 0;
  bool write = false;
  uint32_t trap_id = 0;
};

// Why the executor handed control back to the scheduler of the workgroup.
enum class Stop : uint8_t { Barrier, End, Fault, Sleep, Budget };

struct WorkgroupContext;  // LDS, barrier, ids: owned by dispatch.cpp

struct alignas(64) Wave {
  // Accumulation VGPRs start at acc_offset in the same file.
  alignas(64) uint32_t vgpr[kMaxVgprs][kLanes];
  uint32_t sgpr[kMaxSgprs];  // indexed by the 7-bit scalar operand code; VCC is 106/107
  uint64_t exec = 0;
  uint32_t m0 = 0;
  uint32_t mode = 0;
  uint8_t scc = 0;
  uint64_t pc = 0;  // device address
  uint16_t vgpr_count = 0;  // allocated, arch + acc; an access past it is IllegalRegister
  uint16_t acc_offset = 0;
  uint32_t hw_id = 0;

  // Surroundings.
  const AddressSpace::Snapshot* memory = nullptr;
  Range last_range{};  // one-entry translation cache
  uint8_t* lds = nullptr;
  uint32_t lds_bytes = 0;
  uint8_t* scratch = nullptr;      // this wave's private segment: lane-major or swizzled, one owner decides
  uint32_t scratch_bytes_per_lane = 0;
  uint64_t shared_aperture = 0;    // value of src_shared_base
  uint64_t private_aperture = 0;   // value of src_private_base
  WorkgroupContext* group = nullptr;
  Fault fault{};
  uint64_t executed = 0;  // wave-instructions, for limits and speed figures
};

}  // namespace gpu
