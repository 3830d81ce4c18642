#pragma once

#include "exec.h"

namespace gpu {

// One instruction on the registers of another wave, as the loop would run it: for those that go from registers
// to registers (program.cpp).
void run_one(Wave& wave, const Inst& inst);

}  // namespace gpu
