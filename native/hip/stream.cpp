#include "stream.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "memory_pool.h"
#include "thread_state.h"

namespace hip {

namespace {

constexpr size_t kKernargChunk = 64 << 10;
constexpr uint32_t kQueuePackets = 1024;
constexpr size_t kMaxQueues = 24;           // per device; more streams share
constexpr size_t kMaxCheckedQueues = 1024;  // streams that share one are in order, which is not the program's doing

constexpr uint16_t packet_header(hsa_packet_type_t type) {
  return uint16_t((type << HSA_PACKET_HEADER_TYPE) | (1 << HSA_PACKET_HEADER_BARRIER) |
                  (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
                  (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE));
}

void on_queue_error(hsa_status_t status, hsa_queue_t*, void* data) { static_cast<Device*>(data)->report_fault(status); }

// Marks, for tools, whose packets the calling thread submits.
class StreamScope {
 public:
  explicit StreamScope(uint64_t id) { thread_state().stream_id = id; }
  ~StreamScope() { thread_state().stream_id = 0; }
};

std::vector<hsa_signal_t> signals_of(const std::vector<CompletionRef>& work) {
  std::vector<hsa_signal_t> signals(work.size());
  std::ranges::transform(work, signals.begin(), [](const CompletionRef& one) { return one->signal; });
  return signals;
}

}  // namespace

KernargArena::~KernargArena() {
  for (Chunk& chunk : chunks_) hsa_amd_memory_pool_free(chunk.base);
}

void* KernargArena::allocate(size_t size, Device& device) {
  size = (size + 63) & ~size_t{63};
  if (!chunks_.empty()) {
    Chunk& chunk = chunks_[current_];
    if (chunk.used + size <= chunk.size) {
      void* address = chunk.base + chunk.used;
      chunk.used += size;
      return address;
    }
    for (size_t i = 0; i < chunks_.size(); ++i) {
      if (i == current_ || chunks_[i].size < size || chunks_[i].last_use.pending()) continue;
      current_ = i;
      chunks_[i].used = size;
      chunks_[i].last_use = {};
      return chunks_[i].base;
    }
  }
  Chunk chunk;
  chunk.size = size > kKernargChunk ? size : kKernargChunk;
  void* base = nullptr;
  if (hsa_amd_memory_pool_allocate(runtime().kernarg, chunk.size, 0, &base) != HSA_STATUS_SUCCESS) return nullptr;
  hsa_amd_agents_allow_access(1, &device.agent, nullptr, base);
  chunk.base = static_cast<char*>(base);
  chunk.used = size;
  chunks_.push_back(chunk);
  current_ = chunks_.size() - 1;
  return base;
}

HostWorker::HostWorker() : thread_([this] { loop(); }) {}

HostWorker::~HostWorker() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  // A host function may destroy the stream it runs on.
  if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
  else thread_.join();
}

void HostWorker::push(Task task) {
  {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void HostWorker::loop() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    hipError_t status = hipSuccess;
    if (task.work) hsa_rocm_perf_work_begins(task.work);
    for (const CompletionRef& before : task.after) {
      hipError_t result = wait(before);
      if (status == hipSuccess) status = result;
    }
    task.run(status);
    if (task.work) hsa_rocm_perf_work_is_over();
    if (!time_is_modelled()) {
      task.done->finish();
      continue;
    }
    const std::vector<hsa_signal_t> waits = signals_of(task.after);
    hsa_rocm_perf_host_work_done(task.submitted_ns, uint32_t(waits.size()), waits.data(), task.copied_bytes,
                                 task.done->signal);
  }
}

Stream::Stream(Device& device_, unsigned flags_, int priority_) : device(device_), flags(flags_), priority(priority_) {}

Stream::~Stream() { release_queue(); }

// With a stream's first work of any kind: that there is one queue tells the device that nothing runs
// beside a kernel.
hsa_queue_t* Stream::ensure_queue() {
  if (queue_) return queue_;
  if (!device.idle_queues.empty() && cu_mask.empty()) {
    queue_ = device.idle_queues.back();
    device.idle_queues.pop_back();
  } else if (device.shared_queues.size() < (order_is_checked() ? kMaxCheckedQueues : kMaxQueues)) {
    if (hsa_queue_create(device.agent, kQueuePackets, HSA_QUEUE_TYPE_MULTI, on_queue_error, &device, UINT32_MAX,
                         UINT32_MAX, &queue_) != HSA_STATUS_SUCCESS)
      return nullptr;
    hsa_amd_profiling_set_profiler_enabled(queue_, 1);
    if (!cu_mask.empty()) hsa_amd_queue_cu_set_mask(queue_, uint32_t(cu_mask.size() * 32), cu_mask.data());
    device.shared_queues.emplace_back(queue_, 1);
    return queue_;
  } else {
    auto* least = &device.shared_queues.front();
    for (auto& candidate : device.shared_queues)
      if (candidate.second < least->second) least = &candidate;
    queue_ = least->first;
  }
  for (auto& [queue, users] : device.shared_queues)
    if (queue == queue_) ++users;
  return queue_;
}

void Stream::release_queue() {
  if (!queue_) return;
  std::lock_guard lock(device.mutex);
  for (auto& [queue, users] : device.shared_queues) {
    if (queue != queue_ || --users > 0) continue;
    if (cu_mask.empty()) device.idle_queues.push_back(queue);
  }
  queue_ = nullptr;
}

uint64_t Stream::reserve_packet() {
  uint64_t index = hsa_queue_add_write_index_relaxed(queue_, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue_) >= queue_->size) {
    if (device.fault_status() != hipSuccess) break;  // the queue stands still
    std::this_thread::yield();
  }
  return index;
}

