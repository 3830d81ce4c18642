#include "source.h"

#include <algorithm>
#include <cstring>

#include "dwarf_cursor.h"

namespace codeobject {
namespace {

#include "library_code.inc"

}  // namespace

namespace dwarf {

DebugSections::DebugSections(const elf::File& file) {
  const auto data = [&](std::string_view name) {
    const elf::Section* section = file.section(name);
    return section ? section->data : elf::Bytes{};
  };
  line = data(".debug_line"), line_str = data(".debug_line_str"), str = data(".debug_str"), info = data(".debug_info");
  abbrev = data(".debug_abbrev"), str_offsets = data(".debug_str_offsets"), addr = data(".debug_addr");
  rnglists = data(".debug_rnglists"), ranges = data(".debug_ranges");
}

}  // namespace dwarf

bool is_library_code(std::string_view path) {
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return path.starts_with(start); }) ||
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return path.find(part) != path.npos; });
}

Sources::Sources(const elf::File& file) {
  const dwarf::DebugSections sections(file);
  try {
    dwarf::Budget budget;
    dwarf::Scopes scopes = dwarf::read_scopes(sections, budget);
    lines_ = dwarf::read_lines(sections, scopes.folders, budget);
    scopes_ = std::move(scopes);
  } catch (const dwarf::Budget::Spent&) {}
}

std::map<std::string, uint64_t> Sources::files() const {
  std::map<std::string, uint64_t> counted;
  for (const dwarf::Row& row : lines_.rows) ++counted[lines_.files[row.file]];
  return counted;
}

std::vector<Frame> Sources::chain(uint64_t address) const {
  std::vector<Frame> out;
  const dwarf::Row* row = lines_.find(address);
  const auto around = scopes_.around(address);
  if (!row && around.empty()) return out;
  Frame frame;
  if (row) frame = {"", lines_.files[row->file], row->line, row->column};
  for (const dwarf::Scope* scope : around) {
    frame.function = scope->function;
    out.push_back(std::move(frame));
    if (!scope->inlined) return out;
    frame = {"", "", scope->call_line, 0};
    const auto unit = lines_.units.find(scope->unit);
    if (unit != lines_.units.end() && scope->call_file < unit->second.size())
      frame.file = lines_.files[unit->second[scope->call_file]];
  }
  if (around.empty()) out.push_back(std::move(frame));
  return out;
}

Sources::Place Sources::place(uint64_t address) const {
  Place found;
  for (const Frame& frame : chain(address)) {
    if (!frame.line || frame.file.empty()) continue;
    if (found.innermost.file.empty()) found.innermost = found.own = frame;
    if (is_library_code(frame.file)) continue;
    found.own = frame;
    break;
  }
  if (const dwarf::Row* row = found.innermost.file.empty() ? lines_.with_line(address) : nullptr)
    found.own = found.innermost = {"", lines_.files[row->file], row->line, row->column};
  return found;
}

std::string told(const Frame& frame) { return frame.file.empty() ? "" : frame.file + ":" + std::to_string(frame.line); }

}  // namespace codeobject
