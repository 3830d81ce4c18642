// Operands and fields of instructions as text, in the syntax of LLVM's disassembler.
#pragma once

#include <cstdio>
#include <string>

#include "exec.h"

namespace gpu {

inline std::string format(const char* text, auto... values) {
  char out[160];
  std::snprintf(out, sizeof out, text, values...);
  return out;
}

std::string vector_text(uint32_t row, unsigned width);
std::string scalar_text(uint32_t code, unsigned width);
// An inline constant, a special register or a literal; `wide`: it is read as 64 bits.
std::string constant_text(uint32_t code, OpType type, uint32_t literal, bool wide);

std::string gpr_index_text(uint32_t v);
std::string hwreg_text(uint32_t k, Arch arch);
std::string waitcnt_text(uint32_t k);
std::string sendmsg_text(uint32_t k);
const char* selection_text(unsigned s);  // of SDWA
std::string dpp_text(uint32_t control);
std::string swizzle_text(uint32_t v);
std::string buffer_format_text(uint32_t data, uint32_t number);

}  // namespace gpu
