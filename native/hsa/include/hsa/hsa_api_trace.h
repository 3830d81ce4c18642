// The tables a tool library gets in OnLoad. Every exported function jumps through its slot, so a
// tool that writes a slot has hooked the function for everybody, HIP included.
//
// Slot order and version numbers are those of ROCm of August 2025 (root 3/1, AmdExt 2/7 with 74
// slots; the first 70 are ROCm 6.2's). A table's minor_id is its size in bytes.
#ifndef RPL_HSA_API_TRACE_H
#define RPL_HSA_API_TRACE_H

#include "hsa.h"
#include "hsa_ext_amd.h"
#include "hsa_ext_finalize.h"
#include "hsa_ext_image.h"

#define HSA_API_TABLE_MAJOR_VERSION 3
#define HSA_API_TABLE_STEP_VERSION 1
#define HSA_CORE_API_TABLE_MAJOR_VERSION 2
#define HSA_CORE_API_TABLE_STEP_VERSION 0
#define HSA_AMD_EXT_API_TABLE_MAJOR_VERSION 2
#define HSA_AMD_EXT_API_TABLE_STEP_VERSION 7
#define HSA_FINALIZER_API_TABLE_MAJOR_VERSION 2
#define HSA_FINALIZER_API_TABLE_STEP_VERSION 0
#define HSA_IMAGE_API_TABLE_MAJOR_VERSION 2
#define HSA_IMAGE_API_TABLE_STEP_VERSION 0
#define HSA_TOOLS_API_TABLE_MAJOR_VERSION 1
#define HSA_TOOLS_API_TABLE_STEP_VERSION 0
#define HSA_PC_SAMPLING_API_TABLE_MAJOR_VERSION 1
#define HSA_PC_SAMPLING_API_TABLE_STEP_VERSION 0

extern "C" {

// For tools only: an intercept queue shows its packets to the handlers, last registered first, and
// passes on what they write.
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void* packets, uint64_t count);
typedef void (*hsa_amd_queue_intercept_handler)(const void* packets, uint64_t count, uint64_t user_packet_index,
                                                void* data, hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t* queue, hsa_agent_t agent, void* data);

HSA_API hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                                    void (*on_error)(hsa_status_t status, hsa_queue_t* queue,
                                                                     void* data),
                                                    void* data, uint32_t private_bytes, uint32_t group_bytes,
                                                    hsa_queue_t** queue);
HSA_API hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t* queue, hsa_amd_queue_intercept_handler handler,
                                                      void* data);
HSA_API hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier notifier, void* data);

}  // extern "C"

#define HSA_SLOT(name) decltype(name)* name##_fn;

struct ApiTableVersion {
  uint32_t major_id, minor_id, step_id, reserved;
};

