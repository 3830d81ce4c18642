#include "metadata.h"

#include <string_view>
#include <utility>

#include "msgpack.h"

namespace codeobject {
namespace {

Hidden hidden_from(std::string_view kind) {
  if (!kind.starts_with("hidden_")) return Hidden::None;
#define RPL_ROW(hidden, name) {name, Hidden::hidden},
  static constexpr std::pair<std::string_view, Hidden> kNames[] = {RPL_HIDDEN_ARGUMENTS(RPL_ROW)};
#undef RPL_ROW
  for (const auto& [name, hidden] : kNames)
    if (name == kind) return hidden;
  return Hidden::Other;
}

uint32_t small(const msgpack::Value& map, std::string_view key, uint32_t otherwise = 0) {
  return uint32_t(map.number_at(key, otherwise));
}

void read_arguments(const msgpack::Value& list, KernelMetadata& kernel) {
  for (const msgpack::Value& entry : list.items) {
    const KernelArgument argument{small(entry, ".offset"), small(entry, ".size"),
                                  hidden_from(entry.text_at(".value_kind"))};
    (argument.hidden == Hidden::None ? kernel.explicit_arguments : kernel.hidden_arguments).push_back(argument);
  }
}

KernelMetadata read_kernel(const msgpack::Value& entry) {
  KernelMetadata kernel;
  kernel.name = entry.text_at(".name");
  kernel.symbol = entry.text_at(".symbol");
  kernel.kernarg_bytes = small(entry, ".kernarg_segment_size");
  kernel.kernarg_align = small(entry, ".kernarg_segment_align", kernel.kernarg_align);
  kernel.group_bytes = small(entry, ".group_segment_fixed_size");
  kernel.private_bytes = small(entry, ".private_segment_fixed_size");
  kernel.sgprs = small(entry, ".sgpr_count");
  kernel.vgprs = small(entry, ".vgpr_count");
  kernel.agprs = small(entry, ".agpr_count");
  kernel.wave_size = small(entry, ".wavefront_size", kernel.wave_size);
  kernel.max_threads = small(entry, ".max_flat_workgroup_size", kernel.max_threads);
  if (const msgpack::Value* dynamic = entry.get(".uses_dynamic_stack"))
    kernel.dynamic_stack = dynamic->boolean || dynamic->integer != 0;
  if (const msgpack::Value* arguments = entry.get(".args")) read_arguments(*arguments, kernel);
  if (const msgpack::Value* block = entry.get(".reqd_workgroup_size"))
    for (size_t i = 0; i < block->items.size() && i < 3; ++i)
      kernel.required_block[i] = uint32_t(block->items[i].integer);
  return kernel;
}

}  // namespace

bool read_metadata(const elf::File& file, std::map<std::string, KernelMetadata>& kernels, std::string& why) {
  for (const elf::Bytes& note : file.metadata) {
    const std::optional<msgpack::Value> root = msgpack::parse(note);
    if (!root) return why = "the code object's metadata note is damaged", false;
    if (const msgpack::Value* list = root->get("amdhsa.kernels"))
      for (const msgpack::Value& entry : list->items) {
        KernelMetadata kernel = read_kernel(entry);
        kernels.emplace(kernel.name, std::move(kernel));
      }
  }
  if (file.metadata.empty()) why = "the code object has no metadata note (code object v2 is not supported)";
  return !file.metadata.empty();
}

}  // namespace codeobject
