#include "demangled_size.h"

#include <algorithm>
#include <exception>
#include <map>
#include <vector>

namespace codeobject {
namespace {

struct Unusual : std::exception {};

// Of any symbol. A character of the result is reached through a chain of references, each to what was said
// before: there are no more chains than ways to choose one use, or none, of everything that is referred to.
// A pattern ("Dp") is printed for each member of a list.
uint64_t at_most(std::string_view symbol) {
  constexpr double kPerCharacter = 10;
  std::map<std::string_view, unsigned> uses;
  double size = kPerCharacter * double(symbol.size());
  for (size_t at = 0; at < symbol.size(); ++at) {
    if (symbol.substr(at).starts_with("Dp")) size *= double(symbol.size());
    if (symbol[at] != 'S' && symbol[at] != 'T') continue;
    const size_t end = symbol.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1);
    if (end != symbol.npos && symbol[end] == '_') ++uses[symbol.substr(at, end - at)];
  }
  for (const auto& [_, count] : uses) size *= count + 1;
  return uint64_t(std::min(size, 0x1p60));
}

// The grammar is that of the Itanium C++ ABI, chapter 5.1, as far as names of kernels need it. Printed text
// is nowhere kept, only its size; what matters is which parts get a number, in which order.
class Sizes {
 public:
  explicit Sizes(std::string_view symbol) : text_(symbol.substr(2)) {}

  uint64_t all() {
    uint64_t size = encoding();
    return add(size, kPerCharacter * (text_.size() - at_));  // a suffix, as ".kd"
  }