struct CoreApiTable {
  ApiTableVersion version;
  HSA_SLOT(hsa_init)
  HSA_SLOT(hsa_shut_down)
  HSA_SLOT(hsa_system_get_info)
  HSA_SLOT(hsa_system_extension_supported)
  HSA_SLOT(hsa_system_get_extension_table)
  HSA_SLOT(hsa_iterate_agents)
  HSA_SLOT(hsa_agent_get_info)
  HSA_SLOT(hsa_queue_create)
  HSA_SLOT(hsa_soft_queue_create)
  HSA_SLOT(hsa_queue_destroy)
  HSA_SLOT(hsa_queue_inactivate)
  HSA_SLOT(hsa_queue_load_read_index_scacquire)
  HSA_SLOT(hsa_queue_load_read_index_relaxed)
  HSA_SLOT(hsa_queue_load_write_index_scacquire)
  HSA_SLOT(hsa_queue_load_write_index_relaxed)
  HSA_SLOT(hsa_queue_store_write_index_relaxed)
  HSA_SLOT(hsa_queue_store_write_index_screlease)
  HSA_SLOT(hsa_queue_cas_write_index_scacq_screl)
  HSA_SLOT(hsa_queue_cas_write_index_scacquire)
  HSA_SLOT(hsa_queue_cas_write_index_relaxed)
  HSA_SLOT(hsa_queue_cas_write_index_screlease)
  HSA_SLOT(hsa_queue_add_write_index_scacq_screl)
  HSA_SLOT(hsa_queue_add_write_index_scacquire)
  HSA_SLOT(hsa_queue_add_write_index_relaxed)
  HSA_SLOT(hsa_queue_add_write_index_screlease)
  HSA_SLOT(hsa_queue_store_read_index_relaxed)
  HSA_SLOT(hsa_queue_store_read_index_screlease)
  HSA_SLOT(hsa_agent_iterate_regions)
  HSA_SLOT(hsa_region_get_info)
  HSA_SLOT(hsa_agent_get_exception_policies)
  HSA_SLOT(hsa_agent_extension_supported)
  HSA_SLOT(hsa_memory_register)
  HSA_SLOT(hsa_memory_deregister)
  HSA_SLOT(hsa_memory_allocate)
  HSA_SLOT(hsa_memory_free)
  HSA_SLOT(hsa_memory_copy)
  HSA_SLOT(hsa_memory_assign_agent)
  HSA_SLOT(hsa_signal_create)
  HSA_SLOT(hsa_signal_destroy)
  HSA_SLOT(hsa_signal_load_relaxed)
  HSA_SLOT(hsa_signal_load_scacquire)
  HSA_SLOT(hsa_signal_store_relaxed)
  HSA_SLOT(hsa_signal_store_screlease)
  HSA_SLOT(hsa_signal_wait_relaxed)
  HSA_SLOT(hsa_signal_wait_scacquire)
  HSA_SLOT(hsa_signal_and_relaxed)
  HSA_SLOT(hsa_signal_and_scacquire)
  HSA_SLOT(hsa_signal_and_screlease)
  HSA_SLOT(hsa_signal_and_scacq_screl)
  HSA_SLOT(hsa_signal_or_relaxed)
  HSA_SLOT(hsa_signal_or_scacquire)
  HSA_SLOT(hsa_signal_or_screlease)
  HSA_SLOT(hsa_signal_or_scacq_screl)
  HSA_SLOT(hsa_signal_xor_relaxed)
  HSA_SLOT(hsa_signal_xor_scacquire)
  HSA_SLOT(hsa_signal_xor_screlease)
  HSA_SLOT(hsa_signal_xor_scacq_screl)
  HSA_SLOT(hsa_signal_exchange_relaxed)
  HSA_SLOT(hsa_signal_exchange_scacquire)
  HSA_SLOT(hsa_signal_exchange_screlease)
  HSA_SLOT(hsa_signal_exchange_scacq_screl)
  HSA_SLOT(hsa_signal_add_relaxed)
  HSA_SLOT(hsa_signal_add_scacquire)
  HSA_SLOT(hsa_signal_add_screlease)
  HSA_SLOT(hsa_signal_add_scacq_screl)
  HSA_SLOT(hsa_signal_subtract_relaxed)
  HSA_SLOT(hsa_signal_subtract_scacquire)
  HSA_SLOT(hsa_signal_subtract_screlease)
  HSA_SLOT(hsa_signal_subtract_scacq_screl)
  HSA_SLOT(hsa_signal_cas_relaxed)
  HSA_SLOT(hsa_signal_cas_scacquire)
  HSA_SLOT(hsa_signal_cas_screlease)
  HSA_SLOT(hsa_signal_cas_scacq_screl)
  HSA_SLOT(hsa_isa_from_name)
  HSA_SLOT(hsa_isa_get_info)
  HSA_SLOT(hsa_isa_compatible)
  HSA_SLOT(hsa_code_object_serialize)
  HSA_SLOT(hsa_code_object_deserialize)
  HSA_SLOT(hsa_code_object_destroy)
  HSA_SLOT(hsa_code_object_get_info)
  HSA_SLOT(hsa_code_object_get_symbol)
  HSA_SLOT(hsa_code_symbol_get_info)
  HSA_SLOT(hsa_code_object_iterate_symbols)
  HSA_SLOT(hsa_executable_create)
  HSA_SLOT(hsa_executable_destroy)
  HSA_SLOT(hsa_executable_load_code_object)
  HSA_SLOT(hsa_executable_freeze)
  HSA_SLOT(hsa_executable_get_info)
  HSA_SLOT(hsa_executable_global_variable_define)
  HSA_SLOT(hsa_executable_agent_global_variable_define)
  HSA_SLOT(hsa_executable_readonly_variable_define)
  HSA_SLOT(hsa_executable_validate)
  HSA_SLOT(hsa_executable_get_symbol)
  HSA_SLOT(hsa_executable_symbol_get_info)
  HSA_SLOT(hsa_executable_iterate_symbols)
  HSA_SLOT(hsa_status_string)
  HSA_SLOT(hsa_extension_get_name)
  HSA_SLOT(hsa_system_major_extension_supported)
  HSA_SLOT(hsa_system_get_major_extension_table)
  HSA_SLOT(hsa_agent_major_extension_supported)
  HSA_SLOT(hsa_cache_get_info)
  HSA_SLOT(hsa_agent_iterate_caches)
  HSA_SLOT(hsa_signal_silent_store_relaxed)
  HSA_SLOT(hsa_signal_silent_store_screlease)
  HSA_SLOT(hsa_signal_group_create)
  HSA_SLOT(hsa_signal_group_destroy)
  HSA_SLOT(hsa_signal_group_wait_any_scacquire)
  HSA_SLOT(hsa_signal_group_wait_any_relaxed)
  HSA_SLOT(hsa_agent_iterate_isas)
  HSA_SLOT(hsa_isa_get_info_alt)
  HSA_SLOT(hsa_isa_get_exception_policies)
  HSA_SLOT(hsa_isa_get_round_method)
  HSA_SLOT(hsa_wavefront_get_info)
  HSA_SLOT(hsa_isa_iterate_wavefronts)
  HSA_SLOT(hsa_code_object_get_symbol_from_name)
  HSA_SLOT(hsa_code_object_reader_create_from_file)
  HSA_SLOT(hsa_code_object_reader_create_from_memory)
  HSA_SLOT(hsa_code_object_reader_destroy)
  HSA_SLOT(hsa_executable_create_alt)
  HSA_SLOT(hsa_executable_load_program_code_object)
  HSA_SLOT(hsa_executable_load_agent_code_object)
  HSA_SLOT(hsa_executable_validate_alt)
  HSA_SLOT(hsa_executable_get_symbol_by_name)
  HSA_SLOT(hsa_executable_iterate_agent_symbols)
  HSA_SLOT(hsa_executable_iterate_program_symbols)
};

