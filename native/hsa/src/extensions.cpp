// Extensions of HSA: the loader's is there, images are not.
#include <algorithm>
#include <cstring>

#include "hsa_impl.h"

namespace {

bool known_extension(uint16_t extension, uint16_t major) { return extension == HSA_EXTENSION_AMD_LOADER && major == 1; }

}  // namespace

namespace impl {

hsa_status_t hsa_extension_get_name(uint16_t extension, const char** name) {
  if (!name) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (extension) {
    case HSA_EXTENSION_FINALIZER: *name = "HSA_EXTENSION_FINALIZER"; break;
    case HSA_EXTENSION_IMAGES: *name = "HSA_EXTENSION_IMAGES"; break;
    case HSA_EXTENSION_PERFORMANCE_COUNTERS: *name = "HSA_EXTENSION_PERFORMANCE_COUNTERS"; break;
    case HSA_EXTENSION_PROFILING_EVENTS: *name = "HSA_EXTENSION_PROFILING_EVENTS"; break;
    case HSA_EXTENSION_AMD_PROFILER: *name = "HSA_EXTENSION_AMD_PROFILER"; break;
    case HSA_EXTENSION_AMD_LOADER: *name = "HSA_EXTENSION_AMD_LOADER"; break;
    case HSA_EXTENSION_AMD_AQLPROFILE: *name = "HSA_EXTENSION_AMD_AQLPROFILE"; break;
    case HSA_EXTENSION_AMD_PC_SAMPLING: *name = "HSA_EXTENSION_AMD_PC_SAMPLING"; break;
    default: return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool* result) {
  if (!result) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = known_extension(extension, major) && minor <= 3;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t* minor, bool* result) {
  if (!result || !minor) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *result = known_extension(extension, major);
  if (*result) *minor = 3;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t, uint16_t major, uint16_t minor,
                                           bool* result) {
  return impl::hsa_system_extension_supported(extension, major, minor, result);
}
hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t, uint16_t major, uint16_t* minor,
                                                 bool* result) {
  return impl::hsa_system_major_extension_supported(extension, major, minor, result);
}
hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes, void* table) {
  if (!table || !known_extension(extension, major)) return HSA_STATUS_ERROR;
  const hsa_ven_amd_loader_1_03_pfn_t loader = {
      impl::hsa_ven_amd_loader_query_host_address,
      impl::hsa_ven_amd_loader_query_segment_descriptors,
      impl::hsa_ven_amd_loader_query_executable,
      impl::hsa_ven_amd_loader_executable_iterate_loaded_code_objects,
      impl::hsa_ven_amd_loader_loaded_code_object_get_info,
      impl::hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size,
      impl::hsa_ven_amd_loader_iterate_executables};
  std::memcpy(table, &loader, std::min(bytes, sizeof loader));
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void* table) {
  constexpr size_t kSizes[] = {sizeof(hsa_ven_amd_loader_1_00_pfn_t), sizeof(hsa_ven_amd_loader_1_01_pfn_t),
                               sizeof(hsa_ven_amd_loader_1_02_pfn_t), sizeof(hsa_ven_amd_loader_1_03_pfn_t)};
  return minor > 3 ? HSA_STATUS_ERROR
                   : impl::hsa_system_get_major_extension_table(extension, major, kSizes[minor], table);
}

hsa_status_t hsa_ext_image_get_capability(hsa_agent_t, hsa_ext_image_geometry_t, const hsa_ext_image_format_t*,
                                          uint32_t* mask) {
  if (!mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = 0;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                                      const hsa_ext_image_format_t* format, hsa_ext_image_data_layout_t,
                                                      uint32_t* mask) {
  return impl::hsa_ext_image_get_capability(agent, geometry, format, mask);
}

}  // namespace impl
