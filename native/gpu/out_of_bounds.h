// Accesses outside of a kernel's memory that do not end it: hardware has something there, or gives 0.
// ROCM_PERF_VIRTUAL_BOUNDS=page lets them pass, =report tells each place once and counts.
#pragma once

#include <cstdint>

#include "arena.h"
#include "wave.h"

namespace gpu {

enum class Bounds : uint8_t { Strict, Page, Report };
Bounds bounds_from_environment();

// What a device has mapped around an allocation of device memory. ROCr takes it in blocks of 2 MiB:
// smaller allocations lie somewhere in one (here: in the middle, alone), larger ones are padded up.
Padding padding_of(uint64_t size);

class Lenient final : public OutOfBounds {
 public:
  Lenient(const AddressSpace& memory, Bounds bounds) : memory_(memory), told_(bounds == Bounds::Report) {}
  bool passes(const Wave& wave, const Fault& fault) override;

 private:
  bool mapped(const Fault& fault) const;

  const AddressSpace& memory_;
  bool told_;
};

}  // namespace gpu
