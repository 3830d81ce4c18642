// Source lines of a code object's instructions, for the package's disassembler and thread traces; and of the
// host's, for call stacks.
#include <algorithm>
#include <cstring>

#include "codeobject/source.h"

#define RPL_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Names come from files: what would end a field or a line is none of theirs.
std::string plain(std::string name) {
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return c < ' '; }, '?');
  return name;
}

// The number of bytes there would be: more than `out_size` means that `out` has not all of them.
size_t answer(const std::string& text, char* out, size_t out_size) {
  if (out_size) {
    const size_t kept = std::min(text.size(), out_size - 1);
    std::memcpy(out, text.data(), kept);
    out[kept] = 0;
  }
  return text.size() + 1;
}

const codeobject::Sources& opened(const void* sources) { return *static_cast<const codeobject::Sources*>(sources); }

}  // namespace

RPL_EXPORT void* rpl_sources_open(const void* image, size_t size) try {
  std::string ignored;
  const codeobject::elf::Bytes bytes{static_cast<const uint8_t*>(image), size};
  auto file = codeobject::elf::parse(bytes, ignored);
  if (!file) file = codeobject::elf::parse_of_host(bytes);
  return file ? new codeobject::Sources(*file) : nullptr;
} catch (const std::bad_alloc&) {  // no exception may reach a caller that is not C++
  return nullptr;
}

RPL_EXPORT void rpl_sources_close(void* sources) { delete static_cast<codeobject::Sources*>(sources); }

// A line for every frame, the innermost first: function, file and line number, with tabs between.
RPL_EXPORT size_t rpl_sources_at(const void* sources, uint64_t address, char* out, size_t out_size) {
  std::string text;
  for (const codeobject::Frame& frame : opened(sources).chain(address))
    text += plain(frame.function) + "\t" + plain(frame.file) + "\t" + std::to_string(frame.line) + "\n";
  return answer(text, out, out_size);
}

// A line for every file of the line table: its path and how many rows it has, with a tab between.
RPL_EXPORT size_t rpl_sources_files(const void* sources, char* out, size_t out_size) {
  std::string text;
  for (const auto& [path, rows] : opened(sources).files()) text += plain(path) + "\t" + std::to_string(rows) + "\n";
  return answer(text, out, out_size);
}

RPL_EXPORT int rpl_is_library_code(const char* path) { return codeobject::is_library_code(path); }
