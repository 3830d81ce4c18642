// Bytes of DWARF, read one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace codeobject::dwarf {

using Bytes = std::span<const uint8_t>;

constexpr size_t kLongestName = 1 << 16;  // the rest of a longer one is cut off

// What reading may cost in all. Sections refer to one another, so a small file can ask for any amount of
// work: a name copied a million times, a table read again for every unit. Real objects stay far below.
class Budget {
 public:
  struct Spent {};  // thrown
  void spend(uint64_t steps) {
    if (steps > left_) throw Spent{};
    left_ -= steps;
  }

 private:
  uint64_t left_ = uint64_t{1} << 27;
};

// Reads past the end give zeros and set `bad`; callers look at it once per unit.
struct Cursor {
  Bytes bytes;
  uint64_t at = 0;
  bool bad = false;

  uint64_t fixed(unsigned size) {
    if (bytes.size() - std::min<uint64_t>(at, bytes.size()) < size) {
      bad = true;
      at = bytes.size();
      return 0;
    }
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, size);
    at += size;
    return value;
  }
  uint64_t uleb() {
    unsigned shift = 0;
    return leb(shift);
  }
  int64_t sleb() {
    unsigned shift = 0;
    uint64_t value = leb(shift);
    if (shift && shift < 64 && (value >> (shift - 1)) & 1) value |= ~uint64_t{0} << shift;
    return int64_t(value);
  }
  std::string text() {
    std::string out;
    for (; at < bytes.size() && bytes[at]; ++at)
      if (out.size() < kLongestName) out += char(bytes[at]);
    if (at >= bytes.size()) bad = true;
    ++at;
    return out;
  }
  void skip(uint64_t count) {
    if (count > bytes.size() - std::min<uint64_t>(at, bytes.size())) {
      bad = true;
      at = bytes.size();
    } else {
      at += count;
    }
  }

 private:
  // Seven bits a byte, the least first; `bits` is how many there were.
  uint64_t leb(unsigned& bits) {
    constexpr unsigned kMostBits = 16 * 7;  // compilers pad numbers, by a few bytes
    uint64_t value = 0;
    for (bool more = true; more && !bad; bits += 7) {
      const uint64_t byte = fixed(1);
      if (bits < 64) value |= (byte & 127) << bits;
      more = byte & 128;
      if (bits == kMostBits) bad = true;
    }
    return value;
  }
};

inline std::string text_in(Bytes table, uint64_t at) {
  if (at >= table.size()) return {};
  const char* start = reinterpret_cast<const char*>(table.data()) + at;
  return {start, strnlen(start, std::min<uint64_t>(table.size() - at, kLongestName))};
}

}  // namespace codeobject::dwarf