struct AmdExtTable {
  ApiTableVersion version;
  HSA_SLOT(hsa_amd_coherency_get_type)
  HSA_SLOT(hsa_amd_coherency_set_type)
  HSA_SLOT(hsa_amd_profiling_set_profiler_enabled)
  HSA_SLOT(hsa_amd_profiling_async_copy_enable)
  HSA_SLOT(hsa_amd_profiling_get_dispatch_time)
  HSA_SLOT(hsa_amd_profiling_get_async_copy_time)
  HSA_SLOT(hsa_amd_profiling_convert_tick_to_system_domain)
  HSA_SLOT(hsa_amd_signal_async_handler)
  HSA_SLOT(hsa_amd_async_function)
  HSA_SLOT(hsa_amd_signal_wait_any)
  HSA_SLOT(hsa_amd_queue_cu_set_mask)
  HSA_SLOT(hsa_amd_memory_pool_get_info)
  HSA_SLOT(hsa_amd_agent_iterate_memory_pools)
  HSA_SLOT(hsa_amd_memory_pool_allocate)
  HSA_SLOT(hsa_amd_memory_pool_free)
  HSA_SLOT(hsa_amd_memory_async_copy)
  HSA_SLOT(hsa_amd_memory_async_copy_on_engine)
  HSA_SLOT(hsa_amd_memory_copy_engine_status)
  HSA_SLOT(hsa_amd_agent_memory_pool_get_info)
  HSA_SLOT(hsa_amd_agents_allow_access)
  HSA_SLOT(hsa_amd_memory_pool_can_migrate)
  HSA_SLOT(hsa_amd_memory_migrate)
  HSA_SLOT(hsa_amd_memory_lock)
  HSA_SLOT(hsa_amd_memory_unlock)
  HSA_SLOT(hsa_amd_memory_fill)
  HSA_SLOT(hsa_amd_interop_map_buffer)
  HSA_SLOT(hsa_amd_interop_unmap_buffer)
  HSA_SLOT(hsa_amd_image_create)
  HSA_SLOT(hsa_amd_pointer_info)
  HSA_SLOT(hsa_amd_pointer_info_set_userdata)
  HSA_SLOT(hsa_amd_ipc_memory_create)
  HSA_SLOT(hsa_amd_ipc_memory_attach)
  HSA_SLOT(hsa_amd_ipc_memory_detach)
  HSA_SLOT(hsa_amd_signal_create)
  HSA_SLOT(hsa_amd_ipc_signal_create)
  HSA_SLOT(hsa_amd_ipc_signal_attach)
  HSA_SLOT(hsa_amd_register_system_event_handler)
  HSA_SLOT(hsa_amd_queue_intercept_create)
  HSA_SLOT(hsa_amd_queue_intercept_register)
  HSA_SLOT(hsa_amd_queue_set_priority)
  HSA_SLOT(hsa_amd_memory_async_copy_rect)
  HSA_SLOT(hsa_amd_runtime_queue_create_register)
  HSA_SLOT(hsa_amd_memory_lock_to_pool)
  HSA_SLOT(hsa_amd_register_deallocation_callback)
  HSA_SLOT(hsa_amd_deregister_deallocation_callback)
  HSA_SLOT(hsa_amd_signal_value_pointer)
  HSA_SLOT(hsa_amd_svm_attributes_set)
  HSA_SLOT(hsa_amd_svm_attributes_get)
  HSA_SLOT(hsa_amd_svm_prefetch_async)
  HSA_SLOT(hsa_amd_spm_acquire)
  HSA_SLOT(hsa_amd_spm_release)
  HSA_SLOT(hsa_amd_spm_set_dest_buffer)
  HSA_SLOT(hsa_amd_queue_cu_get_mask)
  HSA_SLOT(hsa_amd_portable_export_dmabuf)
  HSA_SLOT(hsa_amd_portable_close_dmabuf)
  HSA_SLOT(hsa_amd_vmem_address_reserve)
  HSA_SLOT(hsa_amd_vmem_address_free)
  HSA_SLOT(hsa_amd_vmem_handle_create)
  HSA_SLOT(hsa_amd_vmem_handle_release)
  HSA_SLOT(hsa_amd_vmem_map)
  HSA_SLOT(hsa_amd_vmem_unmap)
  HSA_SLOT(hsa_amd_vmem_set_access)
  HSA_SLOT(hsa_amd_vmem_get_access)
  HSA_SLOT(hsa_amd_vmem_export_shareable_handle)
  HSA_SLOT(hsa_amd_vmem_import_shareable_handle)
  HSA_SLOT(hsa_amd_vmem_retain_alloc_handle)
  HSA_SLOT(hsa_amd_vmem_get_alloc_properties_from_handle)
  HSA_SLOT(hsa_amd_agent_set_async_scratch_limit)
  HSA_SLOT(hsa_amd_queue_get_info)
  HSA_SLOT(hsa_amd_vmem_address_reserve_align)
  HSA_SLOT(hsa_amd_enable_logging)
  HSA_SLOT(hsa_amd_signal_wait_all)
  HSA_SLOT(hsa_amd_memory_get_preferred_copy_engine)
  HSA_SLOT(hsa_amd_portable_export_dmabuf_v2)
};

