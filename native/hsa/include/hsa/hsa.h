/* HSA 1.x C interface of the virtual GPU.
 *
 * Written for this project from the published interface: names, numbers and layouts are those of
 * ROCm's libhsa-runtime64.so.1, because programs and tools built against that library load ours.
 * What each call does is told in AMD's and the HSA Foundation's documents; comments here say only
 * what the virtual GPU does differently, or what is easy to get wrong.
 */
#ifndef RPL_HSA_H
#define RPL_HSA_H

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifndef HSA_API
#define HSA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plain types ------------------------------------------------------------------------- */

/* Every HSA object is known by a 64-bit handle in a struct of its own. */
#define HSA_HANDLE(stem)    \
  typedef struct stem##_s { \
    uint64_t handle;        \
  } stem##_t

HSA_HANDLE(hsa_agent);
HSA_HANDLE(hsa_cache);
HSA_HANDLE(hsa_callback_data);
HSA_HANDLE(hsa_code_object);
HSA_HANDLE(hsa_code_object_reader);
HSA_HANDLE(hsa_code_symbol);
HSA_HANDLE(hsa_executable);
HSA_HANDLE(hsa_executable_symbol);
HSA_HANDLE(hsa_isa);
HSA_HANDLE(hsa_loaded_code_object);
HSA_HANDLE(hsa_region);
HSA_HANDLE(hsa_signal);
HSA_HANDLE(hsa_signal_group);
HSA_HANDLE(hsa_wavefront);

typedef int hsa_file_t; /* a POSIX file descriptor */
typedef int64_t hsa_signal_value_t;
typedef uint32_t hsa_queue_type32_t;

typedef struct hsa_dim3_s {
  uint32_t x, y, z;
} hsa_dim3_t;

typedef enum {
  HSA_STATUS_SUCCESS = 0,
  HSA_STATUS_INFO_BREAK = 1,
  HSA_STATUS_ERROR = 0x1000,
  HSA_STATUS_ERROR_INVALID_ARGUMENT = 0x1001,
  HSA_STATUS_ERROR_INVALID_QUEUE_CREATION = 0x1002,
  HSA_STATUS_ERROR_INVALID_ALLOCATION = 0x1003,
  HSA_STATUS_ERROR_INVALID_AGENT = 0x1004,
  HSA_STATUS_ERROR_INVALID_REGION = 0x1005,
  HSA_STATUS_ERROR_INVALID_SIGNAL = 0x1006,
  HSA_STATUS_ERROR_INVALID_QUEUE = 0x1007,
  HSA_STATUS_ERROR_OUT_OF_RESOURCES = 0x1008,
  HSA_STATUS_ERROR_INVALID_PACKET_FORMAT = 0x1009,
  HSA_STATUS_ERROR_RESOURCE_FREE = 0x100A,
  HSA_STATUS_ERROR_NOT_INITIALIZED = 0x100B,
  HSA_STATUS_ERROR_REFCOUNT_OVERFLOW = 0x100C,
  HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS = 0x100D,
  HSA_STATUS_ERROR_INVALID_INDEX = 0x100E,
  HSA_STATUS_ERROR_INVALID_ISA = 0x100F,
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT = 0x1010,
  HSA_STATUS_ERROR_INVALID_EXECUTABLE = 0x1011,
  HSA_STATUS_ERROR_FROZEN_EXECUTABLE = 0x1012,
  HSA_STATUS_ERROR_INVALID_SYMBOL_NAME = 0x1013,
  HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED = 0x1014,
  HSA_STATUS_ERROR_VARIABLE_UNDEFINED = 0x1015,
  HSA_STATUS_ERROR_EXCEPTION = 0x1016,
  HSA_STATUS_ERROR_INVALID_ISA_NAME = 0x1017,
  HSA_STATUS_ERROR_INVALID_CODE_SYMBOL = 0x1018,
  HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL = 0x1019,
  HSA_STATUS_ERROR_INVALID_FILE = 0x1020,
  HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER = 0x1021,
  HSA_STATUS_ERROR_INVALID_CACHE = 0x1022,
  HSA_STATUS_ERROR_INVALID_WAVEFRONT = 0x1023,
  HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP = 0x1024,
  HSA_STATUS_ERROR_INVALID_RUNTIME_STATE = 0x1025,
  HSA_STATUS_ERROR_FATAL = 0x1026
} hsa_status_t;

