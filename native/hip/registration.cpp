// The tables clang's constructors fill before main: fat binaries, kernels and variables by host
// address. Nothing is loaded here; the first use on a device loads the code object there.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <shared_mutex>
#include <unordered_map>

#include "api_impl.h"
#include "memory_map.h"
#include "module.h"

namespace hip {

namespace {

struct FatBinaryWrapper {  // what clang emits
  uint32_t magic, version;
  const void* binary;
  void* unused;
};
constexpr uint32_t kWrapperMagic = 0x48495046;  // "HIPF"

struct Entry {
  FatBinary* binary = nullptr;
  std::string name;
  size_t size = 0;
  bool managed = false;
  std::vector<Function*> functions;  // by device
};

struct Tables {
  std::shared_mutex mutex;
  std::unordered_map<const void*, Entry> kernels, variables;
  std::unordered_map<const void*, void**> managed;  // shadow variable -> pointer to the memory
};
Tables& tables() {
  static auto* instance = new Tables;
  return *instance;
}

}  // namespace

hipError_t FatBinary::module(Device& device, Module*& result) {
  std::lock_guard lock(mutex);
  if (modules.size() <= size_t(device.index)) modules.resize(size_t(device.index) + 1);
  auto& slot = modules[size_t(device.index)];
  if (!slot) {
    if (hipError_t status = load_module(device, data, 0, {}, slot)) return status;
    // The device's side of a managed variable is a pointer to the shared memory.
    for (const ManagedVariable& variable : managed) {
      Variable target;
      if (slot->variable(variable.name, target) == hipSuccess)
        hsa_memory_copy(target.address, variable.pointer, sizeof(void*));
    }
  }
  result = slot.get();
  return hipSuccess;
}

hipError_t find_kernel(const void* host, Device& device, Function*& function) {
  Tables& table = tables();
  const auto index = size_t(device.index);
  FatBinary* binary = nullptr;
  std::string name;
  {
    std::shared_lock lock(table.mutex);
    auto found = table.kernels.find(host);
    if (found == table.kernels.end()) return hipErrorInvalidDeviceFunction;
    Entry& entry = found->second;
    if (index < entry.functions.size() && entry.functions[index]) {
      function = entry.functions[index];
      return hipSuccess;
    }
    binary = entry.binary;
    name = entry.name;
  }
  Module* module = nullptr;
  if (hipError_t status = binary->module(device, module)) return status;
  if (hipError_t status = module->function(name, function))
    return status == hipErrorNotFound ? hipErrorInvalidDeviceFunction : status;
  std::unique_lock lock(table.mutex);
  auto found = table.kernels.find(host);
  if (found != table.kernels.end()) {
    if (found->second.functions.size() <= index) found->second.functions.resize(index + 1);
    found->second.functions[index] = function;
  }
  return hipSuccess;
}

hipError_t find_variable(const void* host, Device& device, Variable& variable) {
  Tables& table = tables();
  FatBinary* binary = nullptr;
  std::string name;
  {
    std::shared_lock lock(table.mutex);
    auto found = table.variables.find(host);
    if (found == table.variables.end()) {
      auto managed = table.managed.find(host);
      if (managed == table.managed.end()) return hipErrorInvalidSymbol;
      auto memory = memory_map().find(*managed->second);
      variable.address = *managed->second;
      variable.size = memory ? memory->size : 0;
      return hipSuccess;
    }
    binary = found->second.binary;
    name = found->second.name;
  }
  Module* module = nullptr;
  if (hipError_t status = binary->module(device, module)) return status;
  hipError_t status = module->variable(name, variable);
  return status == hipErrorNotFound ? hipErrorInvalidSymbol : status;
}

const char* kernel_name(const void* host) {
  std::shared_lock lock(tables().mutex);
  auto found = tables().kernels.find(host);
  return found == tables().kernels.end() ? nullptr : found->second.name.c_str();
}

// ---- exported ------------------------------------------------------------------------------------

void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
  if (!wrapper || wrapper->magic != kWrapperMagic || wrapper->version != 1) {
    std::fprintf(stderr, "rocm-perf: a fat binary of an unknown kind was registered\n");
    return nullptr;
  }
  auto* binary = new FatBinary;
  binary->data = wrapper->binary;
  return reinterpret_cast<void**>(binary);
}

