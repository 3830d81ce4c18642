// The listener for calls from running kernels: printf, device malloc, host functions. The protocol
// is told in docs/hostcall.md.
#pragma once

#include "runtime.h"

namespace hip {

// The device's hostcall buffer; allocated, and its listener started, by the first call.
void* hostcall_buffer(Device& device);

struct HostcallHeader {
  uint64_t next, active_mask;
  uint32_t service, control;
};
struct HostcallPayload {
  uint64_t slots[64][8];
};
struct HostcallBuffer {
  HostcallHeader* headers;
  HostcallPayload* payloads;
  hsa_signal_t doorbell;
  uint64_t free_stack, ready_stack, index_mask;
};

// One device's buffer and the thread that serves it.
struct Hostcall {
  HostcallBuffer* buffer = nullptr;
};

}  // namespace hip