typedef enum {
  HSA_ACCESS_PERMISSION_NONE = 0,
  HSA_ACCESS_PERMISSION_RO = 1,
  HSA_ACCESS_PERMISSION_WO = 2,
  HSA_ACCESS_PERMISSION_RW = 3
} hsa_access_permission_t;

typedef enum { HSA_ENDIANNESS_LITTLE = 0, HSA_ENDIANNESS_BIG = 1 } hsa_endianness_t;
typedef enum { HSA_MACHINE_MODEL_SMALL = 0, HSA_MACHINE_MODEL_LARGE = 1 } hsa_machine_model_t;
typedef enum { HSA_PROFILE_BASE = 0, HSA_PROFILE_FULL = 1 } hsa_profile_t;
typedef enum { HSA_WAIT_STATE_BLOCKED = 0, HSA_WAIT_STATE_ACTIVE = 1 } hsa_wait_state_t;
typedef enum { HSA_EXCEPTION_POLICY_BREAK = 1, HSA_EXCEPTION_POLICY_DETECT = 2 } hsa_exception_policy_t;
typedef enum { HSA_FP_TYPE_16 = 1, HSA_FP_TYPE_32 = 2, HSA_FP_TYPE_64 = 4 } hsa_fp_type_t;
typedef enum { HSA_FLUSH_MODE_FTZ = 1, HSA_FLUSH_MODE_NON_FTZ = 2 } hsa_flush_mode_t;
typedef enum { HSA_ROUND_METHOD_SINGLE = 1, HSA_ROUND_METHOD_DOUBLE = 2 } hsa_round_method_t;
typedef enum { HSA_WAVEFRONT_INFO_SIZE = 0 } hsa_wavefront_info_t;

typedef enum {
  HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT = 0,
  HSA_DEFAULT_FLOAT_ROUNDING_MODE_ZERO = 1,
  HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR = 2
} hsa_default_float_rounding_mode_t;

typedef enum {
  HSA_SIGNAL_CONDITION_EQ = 0,
  HSA_SIGNAL_CONDITION_NE = 1,
  HSA_SIGNAL_CONDITION_LT = 2,
  HSA_SIGNAL_CONDITION_GTE = 3
} hsa_signal_condition_t;

/* ---- the library and the system ------------------------------------------------------------ */

typedef enum {
  HSA_SYSTEM_INFO_VERSION_MAJOR = 0,       /* uint16_t */
  HSA_SYSTEM_INFO_VERSION_MINOR = 1,       /* uint16_t */
  HSA_SYSTEM_INFO_TIMESTAMP = 2,           /* uint64_t */
  HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY = 3, /* uint64_t, Hz */
  HSA_SYSTEM_INFO_SIGNAL_MAX_WAIT = 4,     /* uint64_t */
  HSA_SYSTEM_INFO_ENDIANNESS = 5,
  HSA_SYSTEM_INFO_MACHINE_MODEL = 6,
  HSA_SYSTEM_INFO_EXTENSIONS = 7, /* 128 bytes, one bit per extension */
  HSA_AMD_SYSTEM_INFO_BUILD_VERSION = 0x200,
  HSA_AMD_SYSTEM_INFO_SVM_SUPPORTED = 0x201,
  HSA_AMD_SYSTEM_INFO_SVM_ACCESSIBLE_BY_DEFAULT = 0x202,
  HSA_AMD_SYSTEM_INFO_MWAITX_ENABLED = 0x203,
  HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED = 0x204,
  HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED = 0x205,
  HSA_AMD_SYSTEM_INFO_XNACK_ENABLED = 0x206,
  HSA_AMD_SYSTEM_INFO_EXT_VERSION_MAJOR = 0x207,
  HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR = 0x208
} hsa_system_info_t;

