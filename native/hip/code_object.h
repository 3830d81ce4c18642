// What HIP reads from a code object itself: the metadata note that says how a kernel is launched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hip {

// The hidden arguments, by the value kind that the metadata names them with.
enum class Hidden : uint8_t {
  None, BlockCountX, BlockCountY, BlockCountZ, GroupSizeX, GroupSizeY, GroupSizeZ, RemainderX,
  RemainderY, RemainderZ, GlobalOffsetX, GlobalOffsetY, GlobalOffsetZ, GridDims, PrintfBuffer,
  HostcallBuffer, DefaultQueue, CompletionAction, MultigridSync, HeapV1, DynamicLdsSize,
  PrivateBase, SharedBase, QueuePtr, Other
};

struct KernelArgument {
  uint32_t offset = 0, size = 0;
  Hidden hidden = Hidden::None;
};

struct KernelMetadata {
  std::string name, symbol;  // symbol ends in ".kd"
  uint32_t kernarg_bytes = 0, group_bytes = 0, private_bytes = 0;
  uint32_t sgprs = 0, vgprs = 0, agprs = 0, wave_size = 64, max_threads = 1024;
  uint32_t required_block[3] = {0, 0, 0};
  bool dynamic_stack = false;
  std::vector<KernelArgument> explicit_arguments, hidden_arguments;
};

// Kernels by name; false, with a sentence in `why`, where the image is no code object.
bool read_metadata(const void* image, size_t size, std::map<std::string, KernelMetadata>& kernels,
                   std::string& why);

// The size of an ELF image of unknown size, from its headers; 0 if it is none.
size_t elf_size(const void* image);

}  // namespace hip
