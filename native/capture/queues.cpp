#include "queues.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <optional>

#include "tool.h"

namespace capture {

namespace {

constexpr uint16_t kSystemFences = HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                   HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
constexpr uint16_t kBarrier = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER | kSystemFences;
constexpr auto kSlice = std::chrono::milliseconds(1);
constexpr auto kCopyPatience = std::chrono::seconds(30);

thread_local bool draining = false;  // this thread puts a barrier of ours into a queue

hsa_barrier_and_packet_t barrier(hsa_signal_t completion, hsa_signal_t after = {}) {
  hsa_barrier_and_packet_t packet;
  std::memset(&packet, 0, sizeof packet);
  packet.header = kBarrier;
  packet.dep_signal[0] = after;
  packet.completion_signal = completion;
  return packet;
}

bool is_zero(hsa_signal_t signal) { return core().hsa_signal_load_scacquire_fn(signal) == 0; }

// By a thread of our own, through the queue's front like any producer: a doorbell must not be rung
// from a handler.
void drain_through(const std::shared_ptr<Queue>& queue, hsa_signal_t signal) {
  draining = true;
  hsa_queue_t* q = queue->handle;
  const uint64_t index = core().hsa_queue_add_write_index_scacq_screl_fn(q, 1);
  while (index - core().hsa_queue_load_read_index_scacquire_fn(q) >= q->size) std::this_thread::sleep_for(kSlice);
  hsa_barrier_and_packet_t packet = barrier(signal);
  auto* slot = static_cast<char*>(q->base_address) + (index & (q->size - 1)) * 64;
  std::memcpy(slot + 4, reinterpret_cast<const char*>(&packet) + 4, 60);
  uint32_t head;
  std::memcpy(&head, &packet, sizeof head);
  __atomic_store_n(reinterpret_cast<uint32_t*>(slot), head, __ATOMIC_RELEASE);
  core().hsa_signal_store_screlease_fn(q->doorbell_signal, hsa_signal_value_t(index));
}

bool drained(Queue& queue) {
  if (queue.failed) return true;
  {
    std::lock_guard lock(queue.mutex);
    if (std::any_of(queue.marks.begin(), queue.marks.end(), is_zero)) return true;
  }
  return is_blocked(queue);
}

hsa_status_t async_copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent, size_t size,
                        uint32_t count, const hsa_signal_t* after, hsa_signal_t done) {
  const Gate::Inside inside(tool().gate);
  tool().queues.copy_started(count, after, done);
  return amd().hsa_amd_memory_async_copy_fn(to, to_agent, from, from_agent, size, count, after, done);
}

hsa_status_t async_copy_on_engine(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent, size_t size,
                                  uint32_t count, const hsa_signal_t* after, hsa_signal_t done,
                                  hsa_amd_sdma_engine_id_t engine, bool force) {
  const Gate::Inside inside(tool().gate);
  tool().queues.copy_started(count, after, done);
  return amd().hsa_amd_memory_async_copy_on_engine_fn(to, to_agent, from, from_agent, size, count, after, done, engine,
                                                      force);
}

hsa_status_t async_copy_rect(const hsa_pitched_ptr_t* to, const hsa_dim3_t* to_offset, const hsa_pitched_ptr_t* from,
                             const hsa_dim3_t* from_offset, const hsa_dim3_t* range, hsa_agent_t agent,
                             hsa_amd_copy_direction_t direction, uint32_t count, const hsa_signal_t* after,
                             hsa_signal_t done) {
  const Gate::Inside inside(tool().gate);
  tool().queues.copy_started(count, after, done);
  return amd().hsa_amd_memory_async_copy_rect_fn(to, to_offset, from, from_offset, range, agent, direction, count,
                                                 after, done);
}

hsa_status_t signal_destroy(hsa_signal_t signal) {
  tool().queues.forget_copy(signal);
  return core().hsa_signal_destroy_fn(signal);
}

bool waits(const void* packet) {
  uint16_t header;
  std::memcpy(&header, packet, sizeof header);
  const unsigned type = header & 0xff;
  if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC) return true;
  if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR) return false;
  hsa_barrier_and_packet_t barrier;
  std::memcpy(&barrier, packet, sizeof barrier);
  return std::any_of(std::begin(barrier.dep_signal), std::end(barrier.dep_signal),
                     [](hsa_signal_t signal) { return signal.handle && !is_zero(signal); });
}

using Packet = std::array<char, 64>;

template <class T>
Packet bytes_of(const T& packet) {
  static_assert(sizeof packet == sizeof(Packet));
  Packet bytes;
  std::memcpy(bytes.data(), &packet, sizeof bytes);
  return bytes;
}

// What goes to the device in place of a list of packets. A writer may be called only once by a
// handler (ROCr loses its place), so everything is in one list.
class Rewrite {
 public:
  Rewrite(Queue& queue, bool held) : queue_(queue), hold_(held) {}

  void add(const void* packet) {
    if (hold_) hold_here();
    if (!tool().captures.finished() && waits(packet)) return add_blocked(packet);
    Packet bytes;
    std::memcpy(bytes.data(), packet, sizeof bytes);
    packets_.push_back(bytes);
  }

