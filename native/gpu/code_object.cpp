#include "code_object.h"

#include <algorithm>
#include <cstring>

#include "arena.h"
#include "codeobject/architecture.h"
#include "codeobject/kernel_names.h"
#include "codeobject/metadata.h"

namespace gpu {
namespace {

constexpr uint64_t kDescriptorBytes = 64;

}  // namespace

// Names come from files: nothing in them may reach a terminal as anything but text.
std::string demangle(const std::string& name) {
  std::string out = codeobject::demangle(name);
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return out;
}

std::shared_ptr<CodeObject> CodeObject::load(const void* image, size_t size, const DeviceSpec& device,
                                             AddressSpace& memory, LoadError& error) {
  std::shared_ptr<CodeObject> object(new CodeObject(memory));
  const auto* bytes = static_cast<const uint8_t*>(image);
  object->image_.assign(bytes, bytes + size);
  auto file = elf::parse(object->image_, error.message);
  if (!file) return nullptr;
  object->isa_ = file->isa();
  if (codeobject::target_rank(object->isa_, device.architecture) == 0) {
    error.wrong_isa = true;
    error.message = "built for " + (object->isa_.empty() ? "an unknown GPU" : object->isa_) + ", but " + device.name +
                    " is a " + device.architecture + ": build with --offload-arch=" + device.architecture;
    return nullptr;
  }
  arch_of(device.architecture, object->arch_);
  if (!object->place(*file, error) || !object->relocate(*file, error)) return nullptr;
  object->read_symbols(*file);
  if (!object->read_kernels(*file, error)) return nullptr;
  for (const Range& range : object->segments_) memory.add(range);
  return object;
}

CodeObject::~CodeObject() {
  for (const Range& range : segments_) memory_.remove(range.base);
  programs_.clear();
  if (base_) arena().free(reinterpret_cast<void*>(base_));
}

bool CodeObject::place(const elf::File& file, LoadError& error) {
  first_address_ = file.loads.front().address / kPage * kPage;
  uint64_t align = kPage;
  for (const elf::Segment& load : file.loads)
    if (load.align && (load.align & (load.align - 1)) == 0)
      align = std::max(align, std::min<uint64_t>(load.align, 1 << 21));
  const elf::Segment& last = file.loads.back();
  const uint64_t end = last.address + last.memory_size;
  if (end - first_address_ > (uint64_t{1} << 36)) return error.message = "segments span more than 64 GiB", false;
  size_ = round_up(end - first_address_, kPage);
  base_ = reinterpret_cast<uint64_t>(arena().allocate(size_, align));
  if (!base_) return error.message = "no memory for " + std::to_string(size_) + " bytes of code", false;
  for (const elf::Segment& load : file.loads) {
    if (!load.memory_size) continue;
    const uint64_t at = base_ + (load.address - first_address_);
    std::memcpy(reinterpret_cast<void*>(at), image_.data() + load.offset, load.file_size);
    segments_.push_back({at, at + load.memory_size, RangeKind::Code, true, load.write});
    if (load.execute) programs_.push_back(std::make_unique<Program>(at, at + load.memory_size / 4 * 4, arch_));
  }
  return true;
}

bool CodeObject::apply(uint64_t at, uint32_t type, uint64_t symbol, int64_t addend) {
  const unsigned size = type == elf::kAbs64 || type == elf::kRel64 || type == elf::kRelative64 ? 8 : 4;
  if (at < base_ || at + size > base_ + size_) return false;
  const uint64_t target = symbol + uint64_t(addend), relative = target - at;
  uint64_t value = 0;
  switch (type) {
    case elf::kAbs32Lo:
    case elf::kAbs32:
    case elf::kAbs64: value = target; break;
    case elf::kAbs32Hi: value = target >> 32; break;
    case elf::kRel32:
    case elf::kRel32Lo:
    case elf::kRel64: value = relative; break;
    case elf::kRel32Hi: value = relative >> 32; break;
    case elf::kRelative64: value = base_ - first_address_ + uint64_t(addend); break;
    default: return false;
  }
  std::memcpy(reinterpret_cast<void*>(at), &value, size);
  return true;
}

bool CodeObject::relocate(const elf::File& file, LoadError& error) {
  for (const elf::Relocation& r : file.relocations) {
    const uint64_t at = base_ + (r.offset - first_address_);
    uint64_t symbol = 0;
    if (r.type != elf::kRelative64) {
      if (r.symbol >= file.symbols.size()) return error.message = "a relocation of an unknown symbol", false;
      const elf::Symbol& s = file.symbols[r.symbol];
      if (s.section == 0) {
        if (s.binding != elf::kWeak) {
          pending_.push_back({std::string(s.name), at, r.type, r.addend});
          if (std::find(undefined_.begin(), undefined_.end(), s.name) == undefined_.end())
            undefined_.emplace_back(s.name);
        }
        if (!apply(at, r.type, 0, 0)) return error.message = "a relocation outside the image", false;
        continue;
      }
      symbol = base_ + (s.value - first_address_);
    }
    if (!apply(at, r.type, symbol, r.addend))
      return error.message = "relocation type " + std::to_string(r.type) + " cannot be applied", false;
  }
  return true;
}

void CodeObject::define(std::string_view name, uint64_t address) {
  for (const Pending& p : pending_)
    if (p.name == name) apply(p.at, p.type, address, p.addend);
  std::erase(undefined_, name);
}

void CodeObject::read_symbols(const elf::File& file) {
  auto take = [&](const std::vector<elf::Symbol>& symbols, bool external) {
    for (const elf::Symbol& s : symbols) {
      if (s.section == 0 || s.section >= 0xff00 || s.name.empty()) continue;
      const uint64_t address = base_ + (s.value - first_address_);
      if (!contains(address)) continue;
      if (s.type == elf::kFunction || s.type == elf::kAmdgpuKernel) {
        functions_.push_back({address, s.size, std::string(s.name)});
      } else if (s.type == elf::kObject && !s.name.ends_with(".kd")) {
        auto same = [&](const VariableSymbol& v) { return v.name == s.name && v.address == address; };
        if (std::none_of(variables_.begin(), variables_.end(), same)) {
          const Range* range = nullptr;
          for (const Range& r : segments_)
            if (address >= r.base && address < r.end) range = &r;
          variables_.push_back({std::string(s.name), address, s.size, external, range && !range->writable});
        }
      }
    }
  };
  take(file.symbols, true);
  // Static and anonymous-namespace variables are only here.
  take(file.all_symbols, false);
  std::sort(functions_.begin(), functions_.end(),
            [](auto& a, auto& b) { return a.address != b.address ? a.address < b.address : a.name < b.name; });
  functions_.erase(std::unique(functions_.begin(), functions_.end(),
                               [](auto& a, auto& b) { return a.address == b.address && a.name == b.name; }),
                   functions_.end());
}

bool CodeObject::read_kernels(const elf::File& file, LoadError& error) {
  std::map<std::string_view, uint64_t> descriptors;
  auto collect = [&](const std::vector<elf::Symbol>& symbols) {
    for (const elf::Symbol& s : symbols)
      if (s.name.ends_with(".kd") && s.section != 0) descriptors.emplace(s.name, base_ + (s.value - first_address_));
  };
  collect(file.symbols);
  collect(file.all_symbols);
  std::map<std::string, codeobject::KernelMetadata> metadata;
  std::string why;
  // A code object without a note runs too: the descriptor says what the executor needs.
  if (!codeobject::read_metadata(file, metadata, why) && !file.metadata.empty()) return error.message = why, false;
  std::map<std::string_view, const codeobject::KernelMetadata*> notes;
  for (const auto& [name, kernel] : metadata) notes.emplace(kernel.symbol, &kernel);
  for (auto [name, address] : descriptors) {
    if (!contains(address) || !contains(address + kDescriptorBytes - 1))
      return error.message = "a kernel descriptor lies outside the image", false;
    KernelSymbol kernel;
    kernel.name = name.substr(0, name.size() - 3);
    kernel.descriptor = address;
    int64_t entry;
    std::memcpy(&kernel.group_bytes, reinterpret_cast<void*>(address), 4);
    std::memcpy(&kernel.private_bytes, reinterpret_cast<void*>(address + 4), 4);
    std::memcpy(&kernel.kernarg_bytes, reinterpret_cast<void*>(address + 8), 4);
    std::memcpy(&entry, reinterpret_cast<void*>(address + 16), 8);
    kernel.entry = address + uint64_t(entry);
    if (!program(kernel.entry))
      return error.message = "kernel " + demangle(kernel.name) + " starts outside the code", false;
    for (const Function& f : functions_)
      if (f.address == kernel.entry) kernel.code_bytes = f.size;
    if (auto note = notes.find(name); note != notes.end()) {
      const codeobject::KernelMetadata& n = *note->second;
      if (n.kernarg_bytes) kernel.kernarg_bytes = n.kernarg_bytes;
      for (const auto& argument : n.hidden_arguments)
        if (argument.hidden == codeobject::Hidden::HostcallBuffer) kernel.hostcall_offset = int32_t(argument.offset);
      kernel.kernarg_align = n.kernarg_align;
      kernel.sgpr_count = n.sgprs;
      kernel.vgpr_count = n.vgprs;
      kernel.agpr_count = n.agprs;
      kernel.wavefront_size = n.wave_size;
      kernel.max_flat_workgroup_size = n.max_threads;
      kernel.uses_dynamic_stack = n.dynamic_stack;
    }
    kernels_.push_back(std::move(kernel));
  }
  return true;
}

const KernelSymbol* CodeObject::kernel(uint64_t descriptor) const {
  for (const KernelSymbol& k : kernels_)
    if (k.descriptor == descriptor) return &k;
  return nullptr;
}

Program* CodeObject::program(uint64_t pc) {
  for (auto& p : programs_)
    if (p->contains(pc)) return p.get();
  return nullptr;
}

std::string CodeObject::function_at(uint64_t pc) const {
  for (const Function& f : functions_)
    if (pc >= f.address && pc < f.address + f.size) return demangle(f.name);
  return {};
}

const codeobject::Sources& CodeObject::sources() const {
  if (!sources_) {
    std::string ignored;
    const auto file = elf::parse(image_, ignored);
    sources_.emplace(file ? *file : elf::File{});
  }
  return *sources_;
}

codeobject::Sources::Place CodeObject::source(uint64_t pc) const {
  std::lock_guard lock(sources_mutex_);
  return sources().place(pc - base_ + first_address_);
}

std::vector<codeobject::Frame> CodeObject::chain(uint64_t pc) const {
  std::lock_guard lock(sources_mutex_);
  return sources().chain(pc - base_ + first_address_);
}

}  // namespace gpu
