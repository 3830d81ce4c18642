// The dynamic symbols of a code object, and which of them a pointer variable points to.
#pragma once

#include <elf.h>

#include <cstddef>
#include <string>

namespace hip {

class ElfSymbols {
 public:
  ElfSymbols(const void* image, size_t size);
  // The symbol whose address the loader will write into `variable`; empty if there is none.
  std::string pointed_to_by(const std::string& variable) const;

 private:
  const Elf64_Shdr* section(unsigned type) const;
  std::string name_at(const Elf64_Sym& symbol) const;
  const char* image_;
  size_t size_;
  const Elf64_Sym* symbols_ = nullptr;
  size_t symbol_count_ = 0;
  const char* names_ = nullptr;
  size_t names_size_ = 0;
};

}  // namespace hip