struct FinalizerExtTable {
  ApiTableVersion version;
  HSA_SLOT(hsa_ext_program_create)
  HSA_SLOT(hsa_ext_program_destroy)
  HSA_SLOT(hsa_ext_program_add_module)
  HSA_SLOT(hsa_ext_program_iterate_modules)
  HSA_SLOT(hsa_ext_program_get_info)
  HSA_SLOT(hsa_ext_program_finalize)
};

struct ImageExtTable {
  ApiTableVersion version;
  HSA_SLOT(hsa_ext_image_get_capability)
  HSA_SLOT(hsa_ext_image_data_get_info)
  HSA_SLOT(hsa_ext_image_create)
  HSA_SLOT(hsa_ext_image_import)
  HSA_SLOT(hsa_ext_image_export)
  HSA_SLOT(hsa_ext_image_copy)
  HSA_SLOT(hsa_ext_image_clear)
  HSA_SLOT(hsa_ext_image_destroy)
  HSA_SLOT(hsa_ext_sampler_create)
  HSA_SLOT(hsa_ext_sampler_destroy)
  HSA_SLOT(hsa_ext_image_get_capability_with_layout)
  HSA_SLOT(hsa_ext_image_data_get_info_with_layout)
  HSA_SLOT(hsa_ext_image_create_with_layout)
};

// Scratch events are announced through these slots by the runtime; nobody calls them from outside.
struct ToolsApiTable {
  ApiTableVersion version;
  hsa_status_t (*hsa_amd_tool_scratch_event_alloc_start_fn)(const void* event);
  hsa_status_t (*hsa_amd_tool_scratch_event_alloc_end_fn)(const void* event);
  hsa_status_t (*hsa_amd_tool_scratch_event_free_start_fn)(const void* event);
  hsa_status_t (*hsa_amd_tool_scratch_event_free_end_fn)(const void* event);
  hsa_status_t (*hsa_amd_tool_scratch_event_async_reclaim_start_fn)(const void* event);
  hsa_status_t (*hsa_amd_tool_scratch_event_async_reclaim_end_fn)(const void* event);
};

// PC sampling is not modelled: the seven slots answer HSA_STATUS_ERROR_NOT_SUPPORTED.
struct PcSamplingExtTable {
  ApiTableVersion version;
  hsa_status_t (*slots[7])(void);
};

struct HsaApiTable {
  ApiTableVersion version;
  CoreApiTable* core_;
  AmdExtTable* amd_ext_;
  FinalizerExtTable* finalizer_ext_;
  ImageExtTable* image_ext_;
  ToolsApiTable* tools_;
  PcSamplingExtTable* pc_sampling_ext_;
};

#endif
