// The line table of DWARF 2 to 5: which source line an instruction came from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace codeobject::dwarf {

struct Row { uint64_t address = 0; uint32_t file = 0, line = 0, order = 0; bool end = false; };

struct LineTable {
  std::vector<std::string> files;
  std::vector<Row> rows;  // by address; a row holds until the next one

  // "path:line", or "" where the address has no row or line 0.
  std::string at(uint64_t address) const;
};

// Damaged units are skipped: a line number is help, never a reason to fail.
LineTable read_lines(std::span<const uint8_t> debug_line, std::span<const uint8_t> debug_line_str,
                     std::span<const uint8_t> debug_str);

}  // namespace codeobject::dwarf