typedef enum {
  HSA_EXTENSION_FINALIZER = 0,
  HSA_EXTENSION_IMAGES = 1,
  HSA_EXTENSION_PERFORMANCE_COUNTERS = 2,
  HSA_EXTENSION_PROFILING_EVENTS = 3,
  HSA_EXTENSION_STD_LAST = 3,
  HSA_AMD_FIRST_EXTENSION = 0x200,
  HSA_EXTENSION_AMD_PROFILER = 0x200,
  HSA_EXTENSION_AMD_LOADER = 0x201,
  HSA_EXTENSION_AMD_AQLPROFILE = 0x202,
  HSA_EXTENSION_AMD_PC_SAMPLING = 0x203,
  HSA_AMD_LAST_EXTENSION = 0x203
} hsa_extension_t;

HSA_API hsa_status_t hsa_init(void);
HSA_API hsa_status_t hsa_shut_down(void);
HSA_API hsa_status_t hsa_status_string(hsa_status_t status, const char** text);
HSA_API hsa_status_t hsa_system_get_info(hsa_system_info_t attribute, void* value);
HSA_API hsa_status_t hsa_extension_get_name(uint16_t extension, const char** name);
HSA_API hsa_status_t hsa_system_extension_supported(uint16_t extension, uint16_t major, uint16_t minor, bool* result);
HSA_API hsa_status_t hsa_system_major_extension_supported(uint16_t extension, uint16_t major, uint16_t* minor,
                                                          bool* result);
HSA_API hsa_status_t hsa_system_get_extension_table(uint16_t extension, uint16_t major, uint16_t minor, void* table);
HSA_API hsa_status_t hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                                          void* table);

/* ---- agents ---------------------------------------------------------------------------------- */

typedef enum { HSA_AGENT_FEATURE_KERNEL_DISPATCH = 1, HSA_AGENT_FEATURE_AGENT_DISPATCH = 2 } hsa_agent_feature_t;

typedef enum {
  HSA_DEVICE_TYPE_CPU = 0,
  HSA_DEVICE_TYPE_GPU = 1,
  HSA_DEVICE_TYPE_DSP = 2,
  HSA_DEVICE_TYPE_AIE = 3
} hsa_device_type_t;

typedef enum {
  HSA_AGENT_INFO_NAME = 0,        /* char[64] */
  HSA_AGENT_INFO_VENDOR_NAME = 1, /* char[64] */
  HSA_AGENT_INFO_FEATURE = 2,
  HSA_AGENT_INFO_MACHINE_MODEL = 3,
  HSA_AGENT_INFO_PROFILE = 4,
  HSA_AGENT_INFO_DEFAULT_FLOAT_ROUNDING_MODE = 5,
  HSA_AGENT_INFO_WAVEFRONT_SIZE = 6,
  HSA_AGENT_INFO_WORKGROUP_MAX_DIM = 7,  /* uint16_t[3] */
  HSA_AGENT_INFO_WORKGROUP_MAX_SIZE = 8, /* uint32_t */
  HSA_AGENT_INFO_GRID_MAX_DIM = 9,       /* hsa_dim3_t */
  HSA_AGENT_INFO_GRID_MAX_SIZE = 10,     /* uint32_t */
  HSA_AGENT_INFO_FBARRIER_MAX_SIZE = 11,
  HSA_AGENT_INFO_QUEUES_MAX = 12,
  HSA_AGENT_INFO_QUEUE_MIN_SIZE = 13,
  HSA_AGENT_INFO_QUEUE_MAX_SIZE = 14,
  HSA_AGENT_INFO_QUEUE_TYPE = 15,
  HSA_AGENT_INFO_NODE = 16,
  HSA_AGENT_INFO_DEVICE = 17,
  HSA_AGENT_INFO_CACHE_SIZE = 18, /* uint32_t[4] */
  HSA_AGENT_INFO_ISA = 19,
  HSA_AGENT_INFO_EXTENSIONS = 20, /* 128 bytes */
  HSA_AGENT_INFO_VERSION_MAJOR = 21,
  HSA_AGENT_INFO_VERSION_MINOR = 22,
  HSA_AGENT_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 23,
  HSA_AGENT_INFO_FAST_F16_OPERATION = 24,
  HSA_AGENT_INFO_LAST = INT32_MAX /* AMD's attributes, hsa_ext_amd.h, go through this type too */
} hsa_agent_info_t;

