// A loaded code object, with what the executor needs beyond what HSA shows.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "codeobject/elf.h"
#include "codeobject/source.h"
#include "exec.h"
#include "gpu.h"

namespace gpu {

namespace elf = codeobject::elf;

class CodeObject final : public LoadedCodeObject {
 public:
  // nullptr with the reason in `error`. Ranges are listed in `memory` for as long as it lives.
  static std::shared_ptr<CodeObject> load(const void* image, size_t size, const DeviceSpec& device,
                                          AddressSpace& memory, LoadError& error);
  ~CodeObject() override;

  std::string_view isa() const override { return isa_; }
  uint64_t load_base() const override { return base_; }
  uint64_t load_size() const override { return size_; }
  int64_t load_delta() const override { return int64_t(base_ - first_address_); }
  const std::vector<KernelSymbol>& kernels() const override { return kernels_; }
  const std::vector<VariableSymbol>& variables() const override { return variables_; }
  const std::vector<Range>& segments() const override { return segments_; }
  const std::vector<std::string>& undefined() const override { return undefined_; }
  void define(std::string_view name, uint64_t address) override;
  codeobject::Sources::Place source(uint64_t pc) const;
  std::vector<codeobject::Frame> chain(uint64_t pc) const;  // the innermost first

  const KernelSymbol* kernel(uint64_t descriptor) const;
  std::string function_at(uint64_t pc) const;  // the symbol that holds pc, demangled, or ""
  Program* program(uint64_t pc);
  bool contains(uint64_t address) const { return address >= base_ && address < base_ + size_; }
  Arch arch() const { return arch_; }

 private:
  struct Pending {
    std::string name;
    uint64_t at;
    uint32_t type;
    int64_t addend;
  };
  CodeObject(AddressSpace& memory) : memory_(memory) {}
  bool place(const elf::File& file, LoadError& error);
  bool relocate(const elf::File& file, LoadError& error);
  bool apply(uint64_t at, uint32_t type, uint64_t symbol, int64_t addend);
  const codeobject::Sources& sources() const;  // under its mutex
  void read_symbols(const elf::File& file);
  bool read_kernels(const elf::File& file, LoadError& error);

  AddressSpace& memory_;
  std::string isa_;
  Arch arch_{};
  uint64_t base_ = 0, size_ = 0, first_address_ = 0;
  std::vector<uint8_t> image_;  // a copy: debug sections are read when a fault is told
  std::vector<Range> segments_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<KernelSymbol> kernels_;
  std::vector<VariableSymbol> variables_;
  struct Function {
    uint64_t address, size;
    std::string name;
  };
  std::vector<Function> functions_;
  std::vector<std::string> undefined_;
  std::vector<Pending> pending_;
  mutable std::mutex sources_mutex_;
  mutable std::optional<codeobject::Sources> sources_;
};

std::string demangle(const std::string& name);  // for a person: printable characters only

}  // namespace gpu
