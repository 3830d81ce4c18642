/* How a tool in the process hears when work was done by the modelled clock. Found by dlsym in
 * libhsa-runtime64.so.1; C, so that each library may come from another compiler. */
#ifndef ROCM_PERF_CLOCK_TOOL_H
#define ROCM_PERF_CLOCK_TOOL_H

#include <hsa/hsa.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy; of a fill, `from` is NULL, and AMD's runtime would launch so many workgroups of a kernel for it. */
typedef struct rocm_perf_transfer {
  const void *to, *from;
  hsa_agent_t to_agent, from_agent;
  uint64_t bytes;
  uint32_t fill_groups;
  uint8_t rows; /* of a fill: with a pitch */
} rocm_perf_transfer;

typedef struct rocm_perf_clock_tool {
  uint8_t one_at_a_time; /* dispatches never overlap, as while counters are collected */
  /* On the thread that submits it; the number that tells it from other transfers. */
  uint64_t (*submitted)(const rocm_perf_transfer* transfer);
  /* On any thread: when they were done. */
  void (*transferred)(uint64_t number, uint64_t start_ns, uint64_t end_ns);
  void (*dispatched)(const hsa_kernel_dispatch_packet_t* packet, uint64_t start_ns, uint64_t end_ns);
} rocm_perf_clock_tool;

/* Before the first work; it stays. */
__attribute__((visibility("default"))) void hsa_rocm_perf_set_clock_tool(const rocm_perf_clock_tool* tool);
/* The clock of the calling thread. */
__attribute__((visibility("default"))) uint64_t hsa_rocm_perf_host_ns(void);

#ifdef __cplusplus
}
#endif
#endif
