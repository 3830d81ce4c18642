// Names of kernels: as their source has them, and which of them a pattern means.
#pragma once

#include <regex>
#include <string>

namespace codeobject {

// The symbol itself where it is not mangled, its name would be beyond any use, or the C++ runtime cannot
// read it.
std::string demangle(const std::string& symbol);

// The kernel of a descriptor's symbol: without ".kd" at its end.
std::string kernel_of(std::string symbol);

// A regular expression (ECMAScript's), searched for in names.
class NamePattern {
 public:
  explicit NamePattern(const std::string& text);  // throws std::regex_error
  // A search that the library gives up on finds nothing: this runs in hooks of the user's program.
  bool found_in(const std::string& name) const;

 private:
  std::regex around_;  // the pattern with anything before and behind it
};

}  // namespace codeobject
