// Executables and their symbols.
#include <cstdio>

#include "answers.h"
#include "executables.h"
#include "hsa_impl.h"

namespace {

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

Books& books() {
  static Books* instance = new Books;
  return *instance;
}

void forget_executables() {
  Lock lock(books().mutex);
  while (!books().executables.empty()) destroy(*books().executables.begin());
  for (Reader* reader : books().readers) delete reader;
  books().readers.clear();
}

namespace impl {

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

}  // namespace impl
