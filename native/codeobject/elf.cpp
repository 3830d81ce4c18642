#include "elf.h"

#include <algorithm>
#include <cstring>

#include "architecture.h"

namespace codeobject::elf {
namespace {

constexpr uint16_t kMachineAmdgpu = 224;
constexpr uint8_t kOsAbiAmdgpuHsa = 64;
constexpr uint32_t kNoteAmdgpuMetadata = 32;

template <class T>
bool read(Bytes bytes, uint64_t at, T& value) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return true;
}

bool slice(Bytes bytes, uint64_t at, uint64_t size, Bytes& out) {
  if (at > bytes.size() || bytes.size() - at < size) return false;
  out = bytes.subspan(at, size);
  return true;
}

std::string_view text_at(Bytes table, uint64_t at) {
  if (at >= table.size()) return {};
  const char* start = reinterpret_cast<const char*>(table.data()) + at;
  return {start, strnlen(start, table.size() - at)};
}

struct Header {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, phoff, shoff;
  uint32_t flags;
  uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct ProgramHeader {
  uint32_t type, flags;
  uint64_t offset, vaddr, paddr, filesz, memsz, align;
};
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, addr, offset, size;
  uint32_t link, info;
  uint64_t addralign, entsize;
};
struct RawSymbol {
  uint32_t name;
  uint8_t info, other;
  uint16_t shndx;
  uint64_t value, size;
};
struct RawRela {
  uint64_t offset, info;
  int64_t addend;
};
static_assert(sizeof(Header) == 64 && sizeof(ProgramHeader) == 56 && sizeof(SectionHeader) == 64);
static_assert(sizeof(RawSymbol) == 24 && sizeof(RawRela) == 24);

std::vector<Symbol> symbols_of(const File& file, const SectionHeader& table,
                               const std::vector<SectionHeader>& headers) {
  std::vector<Symbol> out;
  Bytes data, names;
  if (!slice(file.image, table.offset, table.size, data) || table.link >= headers.size()) return out;
  const SectionHeader& strings = headers[table.link];
  if (!slice(file.image, strings.offset, strings.size, names)) return out;
  RawSymbol raw;
  for (uint64_t at = 0; read(data, at, raw); at += sizeof raw)
    out.push_back(
        {text_at(names, raw.name), raw.value, raw.size, uint8_t(raw.info & 15), uint8_t(raw.info >> 4), raw.shndx});
  return out;
}

// Notes are found through PT_NOTE: sections may have been stripped.
void metadata_notes(Bytes notes, std::vector<Bytes>& out) {
  uint64_t at = 0;
  struct {
    uint32_t name_size, desc_size, type;
  } head;
  while (read(notes, at, head)) {
    const uint64_t name = at + sizeof head, desc = name + (uint64_t{head.name_size} + 3) / 4 * 4;
    Bytes name_bytes, desc_bytes;
    if (!slice(notes, name, head.name_size, name_bytes) || !slice(notes, desc, head.desc_size, desc_bytes)) return;
    if (head.type == kNoteAmdgpuMetadata && text_at(name_bytes, 0) == "AMDGPU") out.push_back(desc_bytes);
    at = desc + (uint64_t{head.desc_size} + 3) / 4 * 4;
  }
}

}  // namespace

const Section* File::section(std::string_view name) const {
  for (const Section& s : sections)
    if (s.name == name) return &s;
  return nullptr;
}

std::string_view File::isa() const { return machine(flags); }

std::string_view File::pointed_to_by(std::string_view variable) const {
  for (const Symbol& place : symbols) {
    if (place.name != variable) continue;
    for (const Relocation& relocation : relocations) {
      if (relocation.offset != place.value) continue;
      if (relocation.symbol != 0)
        return relocation.symbol < symbols.size() ? symbols[relocation.symbol].name : std::string_view{};
      for (const Symbol& target : symbols)
        if (target.section != 0 && target.value == uint64_t(relocation.addend)) return target.name;
    }
  }
  return {};
}

size_t image_size(const void* image) {
  Header header;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.ident, "\177ELF", 4) != 0 || header.ident[4] != 2) return 0;
  const auto* base = static_cast<const uint8_t*>(image);
  uint64_t end = std::max(header.shoff + uint64_t{header.shentsize} * header.shnum,
                          header.phoff + uint64_t{header.phentsize} * header.phnum);
  for (unsigned i = 0; i < header.phnum; ++i) {
    ProgramHeader segment;
    std::memcpy(&segment, base + header.phoff + uint64_t{i} * header.phentsize, sizeof segment);
    end = std::max(end, segment.offset + segment.filesz);
  }
  for (unsigned i = 0; i < header.shnum; ++i) {
    SectionHeader section;
    std::memcpy(&section, base + header.shoff + uint64_t{i} * header.shentsize, sizeof section);
    if (section.type != 8) end = std::max(end, section.offset + section.size);
  }
  return end;
}

