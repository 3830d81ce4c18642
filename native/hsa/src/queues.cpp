// Rings of packets: making, finding and ringing them, and what programs ask of them.
#include "queues.h"

#include <algorithm>
#include <atomic>

#include "arena.h"
#include "device_clock.h"
#include "hsa_impl.h"
#include "launch.h"

namespace {

std::mutex registry_mutex;
std::vector<Queue*>& registry() {
  static auto* list = new std::vector<Queue*>;
  return *list;
}

std::atomic<uint64_t> next_queue_id{0}, queues_made{0};

}  // namespace

uint8_t packet_type(uint16_t header) { return uint8_t(header & 0xff); }
uint16_t load_header(const Packet& packet) {
  return std::atomic_ref<uint16_t>(const_cast<uint16_t&>(packet.header)).load(std::memory_order_acquire);
}
void store_header(Packet& packet, uint16_t header) {
  std::atomic_ref<uint16_t>(packet.header).store(header, std::memory_order_release);
}

bool Queue::create_ring(Agent& owner, uint32_t size, hsa_queue_type32_t type) {
  agent = &owner;
  const size_t ring_bytes = size_t{size} * sizeof(Packet);
  ring = static_cast<Packet*>(gpu::arena().allocate(ring_bytes));
  amd = static_cast<amd_queue_t*>(gpu::arena().allocate(sizeof(amd_queue_t)));
  doorbell = make_signal(-1, AMD_SIGNAL_KIND_DOORBELL);
  if (!ring || !amd || !doorbell) return false;
  for (uint32_t i = 0; i < size; ++i) ring[i].header = HSA_PACKET_TYPE_INVALID;
  submitted = std::vector<Submitted>(size);
  doorbell->doorbell_of = this;
  doorbell->amd.queue_ptr = amd;
  amd->hsa_queue = {type, HSA_QUEUE_FEATURE_KERNEL_DISPATCH, ring, doorbell->handle(), size,
                    0,    next_queue_id.fetch_add(1)};
  amd->group_segment_aperture_base_hi = uint32_t(gpu::kSharedAperture >> 32);
  amd->private_segment_aperture_base_hi = uint32_t(gpu::kPrivateAperture >> 32);
  amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
  amd->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
  if (owner.is_gpu()) {
    const gpu::DeviceSpec& device = owner.gpu->device();
    amd->max_cu_id = device.compute_units - 1;
    amd->max_wave_id = device.simds_per_cu * device.waves_per_simd - 1;
  }
  const auto list = [](const void* at, size_t bytes) {
    const uint64_t base = reinterpret_cast<uint64_t>(at);
    Runtime::memory().add({base, base + bytes, gpu::RangeKind::Runtime, true, true});
  };
  list(ring, ring_bytes);
  list(amd, sizeof(amd_queue_t));
  return true;
}

Queue::~Queue() {
  for (void* at : {static_cast<void*>(ring), static_cast<void*>(amd)}) {
    if (!at) continue;
    Runtime::memory().remove(reinterpret_cast<uint64_t>(at));
    gpu::arena().free(at);
  }
  if (doorbell) free_signal(doorbell);
}

Queue* queue_of(const hsa_queue_t* queue) {
  std::lock_guard lock(registry_mutex);
  for (Queue* known : registry())
    if (known->handle() == queue) return known;
  return nullptr;
}
void register_queue(Queue* queue) {
  std::lock_guard lock(registry_mutex);
  registry().push_back(queue);
}
void unregister_queue(Queue* queue) {
  std::lock_guard lock(registry_mutex);
  std::erase(registry(), queue);
}
bool only_queue() { return queues_made.load(std::memory_order_relaxed) == 1; }
void destroy_all_queues() {
  while (true) {
    Queue* last = nullptr;
    {
      std::lock_guard lock(registry_mutex);
      if (registry().empty()) return;
      last = registry().back();
      registry().pop_back();
    }
    delete last;
  }
}

namespace {

// Doorbells of several threads may come late; one that no packet can have stands for all there are.
void hand_over(Queue& queue, uint64_t end) {
  std::lock_guard lock(queue.announcing);
  const uint64_t begin = queue.rung_index.load(std::memory_order_relaxed), size = queue.submitted.size();
  if (int64_t(end - begin) <= 0) return;
  if (end - begin > size) end = queue.write_index().load(std::memory_order_acquire);
  const bool timed = device_clock::modelled(), ordered = gpu::check::work_is_ordered();
  for (uint64_t i = begin; i != end && queue.lane && (timed || ordered); ++i) {
    const bool kernel = packet_type(load_header(queue.slot_at(i))) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    Queue::Submitted& packet = queue.submitted[i & (size - 1)];
    if (timed) packet = {device_clock::host_submits(kernel), queue.lane->submit(), 0, nullptr};
    if (kernel) packet.work = gpu::check::submitted();
    else packet.host = gpu::check::host_clock();
  }
  queue.rung_index.store(end, std::memory_order_release);
}

}  // namespace

void ring(Queue& queue, int64_t value) {
  hand_over(queue, uint64_t(value) + 1);
  queue.doorbell->value().store(value, std::memory_order_release);
  queue.rung();
}

namespace impl {

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, QueueCallback on_error,
                              void* data, uint32_t, uint32_t, hsa_queue_t** queue) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* owner = runtime->agent(agent);
  if (!owner) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!queue) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Queue* made = nullptr;
  const hsa_status_t status = create_hardware_queue(*owner, size, type, on_error, data, &made);
  if (status != HSA_STATUS_SUCCESS) return status;
  ++queues_made;
  register_queue(made);
  *queue = made->handle();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
  if (!queue) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Queue* found = queue_of(queue);
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  unregister_queue(found);
  delete found;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue) {
  Queue* found = queue_of(queue);
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  found->inactivate();
  return HSA_STATUS_SUCCESS;
}

