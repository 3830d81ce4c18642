#include "inlined.h"

#include <optional>
#include <unordered_map>

#include "dwarf_cursor.h"

namespace codeobject::dwarf {
namespace {

enum Tag : uint64_t { kInlined = 0x1d, kSubprogram = 0x2e };
enum Name : uint64_t {
  kName = 0x03,
  kStmtList = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kCompDir = 0x1b,
  kOrigin = 0x31,
  kSpecification = 0x47,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kStrOffsetsBase = 0x72,
  kAddrBase = 0x73,
  kRnglistsBase = 0x74,
};
constexpr uint64_t kNowhere = uint64_t{1} << 63;  // of code that the linker left out
constexpr size_t kDeepest = 512;

struct Attribute {
  uint64_t name, form;
  int64_t constant;
};
struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  std::vector<Attribute> attributes;
};
using Abbreviations = std::unordered_map<uint64_t, Abbreviation>;

struct Value {
  uint64_t form = 0, number = 0;
  std::string text;
};
using Entry = std::map<uint64_t, Value>;

class Reader {
 public:
  Reader(const DebugSections& sections, Scopes& out, Budget& budget) : in_(sections), out_(out), budget_(budget) {}

  void read() {
    Cursor at{in_.info};
    while (at.at < in_.info.size() && !at.bad) {
      const uint64_t start = at.at;
      uint64_t length = at.fixed(4);
      offset_size_ = 4;
      if (length == 0xffffffff) length = at.fixed(8), offset_size_ = 8;
      if (at.bad || length > in_.info.size() - at.at) break;
      const uint64_t end = at.at + length;
      unit(Cursor{in_.info.first(end), at.at}, start);
      at.at = end;
    }
    for (const auto& [index, entry] : pending_) {
      out_.all[index].function = name_of(entry);
      budget_.spend(out_.all[index].function.size());
    }
  }

 private:
  void unit(Cursor in, uint64_t start) {
    start_ = start;
    version_ = in.fixed(2);
    if (version_ < 2 || version_ > 5) return;
    uint64_t kind = 1, abbreviations;
    if (version_ == 5) {
      kind = in.fixed(1);
      address_size_ = unsigned(in.fixed(1));
      abbreviations = in.fixed(offset_size_);
    } else {
      abbreviations = in.fixed(offset_size_);
      address_size_ = unsigned(in.fixed(1));
    }
    if (kind != 1 || (address_size_ != 4 && address_size_ != 8)) return;  // 1: compiled code
    if (abbreviations >= in_.abbrev.size()) return;
    const Abbreviations& known = abbreviations_at(abbreviations);
    str_offsets_ = addr_ = rnglists_ = base_ = line_program_ = 0;
    std::vector<int64_t> scopes;  // for every open entry, the scope it lies in; -1: none
    bool first = true;
    while (in.at < in.bytes.size() && !in.bad) {
      const uint64_t offset = in.at, code = in.uleb();
      if (code == 0) {
        if (scopes.empty()) break;
        scopes.pop_back();
        continue;
      }
      const auto found = known.find(code);
      if (found == known.end()) return;
      const Abbreviation& shape = found->second;
      const bool wanted = first || shape.tag == kSubprogram || shape.tag == kInlined;
      Entry entry;
      budget_.spend(1 + shape.attributes.size());
      for (const Attribute& a : shape.attributes) {
        Value value = read_value(in, a);
        if (wanted) entry.emplace(a.name, std::move(value));
      }
      if (in.bad) return;
      int64_t scope = scopes.empty() ? -1 : scopes.back();
      if (first) begin(entry);
      else if (wanted) scope = add(entry, offset, shape.tag == kInlined, scope);
      first = false;
      if (shape.children) {
        if (scopes.size() == kDeepest) return;
        scopes.push_back(scope);
      } else if (scopes.empty()) {
        break;
      }
    }
  }

  void begin(const Entry& unit) {
    str_offsets_ = number(unit, kStrOffsetsBase).value_or(version_ == 5 ? 2 * offset_size_ : 0);
    addr_ = number(unit, kAddrBase).value_or(8);
    rnglists_ = number(unit, kRnglistsBase).value_or(0);
    line_program_ = number(unit, kStmtList).value_or(0);
    base_ = address(unit, kLowPc).value_or(0);
    if (unit.contains(kStmtList)) out_.folders[line_program_] = text(unit, kCompDir);
  }

