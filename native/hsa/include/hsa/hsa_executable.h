/* Code objects and executables: the second half of the HSA 1.x interface. Included by hsa.h. */
#ifndef RPL_HSA_EXECUTABLE_H
#define RPL_HSA_EXECUTABLE_H

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { HSA_EXECUTABLE_STATE_UNFROZEN = 0, HSA_EXECUTABLE_STATE_FROZEN = 1 } hsa_executable_state_t;

typedef enum {
  HSA_EXECUTABLE_INFO_PROFILE = 1,
  HSA_EXECUTABLE_INFO_STATE = 2,
  HSA_EXECUTABLE_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 3
} hsa_executable_info_t;

typedef enum {
  HSA_SYMBOL_KIND_VARIABLE = 0,
  HSA_SYMBOL_KIND_KERNEL = 1,
  HSA_SYMBOL_KIND_INDIRECT_FUNCTION = 2
} hsa_symbol_kind_t;

typedef enum { HSA_SYMBOL_LINKAGE_MODULE = 0, HSA_SYMBOL_LINKAGE_PROGRAM = 1 } hsa_symbol_linkage_t;
typedef enum { HSA_VARIABLE_ALLOCATION_AGENT = 0, HSA_VARIABLE_ALLOCATION_PROGRAM = 1 } hsa_variable_allocation_t;
typedef enum { HSA_VARIABLE_SEGMENT_GLOBAL = 0, HSA_VARIABLE_SEGMENT_READONLY = 1 } hsa_variable_segment_t;

typedef enum {
  HSA_EXECUTABLE_SYMBOL_INFO_TYPE = 0,
  HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH = 1, /* uint32_t, without a NUL */
  HSA_EXECUTABLE_SYMBOL_INFO_NAME = 2,        /* not NUL-terminated */
  HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME_LENGTH = 3,
  HSA_EXECUTABLE_SYMBOL_INFO_MODULE_NAME = 4,
  HSA_EXECUTABLE_SYMBOL_INFO_LINKAGE = 5,
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALLOCATION = 6,
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SEGMENT = 7,
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ALIGNMENT = 8, /* uint32_t */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_SIZE = 9,      /* uint32_t */
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_IS_CONST = 10, /* bool */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE = 11,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT = 12,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE = 13,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE = 14,
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_DYNAMIC_CALLSTACK = 15, /* bool */
  HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_CALL_CONVENTION = 16,
  HSA_EXECUTABLE_SYMBOL_INFO_IS_DEFINITION = 17, /* bool */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_CALL_CONVENTION = 18,
  HSA_EXECUTABLE_SYMBOL_INFO_AGENT = 20,
  HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS = 21, /* uint64_t */
  HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT = 22,    /* uint64_t */
  HSA_EXECUTABLE_SYMBOL_INFO_INDIRECT_FUNCTION_OBJECT = 23
} hsa_executable_symbol_info_t;

HSA_API hsa_status_t hsa_code_object_reader_create_from_file(hsa_file_t file, hsa_code_object_reader_t* reader);
HSA_API hsa_status_t hsa_code_object_reader_create_from_memory(const void* image, size_t size,
                                                               hsa_code_object_reader_t* reader);
HSA_API hsa_status_t hsa_code_object_reader_destroy(hsa_code_object_reader_t reader);

HSA_API hsa_status_t hsa_executable_create(hsa_profile_t profile, hsa_executable_state_t state, const char* options,
                                           hsa_executable_t* executable);
HSA_API hsa_status_t hsa_executable_create_alt(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding,
                                               const char* options, hsa_executable_t* executable);
HSA_API hsa_status_t hsa_executable_destroy(hsa_executable_t executable);
HSA_API hsa_status_t hsa_executable_load_program_code_object(hsa_executable_t executable,
                                                             hsa_code_object_reader_t reader, const char* options,
                                                             hsa_loaded_code_object_t* loaded);
HSA_API hsa_status_t hsa_executable_load_agent_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                           hsa_code_object_reader_t reader, const char* options,
                                                           hsa_loaded_code_object_t* loaded);
HSA_API hsa_status_t hsa_executable_freeze(hsa_executable_t executable, const char* options);
HSA_API hsa_status_t hsa_executable_get_info(hsa_executable_t executable, hsa_executable_info_t attribute, void* value);
HSA_API hsa_status_t hsa_executable_global_variable_define(hsa_executable_t executable, const char* name,
                                                           void* address);
