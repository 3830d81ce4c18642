// The tables a tool library gets in OnLoad. Every exported function jumps through its slot, so a
// tool that writes a slot has hooked the function for everybody, HIP included.
//
// Slot order and version numbers are those of ROCm of August 2025 (root 3/1, AmdExt 2/7). A table's minor_id
// is its size in bytes.
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

struct ApiTableVersion {
  uint32_t major_id, minor_id, step_id, reserved;
};

// CoreApiTable, AmdExtTable, FinalizerExtTable and ImageExtTable: slots.txt lists their slots.
#include "hsa_slots.h"

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
