// Where the host asked for memory: the call stack of every allocation that is not freed, and of the
// latest that are.
#pragma once

#include <cstdint>

namespace gpu::check {

// Both do nothing where nothing is checked.
void allocated(uint64_t base, uint64_t size);
void freed(uint64_t base);

// The record of an allocation's stack, unless it has been written.
void write_stack(uint64_t base);
// Records of what nobody has freed. Whether the program should have, its stack says.
void write_live();

}  // namespace gpu::check
