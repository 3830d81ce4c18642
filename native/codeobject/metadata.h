// The metadata note: how a kernel is launched, and what it takes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "elf.h"

namespace codeobject {

// The hidden arguments, by the value kind that the metadata names them with.
enum class Hidden : uint8_t {
  None,
  BlockCountX,
  BlockCountY,
  BlockCountZ,
  GroupSizeX,
  GroupSizeY,
  GroupSizeZ,
  RemainderX,
  RemainderY,
  RemainderZ,
  GlobalOffsetX,
  GlobalOffsetY,
  GlobalOffsetZ,
  GridDims,
  PrintfBuffer,
  HostcallBuffer,
  DefaultQueue,
  CompletionAction,
  MultigridSync,
  HeapV1,
  DynamicLdsSize,
  PrivateBase,
  SharedBase,
  QueuePtr,
  Other
};

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