void Stream::publish(uint64_t index, uint16_t header, uint16_t second) {
  auto* packets = static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address);
  auto* word = reinterpret_cast<uint32_t*>(&packets[index & (queue_->size - 1)]);
  __atomic_store_n(word, header | (uint32_t(second) << 16), __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue_->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void Stream::barriers(const std::vector<CompletionRef>& after, Completion* completion) {
  size_t next = 0;
  do {
    uint64_t index = reserve_packet();
    auto* packet = static_cast<hsa_barrier_and_packet_t*>(queue_->base_address) + (index & (queue_->size - 1));
    std::memset(reinterpret_cast<char*>(packet) + 4, 0, sizeof *packet - 4);
    for (int slot = 0; slot < 5 && next < after.size(); ++slot, ++next) packet->dep_signal[slot] = after[next]->signal;
    if (next == after.size() && completion) packet->completion_signal = completion->signal;
    publish(index, packet_header(HSA_PACKET_TYPE_BARRIER_AND), 0);
  } while (next < after.size());
}

void Stream::collect(std::vector<CompletionRef>& after, bool queued) {
  if (!(queued && last_in_queue_) && last.orders()) after.push_back(last);
  if (legacy) {
    for (Stream* stream : device.streams)
      if (stream->blocking() && stream->last.orders()) after.push_back(stream->last);
  } else if (blocking() && device.null_stream->last.orders()) {
    after.push_back(device.null_stream->last);
  }
}

void Stream::submitted(CompletionRef completion, bool in_queue) {
  while (!in_flight_.empty() && in_flight_.front().done->done()) in_flight_.pop_front();
  in_flight_.push_back({completion, std::move(scratch_)});
  scratch_.clear();
  last = std::move(completion);
  last_in_queue_ = in_queue;
}

bool Stream::idle() {
  scratch_.clear();
  collect(scratch_, false);
  return std::none_of(scratch_.begin(), scratch_.end(), [](const CompletionRef& work) { return work.pending(); });
}

std::vector<CompletionRef> Stream::pending() {
  std::vector<CompletionRef> after;
  collect(after, false);
  return after;
}

hipError_t Stream::dispatch(const KernelDispatch& kernel, CompletionRef* done) {
  if (time_is_modelled()) tell_kind_of_time();
  if (!ensure_queue()) return hipErrorOutOfMemory;
  CompletionRef completion = make_completion(&device);
  if (!completion) return hipErrorOutOfMemory;
  StreamScope scope(id);
  scratch_.clear();
  collect(scratch_, true);
  if (!scratch_.empty()) barriers(scratch_, nullptr);

  uint64_t index = reserve_packet();
  auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address) + (index & (queue_->size - 1));
  uint16_t dimensions = kernel.grid[2] > 1 || kernel.block[2] > 1   ? 3
                        : kernel.grid[1] > 1 || kernel.block[1] > 1 ? 2
                                                                    : 1;
  packet->workgroup_size_x = kernel.block[0];
  packet->workgroup_size_y = kernel.block[1];
  packet->workgroup_size_z = kernel.block[2];
  packet->reserved0 = 0;
  packet->grid_size_x = kernel.grid[0];
  packet->grid_size_y = kernel.grid[1];
  packet->grid_size_z = kernel.grid[2];
  packet->private_segment_size = kernel.private_bytes;
  packet->group_segment_size = kernel.group_bytes;
  packet->kernel_object = kernel.kernel_object;
  packet->kernarg_address = kernel.kernarg;
  packet->reserved2 = 0;
  packet->completion_signal = completion->signal;
  publish(index, packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH), dimensions);
  if (kernel.kernarg) kernargs.used_by(completion);
  if (done) *done = completion;
  submitted(std::move(completion), true);
  return hipSuccess;
}