  int64_t add(const Entry& entry, uint64_t offset, bool inlined, int64_t around) {
    budget_.spend((sizeof(Named) + sizeof(Scope)) / 8);
    names_[offset] = {text(entry, kName), reference(entry, kOrigin), reference(entry, kSpecification)};
    auto ranges = ranges_of(entry);
    if (ranges.empty()) return around;  // only said to exist
    if (inlined && around < 0) return around;
    const auto index = uint32_t(out_.all.size());
    Scope scope;
    scope.inlined = inlined;
    scope.unit = line_program_;
    scope.call_file = uint32_t(number(entry, kCallFile).value_or(0));
    scope.call_line = uint32_t(number(entry, kCallLine).value_or(0));
    scope.ranges = std::move(ranges);
    out_.all.push_back(std::move(scope));
    pending_.emplace_back(index, offset);
    if (inlined) out_.all[size_t(around)].inner.push_back(index);
    else out_.functions.push_back(index);
    return index;
  }

  // A function inlined has its name where it was declared.
  std::string name_of(uint64_t offset) const {
    for (int hops = 0; hops < 8; ++hops) {
      const auto it = names_.find(offset);
      if (it == names_.end()) return {};
      if (!it->second.text.empty()) return it->second.text;
      const auto next = it->second.origin ? it->second.origin : it->second.specification;
      if (!next) return {};
      offset = *next;
    }
    return {};
  }

  const Abbreviations& abbreviations_at(uint64_t offset) {
    auto [it, fresh] = abbreviations_.try_emplace(offset);
    if (!fresh) return it->second;
    Cursor in{in_.abbrev, offset};
    while (!in.bad) {
      const uint64_t code = in.uleb();
      if (code == 0) break;
      budget_.spend(sizeof(Abbreviation) / 8);
      Abbreviation& one = it->second[code];
      one = {in.uleb(), in.fixed(1) != 0, {}};
      while (!in.bad) {
        Attribute a{in.uleb(), in.uleb(), 0};
        if (a.form == 0x21) a.constant = in.sleb();
        if (a.name == 0 && a.form == 0) break;
        budget_.spend(sizeof a / 8);
        one.attributes.push_back(a);
      }
    }
    return it->second;
  }

  Value read_value(Cursor& in, const Attribute& a) {
    Value v{a.form, 0, {}};
    if (v.form == 0x16) v.form = in.uleb();  // the form stands with the value
    switch (v.form) {
      case 0x01: v.number = in.fixed(address_size_); break;
      case 0x0b:
      case 0x0c:
      case 0x11:
      case 0x25:
      case 0x29: v.number = in.fixed(1); break;
      case 0x05:
      case 0x12:
      case 0x26:
      case 0x2a: v.number = in.fixed(2); break;
      case 0x27:
      case 0x2b: v.number = in.fixed(3); break;
      case 0x06:
      case 0x13:
      case 0x1c:
      case 0x28:
      case 0x2c: v.number = in.fixed(4); break;
      case 0x07:
      case 0x14:
      case 0x20:
      case 0x24: v.number = in.fixed(8); break;
      case 0x0e:
      case 0x17:
      case 0x1d:
      case 0x1f: v.number = in.fixed(offset_size_); break;
      case 0x10: v.number = in.fixed(version_ == 2 ? address_size_ : offset_size_); break;
      case 0x0d: v.number = uint64_t(in.sleb()); break;
      case 0x0f:
      case 0x15:
      case 0x1a:
      case 0x1b:
      case 0x22:
      case 0x23: v.number = in.uleb(); break;
      case 0x08: v.text = in.text(); break;
      case 0x19: v.number = 1; break;
      case 0x21: v.number = uint64_t(a.constant); break;
      case 0x0a: in.skip(in.fixed(1)); break;
      case 0x03: in.skip(in.fixed(2)); break;
      case 0x04: in.skip(in.fixed(4)); break;
      case 0x09:
      case 0x18: in.skip(in.uleb()); break;
      case 0x1e: in.skip(16); break;
      default: in.bad = true;
    }
    return v;
  }

  static std::optional<uint64_t> number(const Entry& entry, uint64_t name) {
    const auto it = entry.find(name);
    return it == entry.end() ? std::nullopt : std::optional(it->second.number);
  }

  uint64_t entry_of(Bytes table, uint64_t base, uint64_t index, unsigned size) const {
    if (index > table.size() / size) return 0;
    Cursor in{table, base + index * size};
    return in.fixed(size);
  }
  uint64_t indexed_address(uint64_t index) const { return entry_of(in_.addr, addr_, index, address_size_); }

  std::string text(const Entry& entry, uint64_t name) {
    const auto it = entry.find(name);
    std::string found = it == entry.end() ? std::string() : text_of(it->second);
    budget_.spend(found.size());
    return found;
  }
  std::string text_of(const Value& v) const {
    switch (v.form) {
      case 0x08: return v.text;
      case 0x0e: return text_in(in_.str, v.number);
      case 0x1f: return text_in(in_.line_str, v.number);
      case 0x1a:
      case 0x25:
      case 0x26:
      case 0x27:
      case 0x28: return text_in(in_.str, entry_of(in_.str_offsets, str_offsets_, v.number, offset_size_));
      default: return {};
    }
  }

