// Four chains of words, each step a bijection: one changed word always shows.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace gpu {

using ContentHash = std::array<uint64_t, 4>;

inline void add_content(ContentHash& h, const uint8_t* at, uint64_t bytes) {
  static constexpr uint64_t kOdd[4] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93};
  const uint64_t whole = bytes & ~uint64_t{31};
  auto step = [&h](const uint8_t* from) {
    uint64_t word[4];
    std::memcpy(word, from, sizeof word);
    for (int i = 0; i < 4; ++i) h[i] = std::rotl(h[i] ^ word[i], 29) * kOdd[i];
  };
  for (uint64_t offset = 0; offset < whole; offset += 32) step(at + offset);
  uint8_t last[32] = {};
  std::memcpy(last, at + whole, bytes - whole);
  step(last);
}

}  // namespace gpu