// A soft queue is only a ring: whoever created it processes the packets.
hsa_status_t hsa_soft_queue_create(hsa_region_t, uint32_t size, hsa_queue_type32_t type, uint32_t features,
                                   hsa_signal_t doorbell, hsa_queue_t** queue) {
  struct SoftQueue final : Queue {
    bool create(Agent& owner, uint32_t count, hsa_queue_type32_t kind) { return create_ring(owner, count, kind); }
    void rung() override {}
    void inactivate() override {}
  };
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!queue || !size || (size & (size - 1))) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!signal_of(doorbell)) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  auto made = std::make_unique<SoftQueue>();
  if (!made->create(runtime->cpu(), size, type)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  made->amd->hsa_queue.features = features;
  made->amd->hsa_queue.doorbell_signal = doorbell;
  *queue = made->handle();
  register_queue(made.release());
  return HSA_STATUS_SUCCESS;
}

// The indices are in the structure the user holds: no look-up.
#define RPL_AMD(queue) (*reinterpret_cast<amd_queue_t*>(const_cast<hsa_queue_t*>(queue)))
#define RPL_READ(queue) std::atomic_ref<uint64_t>(const_cast<uint64_t&>(RPL_AMD(queue).read_dispatch_id))
#define RPL_WRITE(queue) std::atomic_ref<uint64_t>(const_cast<uint64_t&>(RPL_AMD(queue).write_dispatch_id))

uint64_t hsa_queue_load_read_index_relaxed(const hsa_queue_t* queue) {
  return RPL_READ(queue).load(std::memory_order_relaxed);
}
uint64_t hsa_queue_load_read_index_scacquire(const hsa_queue_t* queue) {
  return RPL_READ(queue).load(std::memory_order_acquire);
}
uint64_t hsa_queue_load_write_index_relaxed(const hsa_queue_t* queue) {
  return RPL_WRITE(queue).load(std::memory_order_relaxed);
}
uint64_t hsa_queue_load_write_index_scacquire(const hsa_queue_t* queue) {
  return RPL_WRITE(queue).load(std::memory_order_acquire);
}
void hsa_queue_store_write_index_relaxed(const hsa_queue_t* queue, uint64_t value) {
  RPL_WRITE(queue).store(value, std::memory_order_relaxed);
}
void hsa_queue_store_write_index_screlease(const hsa_queue_t* queue, uint64_t value) {
  RPL_WRITE(queue).store(value, std::memory_order_release);
}
void hsa_queue_store_read_index_relaxed(const hsa_queue_t* queue, uint64_t value) {
  RPL_READ(queue).store(value, std::memory_order_relaxed);
}
void hsa_queue_store_read_index_screlease(const hsa_queue_t* queue, uint64_t value) {
  RPL_READ(queue).store(value, std::memory_order_release);
}
#define RPL_CHANGE(order)                                                                                   \
  uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t* queue, uint64_t value) {                    \
    return RPL_WRITE(queue).fetch_add(value);                                                               \
  }                                                                                                         \
  uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t* queue, uint64_t expected, uint64_t value) { \
    RPL_WRITE(queue).compare_exchange_strong(expected, value);                                              \
    return expected;                                                                                        \
  }
RPL_CHANGE(relaxed)
RPL_CHANGE(scacquire)
RPL_CHANGE(screlease)
RPL_CHANGE(scacq_screl)

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int enable) {
  Queue* found = queue_of(queue);
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  found->profiling = enable != 0;
  if (enable) found->amd->queue_properties |= AMD_QUEUE_PROPERTIES_ENABLE_PROFILING;
  else found->amd->queue_properties &= ~uint32_t{AMD_QUEUE_PROPERTIES_ENABLE_PROFILING};
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t priority) {
  if (!queue_of(queue)) return HSA_STATUS_ERROR_INVALID_QUEUE;
  return priority > HSA_AMD_QUEUE_PRIORITY_HIGH ? HSA_STATUS_ERROR_INVALID_ARGUMENT : HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* queue, hsa_queue_info_attribute_t attribute, void* value) {
  Queue* found = queue_of(queue);
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (!value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (attribute == HSA_AMD_QUEUE_INFO_AGENT) *static_cast<hsa_agent_t*>(value) = found->agent->handle();
  else if (attribute == HSA_AMD_QUEUE_INFO_DOORBELL_ID) *static_cast<uint64_t*>(value) = found->amd->hsa_queue.id;
  else return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return HSA_STATUS_SUCCESS;
}
// Kept and given back; which compute units run a workgroup makes no difference to its results.
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t bits, const uint32_t* mask) {
  Queue* found = queue_of(queue);
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (bits % 32 || (bits && !mask)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  found->cu_mask.assign(mask, mask + bits / 32);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t* queue, uint32_t bits, uint32_t* mask) {
  Queue* found = queue_of(queue);
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (bits % 32 || !mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint32_t units = found->agent->is_gpu() ? found->agent->gpu->device().compute_units : 0;
  for (uint32_t i = 0; i < bits / 32; ++i) {
    const uint32_t left = units > i * 32 ? units - i * 32 : 0;
    const uint32_t all = left >= 32 ? UINT32_MAX : (1u << left) - 1;
    mask[i] = found->cu_mask.empty() ? all : i < found->cu_mask.size() ? found->cu_mask[i] : 0;
  }
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
