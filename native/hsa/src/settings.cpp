#include "settings.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>

namespace {

struct Setting {
  std::string_view name, takes;
  const char* pattern;  // nullptr: anything
};
#include "settings.inc"

// How many letters a and b share in order: the longest common run, and so on left and right of it.
size_t shared(std::string_view a, std::string_view b) {
  size_t best = 0, at_a = 0, at_b = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      size_t run = 0;
      while (i + run < a.size() && j + run < b.size() && a[i + run] == b[j + run]) ++run;
      if (run > best) best = run, at_a = i, at_b = j;
    }
  if (!best) return 0;
  return best + shared(a.substr(0, at_a), b.substr(0, at_b)) + shared(a.substr(at_a + best), b.substr(at_b + best));
}

double likeness(std::string_view a, std::string_view b) {
  return 2.0 * double(shared(a, b)) / double(a.size() + b.size());
}

std::string printable(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string out(text.substr(0, kMost));
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return out;
}

std::string unknown(std::string_view name) {
  const Setting* nearest = nullptr;
  double best = kNear;
  for (const Setting& known : kSettings) {
    const double now = likeness(known.name.substr(kPrefix.size()), name.substr(kPrefix.size()));
    if (now >= best) nearest = &known, best = now;
  }
  if (!nearest) return {};  // somebody else's, or of another version
  return printable(name) + " is no variable of rocm-perf: did you mean " + std::string(nearest->name) + "?";
}

}  // namespace

std::string wrong_setting() {
  std::map<std::string_view, std::string_view> ours;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (text.starts_with(kPrefix) && equals != text.npos) ours.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& [name, value] : ours) {
    const auto known =
        std::find_if(std::begin(kSettings), std::end(kSettings), [&](const Setting& one) { return one.name == name; });
    if (known == std::end(kSettings)) {
      if (const std::string told = unknown(name); !told.empty()) return told;
    } else if (known->pattern && !std::regex_match(value.begin(), value.end(), std::regex(known->pattern))) {
      return std::string(name) + "=" + printable(value) + ": it takes " + std::string(known->takes);
    }
  }
  return {};
}
