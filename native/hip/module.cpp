#include "module.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "api_impl.h"
#include "memory_map.h"
#include "stream.h"

namespace hip {

namespace {

template <class T>
T symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t attribute) {
  T value{};
  hsa_executable_symbol_get_info(symbol, attribute, &value);
  return value;
}

std::mutex& handles_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::set<const Module*>& live_modules() {
  static auto* modules = new std::set<const Module*>;
  return *modules;
}

Module* resolve(hipModule_t handle) {
  auto* module = reinterpret_cast<Module*>(handle);
  std::lock_guard lock(handles_mutex());
  return live_modules().count(module) ? module : nullptr;
}

hipError_t publish(hipError_t status, std::unique_ptr<Module> module, hipModule_t* handle) {
  if (status != hipSuccess) return status;
  std::lock_guard lock(handles_mutex());
  live_modules().insert(module.get());
  *handle = reinterpret_cast<hipModule_t>(module.release());
  return hipSuccess;
}

// Every launch asks again for code that is not there; one answer is enough.
void tell_once(const std::string& why) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (told->insert(why).second) std::fprintf(stderr, "rocm-perf: cannot load device code: %s\n", why.c_str());
}

std::string where_it_would_run(const std::vector<std::string>& built_for, const std::string& target) {
  using DeviceFor = const char* (*)(const char* processor);
  // Only the virtual GPU's HSA has it.
  auto device_for = reinterpret_cast<DeviceFor>(dlsym(RTLD_DEFAULT, "rpl_device_for"));
  if (!device_for) return {};
  for (const std::string& processor : built_for)
    if (const char* name = device_for(processor.c_str()))
      return std::string("\n  it would run with `rocm-perf run --device ") + name + "`";
  return "\n  no virtual device runs that: build with --offload-arch=" + target.substr(0, target.find(':'));
}

}  // namespace

Module::~Module() {
  if (executable.handle) hsa_executable_destroy(executable);
}

hipError_t load_module(Device& device, const void* data, size_t size, std::string file,
                       std::unique_ptr<Module>& result) {
  auto module = std::make_unique<Module>();
  module->device = &device;
  module->file = std::move(file);
  if (!module->file.empty()) {
    data = module->file.data();
    size = module->file.size();
  }
  std::string why;
  using codeobject::BundleStatus;
  BundleStatus status = codeobject::select_image(data, size, device.target, module->image, why);
  if (status != BundleStatus::Found) {
    if (status != BundleStatus::NoBinary) {
      std::fprintf(stderr, "rocm-perf: cannot load device code: %s\n", why.c_str());
      return hipErrorInvalidImage;
    }
    tell_once(why + where_it_would_run(module->image.built_for, device.target));
    return hipErrorNoBinaryForGpu;
  }
  const codeobject::Image& image = module->image;
  const auto object = codeobject::elf::parse({reinterpret_cast<const uint8_t*>(image.data), image.size}, why);
  if (!object || !codeobject::read_metadata(*object, module->kernels, why)) {
    std::fprintf(stderr, "rocm-perf: cannot load device code: %s\n", why.c_str());
    return hipErrorInvalidImage;
  }
  hsa_code_object_reader_t reader{};
  hsa_status_t loaded = hsa_code_object_reader_create_from_memory(image.data, image.size, &reader);
  if (loaded == HSA_STATUS_SUCCESS)
    loaded = hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                       &module->executable);
  if (loaded == HSA_STATUS_SUCCESS)
    loaded = hsa_executable_load_agent_code_object(module->executable, device.agent, reader, nullptr, nullptr);
  if (loaded == HSA_STATUS_SUCCESS) loaded = hsa_executable_freeze(module->executable, nullptr);
  if (reader.handle) hsa_code_object_reader_destroy(reader);
  if (loaded != HSA_STATUS_SUCCESS) {
    const char* text = nullptr;
    hsa_status_string(loaded, &text);
    std::fprintf(stderr, "rocm-perf: cannot load device code: %s\n", text ? text : "HSA error");
    return error_from_hsa(loaded);
  }
  result = std::move(module);
  return hipSuccess;
}

hipError_t Module::function(const std::string& name, Function*& result) {
  std::lock_guard lock(mutex);
  auto known = functions.find(name);
  if (known != functions.end()) {
    result = known->second.get();
    return hipSuccess;
  }
  auto metadata = kernels.find(name);
  if (metadata == kernels.end()) return hipErrorNotFound;
  hsa_executable_symbol_t symbol{};
  if (hsa_executable_get_symbol_by_name(executable, metadata->second.symbol.c_str(), &device->agent, &symbol) !=
      HSA_STATUS_SUCCESS)
    return hipErrorNotFound;
  auto function = std::make_unique<Function>();
  function->module = this;
  function->device = device;
  function->metadata = &metadata->second;
  function->kernel_object = symbol_info<uint64_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  function->kernarg_bytes = symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE);
  function->group_bytes = symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE);
  function->private_bytes = symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE);
  result = function.get();
  functions.emplace(name, std::move(function));
  return hipSuccess;
}

hipError_t Module::variable(const std::string& name, Variable& variable) {
  hsa_executable_symbol_t symbol{};
  if (hsa_executable_get_symbol_by_name(executable, name.c_str(), &device->agent, &symbol) != HSA_STATUS_SUCCESS)
    return hipErrorNotFound;
  if (symbol_info<hsa_symbol_kind_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_VARIABLE)
    return hipErrorNotFound;
  variable.address =
      reinterpret_cast<void*>(symbol_info<uint64_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS));
  variable.size = symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE);
  if (!memory_map().find(variable.address))
    memory_map().add({reinterpret_cast<uintptr_t>(variable.address), variable.size ? variable.size : 1,
                      MemoryKind::Variable, device->index});
  return hipSuccess;
}

