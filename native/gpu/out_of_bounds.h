// Accesses outside of a kernel's memory that do not end it: hardware has something there, or gives 0.
// ROCM_PERF_VIRTUAL_BOUNDS=page lets them pass, =report tells each place once and counts.
#pragma once

#include <cstdint>

#include "wave.h"

namespace gpu {

enum class Bounds : uint8_t { Strict, Page, Report };
Bounds bounds_from_environment();

class OutOfBounds {
 public:
  OutOfBounds(const AddressSpace& memory, Bounds bounds) : memory_(memory), told_(bounds == Bounds::Report) {}

  // What would be this fault goes on, as far as hardware does. Memory a device maps is there to be read
  // and written; LDS and private memory past their end are for the caller, who reads 0 and drops writes.
  bool passes(const Wave& wave, const Fault& fault);

 private:
  bool mapped(const Fault& fault) const;

  const AddressSpace& memory_;
  bool told_;
};

}  // namespace gpu
