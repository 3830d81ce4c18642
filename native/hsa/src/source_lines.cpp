// Source lines of a code object's instructions, for the package's disassembler and thread traces.
#include <algorithm>
#include <cstring>

#include "codeobject/source.h"

#define RPL_EXPORT extern "C" __attribute__((visibility("default")))

RPL_EXPORT void* rpl_sources_open(const void* image, size_t size) {
  std::string ignored;
  const auto file = codeobject::elf::parse({static_cast<const uint8_t*>(image), size}, ignored);
  return file ? new codeobject::Sources(*file) : nullptr;
}

RPL_EXPORT void rpl_sources_close(void* sources) { delete static_cast<codeobject::Sources*>(sources); }

// A line for every frame, the innermost first: function, file and line number, with tabs between. The
// number of bytes there would be: more than `out_size` means that `out` has not all of them.
RPL_EXPORT size_t rpl_sources_at(const void* sources, uint64_t address, char* out, size_t out_size) {
  std::string text;
  for (const codeobject::Frame& frame : static_cast<const codeobject::Sources*>(sources)->chain(address))
    text += frame.function + "\t" + frame.file + "\t" + std::to_string(frame.line) + "\n";
  if (out_size) {
    const size_t kept = std::min(text.size(), out_size - 1);
    std::memcpy(out, text.data(), kept);
    out[kept] = 0;
  }
  return text.size() + 1;
}

RPL_EXPORT int rpl_is_library_code(const char* path) { return codeobject::is_library_code(path); }
