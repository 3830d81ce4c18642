#include "msgpack.h"

#include <bit>

namespace codeobject::msgpack {
namespace {

constexpr int kMaxDepth = 32;

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool value(Value& out, int depth = 0) {
    uint8_t tag;
    if (depth > kMaxDepth || !byte(tag)) return false;
    if (tag < 0x80) return integer(out, tag);
    if (tag >= 0xe0) return integer(out, int8_t(tag));
    if (tag < 0x90) return map(out, tag & 15, depth);
    if (tag < 0xa0) return array(out, tag & 15, depth);
    if (tag < 0xc0) return text(out, tag & 31, Value::Kind::Text);
    uint64_t n;
    switch (tag) {
      case 0xc0: return true;
      case 0xc2:
      case 0xc3:
        out.kind = Value::Kind::Bool;
        out.boolean = tag == 0xc3;
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6: return number(n, 1u << (tag - 0xc4)) && text(out, n, Value::Kind::Binary);
      case 0xca:
        if (!number(n, 4)) return false;
        out.kind = Value::Kind::Float;
        out.number = std::bit_cast<float>(uint32_t(n));
        return true;
      case 0xcb:
        if (!number(n, 8)) return false;
        out.kind = Value::Kind::Float;
        out.number = std::bit_cast<double>(n);
        return true;
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: return number(n, 1u << (tag - 0xcc)) && integer(out, int64_t(n));
      case 0xd0: return number(n, 1) && integer(out, int8_t(n));
      case 0xd1: return number(n, 2) && integer(out, int16_t(n));
      case 0xd2: return number(n, 4) && integer(out, int32_t(n));
      case 0xd3: return number(n, 8) && integer(out, int64_t(n));
      case 0xd9:
      case 0xda:
      case 0xdb: return number(n, 1u << (tag - 0xd9)) && text(out, n, Value::Kind::Text);
      case 0xdc:
      case 0xdd: return number(n, tag == 0xdc ? 2 : 4) && array(out, n, depth);
      case 0xde:
      case 0xdf: return number(n, tag == 0xde ? 2 : 4) && map(out, n, depth);
      default: return false;  // extension types do not occur in the metadata
    }
  }

 private:
  bool byte(uint8_t& out) {
    if (at_ >= bytes_.size()) return false;
    out = bytes_[at_++];
    return true;
  }
  bool number(uint64_t& out, unsigned size) {
    if (bytes_.size() - at_ < size) return false;
    out = 0;
    for (unsigned i = 0; i < size; ++i) out = out << 8 | bytes_[at_++];
    return true;
  }
  static bool integer(Value& out, int64_t value) {
    out.kind = Value::Kind::Integer;
    out.integer = value;
    return true;
  }
  bool text(Value& out, uint64_t size, Value::Kind kind) {
    if (bytes_.size() - at_ < size) return false;
    out.kind = kind;
    out.text = {reinterpret_cast<const char*>(bytes_.data()) + at_, size};
    at_ += size;
    return true;
  }
  bool array(Value& out, uint64_t count, int depth) {
    out.kind = Value::Kind::Array;
    for (uint64_t i = 0; i < count; ++i)
      if (!value(out.items.emplace_back(), depth + 1)) return false;
    return true;
  }
  bool map(Value& out, uint64_t count, int depth) {
    out.kind = Value::Kind::Map;
    for (uint64_t i = 0; i < count; ++i) {
      Value key, item;
      if (!value(key, depth + 1) || !value(item, depth + 1)) return false;
      if (key.kind != Value::Kind::Text) continue;
      out.keys.push_back(key.text);
      out.items.push_back(std::move(item));
    }
    return true;
  }

  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

}  // namespace

const Value* Value::get(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}

uint64_t Value::number_at(std::string_view key, uint64_t otherwise) const {
  const Value* found = get(key);
  return found && found->kind == Kind::Integer ? uint64_t(found->integer) : otherwise;
}

std::string_view Value::text_at(std::string_view key) const {
  const Value* found = get(key);
  return found && found->kind == Kind::Text ? found->text : std::string_view{};
}

std::optional<Value> parse(std::span<const uint8_t> bytes) {
  Value out;
  if (!Reader(bytes).value(out)) return std::nullopt;
  return out;
}

}  // namespace codeobject::msgpack
