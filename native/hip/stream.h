// A stream: work in order. Kernels and markers are packets of its HSA queue, copies go to the copy
// engines, host functions and fills that have to wait go to a thread of its own; each piece waits
// for the one before by its completion signal (or, within the queue, by the barrier bit).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "completion.h"
#include "runtime.h"

struct hipGraphNode;

namespace hip {

struct StreamCapture;

// Kernel arguments, in chunks that are used again once their last kernel has finished.
class KernargArena {
 public:
  void* allocate(size_t size, Device& device);  // null: out of memory
  void used_by(const CompletionRef& completion) { chunks_[current_].last_use = completion; }
  ~KernargArena();

 private:
  struct Chunk {
    char* base = nullptr;
    size_t size = 0, used = 0;
    CompletionRef last_use;
  };
  std::vector<Chunk> chunks_;
  size_t current_ = 0;
};

// Runs functions in order on its own thread, each after what it depends on.
class HostWorker {
 public:
  struct Task {
    std::vector<CompletionRef> after;
    std::function<void(hipError_t)> run;  // given the status of the work before
    CompletionRef done;
    uint64_t copied_bytes = 0;  // of a copy; 0: a function
    uint64_t submitted_ns = 0;  // where time is modelled
    uint32_t work = 0;          // where order is checked
  };
  HostWorker();
  ~HostWorker();  // after the last task
  void push(Task task);

 private:
  void loop();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stop_ = false;
  std::thread thread_;
};

struct KernelDispatch {
  uint64_t kernel_object = 0;
  void* kernarg = nullptr;
  uint32_t grid[3] = {1, 1, 1};  // work-items
  uint16_t block[3] = {1, 1, 1};
  uint32_t group_bytes = 0, private_bytes = 0;
};

struct Stream {
  Stream(Device& device, unsigned flags, int priority);
  ~Stream();

  Device& device;
  const unsigned flags;
  const int priority;
  bool legacy = false;  // the null stream
  uint64_t id = 0;  // the null stream's is its device's index
  std::vector<uint32_t> cu_mask;
  StreamCapture* capture = nullptr;
  std::vector<hipGraphNode*> capture_tips;  // what the next captured node follows
  CompletionRef last;  // done when everything submitted so far is
  KernargArena kernargs;
  std::vector<Stream*> branches;  // of graphs launched here, where order is checked

  bool blocking() const { return !legacy && !(flags & hipStreamNonBlocking); }

  // All of these are called under device.mutex; `done`, where given, receives the completion.
  hipError_t dispatch(const KernelDispatch& kernel, CompletionRef* done = nullptr);
  hipError_t marker(CompletionRef* done, const std::vector<CompletionRef>& after = {});
  hipError_t copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent, size_t size);
  hipError_t copy_rect(const hsa_pitched_ptr_t& to, const hsa_dim3_t& to_offset, const hsa_pitched_ptr_t& from,
                       const hsa_dim3_t& from_offset, const hsa_dim3_t& range, hsa_amd_copy_direction_t direction);
  hipError_t prefetch(const void* address, size_t size, hsa_agent_t to);
  hipError_t host(std::function<void(hipError_t)> run, uint64_t copied_bytes = 0);
  // A fill as the device's work, where time is modelled.
  hipError_t timed_fill(void* to, size_t bytes, bool rows, std::function<void()> fill);
  hsa_queue_t* queue() { return ensure_queue(); }
  bool idle();  // nothing left to wait for, the implicit order with the null stream included
  std::vector<CompletionRef> pending();  // what a later piece of work would have to wait for

 private:
  hsa_queue_t* ensure_queue();
  void release_queue();
  uint64_t reserve_packet();
  void publish(uint64_t index, uint16_t header, uint16_t second);
  void barriers(const std::vector<CompletionRef>& after, Completion* completion);
  void collect(std::vector<CompletionRef>& after, bool queued);
  template <class Start>
  hipError_t outside_queue(Start start);
  void submitted(CompletionRef completion, bool in_queue);

  // A packet reads the signals it waits for until it has run, so their completions are kept with it.
  struct InFlight {
    CompletionRef done;
    std::vector<CompletionRef> after;
  };

  hsa_queue_t* queue_ = nullptr;
  bool last_in_queue_ = false;
  std::deque<InFlight> in_flight_;
  std::vector<CompletionRef> scratch_;  // what the piece being submitted waits for
  std::unique_ptr<HostWorker> worker_;
};

// The stream a handle names on the current device; null for a handle that is none.
Stream* resolve_stream(hipStream_t handle);
Stream* per_thread_stream();

// Waits until everything submitted before the call has finished.
hipError_t synchronize(Stream& stream);
hipError_t synchronize(Device& device);

}  // namespace hip