 private:
  // The longest that one character stands for, with what is printed around it.
  static constexpr uint64_t kPerCharacter = 100;
  static constexpr int kDeepest = 200;

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool is(std::string_view any, size_t ahead = 0) const { return peek(ahead) && any.find(peek(ahead)) != any.npos; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw Unusual{};
  }
  static uint64_t add(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
  uint64_t number_a_part(uint64_t size) {
    parts_.push_back(size);
    return size;
  }

  // Digits and capital letters before '_'; none: 0, else one more than their value.
  size_t sequence(unsigned base) {
    size_t value = 0;
    for (bool first = true; !take('_'); first = false) {
      const char c = peek();
      const unsigned digit = c >= '0' && c <= '9'   ? unsigned(c - '0')
                             : c >= 'A' && c <= 'Z' ? unsigned(c - 'A') + 10
                                                    : base;
      if (digit >= base || value > text_.size()) throw Unusual{};
      value = (first ? 0 : value - 1) * base + digit + 1;
      ++at_;
    }
    return value;
  }
  size_t digits() {
    size_t value = 0;
    if (!is("0123456789")) throw Unusual{};
    for (; is("0123456789"); ++at_) value = std::min<size_t>(value * 10 + size_t(peek() - '0'), text_.size());
    return value;
  }

  uint64_t encoding() {
    uint64_t size = name();
    while (peek() && !is("E.")) size = add(size, type());
    return size;
  }

  uint64_t name() {
    if (take('Z')) {
      uint64_t size = encoding();
      expect('E');
      if (!take('s')) size = add(size, name());
      if (take('_')) take('_') ? (digits(), expect('_')) : void(++at_);
      return size;
    }
    if (take('N')) return nested();
    uint64_t size = 0;
    if (peek() == 'S' && peek(1) != 't') {
      size = back_reference();
      if (peek() != 'I') throw Unusual{};
    } else {
      if (peek() == 'S') at_ += 2;
      size = unqualified();
      if (peek() == 'I') number_a_part(size);
    }
    return peek() == 'I' ? add(size, arguments()) : size;
  }

  uint64_t nested() {
    while (is("rVK")) ++at_;
    while (is("RO")) ++at_;
    uint64_t size = kPerCharacter;
    while (true) {
      const bool known = peek() == 'S';
      if (known && peek(1) == 't') at_ += 2;
      else if (known) size = add(size, back_reference());
      else if (peek() == 'T') size = add(size, parameter());
      else if (peek() == 'I') size = add(size, arguments());
      else size = add(size, unqualified());
      if (take('E')) return size;
      if (!known) number_a_part(size);
    }
  }

  uint64_t unqualified() {
    take('L');
    uint64_t size = kPerCharacter;
    if (is("0123456789")) {
      const size_t length = digits();
      size = add(size, length);
      if (length > text_.size() - at_) throw Unusual{};
      at_ += length;
    } else if (take('U')) {
      if (take('l')) {
        while (!take('E')) size = add(size, type());
      } else expect('t');
      sequence(10);
    } else if (is("CD") && is("012345", 1)) {
      at_ += 2;
      size = add(size, longest_name_);
    } else if (peek() >= 'a' && peek() <= 'z' && peek(1) && !(peek() == 'c' && peek(1) == 'v') && peek(1) != 'i') {
      at_ += 2;  // an operator; one that converts, or is a literal's, is unusual
    } else throw Unusual{};
    while (take('B')) {
      const size_t length = digits();
      if (length > text_.size() - at_) throw Unusual{};
      at_ += length;
      size = add(size, length + kPerCharacter);
    }
    longest_name_ = std::max(longest_name_, size);
    return size;
  }

  uint64_t back_reference() {
    expect('S');
    if (is("abdios")) {
      ++at_;
      return kPerCharacter;
    }
    const size_t number = sequence(36);
    if (number >= parts_.size()) throw Unusual{};
    return parts_[number];
  }

  // Of a template, whichever: as long as the longest list of arguments.
  uint64_t parameter() {
    expect('T');
    sequence(10);
    return longest_arguments_;
  }

  uint64_t arguments() {
    ++at_;
    uint64_t size = kPerCharacter;
    uint64_t count = 0;
    for (; !take('E'); ++count) size = add(size, argument());
    longest_arguments_ = std::max(longest_arguments_, size);
    most_arguments_ = std::max(most_arguments_, count);
    return size;
  }

  uint64_t argument() {
    if (peek() == 'J') return arguments();
    if (!take('L')) return type();
    uint64_t size = kPerCharacter;
    if (take('_')) {
      expect('Z');
      size = encoding();
    } else {
      size = type();
      for (; peek() && peek() != 'E'; ++at_) ++size;
    }
    expect('E');
    return size;
  }

  uint64_t type() {
    if (++depth_ > kDeepest) throw Unusual{};
    const uint64_t size = unbounded_type();
    --depth_;
    return size;
  }

  uint64_t unbounded_type() {
    if (is("rVK")) {
      while (is("rVK")) ++at_;
      return number_a_part(add(type(), kPerCharacter));
    }
    if (is("PROCG")) {
      ++at_;
      return number_a_part(add(type(), kPerCharacter));
    }
    if (take('A')) {
      if (is("0123456789")) digits();
      expect('_');
      return number_a_part(add(type(), kPerCharacter));
    }
    if (take('M')) {
      const uint64_t of = type();
      return number_a_part(add(of, add(type(), kPerCharacter)));
    }
    if (take('F')) {
      take('Y');
      uint64_t size = kPerCharacter;
      while (!(is("RO") && peek(1) == 'E') && peek() != 'E') size = add(size, type());
      while (!take('E')) ++at_;
      return number_a_part(size);
    }
    if (take('U')) {
      const uint64_t qualifier = unqualified();
      return number_a_part(add(qualifier, type()));
    }
    if (take('u')) return number_a_part(unqualified());
    if (peek() == 'T') {
      const uint64_t size = number_a_part(parameter());
      return peek() == 'I' ? number_a_part(add(size, arguments())) : size;
    }
    if (peek() == 'S' && peek(1) != 't') {
      const uint64_t size = back_reference();
      return peek() == 'I' ? number_a_part(add(size, arguments())) : size;
    }
    if (peek() == 'D') return with_d();
    if (is("SNZ0123456789")) return number_a_part(name());
    if (peek() < 'a' || peek() > 'z') throw Unusual{};
    ++at_;
    return kPerCharacter;
  }

  uint64_t with_d() {
    ++at_;
    if (take('p')) {  // what is behind it once for each member of a list
      const uint64_t one = type();
      const uint64_t times = most_arguments_ + 1;
      return number_a_part(one > UINT64_MAX / times ? UINT64_MAX : one * times);
    }
    if (take('v')) {
      digits();
      expect('_');
      return number_a_part(add(type(), kPerCharacter));
    }
    if (take('F')) {
      digits();
      if (!take('_') && !take('b')) expect('x');
    } else if (is("acndefhisu")) ++at_;
    else throw Unusual{};
    return kPerCharacter;
  }

  const std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::vector<uint64_t> parts_;  // sizes of what has a number
  uint64_t longest_name_ = 0, longest_arguments_ = 0, most_arguments_ = 0;
};

}  // namespace

uint64_t demangled_size(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return symbol.size();
  try {
    return Sizes(symbol).all();
  } catch (const Unusual&) { return at_most(symbol); }
}

}  // namespace codeobject
