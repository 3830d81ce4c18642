// Which function an instruction belongs to, and through which calls that were inlined (.debug_info of
// DWARF 4 and 5).
#pragma once

#include "dwarf.h"

namespace codeobject::dwarf {

struct Scope {
  std::string function;
  bool inlined = false;
  uint64_t unit = 0;                      // its line program: offset in .debug_line
  uint32_t call_file = 0, call_line = 0;  // of an inlined one: where it was called, the unit's number of the file
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  std::vector<uint32_t> inner;            // inlined into it, as indices of Scopes::all
};

struct Scopes {
  std::vector<Scope> all;
  std::vector<uint32_t> functions;             // those that are not inlined
  std::map<uint64_t, std::string> folders;     // where units were compiled, by their line program

  // The scopes around an address, the innermost first; ends with a function that is not inlined.
  std::vector<const Scope*> around(uint64_t address) const;
};

// Damaged units are skipped, as in line tables. Throws Budget::Spent.
Scopes read_scopes(const DebugSections& sections, Budget& budget);

}  // namespace codeobject::dwarf