  std::optional<uint64_t> reference(const Entry& entry, uint64_t name) const {
    const auto it = entry.find(name);
    if (it == entry.end()) return std::nullopt;
    const uint64_t form = it->second.form;
    if (form == 0x10) return it->second.number;
    if (form >= 0x11 && form <= 0x15) return start_ + it->second.number;
    return std::nullopt;
  }

  static bool is_address(uint64_t form) { return form == 0x01 || form == 0x1b || (form >= 0x29 && form <= 0x2c); }
  std::optional<uint64_t> address(const Entry& entry, uint64_t name) const {
    const auto it = entry.find(name);
    if (it == entry.end() || !is_address(it->second.form)) return std::nullopt;
    return it->second.form == 0x01 ? it->second.number : indexed_address(it->second.number);
  }

  std::vector<std::pair<uint64_t, uint64_t>> ranges_of(const Entry& entry) {
    std::vector<std::pair<uint64_t, uint64_t>> out;
    const auto keep = [&](uint64_t low, uint64_t high) {
      if (low < high && low < kNowhere) out.emplace_back(low, high);
    };
    if (const auto low = address(entry, kLowPc)) {
      const auto high = entry.find(kHighPc);
      if (high != entry.end()) keep(*low, address(entry, kHighPc).value_or(*low + high->second.number));
      return out;
    }
    const auto list = entry.find(kRanges);
    if (list == entry.end()) return out;
    if (version_ < 5) {
      Cursor in{in_.ranges, list->second.number};
      uint64_t base = base_;
      const uint64_t select = address_size_ == 8 ? ~uint64_t{0} : 0xffffffff;
      while (!in.bad) {
        budget_.spend(2);
        const uint64_t low = in.fixed(address_size_), high = in.fixed(address_size_);
        if (low == 0 && high == 0) break;
        if (low == select) base = high;
        else keep(base + low, base + high);
      }
      return out;
    }
    uint64_t offset = list->second.number;
    if (list->second.form == 0x23) offset = rnglists_ + entry_of(in_.rnglists, rnglists_, offset, offset_size_);
    Cursor in{in_.rnglists, offset};
    uint64_t base = base_;
    while (!in.bad) {
      budget_.spend(2);
      const uint64_t kind = in.fixed(1);
      uint64_t low = 0;
      switch (kind) {
        case 1: base = indexed_address(in.uleb()); break;
        case 2:
          low = indexed_address(in.uleb());
          keep(low, indexed_address(in.uleb()));
          break;
        case 3:
          low = indexed_address(in.uleb());
          keep(low, low + in.uleb());
          break;
        case 4:
          low = base + in.uleb();
          keep(low, base + in.uleb());
          break;
        case 5: base = in.fixed(address_size_); break;
        case 6:
          low = in.fixed(address_size_);
          keep(low, in.fixed(address_size_));
          break;
        case 7:
          low = in.fixed(address_size_);
          keep(low, low + in.uleb());
          break;
        default: return out;
      }
    }
    return out;
  }

  struct Named {
    std::string text;
    std::optional<uint64_t> origin, specification;
  };

  const DebugSections& in_;
  Scopes& out_;
  Budget& budget_;
  std::map<uint64_t, Abbreviations> abbreviations_;
  std::unordered_map<uint64_t, Named> names_;
  std::vector<std::pair<uint32_t, uint64_t>> pending_;  // scopes, and the entries that name them
  uint64_t start_ = 0, version_ = 0, str_offsets_ = 0, addr_ = 0, rnglists_ = 0, base_ = 0, line_program_ = 0;
  unsigned offset_size_ = 4, address_size_ = 8;
};

bool covers(const Scope& scope, uint64_t address) {
  for (const auto& [low, high] : scope.ranges)
    if (address >= low && address < high) return true;
  return false;
}

}  // namespace

Scopes read_scopes(const DebugSections& sections, Budget& budget) {
  Scopes out;
  Reader(sections, out, budget).read();
  return out;
}

std::vector<const Scope*> Scopes::around(uint64_t address) const {
  std::vector<const Scope*> out;
  const std::vector<uint32_t>* candidates = &functions;
  while (candidates) {
    const Scope* found = nullptr;
    for (const uint32_t index : *candidates)
      if (covers(all[index], address)) found = &all[index];
    if (!found) break;
    out.insert(out.begin(), found);
    candidates = &found->inner;
  }
  return out;
}

}  // namespace codeobject::dwarf
