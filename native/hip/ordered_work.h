// Under `rocm-perf check`: what happens before what. HIP is written on the HSA interface, which sees packets,
// copies and signals; what it does by threads of its own, and what it would leave out because the work
// happens to be done already, has to be told. Another HSA knows nothing of this.
#pragma once

#include <hsa/hsa.h>

extern "C" {
__attribute__((weak)) int hsa_rocm_perf_orders_work(void);
__attribute__((weak)) uint32_t hsa_rocm_perf_work_submitted(void);
__attribute__((weak)) void hsa_rocm_perf_work_begins(uint32_t work);
__attribute__((weak)) void hsa_rocm_perf_work_is_over(void);
__attribute__((weak)) void hsa_rocm_perf_host_learns(void);
__attribute__((weak)) void hsa_rocm_perf_learns_all(void);
__attribute__((weak)) void hsa_rocm_perf_was_copied(const void* to, const void* from, uint64_t bytes);
__attribute__((weak)) void hsa_rocm_perf_stream_gave(const void* base, uint64_t bytes);
__attribute__((weak)) void hsa_rocm_perf_stream_freed(const void* base);
}

namespace hip {

inline bool order_is_checked() {
  static const bool checked = hsa_rocm_perf_orders_work && hsa_rocm_perf_orders_work();
  return checked;
}

}  // namespace hip
