#include "code_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "msgpack.h"

namespace hip {

namespace {

struct HiddenName {
  std::string_view name;
  Hidden hidden;
};

constexpr HiddenName kHiddenNames[] = {
    {"hidden_block_count_x", Hidden::BlockCountX},
    {"hidden_block_count_y", Hidden::BlockCountY},
    {"hidden_block_count_z", Hidden::BlockCountZ},
    {"hidden_group_size_x", Hidden::GroupSizeX},
    {"hidden_group_size_y", Hidden::GroupSizeY},
    {"hidden_group_size_z", Hidden::GroupSizeZ},
    {"hidden_remainder_x", Hidden::RemainderX},
    {"hidden_remainder_y", Hidden::RemainderY},
    {"hidden_remainder_z", Hidden::RemainderZ},
    {"hidden_global_offset_x", Hidden::GlobalOffsetX},
    {"hidden_global_offset_y", Hidden::GlobalOffsetY},
    {"hidden_global_offset_z", Hidden::GlobalOffsetZ},
    {"hidden_grid_dims", Hidden::GridDims},
    {"hidden_printf_buffer", Hidden::PrintfBuffer},
    {"hidden_hostcall_buffer", Hidden::HostcallBuffer},
    {"hidden_default_queue", Hidden::DefaultQueue},
    {"hidden_completion_action", Hidden::CompletionAction},
    {"hidden_multigrid_sync_arg", Hidden::MultigridSync},
    {"hidden_heap_v1", Hidden::HeapV1},
    {"hidden_dynamic_lds_size", Hidden::DynamicLdsSize},
    {"hidden_private_base", Hidden::PrivateBase},
    {"hidden_shared_base", Hidden::SharedBase},
    {"hidden_queue_ptr", Hidden::QueuePtr},
};

Hidden hidden_from(std::string_view kind) {
  if (kind.substr(0, 7) != "hidden_") return Hidden::None;
  for (const HiddenName& row : kHiddenNames)
    if (row.name == kind) return row.hidden;
  return Hidden::Other;
}

uint32_t small(MsgPack& reader) { return static_cast<uint32_t>(reader.integer()); }

void read_arguments(MsgPack& reader, KernelMetadata& kernel) {
  for (uint32_t count = reader.array(); reader.ok() && count > 0; --count) {
    KernelArgument argument;
    for (uint32_t fields = reader.map(); reader.ok() && fields > 0; --fields) {
      std::string_view key = reader.string();
      if (key == ".offset") argument.offset = small(reader);
      else if (key == ".size") argument.size = small(reader);
      else if (key == ".value_kind") argument.hidden = hidden_from(reader.string());
      else reader.skip();
    }
    auto& list = argument.hidden == Hidden::None ? kernel.explicit_arguments
                                                 : kernel.hidden_arguments;
    list.push_back(argument);
  }
}

KernelMetadata read_kernel(MsgPack& reader) {
  KernelMetadata kernel;
  for (uint32_t fields = reader.map(); reader.ok() && fields > 0; --fields) {
    std::string_view key = reader.string();
    if (key == ".name") kernel.name = reader.string();
    else if (key == ".symbol") kernel.symbol = reader.string();
    else if (key == ".kernarg_segment_size") kernel.kernarg_bytes = small(reader);
    else if (key == ".group_segment_fixed_size") kernel.group_bytes = small(reader);
    else if (key == ".private_segment_fixed_size") kernel.private_bytes = small(reader);
    else if (key == ".sgpr_count") kernel.sgprs = small(reader);
    else if (key == ".vgpr_count") kernel.vgprs = small(reader);
    else if (key == ".agpr_count") kernel.agprs = small(reader);
    else if (key == ".wavefront_size") kernel.wave_size = small(reader);
    else if (key == ".max_flat_workgroup_size") kernel.max_threads = small(reader);
    else if (key == ".uses_dynamic_stack") kernel.dynamic_stack = reader.integer() != 0;
    else if (key == ".args") read_arguments(reader, kernel);
    else if (key == ".reqd_workgroup_size") {
      uint32_t count = reader.array();
      for (uint32_t i = 0; reader.ok() && i < count; ++i) {
        uint32_t value = small(reader);
        if (i < 3) kernel.required_block[i] = value;
      }
    } else {
      reader.skip();
    }
  }
  return kernel;
}

// The MessagePack documents of the AMDGPU notes among `notes`: one of each object linked in.
std::vector<std::string_view> find_metadata(std::string_view notes) {
  std::vector<std::string_view> found;
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data(), sizeof header);
    size_t name = (size_t{header.n_namesz} + 3) & ~size_t{3};
    size_t text = (size_t{header.n_descsz} + 3) & ~size_t{3};
    if (notes.size() - sizeof header < name + header.n_descsz) break;
    const char* start = notes.data() + sizeof header;
    constexpr uint32_t kMetadataNote = 32;  // NT_AMDGPU_METADATA
    if (header.n_type == kMetadataNote && header.n_namesz >= 6 &&
        std::memcmp(start, "AMDGPU", 6) == 0)
      found.emplace_back(start + name, header.n_descsz);
    if (notes.size() - sizeof header < name + text) break;
    notes.remove_prefix(sizeof header + name + text);
  }
  return found;
}

