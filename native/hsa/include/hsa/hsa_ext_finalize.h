/* The finalizer of HSAIL, which no ROCm of the last years contains: present in the tables only. */
#ifndef RPL_HSA_EXT_FINALIZE_H
#define RPL_HSA_EXT_FINALIZE_H

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

HSA_HANDLE(hsa_ext_program);
typedef struct BrigModuleHeader* hsa_ext_module_t;
typedef enum { HSA_EXT_PROGRAM_INFO_MACHINE_MODEL = 0 } hsa_ext_program_info_t;
typedef struct hsa_ext_control_directives_s {
  uint64_t control_directives_mask;
  uint16_t break_exceptions_mask, detect_exceptions_mask;
  uint32_t max_dynamic_group_size;
  uint64_t max_flat_grid_size;
  uint32_t max_flat_workgroup_size, reserved1;
  uint64_t required_grid_size[3];
  hsa_dim3_t required_workgroup_size;
  uint8_t required_dim, reserved2[75];
} hsa_ext_control_directives_t;

HSA_API hsa_status_t hsa_ext_program_create(hsa_machine_model_t model, hsa_profile_t profile,
                                            hsa_default_float_rounding_mode_t rounding, const char* options,
                                            hsa_ext_program_t* program);
HSA_API hsa_status_t hsa_ext_program_destroy(hsa_ext_program_t program);
HSA_API hsa_status_t hsa_ext_program_add_module(hsa_ext_program_t program, hsa_ext_module_t module);
HSA_API hsa_status_t hsa_ext_program_iterate_modules(hsa_ext_program_t program,
                                                     hsa_status_t (*visit)(hsa_ext_program_t program,
                                                                           hsa_ext_module_t module, void* data),
                                                     void* data);
HSA_API hsa_status_t hsa_ext_program_get_info(hsa_ext_program_t program, hsa_ext_program_info_t attribute, void* value);
HSA_API hsa_status_t hsa_ext_program_finalize(hsa_ext_program_t program, hsa_isa_t isa, int32_t call_convention,
                                              hsa_ext_control_directives_t directives, const char* options,
                                              hsa_code_object_type_t type, hsa_code_object_t* object);

#ifdef __cplusplus
}
#endif
#endif
