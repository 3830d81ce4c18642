// Code object readers, executables, their symbols, and the loader extension.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <set>

#include "code_object.h"
#include "hsa_impl.h"
#include "runtime.h"

namespace {

struct Reader {
  std::vector<uint8_t> own;          // of a file
  const uint8_t* bytes = nullptr;    // of the user, where it was made from memory
  size_t size = 0;
  int file = -1;
  std::string uri;

  const uint8_t* data() const { return bytes ? bytes : own.data(); }
};

struct Executable;

struct Symbol {
  Executable* executable;
  Agent* agent;
  std::string name;
  const gpu::KernelSymbol* kernel = nullptr;
  const gpu::VariableSymbol* variable = nullptr;
};

struct Loaded {
  Executable* executable;
  Agent* agent;
  std::shared_ptr<gpu::LoadedCodeObject> object;
  std::vector<uint8_t> storage;  // what was loaded: tools read it back, whatever became of the source
  int file;
  std::string uri;
};

struct Executable {
  bool frozen = false;
  hsa_profile_t profile = HSA_PROFILE_BASE;
  hsa_default_float_rounding_mode_t rounding = HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT;
  std::vector<std::unique_ptr<Loaded>> objects;
  std::vector<std::unique_ptr<Symbol>> symbols;
};

struct Books {
  std::recursive_mutex mutex;  // callbacks of an iteration may ask further
  std::set<Reader*> readers;
  std::set<Executable*> executables;
  std::set<const Symbol*> symbols;
  std::set<const Loaded*> loaded;
};
Books& books() {
  static Books* instance = new Books;
  return *instance;
}
using Lock = std::lock_guard<std::recursive_mutex>;

template <class T, class Handle>
T* in(const std::set<T*>& set, Handle handle) {
  auto it = set.find(reinterpret_cast<T*>(handle.handle));
  return it == set.end() ? nullptr : *it;
}

template <class T>
hsa_status_t give(void* value, T answer) {
  std::memcpy(value, &answer, sizeof answer);
  return HSA_STATUS_SUCCESS;
}

template <class... Arguments>
std::string format(const char* pattern, Arguments... arguments) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, pattern, arguments...);
  return buffer;
}

hsa_status_t make_file_reader(int file, size_t offset, size_t size, hsa_code_object_reader_t* reader) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto made = std::make_unique<Reader>();
  made->own.resize(size);
  for (size_t done = 0; done < size;) {
    const ssize_t got = pread(file, made->own.data() + done, size - done, off_t(offset + done));
    if (got <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
    done += size_t(got);
  }
  made->size = size;
  made->file = file;
  char path[4096] = "";
  const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path - 1);
  made->uri =
      "file://" + std::string(path, length > 0 ? size_t(length) : 0) + format("#offset=%zu&size=%zu", offset, size);
  Lock lock(books().mutex);
  reader->handle = reinterpret_cast<uint64_t>(made.get());
  books().readers.insert(made.release());
  return HSA_STATUS_SUCCESS;
}

void add_symbols(Executable& executable, Loaded& loaded) {
  auto add = [&](Symbol symbol) {
    executable.symbols.push_back(std::make_unique<Symbol>(std::move(symbol)));
    books().symbols.insert(executable.symbols.back().get());
  };
  for (const gpu::KernelSymbol& kernel : loaded.object->kernels())
    add({&executable, loaded.agent, kernel.name + ".kd", &kernel, nullptr});
  for (const gpu::VariableSymbol& variable : loaded.object->variables())
    if (variable.external) add({&executable, loaded.agent, variable.name, nullptr, &variable});
}

void destroy(Executable* executable) {  // under the lock
  for (auto& symbol : executable->symbols) books().symbols.erase(symbol.get());
  for (auto& loaded : executable->objects) books().loaded.erase(loaded.get());
  books().executables.erase(executable);
  delete executable;
}

hsa_status_t define(hsa_executable_t handle, Agent* agent, const char* name, void* address) {
  Lock lock(books().mutex);
  Executable* executable = in(books().executables, handle);
  if (!executable) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!name) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (executable->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  for (auto& loaded : executable->objects)
    if (!agent || loaded->agent == agent) loaded->object->define(name, reinterpret_cast<uint64_t>(address));
  return HSA_STATUS_SUCCESS;
}

const Symbol* find_symbol(const Executable& executable, const char* name, Agent* agent) {
  for (const auto& symbol : executable.symbols)
    if (symbol->name == name && (!agent || symbol->agent == agent)) return symbol.get();
  return nullptr;
}

// Symbols may be added while a callback runs: iterate over a copy.
std::vector<const Symbol*> symbols_of(hsa_executable_t handle, Agent* agent, hsa_status_t& status) {
  Lock lock(books().mutex);
  std::vector<const Symbol*> out;
  Executable* executable = in(books().executables, handle);
  status = executable ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (executable)
    for (const auto& symbol : executable->symbols)
      if (!agent || symbol->agent == agent) out.push_back(symbol.get());
  return out;
}