typedef enum {
  HSA_CACHE_INFO_NAME_LENGTH = 0, /* uint32_t */
  HSA_CACHE_INFO_NAME = 1,
  HSA_CACHE_INFO_LEVEL = 2, /* uint8_t */
  HSA_CACHE_INFO_SIZE = 3   /* uint32_t */
} hsa_cache_info_t;

HSA_API hsa_status_t hsa_iterate_agents(hsa_status_t (*visit)(hsa_agent_t agent, void* data), void* data);
HSA_API hsa_status_t hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void* value);
HSA_API hsa_status_t hsa_agent_get_exception_policies(hsa_agent_t agent, hsa_profile_t profile, uint16_t* mask);
HSA_API hsa_status_t hsa_agent_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                                   uint16_t minor, bool* result);
HSA_API hsa_status_t hsa_agent_major_extension_supported(uint16_t extension, hsa_agent_t agent, uint16_t major,
                                                         uint16_t* minor, bool* result);
HSA_API hsa_status_t hsa_agent_iterate_caches(hsa_agent_t agent, hsa_status_t (*visit)(hsa_cache_t cache, void* data),
                                              void* data);
HSA_API hsa_status_t hsa_cache_get_info(hsa_cache_t cache, hsa_cache_info_t attribute, void* value);

/* ---- signals --------------------------------------------------------------------------------- */

/* Memory orders come in families. The names without "sc" are HSA 1.0's and mean the same. */
#define HSA_SIGNAL_UPDATE(op, order) \
  HSA_API void hsa_signal_##op##_##order(hsa_signal_t signal, hsa_signal_value_t value)
#define HSA_SIGNAL_FAMILY(op)         \
  HSA_SIGNAL_UPDATE(op, relaxed);     \
  HSA_SIGNAL_UPDATE(op, scacquire);   \
  HSA_SIGNAL_UPDATE(op, screlease);   \
  HSA_SIGNAL_UPDATE(op, scacq_screl); \
  HSA_SIGNAL_UPDATE(op, acquire);     \
  HSA_SIGNAL_UPDATE(op, release);     \
  HSA_SIGNAL_UPDATE(op, acq_rel)
#define HSA_SIGNAL_SWAP(order)                                                                           \
  HSA_API hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value); \
  HSA_API hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,    \
                                                    hsa_signal_value_t value)
#define HSA_SIGNAL_WAIT(order)                                                                              \
  HSA_API hsa_signal_value_t hsa_signal_wait_##order(hsa_signal_t signal, hsa_signal_condition_t condition, \
                                                     hsa_signal_value_t compare, uint64_t timeout,          \
                                                     hsa_wait_state_t hint)
#define HSA_SIGNAL_GROUP_WAIT(order)                                                                          \
  HSA_API hsa_status_t hsa_signal_group_wait_any_##order(                                                     \
      hsa_signal_group_t group, const hsa_signal_condition_t* conditions, const hsa_signal_value_t* compares, \
      hsa_wait_state_t hint, hsa_signal_t* signal, hsa_signal_value_t* value)

HSA_API hsa_status_t hsa_signal_create(hsa_signal_value_t initial, uint32_t consumer_count,
                                       const hsa_agent_t* consumers, hsa_signal_t* signal);