hipError_t Stream::marker(CompletionRef* done, const std::vector<CompletionRef>& after) {
  if (!ensure_queue()) return hipErrorOutOfMemory;
  CompletionRef completion = make_completion(&device);
  if (!completion) return hipErrorOutOfMemory;
  StreamScope scope(id);
  scratch_.clear();
  collect(scratch_, true);
  for (const CompletionRef& other : after)
    if (other.orders()) scratch_.push_back(other);
  barriers(scratch_, completion.get());
  if (done) *done = completion;
  submitted(std::move(completion), true);
  return hipSuccess;
}

// `start` gets what to wait for and the signal to set when it is done.
template <class Start>
hipError_t Stream::outside_queue(Start start) {
  if (!ensure_queue()) return hipErrorOutOfMemory;
  CompletionRef completion = make_completion(&device);
  if (!completion) return hipErrorOutOfMemory;
  scratch_.clear();
  collect(scratch_, false);
  const std::vector<hsa_signal_t> waits = signals_of(scratch_);
  hsa_status_t status = start(uint32_t(waits.size()), waits.data(), completion->signal);
  if (status != HSA_STATUS_SUCCESS) return error_from_hsa(status);
  submitted(std::move(completion), false);
  return hipSuccess;
}

hipError_t Stream::copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent, size_t size) {
  StreamScope scope(id);
  return outside_queue([&](uint32_t count, const hsa_signal_t* after, hsa_signal_t done) {
    return hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, count, after, done);
  });
}

hipError_t Stream::copy_rect(const hsa_pitched_ptr_t& to, const hsa_dim3_t& to_offset, const hsa_pitched_ptr_t& from,
                             const hsa_dim3_t& from_offset, const hsa_dim3_t& range,
                             hsa_amd_copy_direction_t direction) {
  StreamScope scope(id);
  return outside_queue([&](uint32_t count, const hsa_signal_t* after, hsa_signal_t done) {
    return hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, device.agent, direction, count,
                                          after, done);
  });
}

hipError_t Stream::prefetch(const void* address, size_t size, hsa_agent_t to) {
  if (!ensure_queue()) return hipErrorOutOfMemory;
  CompletionRef completion = make_completion(&device);
  if (!completion) return hipErrorOutOfMemory;
  StreamScope scope(id);
  scratch_.clear();
  collect(scratch_, false);
  const std::vector<hsa_signal_t> waits = signals_of(scratch_);
  hsa_status_t status = hsa_amd_svm_prefetch_async(const_cast<void*>(address), size, to, uint32_t(waits.size()),
                                                   waits.data(), completion->signal);
  if (status != HSA_STATUS_SUCCESS) return error_from_hsa(status);
  submitted(std::move(completion), false);
  return hipSuccess;
}

hipError_t Stream::timed_fill(void* to, size_t bytes, bool rows, std::function<void()> fill) {
  const auto run = [](void* data) {
    auto* work = static_cast<std::function<void()>*>(data);
    (*work)();
    delete work;
  };
  StreamScope scope(id);
  return outside_queue([&](uint32_t count, const hsa_signal_t* after, hsa_signal_t done) {
    return hsa_rocm_perf_async_fill(device.agent, to, bytes, rows, run, new std::function<void()>(std::move(fill)),
                                    count, after, done);
  });
}

hipError_t Stream::host(std::function<void(hipError_t)> run, uint64_t copied_bytes) {
  if (!ensure_queue()) return hipErrorOutOfMemory;
  CompletionRef completion = make_completion(&device);
  if (!completion) return hipErrorOutOfMemory;
  if (!worker_) worker_ = std::make_unique<HostWorker>();
  scratch_.clear();
  const uint64_t submitted_ns = time_is_modelled() ? hsa_rocm_perf_host_ns() : 0;
  const uint32_t work = order_is_checked() ? hsa_rocm_perf_work_submitted() : 0;
  worker_->push({pending(), std::move(run), completion, copied_bytes, submitted_ns, work});
  submitted(std::move(completion), false);
  return hipSuccess;
}

hipError_t synchronize(Stream& stream) {
  std::vector<CompletionRef> pending;
  {
    std::lock_guard lock(stream.device.mutex);
    pending = stream.pending();
  }
  for (const CompletionRef& completion : pending) {
    hipError_t status = wait(completion);
    if (status != hipSuccess) return status;
  }
  collect_pools(stream.device);
  return stream.device.fault_status();
}

hipError_t synchronize(Device& device) {
  std::vector<CompletionRef> pending;
  {
    std::lock_guard lock(device.mutex);
    if (device.null_stream->last) pending.push_back(device.null_stream->last);
    for (Stream* stream : device.streams)
      if (stream->last) pending.push_back(stream->last);
  }
  for (const CompletionRef& completion : pending) {
    hipError_t status = wait(completion);
    if (status != hipSuccess) return status;
  }
  collect_pools(device);
  return device.fault_status();
}

}  // namespace hip