hsa_status_t kernel_info(const gpu::KernelSymbol& kernel, int attribute, void* value) {
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT: return give(value, kernel.descriptor);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE: return give(value, kernel.kernarg_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT: return give(value, kernel.kernarg_align);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE: return give(value, kernel.group_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE: return give(value, kernel.private_bytes);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK: return give(value, kernel.uses_dynamic_stack);
    case HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION: return give(value, uint32_t(0));
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t variable_info(const gpu::VariableSymbol& variable, int attribute, void* value) {
  switch (attribute) {
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS: return give(value, variable.address);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE: return give(value, uint32_t(variable.size));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT:
      return give(value, uint32_t(variable.address & -variable.address));
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION: return give(value, HSA_VARIABLE_ALLOCATION_AGENT);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT: return give(value, HSA_VARIABLE_SEGMENT_GLOBAL);
    case HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST: return give(value, variable.constant);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

}  // namespace

void forget_executables() {
  Lock lock(books().mutex);
  while (!books().executables.empty()) destroy(*books().executables.begin());
  for (Reader* reader : books().readers) delete reader;
  books().readers.clear();
}

namespace impl {

hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t* reader) {
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size <= 0) return HSA_STATUS_ERROR_INVALID_FILE;
  return make_file_reader(file, 0, size_t(info.st_size), reader);
}
hsa_status_t hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(hsa_file_t file, size_t offset,
                                                                                     size_t size,
                                                                                     hsa_code_object_reader_t* reader) {
  struct stat info;
  if (fstat(file, &info) != 0 || !size || offset > size_t(info.st_size) || size > size_t(info.st_size) - offset)
    return HSA_STATUS_ERROR_INVALID_FILE;
  return make_file_reader(file, offset, size, reader);
}
hsa_status_t hsa_code_object_reader_create_from_memory(const void* image, size_t size,
                                                       hsa_code_object_reader_t* reader) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!image || !size || !reader) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto made = std::make_unique<Reader>();
  made->bytes = static_cast<const uint8_t*>(image);
  made->size = size;
  made->uri =
      format("memory://%d#offset=%#" PRIxPTR "&size=%zu", int(getpid()), reinterpret_cast<uintptr_t>(image), size);
  Lock lock(books().mutex);
  reader->handle = reinterpret_cast<uint64_t>(made.get());
  books().readers.insert(made.release());
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader) {
  Lock lock(books().mutex);
  Reader* found = in(books().readers, reader);
  if (!found) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  books().readers.erase(found);
  delete found;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding, const char*,
                                       hsa_executable_t* executable) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!executable) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto* made = new Executable;
  made->profile = profile;
  made->rounding = rounding;
  Lock lock(books().mutex);
  books().executables.insert(made);
  executable->handle = reinterpret_cast<uint64_t>(made);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char* options,
                                   hsa_executable_t* executable) {
  const hsa_status_t status =
      impl::hsa_executable_create_alt(profile, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, options, executable);
  if (status == HSA_STATUS_SUCCESS && state == HSA_EXECUTABLE_STATE_FROZEN)
    reinterpret_cast<Executable*>(executable->handle)->frozen = true;
  return status;
}
hsa_status_t hsa_executable_destroy(hsa_executable_t executable) {
  Lock lock(books().mutex);
  Executable* found = in(books().executables, executable);
  if (!found) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  destroy(found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                   hsa_code_object_reader_t reader, const char*,
                                                   hsa_loaded_code_object_t* loaded) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Lock lock(books().mutex);
  Executable* found = in(books().executables, executable);
  Reader* source = in(books().readers, reader);
  Agent* owner = runtime->agent(agent);
  if (!found) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (found->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  if (!owner || !owner->is_gpu()) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!source) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
  gpu::LoadError error;
  auto object = owner->gpu->load(source->data(), source->size, error);
  if (!object) {
    std::fprintf(stderr, "rocm-perf: a code object is refused: %s\n", error.message.c_str());
    return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  }
  found->objects.push_back(std::make_unique<Loaded>(
      Loaded{found, owner, object, {source->data(), source->data() + source->size}, source->file, source->uri}));
  Loaded& made = *found->objects.back();
  books().loaded.insert(&made);
  add_symbols(*found, made);
  if (loaded) loaded->handle = reinterpret_cast<uint64_t>(&made);
  return HSA_STATUS_SUCCESS;
}
// A program code object holds host-visible globals; AMD's compilers make none.
hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t executable, hsa_code_object_reader_t reader,
                                                     const char*, hsa_loaded_code_object_t*) {
  Lock lock(books().mutex);
  if (!in(books().executables, executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  return in(books().readers, reader) ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT
                                     : HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER;
}

hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char*) {
  Lock lock(books().mutex);
  Executable* found = in(books().executables, executable);
  if (!found) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (found->frozen) return HSA_STATUS_ERROR_FROZEN_EXECUTABLE;
  for (const auto& loaded : found->objects)
    for (const std::string& name : loaded->object->undefined()) {
      std::fprintf(stderr, "rocm-perf: a code object needs the symbol %s, which nobody defines\n",
                   gpu::demangle(name).c_str());
      return HSA_STATUS_ERROR_VARIABLE_UNDEFINED;
    }
  found->frozen = true;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute, void* value) {
  Lock lock(books().mutex);
  Executable* found = in(books().executables, executable);
  if (!found) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_EXECUTABLE_INFO_PROFILE: return give(value, found->profile);
    case HSA_EXECUTABLE_INFO_STATE:
      return give(value, found->frozen ? HSA_EXECUTABLE_STATE_FROZEN : HSA_EXECUTABLE_STATE_UNFROZEN);
    case HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE: return give(value, found->rounding);
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char* name, void* address) {
  return define(executable, nullptr, name, address);
}
hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                         const char* name, void* address) {
  Runtime* runtime = Runtime::get();
  Agent* found = runtime ? runtime->agent(agent) : nullptr;
  return found ? define(executable, found, name, address) : HSA_STATUS_ERROR_INVALID_AGENT;
}
hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent, const char* name,
                                                     void* address) {
  return impl::hsa_executable_agent_global_variable_define(executable, agent, name, address);
}
hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t* result) {
  Lock lock(books().mutex);
  if (!in(books().executables, executable)) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = 0;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char*, uint32_t* result) {
  return impl::hsa_executable_validate(executable, result);
}

hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char* name, const hsa_agent_t* agent,
                                               hsa_executable_symbol_t* symbol) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!name || !symbol) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Agent* owner = agent ? runtime->agent(*agent) : nullptr;
  if (agent && !owner) return HSA_STATUS_ERROR_INVALID_AGENT;
  Lock lock(books().mutex);
  Executable* found = in(books().executables, executable);
  if (!found) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
  const Symbol* match = find_symbol(*found, name, owner);
  if (!match) return HSA_STATUS_ERROR_INVALID_SYMBOL_NAME;
  symbol->handle = reinterpret_cast<uint64_t>(match);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char*, const char* name, hsa_agent_t agent,
                                       int32_t, hsa_executable_symbol_t* symbol) {
  return impl::hsa_executable_get_symbol_by_name(executable, name, &agent, symbol);
}

hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t handle, hsa_executable_symbol_info_t attribute,
                                            void* value) {
  Lock lock(books().mutex);
  const Symbol* symbol = in(books().symbols, handle);
  if (!symbol) return HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (int(attribute)) {
    case HSA_EXECUTABLE_SYMBOL_INFO_TYPE:
      return give(value, symbol->kernel ? HSA_SYMBOL_KIND_KERNEL : HSA_SYMBOL_KIND_VARIABLE);
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH: return give(value, uint32_t(symbol->name.size()));
    case HSA_EXECUTABLE_SYMBOL_INFO_NAME:
      std::memcpy(value, symbol->name.data(), symbol->name.size());
      return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH: return give(value, uint32_t(0));
    case HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME: return HSA_STATUS_SUCCESS;
    case HSA_EXECUTABLE_SYMBOL_INFO_AGENT: return give(value, symbol->agent->handle());
    case HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE: return give(value, HSA_SYMBOL_LINKAGE_PROGRAM);
    case HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION: return give(value, true);
    default: break;
  }
  return symbol->kernel ? kernel_info(*symbol->kernel, int(attribute), value)
                        : variable_info(*symbol->variable, int(attribute), value);
}

hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                            hsa_status_t (*visit)(hsa_executable_t, hsa_executable_symbol_t, void*),
                                            void* data) {
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status;
  for (const Symbol* symbol : symbols_of(executable, nullptr, status))
    if (status = visit(executable, {reinterpret_cast<uint64_t>(symbol)}, data); status != HSA_STATUS_SUCCESS)
      return status;
  return status;
}
hsa_status_t hsa_executable_iterate_agent_symbols(hsa_executable_t executable, hsa_agent_t agent,
                                                  hsa_status_t (*visit)(hsa_executable_t, hsa_agent_t,
                                                                        hsa_executable_symbol_t, void*),
                                                  void* data) {
  Runtime* runtime = Runtime::get();
  Agent* owner = runtime ? runtime->agent(agent) : nullptr;
  if (!owner) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_status_t status;
  for (const Symbol* symbol : symbols_of(executable, owner, status))
    if (status = visit(executable, agent, {reinterpret_cast<uint64_t>(symbol)}, data); status != HSA_STATUS_SUCCESS)
      return status;
  return status;
}
// Every symbol belongs to an agent.
hsa_status_t hsa_executable_iterate_program_symbols(hsa_executable_t executable,
                                                    hsa_status_t (*)(hsa_executable_t, hsa_executable_symbol_t, void*),
                                                    void*) {
  Lock lock(books().mutex);
  return in(books().executables, executable) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_EXECUTABLE;
}