namespace {

bool read_sections(Bytes image, const Header& header, File& file, std::string& error) {
  auto refuse = [&](const char* why) {
    error = why;
    return false;
  };
  std::vector<SectionHeader> headers(header.shnum);
  for (unsigned i = 0; i < header.shnum; ++i)
    if (!read(image, header.shoff + uint64_t{i} * header.shentsize, headers[i]))
      return refuse("truncated section headers");
  Bytes names;
  if (header.shstrndx < headers.size())
    slice(image, headers[header.shstrndx].offset, headers[header.shstrndx].size, names);
  for (const SectionHeader& sh : headers) {
    Section section{text_at(names, sh.name), sh.type, sh.flags, sh.addr, {}};
    if (sh.type != 8 && !slice(image, sh.offset, sh.size, section.data))
      return refuse("a section lies outside the file");
    file.sections.push_back(section);
    if (sh.type == 11) file.symbols = symbols_of(file, sh, headers);
    if (sh.type == 2) file.all_symbols = symbols_of(file, sh, headers);
    // Dynamic relocations have an address; those of debug sections in a -r link do not.
    if (sh.type == 4 && (sh.flags & 2)) {
      RawRela raw;
      for (uint64_t at = 0; read(section.data, at, raw); at += sizeof raw)
        file.relocations.push_back({raw.offset, uint32_t(raw.info), uint32_t(raw.info >> 32), raw.addend});
    }
  }
  return true;
}

}  // namespace

std::optional<File> parse(Bytes image, std::string& error) {
  auto refuse = [&](std::string why) {
    error = std::move(why);
    return std::nullopt;
  };
  Header header;
  if (!read(image, 0, header) || std::memcmp(header.ident, "\177ELF", 4) != 0) return refuse("not an ELF file");
  if (header.ident[4] != 2 || header.ident[5] != 1) return refuse("not a 64-bit little-endian ELF file");
  if (header.machine != kMachineAmdgpu)
    return refuse("an ELF file, but not for AMD GPUs (machine " + std::to_string(header.machine) + ")");
  if (header.ident[7] != kOsAbiAmdgpuHsa)
    return refuse("AMD GPU code, but not for HSA (OS ABI " + std::to_string(header.ident[7]) + ")");
  if (header.type != 3) return refuse("a relocatable object: link it first (ld.lld -shared)");

  File file;
  file.image = image;
  file.flags = header.flags;
  file.abi_version = header.ident[8];
  if (file.abi_version < 2 || file.abi_version > 4)
    return refuse("code object version " + std::to_string(file.abi_version + 2) +
                  "; versions 4, 5 and 6 are understood");

  for (unsigned i = 0; i < header.phnum; ++i) {
    ProgramHeader ph;
    if (!read(image, header.phoff + uint64_t{i} * header.phentsize, ph)) return refuse("truncated program headers");
    Bytes data;
    if (ph.type == 1 || ph.type == 4)
      if (!slice(image, ph.offset, ph.filesz, data)) return refuse("a segment lies outside the file");
    if (ph.type == 1) {
      if (ph.filesz > ph.memsz || ph.vaddr + ph.memsz < ph.vaddr) return refuse("a segment with impossible sizes");
      file.loads.push_back(
          {ph.offset, ph.vaddr, ph.filesz, ph.memsz, ph.align, (ph.flags & 2) != 0, (ph.flags & 1) != 0});
    } else if (ph.type == 4) {
      metadata_notes(data, file.metadata);
    }
  }
  if (file.loads.empty()) return refuse("no loadable segments");
  std::sort(file.loads.begin(), file.loads.end(), [](auto& a, auto& b) { return a.address < b.address; });
  for (size_t i = 1; i < file.loads.size(); ++i)
    if (file.loads[i - 1].address + file.loads[i - 1].memory_size > file.loads[i].address)
      return refuse("overlapping segments");

  if (!read_sections(image, header, file, error)) return std::nullopt;
  return file;
}

std::optional<File> parse_of_host(Bytes image) {
  Header header;
  File file;
  std::string ignored;
  if (!read(image, 0, header) || std::memcmp(header.ident, "\177ELF", 4) != 0) return std::nullopt;
  if (header.ident[4] != 2 || header.ident[5] != 1 || header.machine == kMachineAmdgpu) return std::nullopt;
  file.image = image;
  if (!read_sections(image, header, file, ignored)) return std::nullopt;
  return file;
}

}  // namespace codeobject::elf
