// Demangled names in one spelling, whichever C++ runtime wrote them.
#pragma once

#include <string>
#include <string_view>

namespace codeobject {

// A name of LLVM's demangler, which libc++ brings, as GNU's writes it, and so AMD's tools: A<B<int> > for
// A<B<int>>, {lambda(int)#1} for 'lambda'(int), {unnamed type#1} for 'unnamed'.
std::string as_gnu_writes(std::string_view text);

}  // namespace codeobject
