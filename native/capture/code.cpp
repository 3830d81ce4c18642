#include "code.h"

#include <unistd.h>

#include <algorithm>

#include "codeobject/kernel_names.h"
#include "hsa/hsa_ven_amd_loader.h"
#include "tool.h"

namespace capture {

namespace {

void match(std::vector<std::shared_ptr<Kernel>>& list) {
  try {
    const std::string& text = tool().config.regex;
    const codeobject::NamePattern pattern(text);
    // The runtime's own kernels only for who asks for them.
    const bool helpers = text.find("rocclr") != std::string::npos;
    for (auto& kernel : list) {
      if (!helpers && kernel->name.starts_with("__amd_rocclr_")) continue;
      kernel->wanted = pattern.found_in(kernel->name) || pattern.found_in(kernel->demangled);
    }
  } catch (const std::regex_error& error) { tool().output.append_line("problem", "regex " + hex(error.what())); }
}

hsa_ven_amd_loader_1_01_pfn_t* loader() {
  static hsa_ven_amd_loader_1_01_pfn_t table{};
  static const bool there = core().hsa_system_get_major_extension_table_fn(HSA_EXTENSION_AMD_LOADER, 1, sizeof table,
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
  core().hsa_executable_symbol_get_info_fn(symbol, what, &value);
  return value;
}

hsa_status_t on_symbol(hsa_executable_t executable, hsa_executable_symbol_t symbol, void* data) {
  if (symbol_info<hsa_symbol_kind_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE) != HSA_SYMBOL_KIND_KERNEL)
    return HSA_STATUS_SUCCESS;
  auto kernel = std::make_shared<Kernel>();
  kernel->name.resize(symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH));
  core().hsa_executable_symbol_get_info_fn(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, kernel->name.data());
  kernel->name = codeobject::kernel_of(std::move(kernel->name));
  kernel->demangled = codeobject::demangle(kernel->name);
  kernel->object = symbol_info<uint64_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
  kernel->executable = executable.handle;
  kernel->kernarg_bytes = symbol_info<uint32_t>(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE);
  static_cast<std::vector<std::shared_ptr<Kernel>>*>(data)->push_back(std::move(kernel));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t reader_from_memory(const void* data, size_t size, hsa_code_object_reader_t* reader) {
  const hsa_status_t status = core().hsa_code_object_reader_create_from_memory_fn(data, size, reader);
  if (status == HSA_STATUS_SUCCESS)
    tool().code.keep(reader->handle, std::make_shared<const std::string>(static_cast<const char*>(data), size));
  return status;
}

hsa_status_t reader_from_file(hsa_file_t file, hsa_code_object_reader_t* reader) {
  const hsa_status_t status = core().hsa_code_object_reader_create_from_file_fn(file, reader);
  if (status != HSA_STATUS_SUCCESS) return status;
  std::string bytes;
  char part[1 << 16];
  for (ssize_t got; (got = pread(file, part, sizeof part, off_t(bytes.size()))) > 0;) bytes.append(part, size_t(got));
  tool().code.keep(reader->handle, std::make_shared<const std::string>(std::move(bytes)));
  return status;
}

hsa_status_t reader_destroy(hsa_code_object_reader_t reader) {
  tool().code.forget_reader(reader.handle);
  return core().hsa_code_object_reader_destroy_fn(reader);
}

hsa_status_t executable_load(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
                             const char* options, hsa_loaded_code_object_t* out) {
  const hsa_status_t status = core().hsa_executable_load_agent_code_object_fn(executable, agent, reader, options, out);
  if (status == HSA_STATUS_SUCCESS) tool().code.load(executable.handle, reader.handle);
  return status;
}

hsa_status_t executable_freeze(hsa_executable_t executable, const char* options) {
  const hsa_status_t status = core().hsa_executable_freeze_fn(executable, options);
  if (status != HSA_STATUS_SUCCESS) return status;
  std::vector<LoadedCode> found;
  std::vector<std::shared_ptr<Kernel>> named;
  if (loader()) loader()->hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, on_code_object, &found);
  core().hsa_executable_iterate_symbols_fn(executable, on_symbol, &named);
  match(named);
  tool().code.freeze(executable.handle, std::move(found), named);
  return status;
}

hsa_status_t executable_destroy(hsa_executable_t executable) {
  const Gate::Inside inside(tool().gate);
  tool().code.forget_executable(executable.handle);
  return core().hsa_executable_destroy_fn(executable);
}

}  // namespace

