// What the translator is told of a kernel: its instructions as they were decoded, position by position,
// and where the parts of a Wave and of an Inst lie. Neither addresses nor names are in it, so that the
// same code gives the same text wherever it is loaded.
#pragma once

#include <string>

#include "../exec.h"

namespace gpu::translate {

// Empty where nothing can be gained: code that is not decoded whole, or hardly any.
std::string describe(Program& program, uint64_t entry);

}  // namespace gpu::translate
