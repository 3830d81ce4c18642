#include "code.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <regex>

#include "gate.h"
#include "hsa/hsa_ven_amd_loader.h"
#include "output.h"
#include "tables.h"

namespace capture {

namespace {

using Bytes = std::shared_ptr<const std::string>;

std::mutex mutex;
std::map<uint64_t, Bytes>& readers = *new std::map<uint64_t, Bytes>;                        // reader -> its file
std::multimap<uint64_t, Bytes>& images = *new std::multimap<uint64_t, Bytes>;  // executable -> files loaded into it
std::map<uint64_t, std::vector<LoadedCode>>& loaded =
    *new std::map<uint64_t, std::vector<LoadedCode>>;  // by executable
std::map<uint64_t, std::shared_ptr<Kernel>>& kernels =
    *new std::map<uint64_t, std::shared_ptr<Kernel>>;  // by kernel object
std::map<std::string, std::shared_ptr<uint64_t>>& counts =
    *new std::map<std::string, std::shared_ptr<uint64_t>>;  // by name
uint64_t next_number = 0;

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : name;
}

// The standard's regular expressions recurse with the length of the text, and names of template
// kernels are long: they get a thread with a stack of their own.
void on_large_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{256} << 20);
  pthread_t thread;
  auto run = [](void* data) -> void* {
    (*static_cast<const std::function<void()>*>(data))();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)) == 0)
    pthread_join(thread, nullptr);
  else work();
  pthread_attr_destroy(&attributes);
}

void match(std::vector<std::shared_ptr<Kernel>>& list) {
  on_large_stack([&] {
    try {
      const std::regex pattern(config().regex, std::regex::ECMAScript);
      // The runtime's own kernels only for who asks for them.
      const bool helpers = config().regex.find("rocclr") != std::string::npos;
      for (auto& kernel : list) {
        if (!helpers && kernel->name.compare(0, 13, "__amd_rocclr_") == 0) continue;
        kernel->wanted = std::regex_search(kernel->name, pattern) || std::regex_search(kernel->demangled, pattern);
      }
    } catch (const std::regex_error& error) { append_line("problem", "regex " + hex(error.what())); }
  });
}

hsa_ven_amd_loader_1_01_pfn_t* loader() {
  static hsa_ven_amd_loader_1_01_pfn_t table{};
  static const bool there = core.hsa_system_get_major_extension_table_fn(HSA_EXTENSION_AMD_LOADER, 1, sizeof table,
                                                                         &table) == HSA_STATUS_SUCCESS;
  return there ? &table : nullptr;
}

template <class T>
T info(hsa_loaded_code_object_t object, hsa_ven_amd_loader_loaded_code_object_info_t what) {
  T value{};
  loader()->hsa_ven_amd_loader_loaded_code_object_get_info(object, what, &value);
  return value;
}

hsa_status_t on_code_object(hsa_executable_t executable, hsa_loaded_code_object_t object, void* data) {
  LoadedCode code;
  code.executable = executable.handle;
  code.agent = info<hsa_agent_t>(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT).handle;
  code.base = info<uint64_t>(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE);
  code.size = info<uint64_t>(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE);
  code.delta = info<int64_t>(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA);
  code.uri.resize(info<uint32_t>(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH));
  if (!code.uri.empty())
    loader()->hsa_ven_amd_loader_loaded_code_object_get_info(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI,
                                                             code.uri.data());
  static_cast<std::vector<LoadedCode>*>(data)->push_back(std::move(code));
  return HSA_STATUS_SUCCESS;
}

template <class T>
T symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what) {
  T value{};
  core.hsa_executable_symbol_get_info_fn(symbol, what, &value);
  return value;
}

hsa_status_t on_symbol(hsa_executable_t executable, hsa_executable_symbol_t symbol, void* data) {
  if (symbol_info<hsa_symbol_kind_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_KERNEL)
    return HSA_STATUS_SUCCESS;
  auto kernel = std::make_shared<Kernel>();
  kernel->name.resize(symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH));
  core.hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, kernel->name.data());
  if (kernel->name.size() > 3 && kernel->name.compare(kernel->name.size() - 3, 3, ".kd") == 0)
    kernel->name.resize(kernel->name.size() - 3);
  kernel->demangled = demangled(kernel->name);
  kernel->object = symbol_info<uint64_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  kernel->executable = executable.handle;
  kernel->kernarg_bytes = symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE);
  static_cast<std::vector<std::shared_ptr<Kernel>>*>(data)->push_back(std::move(kernel));
  return HSA_STATUS_SUCCESS;
}

