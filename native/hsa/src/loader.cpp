// The loader extension: what tools ask about loaded code.
#include <algorithm>

#include "answers.h"
#include "executables.h"
#include "hsa_impl.h"

namespace impl {

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
