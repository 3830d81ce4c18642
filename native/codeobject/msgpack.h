// MessagePack, read-only: the format of a code object's metadata note.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeobject::msgpack {

struct Value {
  enum class Kind : uint8_t { Nil, Bool, Integer, Float, Text, Binary, Array, Map } kind = Kind::Nil;
  bool boolean = false;
  int64_t integer = 0;  // unsigned values keep their bits
  double number = 0;
  std::string_view text;  // points into the bytes read
  std::vector<Value> items;            // of an array, or the values of a map
  std::vector<std::string_view> keys;  // of a map, one for each item; entries without a text key are dropped

  const Value* get(std::string_view key) const;
  uint64_t number_at(std::string_view key, uint64_t otherwise = 0) const;
  std::string_view text_at(std::string_view key) const;
};

std::optional<Value> parse(std::span<const uint8_t> bytes);

}  // namespace codeobject::msgpack
