// Faults told to a person.
#pragma once

#include "launch.h"

namespace gpu {

std::string tell_fault(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Wave& wave,
                       const AddressSpace& memory);

}  // namespace gpu
