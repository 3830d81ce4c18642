// How long a symbol's name becomes when it is demangled.
#pragma once

#include <cstdint>
#include <string_view>

namespace codeobject {

// No less than the length of what a demangler prints. A symbol can name what it has said before by its
// number, twice at each step: of a few hundred characters this can be more than there is memory for.
// Of a symbol that holds an expression or is damaged the answer may be far too large.
uint64_t demangled_size(std::string_view symbol);

}  // namespace codeobject
