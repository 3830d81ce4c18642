// Whether time stamps are the virtual GPU's model's. HIP is written on the HSA interface; this much
// it knows of what is below, and it does without where that is another HSA.
#pragma once

#include <hsa/hsa.h>

extern "C" {
__attribute__((weak)) int hsa_rocm_perf_is_time_modelled(void);
__attribute__((weak)) hsa_status_t hsa_rocm_perf_async_fill(hsa_agent_t agent, void* to, uint64_t bytes, int rows,
                                                            void (*work)(void*), void* data, uint32_t wait_count,
                                                            const hsa_signal_t* waits, hsa_signal_t completion);
__attribute__((weak)) uint64_t hsa_rocm_perf_call_begins(uint64_t before_ns, uint64_t cost_ns);
__attribute__((weak)) uint64_t hsa_rocm_perf_call_ends(int polled);
__attribute__((weak)) uint64_t hsa_rocm_perf_host_ns(void);
__attribute__((weak)) void hsa_rocm_perf_host_work_done(uint64_t submitted_ns, uint32_t count,
                                                        const hsa_signal_t* waits, uint64_t copied_bytes,
                                                        hsa_signal_t completion);
__attribute__((weak)) void hsa_rocm_perf_host_copied(uint64_t bytes);
__attribute__((weak)) void hsa_rocm_perf_staged(uint64_t bytes, int to_host);
__attribute__((weak)) void hsa_rocm_perf_is_managed(const void* base);
__attribute__((weak)) int hsa_rocm_perf_is_freed(const void* address);
__attribute__((weak)) void hsa_rocm_perf_was_written(const void* to, uint64_t bytes);
__attribute__((weak)) void hsa_rocm_perf_given_again(const void* base, uint64_t bytes);
__attribute__((weak)) int hsa_rocm_perf_checks_calls(void);
__attribute__((weak)) void hsa_rocm_perf_call_refused(const char* tool, const char* call, const char* why);
__attribute__((weak)) void hsa_rocm_perf_misused(const char* tool, const char* kind, const char* what);
}

namespace hip {

inline bool time_is_modelled() { return hsa_rocm_perf_is_time_modelled && hsa_rocm_perf_is_time_modelled(); }

// Says once what the times of events are.
void tell_kind_of_time();

}  // namespace hip
