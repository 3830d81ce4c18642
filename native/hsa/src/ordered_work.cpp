// For libamdhip64, under `rocm-perf check`: what it does in streams by threads of its own, and memory that
// streams give out.
#include "check/accesses.h"
#include "check/ledger.h"
#include "check/work.h"
#include "check/written.h"

#define RPL_EXPORT extern "C" __attribute__((visibility("default")))

RPL_EXPORT int hsa_rocm_perf_orders_work(void) { return gpu::check::work_is_ordered(); }
// A piece of work is handed over; the thread that does it says so, does what it has to wait for, and says that
// it is over before it sets a signal. 0: the thread goes on for itself.
RPL_EXPORT uint32_t hsa_rocm_perf_work_submitted(void) { return gpu::check::submitted(); }
RPL_EXPORT void hsa_rocm_perf_work_begins(uint32_t work) { gpu::check::take(work); }
RPL_EXPORT void hsa_rocm_perf_work_is_over(void) { gpu::check::is_over(); }
// Code of the program's own runs in a stream: it may tell the host's threads.
RPL_EXPORT void hsa_rocm_perf_host_learns(void) { gpu::check::host_learns(); }
// The stream has waited for a value in memory, whoever wrote it.
RPL_EXPORT void hsa_rocm_perf_learns_all(void) { gpu::check::learns_all(); }
RPL_EXPORT void hsa_rocm_perf_was_copied(const void* to, const void* from, uint64_t bytes) {
  gpu::check::was_copied(to, from, bytes);
}
// The last piece of work that this thread submitted is where a stream gives out memory, or takes it back.
RPL_EXPORT void hsa_rocm_perf_stream_gave(const void* base, uint64_t bytes) {
  gpu::check::stream_gave(reinterpret_cast<uint64_t>(base), bytes);
}
RPL_EXPORT void hsa_rocm_perf_stream_freed(const void* base) {
  gpu::check::stream_freed(reinterpret_cast<uint64_t>(base));
}
