// Faults told to a person.
#pragma once

#include "launch.h"

namespace gpu {

std::string tell_fault(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Wave& wave,
                       const AddressSpace& memory);

// What happened, without where: one line.
std::string told_in_words(const Launch& launch, const GroupShape& shape, const Fault& fault,
                          const AddressSpace& memory);

// Whether faults of a kind are of a lane, and at an address in memory.
bool has_address(FaultKind kind);
bool has_lane(FaultKind kind);

// "device memory", and the like.
const char* kind_of(RangeKind kind);
// Where in the kernel's code: "(code offset 0x1c)".
std::string offset_text(uint64_t pc, const KernelSymbol& kernel);

// An access out of bounds that ends nothing. `place` is the same for all accesses there.
struct OutsideText {
  std::string place, first;
};
OutsideText tell_outside(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Fault& fault,
                         const AddressSpace& memory);

}  // namespace gpu