void CodeBooks::keep(uint64_t reader, File file) {
  std::lock_guard lock(mutex_);
  readers_[reader] = std::move(file);
}

void CodeBooks::forget_reader(uint64_t reader) {
  std::lock_guard lock(mutex_);
  readers_.erase(reader);
}

void CodeBooks::load(uint64_t executable, uint64_t reader) {
  std::lock_guard lock(mutex_);
  const auto found = readers_.find(reader);
  images_.emplace(executable, found == readers_.end() ? File{} : found->second);
}

void CodeBooks::freeze(uint64_t executable, std::vector<LoadedCode> code,
                       const std::vector<std::shared_ptr<Kernel>>& kernels) {
  std::lock_guard lock(mutex_);
  // Files and loaded objects both come in the order of loading.
  auto [file, end] = images_.equal_range(executable);
  for (LoadedCode& one : code) {
    one.number = next_number_++;
    if (file != end) one.image = (file++)->second;
  }
  loaded_[executable] = std::move(code);
  for (const auto& kernel : kernels) {
    auto& count = counts_[kernel->name];
    if (!count) count = std::make_shared<uint64_t>(0);
    kernel->launches = count;
    kernels_[kernel->object] = kernel;
  }
}

void CodeBooks::forget_executable(uint64_t executable) {
  std::lock_guard lock(mutex_);
  images_.erase(executable);
  loaded_.erase(executable);
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->executable == executable; });
}

std::shared_ptr<const Kernel> CodeBooks::launched(uint64_t object, uint64_t& index) {
  std::shared_ptr<const Kernel> kernel;
  {
    std::lock_guard lock(mutex_);
    const auto found = kernels_.find(object);
    if (found == kernels_.end()) return nullptr;
    kernel = found->second;
    index = (*kernel->launches)++;
  }
  // Told at once, so that it is known whatever becomes of the program.
  if (index == 0) tool().output.append_line("kernels", hex(kernel->name) + " " + hex(kernel->demangled));
  return kernel;
}

std::vector<LoadedCode> CodeBooks::loaded() {
  std::vector<LoadedCode> all;
  std::lock_guard lock(mutex_);
  for (const auto& [executable, list] : loaded_) all.insert(all.end(), list.begin(), list.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return all;
}

std::vector<std::pair<std::string, uint64_t>> CodeBooks::launch_counts() {
  std::vector<std::pair<std::string, uint64_t>> all;
  std::lock_guard lock(mutex_);
  for (const auto& [name, count] : counts_)
    if (*count) all.emplace_back(name, *count);
  return all;
}

void CodeBooks::hook() {
  Tables& tables = tool().tables;
  tables.hook(&CoreApiTable::hsa_code_object_reader_create_from_memory_fn, reader_from_memory);
  tables.hook(&CoreApiTable::hsa_code_object_reader_create_from_file_fn, reader_from_file);
  tables.hook(&CoreApiTable::hsa_code_object_reader_destroy_fn, reader_destroy);
  tables.hook(&CoreApiTable::hsa_executable_load_agent_code_object_fn, executable_load);
  tables.hook(&CoreApiTable::hsa_executable_freeze_fn, executable_freeze);
  tables.hook(&CoreApiTable::hsa_executable_destroy_fn, executable_destroy);
}

}  // namespace capture