HSA_API hsa_status_t hsa_executable_agent_global_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                                 const char* name, void* address);
HSA_API hsa_status_t hsa_executable_readonly_variable_define(hsa_executable_t executable, hsa_agent_t agent,
                                                             const char* name, void* address);
HSA_API hsa_status_t hsa_executable_validate(hsa_executable_t executable, uint32_t* result);
HSA_API hsa_status_t hsa_executable_validate_alt(hsa_executable_t executable, const char* options, uint32_t* result);
HSA_API hsa_status_t hsa_executable_get_symbol(hsa_executable_t executable, const char* module, const char* name,
                                               hsa_agent_t agent, int32_t call_convention,
                                               hsa_executable_symbol_t* symbol);
HSA_API hsa_status_t hsa_executable_get_symbol_by_name(hsa_executable_t executable, const char* name,
                                                       const hsa_agent_t* agent, hsa_executable_symbol_t* symbol);
HSA_API hsa_status_t hsa_executable_symbol_get_info(hsa_executable_symbol_t symbol,
                                                    hsa_executable_symbol_info_t attribute, void* value);
HSA_API hsa_status_t hsa_executable_iterate_symbols(hsa_executable_t executable,
                                                    hsa_status_t (*visit)(hsa_executable_t executable,
                                                                          hsa_executable_symbol_t symbol, void* data),
                                                    void* data);
HSA_API hsa_status_t hsa_executable_iterate_agent_symbols(
    hsa_executable_t executable, hsa_agent_t agent,
    hsa_status_t (*visit)(hsa_executable_t executable, hsa_agent_t agent, hsa_executable_symbol_t symbol, void* data),
    void* data);
HSA_API hsa_status_t hsa_executable_iterate_program_symbols(
    hsa_executable_t executable,
    hsa_status_t (*visit)(hsa_executable_t executable, hsa_executable_symbol_t symbol, void* data), void* data);

/* Code objects as handles: HSA 1.0, deprecated since 1.1, answered with an error here. */
typedef enum { HSA_CODE_OBJECT_TYPE_PROGRAM = 0 } hsa_code_object_type_t;

typedef enum {
  HSA_CODE_OBJECT_INFO_VERSION = 0,
  HSA_CODE_OBJECT_INFO_TYPE = 1,
  HSA_CODE_OBJECT_INFO_ISA = 2,
  HSA_CODE_OBJECT_INFO_MACHINE_MODEL = 3,
  HSA_CODE_OBJECT_INFO_PROFILE = 4,
  HSA_CODE_OBJECT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5
} hsa_code_object_info_t;

typedef enum { HSA_CODE_SYMBOL_INFO_TYPE = 0 } hsa_code_symbol_info_t;

HSA_API hsa_status_t hsa_code_object_serialize(
    hsa_code_object_t object, hsa_status_t (*allocate)(size_t size, hsa_callback_data_t data, void** address),
    hsa_callback_data_t data, const char* options, void** image, size_t* size);
HSA_API hsa_status_t hsa_code_object_deserialize(void* image, size_t size, const char* options,
                                                 hsa_code_object_t* object);
HSA_API hsa_status_t hsa_code_object_destroy(hsa_code_object_t object);
HSA_API hsa_status_t hsa_code_object_get_info(hsa_code_object_t object, hsa_code_object_info_t attribute, void* value);
HSA_API hsa_status_t hsa_code_object_get_symbol(hsa_code_object_t object, const char* name, hsa_code_symbol_t* symbol);
HSA_API hsa_status_t hsa_code_object_get_symbol_from_name(hsa_code_object_t object, const char* module,
                                                          const char* name, hsa_code_symbol_t* symbol);
HSA_API hsa_status_t hsa_code_symbol_get_info(hsa_code_symbol_t symbol, hsa_code_symbol_info_t attribute, void* value);
HSA_API hsa_status_t hsa_code_object_iterate_symbols(hsa_code_object_t object,
                                                     hsa_status_t (*visit)(hsa_code_object_t object,
                                                                           hsa_code_symbol_t symbol, void* data),
                                                     void* data);
HSA_API hsa_status_t hsa_executable_load_code_object(hsa_executable_t executable, hsa_agent_t agent,
                                                     hsa_code_object_t object, const char* options);

#ifdef __cplusplus
}
#endif
#endif
