// The source of an instruction: its line, and the lines that called what was inlined there.
#pragma once

#include "inlined.h"

namespace codeobject {

struct Frame {
  std::string function, file;
  uint32_t line = 0;    // 0: not known
  uint32_t column = 0;  // of the innermost frame; 0: not known
};

// Whether a file belongs to a compiler, a runtime or a framework, not to the program
// (rocm_perf_lab.trace.library_code is the same in Python, and has the table).
bool is_library_code(std::string_view path);

class Sources {
 public:
  explicit Sources(const elf::File& file);

  // The innermost frame first. Empty without debug information, or with some that nobody could read.
  std::vector<Frame> chain(uint64_t address) const;
  // The innermost frame of the program's own code, and of all; the same where there is no other.
  struct Place {
    Frame own, innermost;
  };
  Place place(uint64_t address) const;
  // Every file that code was compiled from, with the number of its rows in the line table.
  std::map<std::string, uint64_t> files() const;

 private:
  dwarf::LineTable lines_;
  dwarf::Scopes scopes_;
};

// "file:line"; "" where there is none.
std::string told(const Frame& frame);

}  // namespace codeobject
