#include "kernel_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "demangled_size.h"
#include "gnu_names.h"

namespace codeobject {
namespace {

constexpr size_t kLongest = 4096;
constexpr uint64_t kLongestDemangled = 64 << 20;

// Clang's types of 16 bits, which demanglers know late or by another name: each is passed as another
// built-in type, that no kernel uses, and named afterwards.
struct Half {
  std::string_view mangled, passed, shown, meant;
};
constexpr Half kHalves[] = {{"DF16b", "Df", "decimal32", "__bf16"}, {"DF16_", "Dd", "decimal64", "_Float16"}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t past_digits(std::string_view text, size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// How much of the text is one piece. Literals, vectors, substitutions and arrays hold numbers that are no
// length of a name; a name, whatever it holds, goes with its length.
size_t piece(std::string_view text) {
  const auto ends = [&](size_t at, char with) { return at < text.size() && text[at] == with ? at + 1 : 1; };
  const char first = text[0], second = text.size() > 1 ? text[1] : 0;
  if (is_digit(first)) {
    const size_t name = past_digits(text, 0);
    return std::min(text.size(),
                    name + std::strtoul(std::string(text.substr(0, std::min<size_t>(name, 6))).c_str(), nullptr, 10));
  }
  if (first == 'L' && second >= 'a' && second <= 'z')
    return ends(past_digits(text, 2 + (text.substr(2, 1) == "n")), 'E');
  if (first == 'D' && second == 'v') return ends(past_digits(text, 2), '_');
  if (first == 'A') return ends(past_digits(text, 1), '_');
  if (first == 'S' || first == 'T')
    return ends(std::min(text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1), text.size()), '_');
  return 1;
}

std::string with_halves_passed(std::string_view symbol) {
  std::string out;
  while (!symbol.empty()) {
    const auto half = std::find_if(std::begin(kHalves), std::end(kHalves),
                                   [&](const Half& h) { return symbol.starts_with(h.mangled); });
    const bool found = half != std::end(kHalves);
    const size_t size = found ? half->mangled.size() : piece(symbol);
    out += found ? half->passed : symbol.substr(0, size);
    symbol.remove_prefix(size);
  }
  return out;
}

std::string by_runtime(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  if (!text) return "";
#ifdef _LIBCPP_VERSION
  return as_gnu_writes(text.get());
#else
  return text.get();
#endif
}

}  // namespace

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > kLongest) return symbol;
  const bool confusing = std::any_of(std::begin(kHalves), std::end(kHalves),
                                     [&](const Half& h) { return symbol.find(h.shown) != symbol.npos; });
  const std::string passed = confusing ? symbol : with_halves_passed(symbol);
  std::string text = demangled_size(passed) <= kLongestDemangled ? by_runtime(passed) : "";
  if (text.empty()) return symbol;
  if (!confusing)
    for (const Half& half : kHalves)
      for (size_t at = 0; (at = text.find(half.shown, at)) != text.npos; at += half.meant.size())
        text.replace(at, half.shown.size(), half.meant);
  return text;
}

std::string kernel_of(std::string symbol) {
  if (symbol.ends_with(".kd")) symbol.resize(symbol.size() - 3);
  return symbol;
}

// libstdc++ tries one way through a pattern after the other and recurses with every character: the name
// of a template kernel, thousands long, ends a thread with a small stack. It can also go through the text
// once, with all the states it may be in; only back-references need the first way. Other libraries keep
// their states on the heap.
NamePattern::NamePattern(const std::string& text) {
  (void)std::regex(text, std::regex::ECMAScript);  // what is no pattern by itself is refused
  const std::string around = "[\\s\\S]*(?:" + text + ")[\\s\\S]*";
#ifdef __GLIBCXX__
  try {
    around_.assign(around, std::regex::ECMAScript | std::regex::nosubs | std::regex_constants::__polynomial);
    return;
  } catch (const std::regex_error& error) {
    if (error.code() != std::regex_constants::error_complexity) throw;
  }
#endif
  around_.assign(around, std::regex::ECMAScript);
}

bool NamePattern::found_in(const std::string& name) const {
  try {
    return std::regex_match(name, around_);
  } catch (const std::regex_error&) { return false; }
}

}  // namespace codeobject