void __hipRegisterFunction(void** modules, const void* hostFunction, char*, const char* deviceName, unsigned int, void*,
                           void*, dim3*, dim3*, int*) {
  if (!modules) return;
  std::unique_lock lock(tables().mutex);
  Entry entry;
  entry.binary = reinterpret_cast<FatBinary*>(modules);
  entry.name = deviceName;
  tables().kernels[hostFunction] = std::move(entry);
}

void __hipRegisterVar(void** modules, void* var, char*, char* deviceVar, int, size_t size, int, int) {
  if (!modules) return;
  std::unique_lock lock(tables().mutex);
  Entry entry;
  entry.binary = reinterpret_cast<FatBinary*>(modules);
  entry.name = deviceVar;
  entry.size = size;
  tables().variables[var] = std::move(entry);
}

void __hipRegisterManagedVar(void* hipModule, void** pointer, void* init_value, const char* name, size_t size,
                             unsigned) {
  if (!hipModule) return;
  void* memory = nullptr;
  if (hip::hipMallocManaged(&memory, size, hipMemAttachGlobal) != hipSuccess) {
    std::fprintf(stderr, "rocm-perf: no memory for the managed variable %s\n", name);
    std::exit(1);
  }
  if (init_value) std::memcpy(memory, init_value, size);
  *pointer = memory;
  auto* binary = static_cast<FatBinary*>(hipModule);
  {
    std::lock_guard lock(binary->mutex);
    binary->managed.push_back({pointer, name, size});
  }
  std::unique_lock lock(tables().mutex);
  tables().managed[memory] = pointer;
  tables().managed[static_cast<void*>(pointer)] = pointer;
}

void __hipRegisterSurface(void**, void*, char*, char*, int, int) {}
void __hipRegisterTexture(void**, void*, char*, char*, int, int, int) {}

// A library that is closed takes its kernels with it. At exit the device may still run them, so
// the code stays loaded.
void __hipUnregisterFatBinary(void** modules) {
  auto* binary = reinterpret_cast<FatBinary*>(modules);
  if (!binary) return;
  Tables& table = tables();
  std::unique_lock lock(table.mutex);
  for (auto* map : {&table.kernels, &table.variables})
    for (auto entry = map->begin(); entry != map->end();)
      entry = entry->second.binary == binary ? map->erase(entry) : std::next(entry);
}

void __hipGetPCH(const char** pch, unsigned int* size) {
  if (pch) *pch = nullptr;
  if (size) *size = 0;
}

hipError_t hipGetFuncBySymbol(hipFunction_t* functionPtr, const void* symbolPtr) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!functionPtr || !symbolPtr) return hipErrorInvalidValue;
  Function* function = nullptr;
  if (hipError_t status = find_kernel(symbolPtr, *device, function)) return status;
  *functionPtr = reinterpret_cast<hipFunction_t>(function);
  return hipSuccess;
}

hipError_t hipGetSymbolAddress(void** devPtr, const void* symbol) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!devPtr) return hipErrorInvalidValue;
  Variable variable;
  if (hipError_t status = find_variable(symbol, *device, variable)) return status;
  *devPtr = variable.address;
  return hipSuccess;
}

hipError_t hipGetSymbolSize(size_t* size, const void* symbol) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!size) return hipErrorInvalidValue;
  Variable variable;
  if (hipError_t status = find_variable(symbol, *device, variable)) return status;
  *size = variable.size;
  return hipSuccess;
}

}  // namespace hip
