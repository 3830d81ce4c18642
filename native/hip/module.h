// Code objects on a device: kernels to launch, variables to copy, fat binaries of the program.
#pragma once

#include <hsa/hsa.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "codeobject/bundle.h"
#include "codeobject/metadata.h"
#include "runtime.h"

namespace hip {

using codeobject::Hidden;
using codeobject::KernelArgument;
using codeobject::KernelMetadata;

struct Module;

// A kernel on a device. hipFunction_t points to one.
struct Function {
  Module* module = nullptr;
  Device* device = nullptr;
  const KernelMetadata* metadata = nullptr;
  uint64_t kernel_object = 0;
  uint32_t kernarg_bytes = 0, group_bytes = 0, private_bytes = 0;
  int max_dynamic_shared = 0;  // asked for by hipFuncSetAttribute; 64 KiB are allowed anyway
  const std::string& name() const { return metadata->name; }
};

struct Variable {
  void* address = nullptr;
  size_t size = 0;
};

// A code object loaded on one device. hipModule_t points to one.
struct Module {
  Device* device = nullptr;
  codeobject::Image image;
  std::string file;  // bytes of hipModuleLoad
  hsa_executable_t executable{};
  std::map<std::string, KernelMetadata> kernels;
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Function>> functions;

  ~Module();
  hipError_t function(const std::string& name, Function*& function);
  hipError_t variable(const std::string& name, Variable& variable);
};

// Loads the part of a fat binary or code object that fits the device.
hipError_t load_module(Device& device, const void* data, size_t size, std::string file,
                       std::unique_ptr<Module>& module);

// What clang's constructors register: one per translation unit (or per program with -fgpu-rdc).
struct FatBinary {
  const void* data = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<Module>> modules;  // by device, loaded when first needed

  struct ManagedVariable {
    void** pointer;
    std::string name;
    size_t size;
  };
  std::vector<ManagedVariable> managed;
  hipError_t module(Device& device, Module*& module);
};

// The kernel or variable behind the address the compiler gave it on the host.
hipError_t find_kernel(const void* host, Device& device, Function*& function);
hipError_t find_variable(const void* host, Device& device, Variable& variable);
const char* kernel_name(const void* host);  // null if it is no kernel

}  // namespace hip
