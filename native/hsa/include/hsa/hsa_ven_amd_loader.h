/* AMD's loader extension: what is loaded where. */
#ifndef RPL_HSA_VEN_AMD_LOADER_H
#define RPL_HSA_VEN_AMD_LOADER_H

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE = 0,
  HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE = 1,
  HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY = 2
} hsa_ven_amd_loader_code_object_storage_type_t;

typedef struct hsa_ven_amd_loader_segment_descriptor_s {
  hsa_agent_t agent;
  hsa_executable_t executable;
  hsa_ven_amd_loader_code_object_storage_type_t code_object_storage_type;
  const void* code_object_storage_base;
  size_t code_object_storage_size, code_object_storage_offset;
  const void* segment_base;
  size_t segment_size;
} hsa_ven_amd_loader_segment_descriptor_t;

typedef enum {
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_PROGRAM = 1,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_KIND_AGENT = 2
} hsa_ven_amd_loader_loaded_code_object_kind_t;

typedef enum hsa_ven_amd_loader_loaded_code_object_info_e {
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_EXECUTABLE = 1,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_KIND = 2,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_AGENT = 3,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_TYPE = 4,
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_BASE = 5, /* uint64_t */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_MEMORY_SIZE = 6, /* uint64_t */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_CODE_OBJECT_STORAGE_FILE = 7,        /* int */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_DELTA = 8,                      /* int64_t */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE = 9,                       /* uint64_t */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE = 10,                      /* uint64_t */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI_LENGTH = 11,                     /* uint32_t */
  HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_URI = 12                             /* no NUL */
} hsa_ven_amd_loader_loaded_code_object_info_t;

HSA_API hsa_status_t hsa_ven_amd_loader_query_host_address(const void* device, const void** host);
HSA_API hsa_status_t hsa_ven_amd_loader_query_segment_descriptors(hsa_ven_amd_loader_segment_descriptor_t* list,
                                                                  size_t* count);
HSA_API hsa_status_t hsa_ven_amd_loader_query_executable(const void* device, hsa_executable_t* executable);
HSA_API hsa_status_t hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
    hsa_executable_t executable,
    hsa_status_t (*visit)(hsa_executable_t executable, hsa_loaded_code_object_t loaded, void* data), void* data);
HSA_API hsa_status_t hsa_ven_amd_loader_loaded_code_object_get_info(
    hsa_loaded_code_object_t loaded, hsa_ven_amd_loader_loaded_code_object_info_t attribute, void* value);
HSA_API hsa_status_t hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size(
    hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t* reader);
HSA_API hsa_status_t hsa_ven_amd_loader_iterate_executables(hsa_status_t (*visit)(hsa_executable_t executable,
                                                                                  void* data),
                                                            void* data);

/* Each version of the table is the one before with functions added at its end. */
#define hsa_ven_amd_loader 001003

#define HSA_LOADER_1_00_SLOTS                                                                                  \
  hsa_status_t (*hsa_ven_amd_loader_query_host_address)(const void* device, const void** host);                \
  hsa_status_t (*hsa_ven_amd_loader_query_segment_descriptors)(hsa_ven_amd_loader_segment_descriptor_t * list, \
                                                               size_t* count);                                 \
  hsa_status_t (*hsa_ven_amd_loader_query_executable)(const void* device, hsa_executable_t* executable);
#define HSA_LOADER_1_01_SLOTS                                                                                      \
  HSA_LOADER_1_00_SLOTS                                                                                            \
  hsa_status_t (*hsa_ven_amd_loader_executable_iterate_loaded_code_objects)(                                       \
      hsa_executable_t executable,                                                                                 \
      hsa_status_t(*visit)(hsa_executable_t executable, hsa_loaded_code_object_t loaded, void* data), void* data); \
  hsa_status_t (*hsa_ven_amd_loader_loaded_code_object_get_info)(                                                  \
      hsa_loaded_code_object_t loaded, hsa_ven_amd_loader_loaded_code_object_info_t attribute, void* value);
#define HSA_LOADER_1_02_SLOTS                                                              \
  HSA_LOADER_1_01_SLOTS                                                                    \
  hsa_status_t (*hsa_ven_amd_loader_code_object_reader_create_from_file_with_offset_size)( \
      hsa_file_t file, size_t offset, size_t size, hsa_code_object_reader_t* reader);
#define HSA_LOADER_1_03_SLOTS                             \
  HSA_LOADER_1_02_SLOTS                                   \
  hsa_status_t (*hsa_ven_amd_loader_iterate_executables)( \
      hsa_status_t(*visit)(hsa_executable_t executable, void* data), void* data);

typedef struct hsa_ven_amd_loader_1_00_pfn_s {
  HSA_LOADER_1_00_SLOTS
} hsa_ven_amd_loader_1_00_pfn_t;
typedef struct hsa_ven_amd_loader_1_01_pfn_s {
  HSA_LOADER_1_01_SLOTS
} hsa_ven_amd_loader_1_01_pfn_t;
typedef struct hsa_ven_amd_loader_1_02_pfn_s {
  HSA_LOADER_1_02_SLOTS
} hsa_ven_amd_loader_1_02_pfn_t;
typedef struct hsa_ven_amd_loader_1_03_pfn_s {
  HSA_LOADER_1_03_SLOTS
} hsa_ven_amd_loader_1_03_pfn_t;

#ifdef __cplusplus
}
#endif
#endif
