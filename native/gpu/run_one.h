#pragma once

#include "exec.h"

namespace gpu {

// One instruction on the registers of another wave, as the loop would run it: for those that go from registers
// to registers (program.cpp).
void run_one(Wave& wave, const Inst& inst);

// Where s_set_gpr_idx has moved an instruction's registers: the instruction with those it really has. False
// where nothing is moved.
bool moved_registers(const Wave& wave, const Inst& inst, Inst& moved);

}  // namespace gpu
