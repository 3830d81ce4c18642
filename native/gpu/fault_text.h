// Faults told to a person.
#pragma once

#include "launch.h"

namespace gpu {

std::string tell_fault(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Wave& wave,
                       const AddressSpace& memory);

// An access out of bounds that ends nothing. `place` is the same for all accesses there.
struct OutsideText {
  std::string place, first;
};
OutsideText tell_outside(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Fault& fault,
                         const AddressSpace& memory);

}  // namespace gpu
