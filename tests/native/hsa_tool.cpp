// A tool library for HSA_TOOLS_LIB: hooks calls, puts an intercept queue in front of every queue,
// and tells on stdout, when unloaded, what it saw.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "hsa/hsa_api_trace.h"

namespace {

decltype(hsa_queue_create)* next_queue_create;
decltype(hsa_amd_memory_pool_allocate)* next_allocate;
HsaApiTable* table;
std::atomic<int> queues, allocations, dispatches, packets;

void on_packets(const void* list, uint64_t count, uint64_t, void*, hsa_amd_queue_intercept_packet_writer writer) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint16_t header = *static_cast<const uint16_t*>(static_cast<const void*>(static_cast<const char*>(list) + 64 * i));
    ++packets;
    if ((header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH) ++dispatches;
  }
  // A barrier of our own before what the program wrote.
  hsa_barrier_and_packet_t barrier;
  std::memset(&barrier, 0, sizeof barrier);
  barrier.header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER;
  writer(&barrier, 1);
  writer(list, count);
}

hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, void (*on_error)(hsa_status_t, hsa_queue_t*, void*), void* data,
                    uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t** queue) {
  ++queues;
  const hsa_status_t status = table->amd_ext_->hsa_amd_queue_intercept_create_fn(agent, size, type, on_error, data, private_bytes, group_bytes, queue);
  if (status == HSA_STATUS_SUCCESS) table->amd_ext_->hsa_amd_queue_intercept_register_fn(*queue, on_packets, nullptr);
  return status;
}

hsa_status_t allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void** address) {
  ++allocations;
  return next_allocate(pool, size, flags, address);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) bool OnLoad(HsaApiTable* given, uint64_t, uint64_t failed, const char* const*) {
  table = given;
  std::printf("tool: root %u.%u core %u bytes amd %u.%u %u bytes failed %d\n", given->version.major_id, given->version.step_id,
              given->core_->version.minor_id, given->amd_ext_->version.major_id, given->amd_ext_->version.step_id, given->amd_ext_->version.minor_id,
              int(failed));
  next_queue_create = given->core_->hsa_queue_create_fn;
  next_allocate = given->amd_ext_->hsa_amd_memory_pool_allocate_fn;
  given->core_->hsa_queue_create_fn = create;
  given->amd_ext_->hsa_amd_memory_pool_allocate_fn = allocate;
  return true;
}

__attribute__((visibility("default"))) void OnUnload() {
  std::printf("tool: queues %d allocations %d packets %d dispatches %d\n", queues.load(), allocations.load(), packets.load(), dispatches.load());
}

}
