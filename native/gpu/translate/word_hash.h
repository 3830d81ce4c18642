// A hash of bytes by words, which compile.py computes too: for files that must be whole and for their names.
#pragma once

#include <cstdint>
#include <cstring>

namespace gpu::translate {

inline uint64_t word_hash(const void* data, size_t bytes, uint64_t h = 0xcbf29ce484222325u) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (size_t n = 0; n < bytes; n += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at + n, bytes - n < 8 ? bytes - n : 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace gpu::translate
