// Just enough of ELF64 to load an AMDGPU code object. Everything is bounds-checked: the bytes come
// from files and from memory that anybody may have written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeobject::elf {

using Bytes = std::span<const uint8_t>;

struct Segment {
  uint64_t offset = 0, address = 0, file_size = 0, memory_size = 0, align = 0;
  bool write = false, execute = false;
};
struct Section {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0, address = 0;
  Bytes data;
};
struct Symbol {
  std::string_view name;
  uint64_t value = 0, size = 0;
  uint8_t type = 0, binding = 0;
  uint16_t section = 0;
};
struct Relocation {
  uint64_t offset = 0;
  uint32_t type = 0, symbol = 0;
  int64_t addend = 0;
};

enum : uint8_t { kObject = 1, kFunction = 2, kAmdgpuKernel = 10 };
enum : uint8_t { kLocal = 0, kGlobal = 1, kWeak = 2 };
enum : uint32_t {  // R_AMDGPU_*
  kAbs32Lo = 1,
  kAbs32Hi = 2,
  kAbs64 = 3,
  kRel32 = 4,
  kRel64 = 5,
  kAbs32 = 6,
  kGotPcRel = 7,
  kGotPcRel32Lo = 8,
  kGotPcRel32Hi = 9,
  kRel32Lo = 10,
  kRel32Hi = 11,
  kRelative64 = 13,
};

struct File {
  Bytes image;
  uint32_t flags = 0;         // e_flags: machine, xnack and sramecc settings
  uint8_t abi_version = 0;    // 2: code object v4, 3: v5, 4: v6
  std::vector<Segment> loads; // PT_LOAD, in address order
  std::vector<Section> sections;
  std::vector<Symbol> symbols;         // .dynsym
  std::vector<Symbol> all_symbols;     // .symtab where there is one: local variables too
  std::vector<Relocation> relocations; // dynamic
  std::vector<Bytes> metadata; // descriptors of NT_AMDGPU_METADATA notes: one of each object linked in

  const Section* section(std::string_view name) const;
  // The symbol whose address the loader will write into a pointer variable; "" if there is none.
  std::string_view pointed_to_by(std::string_view variable) const;
  std::string_view isa() const;  // "gfx942"; "" for a machine we do not know
};

// The reason, when the bytes are not an AMDGPU HSA code object we can read.
std::optional<File> parse(Bytes image, std::string& error);

// The sections of a program or library of the host, for its debug information.
std::optional<File> parse_of_host(Bytes image);

// Bytes of an ELF image that starts here, judged by its headers; 0 if this is no ELF image.
size_t image_size(const void* image);

}  // namespace codeobject::elf