// ---- the loader extension -------------------------------------------------------------------------

// Device memory is host memory here, so an address is its own host address once it is code's.
hsa_status_t hsa_ven_amd_loader_query_host_address(const void* device, const void** host) {
  if (!device || !host) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_executable_t ignored;
  const hsa_status_t status = impl::hsa_ven_amd_loader_query_executable(device, &ignored);
  if (status == HSA_STATUS_SUCCESS) *host = device;
  return status;
}
hsa_status_t hsa_ven_amd_loader_query_executable(const void* device, hsa_executable_t* executable) {
  if (!device || !executable) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t at = reinterpret_cast<uint64_t>(device);
  Lock lock(books().mutex);
  for (const Loaded* loaded : books().loaded)
    if (at >= loaded->object->load_base() && at < loaded->object->load_base() + loaded->object->load_size()) {
      executable->handle = reinterpret_cast<uint64_t>(loaded->executable);
      return HSA_STATUS_SUCCESS;
    }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}
hsa_status_t hsa_ven_amd_loader_query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t* list,
                                                          size_t* count) {
  if (!count) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<hsa_ven_amd_loader_segment_descriptor_t> all;
  Lock lock(books().mutex);
  for (const Loaded* loaded : books().loaded)
    all.push_back({loaded->agent->handle(),
                   {reinterpret_cast<uint64_t>(loaded->executable)},
                   HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
                   loaded->storage.data(),
                   loaded->storage.size(),
                   0,
                   reinterpret_cast<void*>(loaded->object->load_base()),
                   loaded->object->load_size()});
  if (!list) {
    *count = all.size();
    return HSA_STATUS_SUCCESS;
  }
  if (*count != all.size()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::copy(all.begin(), all.end(), list);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
    hsa_executable_t executable, hsa_status_t (*visit)(hsa_executable_t, hsa_loaded_code_object_t, void*), void* data) {
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<uint64_t> handles;
  {
    Lock lock(books().mutex);
    Executable* found = in(books().executables, executable);
    if (!found) return HSA_STATUS_ERROR_INVALID_EXECUTABLE;
    for (const auto& loaded : found->objects) handles.push_back(reinterpret_cast<uint64_t>(loaded.get()));
  }
  for (uint64_t handle : handles)
    if (const hsa_status_t status = visit(executable, {handle}, data); status != HSA_STATUS_SUCCESS) return status;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_ven_amd_loader_iterate_executables(hsa_status_t (*visit)(hsa_executable_t, void*), void* data) {
  if (!visit) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::vector<uint64_t> handles;
  {
    Lock lock(books().mutex);
    for (Executable* executable : books().executables) handles.push_back(reinterpret_cast<uint64_t>(executable));
  }
  for (uint64_t handle : handles)
    if (const hsa_status_t status = visit({handle}, data); status != HSA_STATUS_SUCCESS) return status;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_ven_amd_loader_loaded_code_object_get_info(hsa_loaded_code_object_t handle,
                                                            hsa_ven_amd_loader_loaded_code_object_info_t attribute,
                                                            void* value) {
  Lock lock(books().mutex);
  const Loaded* loaded = in(books().loaded, handle);
  if (!loaded) return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool from_file = loaded->file >= 0;
  switch (attribute) {
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE:
      return give(value, hsa_executable_t{reinterpret_cast<uint64_t>(loaded->executable)});
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND:
      return give(value, uint32_t(HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT: return give(value, loaded->agent->handle());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE:
      return give(value, uint32_t(from_file ? HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE
                                            : HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE:
      return from_file ? HSA_STATUS_ERROR_INVALID_ARGUMENT
                       : give(value, reinterpret_cast<uint64_t>(loaded->storage.data()));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE:
      return from_file ? HSA_STATUS_ERROR_INVALID_ARGUMENT : give(value, uint64_t(loaded->storage.size()));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE:
      return from_file ? give(value, loaded->file) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA: return give(value, loaded->object->load_delta());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE: return give(value, loaded->object->load_base());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE: return give(value, loaded->object->load_size());
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH: return give(value, uint32_t(loaded->uri.size()));
    case HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI:
      std::memcpy(value, loaded->uri.data(), loaded->uri.size());
      return HSA_STATUS_SUCCESS;
  }
  return HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

}  // namespace impl