void keep(hsa_code_object_reader_t reader, Bytes bytes) {
  std::lock_guard lock(mutex);
  readers[reader.handle] = std::move(bytes);
}

hsa_status_t reader_from_memory(const void* data, size_t size, hsa_code_object_reader_t* reader) {
  const hsa_status_t status = core.hsa_code_object_reader_create_from_memory_fn(data, size, reader);
  if (status == HSA_STATUS_SUCCESS)
    keep(*reader, std::make_shared<const std::string>(static_cast<const char*>(data), size));
  return status;
}

hsa_status_t reader_from_file(hsa_file_t file, hsa_code_object_reader_t* reader) {
  const hsa_status_t status = core.hsa_code_object_reader_create_from_file_fn(file, reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  std::string bytes;
  char part[1 << 16];
  for (ssize_t got; (got = pread(file, part, sizeof part, off_t(bytes.size()))) > 0;) bytes.append(part, size_t(got));
  keep(*reader, std::make_shared<const std::string>(std::move(bytes)));
  return status;
}

hsa_status_t reader_destroy(hsa_code_object_reader_t reader) {
  {
    std::lock_guard lock(mutex);
    readers.erase(reader.handle);
  }
  return core.hsa_code_object_reader_destroy_fn(reader);
}

hsa_status_t load(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader, const char* options,
                  hsa_loaded_code_object_t* out) {
  const hsa_status_t status = core.hsa_executable_load_agent_code_object_fn(executable, agent, reader, options, out);
  if (status != HSA_STATUS_SUCCESS) return status;
  std::lock_guard lock(mutex);
  const auto found = readers.find(reader.handle);
  images.emplace(executable.handle, found == readers.end() ? Bytes{} : found->second);
  return status;
}

hsa_status_t freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = core.hsa_executable_freeze_fn(executable, options);
  if (status != HSA_STATUS_SUCCESS) return status;
  std::vector<LoadedCode> found;
  std::vector<std::shared_ptr<Kernel>> named;
  if (loader()) loader()->hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, on_code_object, &found);
  core.hsa_executable_iterate_symbols_fn(executable, on_symbol, &named);
  match(named);
  std::lock_guard lock(mutex);
  // Files and loaded objects both come in the order of loading.
  auto [file, end] = images.equal_range(executable.handle);
  for (LoadedCode& code : found) {
    code.number = next_number++;
    if (file != end) code.image = (file++)->second;
  }
  loaded[executable.handle] = std::move(found);
  for (auto& kernel : named) {
    auto& count = counts[kernel->name];
    if (!count) count = std::make_shared<uint64_t>(0);
    kernel->launches = count;
    kernels[kernel->object] = kernel;
  }
  return status;
}

hsa_status_t destroy(hsa_executable_t executable) {
  const Gate::Inside inside(gate());
  {
    std::lock_guard lock(mutex);
    images.erase(executable.handle);
    loaded.erase(executable.handle);
    std::erase_if(kernels, [&](const auto& entry) { return entry.second->executable == executable.handle; });
  }
  return core.hsa_executable_destroy_fn(executable);
}

}  // namespace

std::shared_ptr<const Kernel> launched(uint64_t object, uint64_t& index) {
  std::shared_ptr<const Kernel> kernel;
  {
    std::lock_guard lock(mutex);
    const auto found = kernels.find(object);
    if (found == kernels.end()) return nullptr;
    kernel = found->second;
    index = (*kernel->launches)++;
  }
  // Told at once, so that it is known whatever becomes of the program.
  if (index == 0) append_line("kernels", hex(kernel->name) + " " + hex(kernel->demangled));
  return kernel;
}

std::vector<LoadedCode> loaded_code() {
  std::vector<LoadedCode> all;
  std::lock_guard lock(mutex);
  for (const auto& [executable, list] : loaded) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return all;
}

std::vector<std::pair<std::string, uint64_t>> launch_counts() {
  std::vector<std::pair<std::string, uint64_t>> all;
  std::lock_guard lock(mutex);
  for (const auto& [name, count] : counts)
    if (*count) all.emplace_back(name, *count);
  return all;
}

void hook_code() {
  hook(&CoreApiTable::hsa_code_object_reader_create_from_memory_fn, reader_from_memory);
  hook(&CoreApiTable::hsa_code_object_reader_create_from_file_fn, reader_from_file);
  hook(&CoreApiTable::hsa_code_object_reader_destroy_fn, reader_destroy);
  hook(&CoreApiTable::hsa_executable_load_agent_code_object_fn, load);
  hook(&CoreApiTable::hsa_executable_freeze_fn, freeze);
  hook(&CoreApiTable::hsa_executable_destroy_fn, destroy);
}

}  // namespace capture
