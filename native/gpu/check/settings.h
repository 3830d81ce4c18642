// What `rocm-perf check` asked for, by environment variables; nothing is paid where it did not.
#pragma once

#include <string>

namespace gpu::check {

struct Settings {
  bool memory = false, init = false, race = false, sync = false, hazards = false;
  bool reached = false;  // no tool of the command: what `optimize` asks of its inputs
  bool watches() const { return init || race || sync || hazards || reached; }  // every instruction, that is
  bool wants(const std::string& kernel) const;  // a demangled name

  std::string kernels;  // a regular expression; empty: all
};

// nullptr where nothing is checked.
const Settings* settings();

}  // namespace gpu::check