HSA_API hsa_status_t hsa_signal_destroy(hsa_signal_t signal);
HSA_API hsa_signal_value_t hsa_signal_load_relaxed(hsa_signal_t signal);
HSA_API hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal);
HSA_API hsa_signal_value_t hsa_signal_load_acquire(hsa_signal_t signal);
HSA_SIGNAL_UPDATE(store, relaxed);
HSA_SIGNAL_UPDATE(store, screlease);
HSA_SIGNAL_UPDATE(store, release);
HSA_SIGNAL_UPDATE(silent_store, relaxed);
HSA_SIGNAL_UPDATE(silent_store, screlease);
HSA_SIGNAL_FAMILY(add);
HSA_SIGNAL_FAMILY(subtract);
HSA_SIGNAL_FAMILY(and);
HSA_SIGNAL_FAMILY(or);
HSA_SIGNAL_FAMILY(xor);
HSA_SIGNAL_SWAP(relaxed);
HSA_SIGNAL_SWAP(scacquire);
HSA_SIGNAL_SWAP(screlease);
HSA_SIGNAL_SWAP(scacq_screl);
HSA_SIGNAL_SWAP(acquire);
HSA_SIGNAL_SWAP(release);
HSA_SIGNAL_SWAP(acq_rel);
HSA_SIGNAL_WAIT(relaxed);
HSA_SIGNAL_WAIT(scacquire);
HSA_SIGNAL_WAIT(acquire);
HSA_API hsa_status_t hsa_signal_group_create(uint32_t signal_count, const hsa_signal_t* signals,
                                             uint32_t consumer_count, const hsa_agent_t* consumers,
                                             hsa_signal_group_t* group);
HSA_API hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t group);
HSA_SIGNAL_GROUP_WAIT(relaxed);
HSA_SIGNAL_GROUP_WAIT(scacquire);

/* ---- queues and packets ---------------------------------------------------------------------- */

typedef enum { HSA_QUEUE_TYPE_MULTI = 0, HSA_QUEUE_TYPE_SINGLE = 1, HSA_QUEUE_TYPE_COOPERATIVE = 2 } hsa_queue_type_t;

typedef enum { HSA_QUEUE_FEATURE_KERNEL_DISPATCH = 1, HSA_QUEUE_FEATURE_AGENT_DISPATCH = 2 } hsa_queue_feature_t;

typedef struct hsa_queue_s {
  hsa_queue_type32_t type;
  uint32_t features;
  void* base_address;
  hsa_signal_t doorbell_signal;
  uint32_t size; /* packets, a power of two */
  uint32_t reserved1;
  uint64_t id;
} hsa_queue_t;

HSA_API hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                      void (*on_error)(hsa_status_t status, hsa_queue_t* queue, void* data), void* data,
                                      uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t** queue);
HSA_API hsa_status_t hsa_soft_queue_create(hsa_region_t region, uint32_t size, hsa_queue_type32_t type,
                                           uint32_t features, hsa_signal_t doorbell, hsa_queue_t** queue);
HSA_API hsa_status_t hsa_queue_destroy(hsa_queue_t* queue);
HSA_API hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue);

#define HSA_QUEUE_LOAD(order)                                                   \
  HSA_API uint64_t hsa_queue_load_read_index_##order(const hsa_queue_t* queue); \
  HSA_API uint64_t hsa_queue_load_write_index_##order(const hsa_queue_t* queue)
#define HSA_QUEUE_STORE(order)                                                                \
  HSA_API void hsa_queue_store_write_index_##order(const hsa_queue_t* queue, uint64_t value); \
  HSA_API void hsa_queue_store_read_index_##order(const hsa_queue_t* queue, uint64_t value)
#define HSA_QUEUE_CHANGE(order)                                                                 \
  HSA_API uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t* queue, uint64_t value); \
  HSA_API uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t* queue, uint64_t expected, uint64_t value)
HSA_QUEUE_LOAD(relaxed);
HSA_QUEUE_LOAD(scacquire);
HSA_QUEUE_LOAD(acquire);
HSA_QUEUE_STORE(relaxed);
HSA_QUEUE_STORE(screlease);
HSA_QUEUE_STORE(release);
HSA_QUEUE_CHANGE(relaxed);
HSA_QUEUE_CHANGE(scacquire);
HSA_QUEUE_CHANGE(screlease);
HSA_QUEUE_CHANGE(scacq_screl);
HSA_QUEUE_CHANGE(acquire);
HSA_QUEUE_CHANGE(release);
HSA_QUEUE_CHANGE(acq_rel);

