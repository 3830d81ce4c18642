// Which GPU code is built for. The tables are the package's (codeobject/architecture.py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace codeobject {

// The processor in an ELF header's flags ("gfx942"); "" for a machine nobody told us of.
std::string_view machine(uint32_t flags);

// "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-" -> "gfx942:xnack-"; "" where the name holds no AMD GPU.
// The processor ends a target's name, whatever triple this or that LLVM writes before it.
std::string processor(std::string_view target);

// Whether code built for a generic target runs on a processor.
bool covers(std::string_view generic, std::string_view processor);

// Whether a code object built for `built` ("gfx942", "gfx942:xnack-", "gfx9-4-generic") runs on
// `target` ("gfx942:sramecc+:xnack-"); higher is more specific, 0 is no.
int target_rank(const std::string& built, const std::string& target);

}  // namespace codeobject
