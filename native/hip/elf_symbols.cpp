#include "elf_symbols.h"

#include <cstring>

namespace hip {

ElfSymbols::ElfSymbols(const void* image, size_t size)
    : image_(static_cast<const char*>(image)), size_(size) {
  const Elf64_Shdr* table = section(SHT_DYNSYM);
  if (!table || table->sh_offset > size_ || table->sh_size > size_ - table->sh_offset) return;
  symbols_ = reinterpret_cast<const Elf64_Sym*>(image_ + table->sh_offset);
  symbol_count_ = table->sh_size / sizeof(Elf64_Sym);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image_);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image_ + header->e_shoff);
  if (table->sh_link >= header->e_shnum) return;
  const Elf64_Shdr& names = sections[table->sh_link];
  if (names.sh_offset > size_ || names.sh_size > size_ - names.sh_offset) return;
  names_ = image_ + names.sh_offset;
  names_size_ = names.sh_size;
}

const Elf64_Shdr* ElfSymbols::section(unsigned type) const {
  if (size_ < sizeof(Elf64_Ehdr)) return nullptr;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image_);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_shoff > size_ ||
      size_t{header->e_shnum} * sizeof(Elf64_Shdr) > size_ - header->e_shoff)
    return nullptr;
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(image_ + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (sections[i].sh_type == type) return &sections[i];
  return nullptr;
}

std::string ElfSymbols::name_at(const Elf64_Sym& symbol) const {
  if (!names_ || symbol.st_name >= names_size_) return {};
  return {names_ + symbol.st_name, strnlen(names_ + symbol.st_name, names_size_ - symbol.st_name)};
}

std::string ElfSymbols::pointed_to_by(const std::string& variable) const {
  uint64_t place = 0;
  bool found = false;
  for (size_t i = 0; i < symbol_count_ && !found; ++i) {
    if (name_at(symbols_[i]) != variable) continue;
    place = symbols_[i].st_value;
    found = true;
  }
  const Elf64_Shdr* table = section(SHT_RELA);
  if (!found || !table || table->sh_offset > size_ || table->sh_size > size_ - table->sh_offset)
    return {};
  const auto* relocations = reinterpret_cast<const Elf64_Rela*>(image_ + table->sh_offset);
  for (size_t i = 0; i < table->sh_size / sizeof(Elf64_Rela); ++i) {
    if (relocations[i].r_offset != place) continue;
    const size_t symbol = ELF64_R_SYM(relocations[i].r_info);
    if (symbol != 0) return symbol < symbol_count_ ? name_at(symbols_[symbol]) : std::string();
    const auto target = static_cast<uint64_t>(relocations[i].r_addend);
    for (size_t s = 1; s < symbol_count_; ++s)
      if (symbols_[s].st_value == target && symbols_[s].st_shndx != SHN_UNDEF)
        return name_at(symbols_[s]);
  }
  return {};
}

}  // namespace hip