typedef enum {
  HSA_PACKET_TYPE_VENDOR_SPECIFIC = 0,
  HSA_PACKET_TYPE_INVALID = 1,
  HSA_PACKET_TYPE_KERNEL_DISPATCH = 2,
  HSA_PACKET_TYPE_BARRIER_AND = 3,
  HSA_PACKET_TYPE_AGENT_DISPATCH = 4,
  HSA_PACKET_TYPE_BARRIER_OR = 5
} hsa_packet_type_t;

typedef enum { HSA_FENCE_SCOPE_NONE = 0, HSA_FENCE_SCOPE_AGENT = 1, HSA_FENCE_SCOPE_SYSTEM = 2 } hsa_fence_scope_t;

/* Bit positions and widths in a packet's first 16 bits, and in the setup word of a dispatch. */
typedef enum {
  HSA_PACKET_HEADER_TYPE = 0,
  HSA_PACKET_HEADER_BARRIER = 8,
  HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE = 9,
  HSA_PACKET_HEADER_ACQUIRE_FENCE_SCOPE = 9,
  HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE = 11,
  HSA_PACKET_HEADER_RELEASE_FENCE_SCOPE = 11
} hsa_packet_header_t;

typedef enum {
  HSA_PACKET_HEADER_WIDTH_TYPE = 8,
  HSA_PACKET_HEADER_WIDTH_BARRIER = 1,
  HSA_PACKET_HEADER_WIDTH_SCACQUIRE_FENCE_SCOPE = 2,
  HSA_PACKET_HEADER_WIDTH_ACQUIRE_FENCE_SCOPE = 2,
  HSA_PACKET_HEADER_WIDTH_SCRELEASE_FENCE_SCOPE = 2,
  HSA_PACKET_HEADER_WIDTH_RELEASE_FENCE_SCOPE = 2
} hsa_packet_header_width_t;

typedef enum { HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS = 0 } hsa_kernel_dispatch_packet_setup_t;
typedef enum { HSA_KERNEL_DISPATCH_PACKET_SETUP_WIDTH_DIMENSIONS = 2 } hsa_kernel_dispatch_packet_setup_width_t;