  // The launch to capture: it runs when `target.go` is zero, and what follows after the capture.
  void add_target(const HeldLaunch& target, hsa_kernel_dispatch_packet_t packet) {
    packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER | kSystemFences;
    packet.completion_signal = target.ran;
    {
      std::lock_guard lock(queue_.mutex);
      queue_.blockers.push_back({target.drained, target.over, false});
    }
    packets_.push_back(bytes_of(barrier(target.drained)));
    packets_.push_back(bytes_of(barrier({}, target.go)));
    packets_.push_back(bytes_of(packet));
    packets_.push_back(bytes_of(barrier({}, target.over)));
  }

  void write(hsa_amd_queue_intercept_packet_writer writer) const { writer(packets_.data(), packets_.size()); }

 private:
  void hold_here() {
    hold_ = false;
    std::lock_guard lock(queue_.mutex);
    if (queue_.held) return;
    queue_.held = true;
    queue_.marks.push_back(make_signal(1));
    packets_.push_back(bytes_of(barrier(queue_.marks.back())));
    packets_.push_back(bytes_of(barrier({}, tool().queues.hold())));
  }

  void add_blocked(const void* packet) {
    const Queue::Blocker blocker{make_signal(1), make_signal(1)};
    std::lock_guard lock(queue_.mutex);
    while (!queue_.blockers.empty() && is_zero(queue_.blockers.front().passed)) {
      if (queue_.blockers.front().ours)
        for (hsa_signal_t signal : {queue_.blockers.front().reached, queue_.blockers.front().passed})
          core().hsa_signal_destroy_fn(signal);
      queue_.blockers.pop_front();
    }
    queue_.blockers.push_back(blocker);
    packets_.push_back(bytes_of(barrier(blocker.reached)));
    Packet bytes;
    std::memcpy(bytes.data(), packet, sizeof bytes);
    packets_.push_back(bytes);
    packets_.push_back(bytes_of(barrier(blocker.passed, tool().queues.hold())));
  }

  Queue& queue_;
  bool hold_;
  std::vector<Packet> packets_;
};

std::optional<HeldLaunch> target_of(Queue& queue, const void* packet) {
  hsa_kernel_dispatch_packet_t dispatch;
  std::memcpy(&dispatch, packet, sizeof dispatch);
  if ((dispatch.header & 0xff) != HSA_PACKET_TYPE_KERNEL_DISPATCH) return {};
  tool().queues.forget_copy(dispatch.completion_signal);
  uint64_t index = 0;
  auto kernel = tool().code.launched(dispatch.kernel_object, index);
  const uint64_t number = tool().captures.count_dispatch();
  if (kernel && tool().config.launches) tool().launches.record(dispatch, *kernel, index);
  const Want* want = tool().captures.claim_target(kernel.get(), index);
  if (!want) return {};
  return HeldLaunch{queue,  dispatch,       std::move(kernel), *want,          index,
                    number, make_signal(1), make_signal(1),    make_signal(1), make_signal(1)};
}

void on_packets(const void* list, uint64_t count, uint64_t, void* data, hsa_amd_queue_intercept_packet_writer writer) {
  if (draining) return writer(list, count);
  auto& queue = *static_cast<Queue*>(data);
  const bool closed = tool().gate.pass();
  Rewrite rewrite(queue, closed);
  std::vector<HeldLaunch> targets;
  for (uint64_t i = 0; i < count; ++i) {
    const void* packet = static_cast<const char*>(list) + 64 * i;
    std::optional<HeldLaunch> found = target_of(queue, packet);
    if (found) rewrite.add_target(*found, found->packet);
    else rewrite.add(packet);
    if (found) targets.push_back(std::move(*found));
  }
  rewrite.write(writer);
  tool().gate.leave(closed);
  for (const HeldLaunch& target : targets) tool().captures.capture(target);
}

void on_queue_error(hsa_status_t status, hsa_queue_t* handle, void* data) {
  auto& queue = *static_cast<Queue*>(data);
  queue.failed = int(status);
  if (queue.on_error) queue.on_error(status, handle, queue.error_data);
}

hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                          void (*on_error)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t private_bytes,
                          uint32_t group_bytes, hsa_queue_t** out) {
  auto queue = std::make_shared<Queue>();
  queue->agent = agent;
  queue->type = type;
  queue->private_bytes = private_bytes;
  queue->group_bytes = group_bytes;
  queue->on_error = on_error;
  queue->error_data = data;
  // Without a callback of the program's the runtime has its own way of ending.
  const auto callback = on_error ? on_queue_error : nullptr;
  hsa_status_t status = amd().hsa_amd_queue_intercept_create_fn(agent, size, type, callback, queue.get(), private_bytes,
                                                                group_bytes, out);
  if (status != HSA_STATUS_SUCCESS) return status;
  queue->handle = *out;
  queue->size = (*out)->size;
  status = amd().hsa_amd_queue_intercept_register_fn(*out, on_packets, queue.get());
  if (status != HSA_STATUS_SUCCESS) return status;
  tool().queues.add(std::move(queue));
  return status;
}

