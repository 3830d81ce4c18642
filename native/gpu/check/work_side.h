// A piece of work as one side of a finding: a kernel, or the call of the host that had it done.
#pragma once

#include "findings.h"
#include "history.h"

namespace gpu::check {

// Tells places apart: the call, and the kernel's instruction.
std::string place_of(WorkId work, const Touch* touch = nullptr);
// As a list's element. `touch`: what a kernel did, on a line; `known`: it is known which work-item that was.
void describe(record::Line& line, WorkId work, const char* access, const Touch* touch = nullptr, uint32_t byte = 0,
              bool known = false);

}  // namespace gpu::check
