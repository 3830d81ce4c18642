// The books: every piece of memory a device can reach, as it passes through the API tables.
#pragma once

#include <cstdint>
#include <vector>

namespace capture {

struct Piece {
  uint64_t base = 0, size = 0;  // as the device sees it
  uint64_t read_at = 0;         // where the host reads it: differs for locked memory only
  const char* kind = "pool";
  uint64_t agent = 0;           // handle of its owner, 0 if not known
  uint32_t flags = 0;           // of its pool
  bool reachable = true;        // vmem: after access was set
};

void hook_memory();

// Everything there is now, sorted, without overlaps.
std::vector<Piece> pieces();

// The allocation an address lies in; its size is zero where there is none, or where the same memory
// may be known by another address as well.
Piece allocation_at(uint64_t address);

// Memory given back while a capture is under way stays until it is over.
void release_deferred();

}  // namespace capture
