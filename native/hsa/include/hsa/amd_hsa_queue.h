/* What a queue pointer of a GPU agent points to: hsa_queue_t first, then what device code may read
 * (the aperture bases through queue_ptr) and what debuggers and tools look at. */
#ifndef RPL_AMD_HSA_QUEUE_H
#define RPL_AMD_HSA_QUEUE_H

#include "hsa.h"

typedef uint32_t amd_queue_properties32_t;
enum amd_queue_properties_t {
  AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER = 1,
  AMD_QUEUE_PROPERTIES_IS_PTR64 = 2,
  AMD_QUEUE_PROPERTIES_ENABLE_TRAP_HANDLER_DEBUG_SGPRS = 4,
  AMD_QUEUE_PROPERTIES_ENABLE_PROFILING = 8,
  AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE = 16
};

typedef struct __attribute__((aligned(64))) amd_queue_s {
  hsa_queue_t hsa_queue;
  uint32_t caps, reserved1[3];
  volatile uint64_t write_dispatch_id;
  uint32_t group_segment_aperture_base_hi, private_segment_aperture_base_hi;
  uint32_t max_cu_id, max_wave_id;
  volatile uint64_t max_legacy_doorbell_dispatch_id_plus_1;
  volatile uint32_t legacy_doorbell_lock;
  uint32_t reserved2[9];
  volatile uint64_t read_dispatch_id;
  uint32_t read_dispatch_id_field_base_byte_offset;
  uint32_t compute_tmpring_size;
  uint32_t scratch_resource_descriptor[4];
  uint64_t scratch_backing_memory_location, scratch_backing_memory_byte_size;
  uint32_t scratch_wave64_lane_byte_size;
  amd_queue_properties32_t queue_properties;
  uint64_t scratch_max_use_index;
  hsa_signal_t queue_inactive_signal;
  uint32_t reserved4[14];
} amd_queue_t;

#endif
