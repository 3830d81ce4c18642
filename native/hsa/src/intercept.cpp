// Intercept queues: what a tool library puts between a program and a queue.
#include <cstring>
#include <deque>

#include "hsa_impl.h"
#include "queues.h"

namespace {

// A ring of its own in front of a hardware queue. Packets go through the handlers, last registered
// first, on the thread that rings the doorbell and under the queue's lock, one at a time, as in
// ROCr. A doorbell rung inside a handler is answered when the handlers have returned.
class InterceptQueue final : public Queue {
 public:
  struct Handler {
    hsa_amd_queue_intercept_handler function;
    void* data;
  };

  bool create(Agent& owner, uint32_t size, hsa_queue_type32_t type) { return create_ring(owner, size, type); }
  ~InterceptQueue() override { delete below; }

  void rung() override {
    if (in_handler) {
      deferred.push_back(this);
      return;
    }
    pass_on();
    while (!deferred.empty()) {
      InterceptQueue* next = deferred.front();
      deferred.pop_front();
      next->pass_on();
    }
  }
  void inactivate() override { below->inactivate(); }

  void add(Handler handler) {
    std::lock_guard lock(mutex_);
    handlers_.push_back(handler);
  }

  Queue* below = nullptr;

 private:
  void pass_on() {
    std::lock_guard lock(mutex_);
    while (true) {
      const uint64_t index = read_index().load(std::memory_order_relaxed);
      Packet& packet = slot_at(index);
      const uint16_t header = load_header(packet);
      if (packet_type(header) == HSA_PACKET_TYPE_INVALID) return;
      Packet copy = packet;
      copy.header = header;
      store_header(packet, HSA_PACKET_TYPE_INVALID);
      read_index().store(index + 1, std::memory_order_release);
      in_handler = true;
      current_index = index;
      call(&copy, 1, handlers_.size());
      in_handler = false;
    }
  }

  // To handler number `level - 1`, or at level 0 to the hardware queue.
  void call(const void* packets, uint64_t count, size_t level) {
    if (level == 0) {
      submit(*below, static_cast<const Packet*>(packets), count);
      return;
    }
    InterceptQueue* outer_queue = current_queue;
    const size_t outer_level = current_level;
    current_queue = this;
    current_level = level - 1;
    handlers_[level - 1].function(packets, count, current_index, handlers_[level - 1].data, write);
    current_queue = outer_queue;
    current_level = outer_level;
  }

  static void write(const void* packets, uint64_t count) {
    if (current_queue) current_queue->call(packets, count, current_level);
  }

  std::mutex mutex_;
  std::vector<Handler> handlers_;

  // The writer handed to tools takes no context: where it writes to is a matter of the thread.
  static thread_local bool in_handler;
  static thread_local uint64_t current_index;
  static thread_local InterceptQueue* current_queue;
  static thread_local size_t current_level;
  static thread_local std::deque<InterceptQueue*> deferred;
};

thread_local bool InterceptQueue::in_handler = false;
thread_local uint64_t InterceptQueue::current_index = 0;
thread_local InterceptQueue* InterceptQueue::current_queue = nullptr;
thread_local size_t InterceptQueue::current_level = 0;
thread_local std::deque<InterceptQueue*> InterceptQueue::deferred;

// The program knows the intercept queue, so errors of the one below are told in its name.
void pass_error(hsa_status_t status, hsa_queue_t*, void* data) {
  auto* queue = static_cast<InterceptQueue*>(data);
  if (!queue->on_error) std::abort();
  queue->on_error(status, queue->handle(), queue->error_data);
}

}  // namespace

namespace impl {

hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                            QueueCallback on_error, void* data, uint32_t, uint32_t,
                                            hsa_queue_t** queue) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Agent* owner = runtime->agent(agent);
  if (!owner) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!queue) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  auto made = std::make_unique<InterceptQueue>();
  made->on_error = on_error;
  made->error_data = data;
  const hsa_status_t status = create_hardware_queue(*owner, size, type, pass_error, made.get(), &made->below);
  if (status != HSA_STATUS_SUCCESS) return status;
  if (!made->create(*owner, size, type)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *queue = made->handle();
  register_queue(made.release());
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t* queue, hsa_amd_queue_intercept_handler handler, void* data) {
  auto* found = dynamic_cast<InterceptQueue*>(queue_of(queue));
  if (!found) return HSA_STATUS_ERROR_INVALID_QUEUE;
  if (!handler) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  found->add({handler, data});
  return HSA_STATUS_SUCCESS;
}

// The runtime makes no queues of its own, so there is never one to tell of.
hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier, void*) { return HSA_STATUS_SUCCESS; }

}  // namespace impl