typedef struct hsa_kernel_dispatch_packet_s {
  uint16_t header, setup;
  uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
  uint16_t reserved0;
  uint32_t grid_size_x, grid_size_y, grid_size_z; /* work-items, not workgroups */
  uint32_t private_segment_size, group_segment_size;
  uint64_t kernel_object; /* address of the kernel descriptor */
  void* kernarg_address;
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_kernel_dispatch_packet_t;

typedef struct hsa_agent_dispatch_packet_s {
  uint16_t header, type;
  uint32_t reserved0;
  void* return_address;
  uint64_t arg[4];
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_agent_dispatch_packet_t;

typedef struct hsa_barrier_and_packet_s {
  uint16_t header, reserved0;
  uint32_t reserved1;
  hsa_signal_t dep_signal[5];
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_barrier_and_packet_t;

typedef struct hsa_barrier_or_packet_s {
  uint16_t header, reserved0;
  uint32_t reserved1;
  hsa_signal_t dep_signal[5];
  uint64_t reserved2;
  hsa_signal_t completion_signal;
} hsa_barrier_or_packet_t;

/* ---- memory regions (HSA 1.0; AMD's memory pools are in hsa_ext_amd.h) ------------------------ */

typedef enum {
  HSA_REGION_SEGMENT_GLOBAL = 0,
  HSA_REGION_SEGMENT_READONLY = 1,
  HSA_REGION_SEGMENT_PRIVATE = 2,
  HSA_REGION_SEGMENT_GROUP = 3,
  HSA_REGION_SEGMENT_KERNARG = 4
} hsa_region_segment_t;

typedef enum {
  HSA_REGION_GLOBAL_FLAG_KERNARG = 1,
  HSA_REGION_GLOBAL_FLAG_FINE_GRAINED = 2,
  HSA_REGION_GLOBAL_FLAG_COARSE_GRAINED = 4,
  HSA_REGION_GLOBAL_FLAG_EXTENDED_SCOPE_FINE_GRAINED = 8
} hsa_region_global_flag_t;

typedef enum {
  HSA_REGION_INFO_SEGMENT = 0,
  HSA_REGION_INFO_GLOBAL_FLAGS = 1,
  HSA_REGION_INFO_SIZE = 2,
  HSA_REGION_INFO_ALLOC_MAX_SIZE = 4,
  HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED = 5,
  HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE = 6,
  HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT = 7,
  HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE = 8
} hsa_region_info_t;

HSA_API hsa_status_t hsa_agent_iterate_regions(hsa_agent_t agent,
                                               hsa_status_t (*visit)(hsa_region_t region, void* data), void* data);
HSA_API hsa_status_t hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute, void* value);
HSA_API hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t size, void** address);
HSA_API hsa_status_t hsa_memory_free(void* address);
HSA_API hsa_status_t hsa_memory_copy(void* to, const void* from, size_t size);
HSA_API hsa_status_t hsa_memory_assign_agent(void* address, hsa_agent_t agent, hsa_access_permission_t access);
HSA_API hsa_status_t hsa_memory_register(void* address, size_t size);
HSA_API hsa_status_t hsa_memory_deregister(void* address, size_t size);

/* ---- instruction sets -------------------------------------------------------------------------- */

typedef enum {
  HSA_ISA_INFO_NAME_LENGTH = 0, /* uint32_t, terminating NUL included */
  HSA_ISA_INFO_NAME = 1,
  HSA_ISA_INFO_CALL_CONVENTION_COUNT = 2,
  HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONT_SIZE = 3,
  HSA_ISA_INFO_CALL_CONVENTION_INFO_WAVEFRONTS_PER_COMPUTE_UNIT = 4,
  HSA_ISA_INFO_MACHINE_MODELS = 5,
  HSA_ISA_INFO_PROFILES = 6,
  HSA_ISA_INFO_DEFAULT_FLOAT_ROUNDING_MODES = 7,
  HSA_ISA_INFO_BASE_PROFILE_DEFAULT_FLOAT_ROUNDING_MODES = 8,
  HSA_ISA_INFO_FAST_F16_OPERATION = 9,
  HSA_ISA_INFO_WORKGROUP_MAX_DIM = 12,
  HSA_ISA_INFO_WORKGROUP_MAX_SIZE = 13,
  HSA_ISA_INFO_GRID_MAX_DIM = 14,
  HSA_ISA_INFO_GRID_MAX_SIZE = 16,
  HSA_ISA_INFO_FBARRIER_MAX_SIZE = 17
} hsa_isa_info_t;

HSA_API hsa_status_t hsa_isa_from_name(const char* name, hsa_isa_t* isa);
HSA_API hsa_status_t hsa_agent_iterate_isas(hsa_agent_t agent, hsa_status_t (*visit)(hsa_isa_t isa, void* data),
                                            void* data);
HSA_API hsa_status_t hsa_isa_get_info(hsa_isa_t isa, hsa_isa_info_t attribute, uint32_t index, void* value);
HSA_API hsa_status_t hsa_isa_get_info_alt(hsa_isa_t isa, hsa_isa_info_t attribute, void* value);
HSA_API hsa_status_t hsa_isa_get_exception_policies(hsa_isa_t isa, hsa_profile_t profile, uint16_t* mask);
HSA_API hsa_status_t hsa_isa_get_round_method(hsa_isa_t isa, hsa_fp_type_t type, hsa_flush_mode_t flush,
                                              hsa_round_method_t* method);
HSA_API hsa_status_t hsa_wavefront_get_info(hsa_wavefront_t wavefront, hsa_wavefront_info_t attribute, void* value);
HSA_API hsa_status_t hsa_isa_iterate_wavefronts(hsa_isa_t isa,
                                                hsa_status_t (*visit)(hsa_wavefront_t wavefront, void* data),
                                                void* data);
HSA_API hsa_status_t hsa_isa_compatible(hsa_isa_t code_object_isa, hsa_isa_t agent_isa, bool* result);

#ifdef __cplusplus
}
#endif

#include "hsa_executable.h"

#endif
