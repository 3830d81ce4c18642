// The metadata note: how a kernel is launched, and what it takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "elf.h"

namespace codeobject {

// The hidden arguments, by the value kind that the metadata names them with.
#define RPL_HIDDEN_ARGUMENTS(X)                   \
  X(BlockCountX, "hidden_block_count_x")          \
  X(BlockCountY, "hidden_block_count_y")          \
  X(BlockCountZ, "hidden_block_count_z")          \
  X(GroupSizeX, "hidden_group_size_x")            \
  X(GroupSizeY, "hidden_group_size_y")            \
  X(GroupSizeZ, "hidden_group_size_z")            \
  X(RemainderX, "hidden_remainder_x")             \
  X(RemainderY, "hidden_remainder_y")             \
  X(RemainderZ, "hidden_remainder_z")             \
  X(GlobalOffsetX, "hidden_global_offset_x")      \
  X(GlobalOffsetY, "hidden_global_offset_y")      \
  X(GlobalOffsetZ, "hidden_global_offset_z")      \
  X(GridDims, "hidden_grid_dims")                 \
  X(PrintfBuffer, "hidden_printf_buffer")         \
  X(HostcallBuffer, "hidden_hostcall_buffer")     \
  X(DefaultQueue, "hidden_default_queue")         \
  X(CompletionAction, "hidden_completion_action") \
  X(MultigridSync, "hidden_multigrid_sync_arg")   \
  X(HeapV1, "hidden_heap_v1")                     \
  X(DynamicLdsSize, "hidden_dynamic_lds_size")    \
  X(PrivateBase, "hidden_private_base")           \
  X(SharedBase, "hidden_shared_base")             \
  X(QueuePtr, "hidden_queue_ptr")
#define RPL_NAME(hidden, name) hidden,
enum class Hidden : uint8_t { None, RPL_HIDDEN_ARGUMENTS(RPL_NAME) Other };
#undef RPL_NAME

struct KernelArgument {
  uint32_t offset = 0, size = 0;
  Hidden hidden = Hidden::None;
};

struct KernelMetadata {
  std::string name, symbol;  // symbol ends in ".kd"
  uint32_t kernarg_bytes = 0, kernarg_align = 16, group_bytes = 0, private_bytes = 0;
  uint32_t sgprs = 0, vgprs = 0, agprs = 0, wave_size = 64, max_threads = 1024;
  uint32_t required_block[3] = {0, 0, 0};
  bool dynamic_stack = false;
  std::vector<KernelArgument> explicit_arguments, hidden_arguments;
};

// Kernels by name, of every note: an object linked from several has one of each. False, with a
// sentence in `why`, where a note is damaged or there is none.
bool read_metadata(const elf::File& file, std::map<std::string, KernelMetadata>& kernels, std::string& why);

}  // namespace codeobject