hsa_status_t queue_destroy(hsa_queue_t* handle) {
  const Gate::Inside inside(tool().gate);
  tool().queues.remove(handle);
  return core().hsa_queue_destroy_fn(handle);
}

}  // namespace

bool is_blocked(Queue& queue) {
  std::lock_guard lock(queue.mutex);
  return std::any_of(queue.blockers.begin(), queue.blockers.end(),
                     [](const Queue::Blocker& b) { return is_zero(b.reached) && !is_zero(b.passed); });
}

hsa_signal_t make_signal(int64_t value) {
  hsa_signal_t signal{};
  core().hsa_signal_create_fn(value, 0, nullptr, &signal);
  return signal;
}

bool wait_zero(hsa_signal_t signal, const std::function<bool()>& give_up) {
  // In the runtime's ticks: short, so that whoever has to give up does.
  while (core().hsa_signal_wait_scacquire_fn(signal, HSA_SIGNAL_CONDITION_LT, 1, 10'000'000, HSA_WAIT_STATE_BLOCKED) >
         0)
    if (give_up()) return false;
  return true;
}

void Queues::add(std::shared_ptr<Queue> queue) {
  std::lock_guard lock(mutex_);
  if (!hold_.handle) hold_ = make_signal(0);
  kept_.push_back(queue);
  queues_[queue->handle] = std::move(queue);
}

void Queues::remove(hsa_queue_t* handle) {
  std::lock_guard lock(mutex_);
  queues_.erase(handle);
}

std::vector<std::shared_ptr<Queue>> Queues::all() {
  std::vector<std::shared_ptr<Queue>> list;
  std::lock_guard lock(mutex_);
  for (const auto& [handle, queue] : queues_) list.push_back(queue);
  return list;
}

void Queues::copy_started(uint32_t count, const hsa_signal_t* after, hsa_signal_t completion) {
  if (tool().captures.finished() || !completion.handle) return;
  Copy copy{core().hsa_signal_load_scacquire_fn(completion), {after, after + count}};
  std::lock_guard lock(copies_mutex_);
  std::erase_if(copies_, [](const auto& entry) {
    return core().hsa_signal_load_scacquire_fn({entry.first}) < entry.second.value;
  });
  copies_[completion.handle] = std::move(copy);
}

void Queues::forget_copy(hsa_signal_t completion) {
  std::lock_guard lock(copies_mutex_);
  copies_.erase(completion.handle);
}

// A copy that still waits for something has not begun, and what it waits for is held.
bool Queues::under_way(uint64_t completion, const Copy& copy) {
  if (core().hsa_signal_load_scacquire_fn({completion}) < copy.value) return false;
  return std::all_of(copy.after.begin(), copy.after.end(), is_zero);
}

void Queues::wait_for_copies() {
  const auto deadline = std::chrono::steady_clock::now() + kCopyPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    {
      std::lock_guard lock(copies_mutex_);
      if (std::none_of(copies_.begin(), copies_.end(),
                       [](const auto& entry) { return under_way(entry.first, entry.second); }))
        return;
    }
    std::this_thread::sleep_for(kSlice);
  }
  tool().captures.note_problem("a copy was still under way after 30 s");
}

void Queues::drain_others(Queue& own) {
  const auto queues = all();
  for (const auto& queue : queues) {
    if (queue.get() == &own || queue->failed) continue;
    const hsa_signal_t signal = make_signal(1);
    {
      std::lock_guard lock(queue->mutex);
      queue->marks.push_back(signal);
    }
    drainers_.emplace_back(drain_through, queue, signal);
  }
  for (const auto& queue : queues)
    while (queue.get() != &own && !drained(*queue)) std::this_thread::sleep_for(kSlice);
  wait_for_copies();
}

void Queues::stop_here() { core().hsa_signal_store_screlease_fn(hold_, 1); }

void Queues::resume() { core().hsa_signal_store_screlease_fn(hold_, 0); }

void Queues::finish_drain() {
  for (std::thread& thread : drainers_) thread.join();
  drainers_.clear();
  tool().gate.settle();
  for (const auto& queue : all()) {
    std::lock_guard lock(queue->mutex);
    queue->held = false;
    queue->marks.clear();
  }
}

void Queues::hook() {
  Tables& tables = tool().tables;
  tables.hook(&CoreApiTable::hsa_queue_create_fn, queue_create);
  tables.hook(&CoreApiTable::hsa_queue_destroy_fn, queue_destroy);
  tables.hook(&CoreApiTable::hsa_signal_destroy_fn, signal_destroy);
  tables.hook(&AmdExtTable::hsa_amd_memory_async_copy_fn, async_copy);
  tables.hook(&AmdExtTable::hsa_amd_memory_async_copy_on_engine_fn, async_copy_on_engine);
  tables.hook(&AmdExtTable::hsa_amd_memory_async_copy_rect_fn, async_copy_rect);
}

}  // namespace capture
