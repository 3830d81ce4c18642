// Names of kernels as their source has them.
#include "codeobject/kernel_names.h"
#include "loops.h"

// How many bytes the demangled name has; as many as fit are written to `to`.
RPL_LOOP size_t rpl_demangle(const char* symbol, char* to, size_t size) {
  const std::string name = codeobject::demangle(symbol);
  name.copy(to, size);
  return name.size();
}
