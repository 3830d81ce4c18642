/* What a signal handle points to. The first 64 bytes are read by device code and by tools. */
#ifndef RPL_AMD_HSA_SIGNAL_H
#define RPL_AMD_HSA_SIGNAL_H

#include "amd_hsa_queue.h"

typedef int64_t amd_signal_kind64_t;
enum amd_signal_kind_t {
  AMD_SIGNAL_KIND_INVALID = 0,
  AMD_SIGNAL_KIND_USER = 1,
  AMD_SIGNAL_KIND_DOORBELL = -1,
  AMD_SIGNAL_KIND_LEGACY_DOORBELL = -2
};

typedef struct __attribute__((aligned(64))) amd_signal_s {
  amd_signal_kind64_t kind;
  union {
    volatile int64_t value;
    volatile uint64_t* hardware_doorbell_ptr;
  };
  uint64_t event_mailbox_ptr;
  uint32_t event_id, reserved1;
  uint64_t start_ts, end_ts; /* of the packet or copy that completed on this signal */
  union {
    amd_queue_t* queue_ptr;
    uint64_t reserved2;
  };
  uint32_t reserved3[2];
} amd_signal_t;

#endif
