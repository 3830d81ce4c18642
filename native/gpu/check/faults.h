// Accesses that are not allowed, and whatever else stops a kernel, as findings.
#pragma once

#include "findings.h"

namespace gpu::check {

// A fault of a wave; `ended`: the kernel went no further.
void fault(const Launch& launch, uint64_t group, uint32_t wave, const Fault& fault, const AddressSpace& memory,
           bool ended);

// A read that begins inside of an allocation and takes a little more than is there: compilers do that.
bool reads_ahead(const Fault& fault, const AddressSpace& memory);

}  // namespace gpu::check
