#include "gnu_names.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace codeobject {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// How long the name of an operator is that begins here and ends in what could be a bracket.
size_t operator_size(std::string_view text) {
  constexpr std::string_view kWord = "operator", kSymbols[] = {"->*", "->", ">>=", ">>", ">=", ">", "<=>"};
  if (!text.starts_with(kWord)) return 0;
  for (const std::string_view symbol : kSymbols)
    if (text.substr(kWord.size()).starts_with(symbol)) return kWord.size() + symbol.size();
  return 0;
}

// A type without a name: 'lambda', 'lambda0', 'lambda1' ... are the first, second, third of their place.
struct Nameless {
  size_t size = 0, number = 1;
};
Nameless nameless(std::string_view text, std::string_view kind) {
  if (!text.starts_with(kind)) return {};
  const size_t end = std::min(text.find_first_not_of("0123456789", kind.size()), text.size());
  if (end - kind.size() > 6 || !text.substr(end).starts_with('\'')) return {};
  const std::string digits(text.substr(kind.size(), end - kind.size()));
  return {end + 1, digits.empty() ? 1 : std::strtoul(digits.c_str(), nullptr, 10) + 2};
}

}  // namespace

std::string as_gnu_writes(std::string_view text) {
  struct Lambda {
    size_t depth, number;
  };
  std::vector<Lambda> open;  // those whose parameters are being written
  std::string out;
  size_t depth = 0;
  while (!text.empty()) {
    size_t size = 1;
    const bool begins = out.empty() || !in_word(out.back());
    if (const Nameless type = nameless(text, "'unnamed"); type.size) {
      out += "{unnamed type#" + std::to_string(type.number) + '}';
      text.remove_prefix(type.size);
      continue;
    }
    if (const Nameless type = nameless(text, "'lambda"); type.size && text.substr(type.size).starts_with('(')) {
      open.push_back({depth, type.number});
      out += "{lambda";
      text.remove_prefix(type.size);
      continue;
    }
    if (const size_t name = begins ? operator_size(text) : 0) size = name;
    else if (text.starts_with(">>") && out.ends_with(' ')) size = 2;  // a shift
    else if (text[0] == '>' && out.ends_with('>')) out += ' ';
    out += text.substr(0, size);
    if (text[0] == '(') ++depth;
    if (text[0] == ')' && depth) --depth;
    if (text[0] == ')' && !open.empty() && open.back().depth == depth) {
      out += '#' + std::to_string(open.back().number) + '}';
      open.pop_back();
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace codeobject
