// AQL queues: a ring of packets, a doorbell, and a thread that processes them in order.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "check/work.h"
#include "hsa/amd_hsa_queue.h"
#include "runtime.h"
#include "signals.h"
#include "turns.h"

using QueueCallback = void (*)(hsa_status_t status, hsa_queue_t* queue, void* data);

union Packet {
  uint16_t header;
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;
  hsa_amd_barrier_value_packet_t value;
  uint8_t bytes[64];
};
static_assert(sizeof(Packet) == 64);
constexpr uint32_t kMaxPackets = 1 << 17;  // of a queue

struct Queue {
  amd_queue_t* amd = nullptr;  // in device-visible memory; what the user holds is &amd->hsa_queue
  Packet* ring = nullptr;
  Agent* agent = nullptr;
  Signal* doorbell = nullptr;
  QueueCallback on_error = nullptr;
  void* error_data = nullptr;
  bool profiling = false;
  std::vector<uint32_t> cu_mask;
  // Of a packet, where time is modelled: when the host handed it over, and its place in the order.
  struct Submitted {
    uint64_t ns = 0, ticket = 0;
    gpu::check::WorkId work = 0;  // of a kernel, where order is checked
    gpu::check::Clock host;       // of other packets: what the host knew
  };
  std::vector<Submitted> submitted;     // by slot, of the packets that a doorbell has announced
  std::mutex announcing;                // programs ring from several threads
  std::atomic<uint64_t> rung_index{0};  // the first packet no doorbell has announced
  std::unique_ptr<Lane> lane;           // of a queue that does the work itself

  virtual ~Queue();
  virtual void rung() = 0;       // the doorbell has been stored to
  virtual void inactivate() = 0;

  hsa_queue_t* handle() const { return &amd->hsa_queue; }
  std::atomic_ref<uint64_t> read_index() const {
    return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(amd->read_dispatch_id));
  }
  std::atomic_ref<uint64_t> write_index() const {
    return std::atomic_ref<uint64_t>(const_cast<uint64_t&>(amd->write_dispatch_id));
  }
  Packet& slot_at(uint64_t index) const { return ring[index & (amd->hsa_queue.size - 1)]; }

 protected:
  // False when there is no memory.
  bool create_ring(Agent& owner, uint32_t size, hsa_queue_type32_t type);
};

Queue* queue_of(const hsa_queue_t* queue);  // nullptr if it is none of ours
void register_queue(Queue* queue);
void unregister_queue(Queue* queue);
void destroy_all_queues();
bool only_queue();  // the process has made no other
void ring(Queue& queue, int64_t value);

// A packet is valid once its type is: 16 bits, written last and with release order.
uint8_t packet_type(uint16_t header);
uint16_t load_header(const Packet& packet);
void store_header(Packet& packet, uint16_t header);

hsa_status_t create_hardware_queue(Agent& agent, uint32_t size, hsa_queue_type32_t type, QueueCallback on_error,
                                   void* data, Queue** out);
// Appends packets, waiting while the ring is full. False: the queue has stopped.
bool submit(Queue& queue, const Packet* packets, uint64_t count);
