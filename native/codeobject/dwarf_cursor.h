// Bytes of DWARF, read one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace codeobject::dwarf {

using Bytes = std::span<const uint8_t>;

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
    uint64_t value = 0;
    for (unsigned shift = 0; !bad; shift += 7) {
      const uint64_t byte = fixed(1);
      if (shift < 64) value |= (byte & 127) << shift;
      if (!(byte & 128)) break;
    }
    return value;
  }
  int64_t sleb() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint64_t byte = 0;
    do {
      byte = fixed(1);
      if (shift < 64) value |= (byte & 127) << shift;
      shift += 7;
    } while ((byte & 128) && !bad);
    if ((byte & 64) && shift < 64) value |= ~uint64_t{0} << shift;
    return int64_t(value);
  }
  std::string text() {
    std::string out;
    while (at < bytes.size() && bytes[at]) out += char(bytes[at++]);
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
};

inline std::string text_in(Bytes table, uint64_t at) {
  if (at >= table.size()) return {};
  const char* start = reinterpret_cast<const char*>(table.data()) + at;
  return {start, strnlen(start, table.size() - at)};
}

}  // namespace codeobject::dwarf
