// Another program run to its end, its output kept. No shell is involved.
#pragma once

#include <string>
#include <vector>

namespace hip {

struct ProcessResult {
  bool started = false;
  int exit_code = -1;
  std::string output;  // stdout and stderr, or why it did not start
};

ProcessResult run_process(const std::vector<std::string>& command);

// The path of a program on PATH; empty if it is not there.
std::string find_program(const std::string& name);

}  // namespace hip
