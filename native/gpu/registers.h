// Which registers an instruction reads and writes.
#pragma once

#include <vector>

#include "exec.h"

namespace gpu {

struct Registers {
  enum class Role : uint8_t {
    Source,
    Accumulator,  // of a matrix instruction or a dot product
    Mask,         // a bit for each lane: what v_cndmask selects by, a carry
    Lane,         // the number of one
    Address,
    Data,         // what a store or an atomic puts
    Resource,     // the scalar part of an address
    Result,
    Exec,         // a result that is the mask itself
  };
  // Of which lanes a vector register is read or written.
  enum class Lanes : uint8_t { On, Every, Dpp, First, Selected };

  bool vector = false;
  Role role = Role::Source;
  Lanes lanes = Lanes::On;
  uint8_t bytes = 15;  // which of each register
  uint16_t first = 0;  // a row, or a scalar's code
  uint8_t count = 0;
};

struct InstRegisters {
  std::vector<Registers> reads, writes;
};
InstRegisters registers_of(const Inst& inst);

// How many registers operand k takes; an operand of a memory instruction is an address or data.
uint32_t source_width(const Inst& inst, int k);
// Whether the instruction has a result in vector registers.
bool vector_result(const Inst& inst);

inline constexpr uint16_t kVccCode = 106, kM0Code = 124, kExecCode = 126;

}  // namespace gpu