// Adds the kernels of one document; false where it is damaged.
bool read_document(std::string_view document, std::map<std::string, KernelMetadata>& kernels) {
  MsgPack reader(reinterpret_cast<const uint8_t*>(document.data()), document.size());
  for (uint32_t fields = reader.map(); reader.ok() && fields > 0; --fields) {
    if (reader.string() != "amdhsa.kernels") {
      reader.skip();
      continue;
    }
    for (uint32_t count = reader.array(); reader.ok() && count > 0; --count) {
      KernelMetadata kernel = read_kernel(reader);
      if (reader.ok()) kernels.emplace(kernel.name, std::move(kernel));
    }
  }
  return reader.ok();
}

bool is_elf(const void* image) {
  const auto* header = static_cast<const Elf64_Ehdr*>(image);
  return std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
         header->e_ident[EI_CLASS] == ELFCLASS64;
}

}  // namespace

size_t elf_size(const void* image) {
  if (!is_elf(image)) return 0;
  const auto* header = static_cast<const Elf64_Ehdr*>(image);
  size_t size = header->e_shoff + size_t{header->e_shnum} * header->e_shentsize;
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(static_cast<const char*>(image) +
                                                             header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i)
    size = std::max<size_t>(size, segments[i].p_offset + segments[i].p_filesz);
  return size;
}

bool read_metadata(const void* image, size_t size, std::map<std::string, KernelMetadata>& kernels,
                   std::string& why) {
  std::string_view bytes(static_cast<const char*>(image), size);
  if (size < sizeof(Elf64_Ehdr) || !is_elf(image)) {
    why = "the image is not a 64-bit ELF code object";
    return false;
  }
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  constexpr uint16_t kAmdGpu = 224;  // EM_AMDGPU
  if (header.e_machine != kAmdGpu) {
    why = "the image is an ELF file, but not for an AMD GPU";
    return false;
  }
  bool found = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    size_t at = header.e_phoff + size_t{i} * sizeof(Elf64_Phdr);
    if (at + sizeof(Elf64_Phdr) > size) break;
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + at, sizeof segment);
    if (segment.p_type != PT_NOTE || segment.p_offset > size ||
        segment.p_filesz > size - segment.p_offset)
      continue;
    for (std::string_view document : find_metadata(bytes.substr(segment.p_offset, segment.p_filesz))) {
      found = true;
      if (read_document(document, kernels)) continue;
      why = "the code object's metadata is damaged";
      return false;
    }
  }
  if (found) return true;
  why = "the code object has no metadata note (code object v2 is not supported)";
  return false;
}

}  // namespace hip
