// What instructions are to the check of initialisation, by their place in the op table.
#pragma once

#include <cstdint>

namespace gpu::check {

enum class Role : uint8_t {
  Nothing,
  Computes,  // registers from registers
  Given,     // its result is the hardware's, whatever the operands are
  Loads,
  Stores,
  Updates,  // an atomic
  ScalarLoads,
  ScalarStores,
  Branches,
  Jumps,  // to where a register says
};

struct RoleOf {
  Role role = Role::Nothing;
  // Tells one operand from the other and forgets the rest: a comparison, a minimum, a conversion. Its result
  // is as little known as its operands, though it may come out the same.
  bool judges = false;
  bool moves = false;      // its result is made of the operands' bits as they are
  bool exchanges = false;  // an atomic that puts a value whatever was there
  bool spreads = false;    // a byte that is read decides others of the register: signs, formats
  // Of a narrow access, where in the register its bytes lie, and how many of the register a load gives.
  uint8_t first = 0, bytes = 4, given = 4;
};

const RoleOf& role_of(uint16_t op);

}  // namespace gpu::check