// ---- exported ------------------------------------------------------------------------------------

hipError_t hipModuleLoad(hipModule_t* module, const char* fname) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!module || !fname) return hipErrorInvalidValue;
  std::ifstream file(fname, std::ios::binary);
  if (!file) return hipErrorFileNotFound;
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) return hipErrorInvalidImage;
  std::unique_ptr<Module> loaded;
  hipError_t status = load_module(*device, nullptr, 0, std::move(bytes), loaded);
  return publish(status, std::move(loaded), module);
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!module || !image) return hipErrorInvalidValue;
  std::unique_ptr<Module> loaded;
  hipError_t status = load_module(*device, image, 0, {}, loaded);
  // The caller may free the image as soon as this returns; a frozen executable has its own copy.
  return publish(status, std::move(loaded), module);
}

hipError_t hipModuleUnload(hipModule_t handle) {
  Module* module = resolve(handle);
  if (!module) return hipErrorInvalidResourceHandle;
  hipError_t status = synchronize(*module->device);
  {
    std::lock_guard lock(handles_mutex());
    live_modules().erase(module);
  }
  delete module;
  return status;
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t handle, const char* kname) {
  if (!function || !kname || !*kname) return hipErrorInvalidValue;
  Module* module = resolve(handle);
  if (!module) return hipErrorInvalidResourceHandle;
  Function* found = nullptr;
  if (hipError_t status = module->function(kname, found)) return status;
  *function = reinterpret_cast<hipFunction_t>(found);
  return hipSuccess;
}

hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t handle) {
  Module* module = resolve(handle);
  if (!module) return hipErrorInvalidResourceHandle;
  if (!count) return hipErrorInvalidValue;
  *count = unsigned(module->kernels.size());
  return hipSuccess;
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* dptr, size_t* bytes, hipModule_t handle, const char* name) {
  if (!name || (!dptr && !bytes)) return hipErrorInvalidValue;
  Module* module = resolve(handle);
  if (!module) return hipErrorInvalidResourceHandle;
  Variable variable;
  if (hipError_t status = module->variable(name, variable)) return status;
  if (dptr) *dptr = variable.address;
  if (bytes) *bytes = variable.size;
  return hipSuccess;
}

// A library is a module whose kernels are loaded on whatever device asks; here, on the current one.
hipError_t hipLibraryLoadData(hipLibrary_t* library, const void* code, hipJitOption*, void**, unsigned int,
                              hipLibraryOption*, void**, unsigned int) {
  return hip::hipModuleLoadData(reinterpret_cast<hipModule_t*>(library), code);
}
hipError_t hipLibraryLoadFromFile(hipLibrary_t* library, const char* fileName, hipJitOption*, void**, unsigned int,
                                  hipLibraryOption*, void**, unsigned int) {
  return hip::hipModuleLoad(reinterpret_cast<hipModule_t*>(library), fileName);
}
hipError_t hipLibraryUnload(hipLibrary_t library) {
  return hip::hipModuleUnload(reinterpret_cast<hipModule_t>(library));
}
hipError_t hipLibraryGetKernel(hipKernel_t* kernel, hipLibrary_t library, const char* name) {
  return hip::hipModuleGetFunction(reinterpret_cast<hipFunction_t*>(kernel), reinterpret_cast<hipModule_t>(library),
                                   name);
}
hipError_t hipLibraryGetKernelCount(unsigned int* count, hipLibrary_t library) {
  return hip::hipModuleGetFunctionCount(count, reinterpret_cast<hipModule_t>(library));
}
// As many as there is room for, in the order of their names.
hipError_t hipLibraryEnumerateKernels(hipKernel_t* kernels, unsigned int numKernels, hipLibrary_t library) {
  Module* module = resolve(reinterpret_cast<hipModule_t>(library));
  if (!module) return hipErrorInvalidResourceHandle;
  if (!kernels || !numKernels) return hipErrorInvalidValue;
  for (const auto& [name, metadata] : module->kernels) {
    Function* function;
    if (hipError_t status = module->function(name, function)) return status;
    *kernels++ = reinterpret_cast<hipKernel_t>(function);
    if (!--numKernels) break;
  }
  return hipSuccess;
}
hipError_t hipKernelGetLibrary(hipLibrary_t* library, hipKernel_t kernel) {
  if (!kernel) return hipErrorInvalidResourceHandle;
  if (!library) return hipErrorInvalidValue;
  *library = reinterpret_cast<hipLibrary_t>(reinterpret_cast<const Function*>(kernel)->module);
  return hipSuccess;
}
hipError_t hipKernelGetName(const char** name, hipKernel_t kernel) {
  if (!kernel) return hipErrorInvalidResourceHandle;
  if (!name) return hipErrorInvalidValue;
  *name = reinterpret_cast<const Function*>(kernel)->name().c_str();
  return hipSuccess;
}

const char* hipKernelNameRef(const hipFunction_t f) {
  return f ? reinterpret_cast<const Function*>(f)->name().c_str() : nullptr;
}
const char* hipKernelNameRefByPtr(const void* hostFunction, hipStream_t) { return kernel_name(hostFunction); }

}  // namespace hip
