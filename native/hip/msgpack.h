// A reader for MessagePack, as much of it as code object metadata uses. Hostile input ends in
// `ok() == false`, never in a read past the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace hip {

class MsgPack {
 public:
  MsgPack(const uint8_t* data, size_t size) : next_(data), end_(data + size) {}

  bool ok() const { return ok_; }

  // The number of entries of a map or an array; 0 if the next object is something else.
  uint32_t map() { return container(0x80, 0xde); }
  uint32_t array() { return container(0x90, 0xdc); }

  std::string_view string() {
    uint8_t tag = byte();
    size_t size = 0;
    if ((tag & 0xe0) == 0xa0) size = tag & 0x1f;
    else if (tag == 0xd9 || tag == 0xc4) size = number(1);
    else if (tag == 0xda || tag == 0xc5) size = number(2);
    else if (tag == 0xdb || tag == 0xc6) size = number(4);
    else return fail();
    return take(size);
  }

  // An integer, true or false; 0 if the next object is something else.
  uint64_t integer() {
    uint8_t tag = byte();
    if (tag < 0x80) return tag;
    if (tag >= 0xe0) return static_cast<uint64_t>(static_cast<int8_t>(tag));
    switch (tag) {
      case 0xc2: return 0;
      case 0xc3: return 1;
      case 0xcc: return number(1);
      case 0xcd: return number(2);
      case 0xce: return number(4);
      case 0xcf: return number(8);
      case 0xd0: return static_cast<uint64_t>(static_cast<int8_t>(number(1)));
      case 0xd1: return static_cast<uint64_t>(static_cast<int16_t>(number(2)));
      case 0xd2: return static_cast<uint64_t>(static_cast<int32_t>(number(4)));
      case 0xd3: return number(8);
      default: fail(); return 0;
    }
  }

  void skip(int depth = 0) {
    if (depth > 32 || next_ >= end_) return void(fail());
    uint8_t tag = *next_;
    if ((tag & 0xf0) == 0x80 || tag == 0xde || tag == 0xdf) {
      for (uint32_t n = map(); ok_ && n > 0; --n) skip(depth + 1), skip(depth + 1);
    } else if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd) {
      for (uint32_t n = array(); ok_ && n > 0; --n) skip(depth + 1);
    } else if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb) ||
               (tag >= 0xc4 && tag <= 0xc6)) {
      string();
    } else if (tag == 0xc0) {
      byte();
    } else if (tag == 0xca || tag == 0xcb) {
      byte();
      number(tag == 0xca ? 4 : 8);
    } else {
      integer();
    }
  }

 private:
  uint8_t byte() {
    if (next_ >= end_) return fail(), uint8_t{0xc1};
    return *next_++;
  }
  std::string_view take(size_t size) {
    if (static_cast<size_t>(end_ - next_) < size) return fail();
    std::string_view text(reinterpret_cast<const char*>(next_), size);
    next_ += size;
    return text;
  }
  uint64_t number(int bytes) {  // big endian
    std::string_view text = take(static_cast<size_t>(bytes));
    uint64_t value = 0;
    for (char c : text) value = value << 8 | static_cast<uint8_t>(c);
    return value;
  }
  uint32_t container(uint8_t fixed, uint8_t wide) {
    uint8_t tag = byte();
    if ((tag & 0xf0) == fixed) return tag & 0x0f;
    if (tag == wide) return static_cast<uint32_t>(number(2));
    if (tag == wide + 1) return static_cast<uint32_t>(number(4));
    fail();
    return 0;
  }
  std::string_view fail() {
    ok_ = false;
    next_ = end_;
    return {};
  }

  const uint8_t* next_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace hip
