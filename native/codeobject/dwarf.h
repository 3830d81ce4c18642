// The line table of DWARF 2 to 5: which source line an instruction came from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "elf.h"

namespace codeobject::dwarf {

class Budget;

struct DebugSections {
  explicit DebugSections(const elf::File& file);
  elf::Bytes line, line_str, str, info, abbrev, str_offsets, addr, rnglists, ranges;
};

struct Row {
  uint64_t address = 0;
  uint32_t file = 0, line = 0, column = 0, order = 0;
  bool end = false;
};

struct LineTable {
  std::vector<std::string> files;
  std::vector<Row> rows;  // by address; a row holds until the next one
  std::map<uint64_t, std::vector<uint32_t>> units;  // offset in .debug_line -> the unit's numbers of files

  const Row* find(uint64_t address) const;  // nullptr where there is none
  // Line 0 is code the compiler made up: the line before it is the best there is to say.
  const Row* with_line(uint64_t address) const;
};

// `folders`: where units were compiled, by their offset in .debug_line; version 5 says it in the table.
// Damaged units are skipped: a line number is help, never a reason to fail. Throws Budget::Spent.
LineTable read_lines(const DebugSections& sections, const std::map<uint64_t, std::string>& folders, Budget& budget);

}  // namespace codeobject::dwarf
