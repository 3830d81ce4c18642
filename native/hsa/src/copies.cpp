// Asynchronous copies and shared virtual memory.
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "allocations.h"
#include "arena.h"
#include "check/work.h"
#include "check/written.h"
#include "device_clock.h"
#include "hsa_impl.h"
#include "outside_writes.h"
#include "signals.h"
#include "turns.h"

namespace {

bool all_zero(const std::vector<hsa_signal_t>& signals) {
  for (hsa_signal_t handle : signals)
    if (Signal* signal = signal_of(handle); signal && signal->value().load(std::memory_order_acquire) != 0)
      return false;
  return true;
}

struct Task {
  std::vector<hsa_signal_t> waits;
  hsa_signal_t completion;
  std::function<void()> work;
  gpu::check::WorkId id;
  // Where time is modelled.
  device_clock::Transfer time;
  std::unique_ptr<Lane> lane;
  uint64_t ticket = 0;

  bool ready() const { return all_zero(waits) && (!lane || lane->has_turn(ticket)); }
};

// Two engines. Each takes the first task whose signals are zero and whose turn it is, so a waiting copy holds up
// nobody.
class Engines {
 public:
  // A tool is told of what the program copies and fills, not of what moves by itself.
  void submit(std::vector<hsa_signal_t> waits, hsa_signal_t completion, std::function<void()> work,
              const device_clock::Transfer& time, const rocm_perf_transfer* told) {
    Task task{std::move(waits), completion, std::move(work), gpu::check::submitted(), time, nullptr, 0};
    if (device_clock::modelled()) {
      task.time.submit(told);
      task.lane = std::make_unique<Lane>();
      task.ticket = task.lane->submit();
      task.lane->hold([waits = task.waits] { return !all_zero(waits); });
    }
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (threads_.empty())
      for (int i = 0; i < 2; ++i) threads_.emplace_back([this] { run(); });
    wake_.notify_one();
  }
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    tasks_.clear();
    stopping_ = false;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      const uint32_t seen = change_count();
      auto task = std::find_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.ready(); });
      if (task == tasks_.end()) {
        if (tasks_.empty()) {
          wake_.wait(lock);
        } else {
          lock.unlock();
          wait_for_change(seen, 1'000'000'000);
          lock.lock();
        }
        continue;
      }
      Task taken = std::move(*task);
      tasks_.erase(task);
      lock.unlock();
      uint64_t start = now_ns();
      do_work(taken);
      uint64_t end = std::max(now_ns(), start + 1);
      if (taken.lane) {
        const device_clock::Span span = taken.time.done(taken.waits, taken.completion);
        start = span.start;
        end = span.end;
      }
      complete(taken.completion, start, end);
      taken.lane.reset();
      lock.lock();
    }
  }

  static void do_work(const Task& task) {
    if (!task.id) return task.work();
    gpu::check::Clock after;
    for (const hsa_signal_t signal : task.waits)
      after = gpu::check::both(after, gpu::check::signal_clock(signal.handle));
    {
      const gpu::check::Doing now(task.id, after);
      task.work();
    }
    gpu::check::ends_with(task.completion.handle, gpu::check::clock_of(task.id));
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  bool stopping_ = false;
};

Engines& engines() {
  static Engines* instance = new Engines;
  return *instance;
}

hsa_status_t check(uint32_t wait_count, const hsa_signal_t* waits, hsa_signal_t completion) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (wait_count && !waits) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (uint32_t i = 0; i < wait_count; ++i)
    if (!signal_of(waits[i])) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  return signal_of(completion) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_SIGNAL;
}

device_clock::Transfer copy_time(const rocm_perf_transfer& copy) {
  using device_clock::Way;
  Runtime* runtime = Runtime::get();
  Agent *target = runtime->agent(copy.to_agent), *source = runtime->agent(copy.from_agent);
  const bool to_gpu = target && target->is_gpu(), from_gpu = source && source->is_gpu();
  device_clock::Transfer out;
  out.bytes = copy.bytes;
  out.gpu = to_gpu ? target : from_gpu ? source : nullptr;
  // From one GPU to another a copy goes over the bus.
  out.way = to_gpu && from_gpu && target == source ? Way::DeviceToDevice
            : to_gpu                               ? Way::HostToDevice
            : from_gpu                             ? Way::DeviceToHost
                                                   : Way::HostToHost;
  out.through[0] = to_gpu ? copy.to : nullptr;
  out.through[1] = from_gpu && (!to_gpu || target == source) ? copy.from : nullptr;
  return out;
}

// Managed memory goes to that agent, over the engine of it or of the first GPU. Where memory is one, nothing moves.
device_clock::Transfer move_time(Agent& target, uint64_t bytes) {
  device_clock::Transfer out;
  for (const auto& agent : Runtime::get()->agents())
    if (agent->is_gpu() && (agent.get() == &target || (!out.gpu && !target.is_gpu()))) out.gpu = agent.get();
  if (!out.gpu || out.gpu->gpu->device().apu) return {};
  out.bytes = bytes;
  out.way = target.is_gpu() ? device_clock::Way::HostToDevice : device_clock::Way::DeviceToHost;
  return out;
}

// First and last byte of a box in pitched memory.
bool box_allowed(const hsa_pitched_ptr_t& p, const hsa_dim3_t& offset, const hsa_dim3_t& range) {
  const size_t first = offset.x + offset.y * p.pitch + offset.z * p.slice;
  const size_t last = first + (range.z - 1) * p.slice + (range.y - 1) * p.pitch + range.x;
  return copy_allowed(static_cast<uint8_t*>(p.base) + first, last - first);
}

}  // namespace

void stop_copies() { engines().stop(); }

// A fill in stream order that takes its modelled time; `work` does it. For libamdhip64, whose fills
// are the host's where time is not modelled.
extern "C" __attribute__((visibility("default"))) hsa_status_t
hsa_rocm_perf_async_fill(hsa_agent_t agent, void* to, uint64_t bytes, int rows, void (*work)(void*), void* data,
                         uint32_t wait_count, const hsa_signal_t* waits, hsa_signal_t completion) {
  if (const hsa_status_t status = check(wait_count, waits, completion); status != HSA_STATUS_SUCCESS) return status;
  device_clock::Transfer time;
  time.way = device_clock::Way::Fill;
  time.bytes = bytes;
  time.gpu = Runtime::get()->agent(agent);
  time.through[0] = to;
  const rocm_perf_transfer told{to, nullptr, agent, {}, bytes, device_clock::fill_groups(*time.gpu, bytes), rows != 0};
  const auto fill = [=] {
    const gpu::OutsideWrite writing;
    work(data);
  };
  engines().submit({waits, waits + wait_count}, completion, fill, time, &told);
  return HSA_STATUS_SUCCESS;
}

namespace impl {

hsa_status_t hsa_amd_memory_async_copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent,
                                       size_t size, uint32_t wait_count, const hsa_signal_t* waits,
                                       hsa_signal_t completion) {
  if (!to || !from) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (const hsa_status_t status = check(wait_count, waits, completion); status != HSA_STATUS_SUCCESS) return status;
  if (!copy_allowed(to, size) || !copy_allowed(from, size)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const rocm_perf_transfer told{to, from, to_agent, from_agent, size, 0, 0};
  const auto copy = [=] {
    const gpu::OutsideWrite writing;
    if (!read_vmem(to, from, size)) std::memmove(to, from, size);
    gpu::check::was_copied(to, from, size);
  };
  engines().submit({waits, waits + wait_count}, completion, copy, copy_time(told), &told);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* to, hsa_agent_t to_agent, const void* from,
                                                 hsa_agent_t from_agent, size_t size, uint32_t wait_count,
                                                 const hsa_signal_t* waits, hsa_signal_t completion,
                                                 hsa_amd_sdma_engine_id_t, bool) {
  return impl::hsa_amd_memory_async_copy(to, to_agent, from, from_agent, size, wait_count, waits, completion);
}
hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t, hsa_agent_t, uint32_t* free_mask) {
  if (!free_mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *free_mask = HSA_AMD_SDMA_ENGINE_0 | HSA_AMD_SDMA_ENGINE_1;
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t, hsa_agent_t, uint32_t* mask) {
  if (!mask) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *mask = HSA_AMD_SDMA_ENGINE_0 | HSA_AMD_SDMA_ENGINE_1;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* to, const hsa_dim3_t* to_offset,
                                            const hsa_pitched_ptr_t* from, const hsa_dim3_t* from_offset,
                                            const hsa_dim3_t* range, hsa_agent_t agent,
                                            hsa_amd_copy_direction_t direction, uint32_t wait_count,
                                            const hsa_signal_t* waits, hsa_signal_t completion) {
  if (!to || !from || !to_offset || !from_offset || !range || !to->base || !from->base)
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (const hsa_status_t status = check(wait_count, waits, completion); status != HSA_STATUS_SUCCESS) return status;
  const bool empty = !range->x || !range->y || !range->z;
  if (!empty && (!box_allowed(*to, *to_offset, *range) || !box_allowed(*from, *from_offset, *range)))
    return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  auto work = [t = *to, f = *from, to_at = *to_offset, from_at = *from_offset, box = *range] {
    const gpu::OutsideWrite writing;
    for (uint32_t z = 0; z < box.z; ++z)
      for (uint32_t y = 0; y < box.y; ++y) {
        uint8_t* row = static_cast<uint8_t*>(t.base) + to_at.x + (to_at.y + y) * t.pitch + (to_at.z + z) * t.slice;
        const uint8_t* source =
            static_cast<uint8_t*>(f.base) + from_at.x + (from_at.y + y) * f.pitch + (from_at.z + z) * f.slice;
        std::memmove(row, source, box.x);
        gpu::check::was_copied(row, source, box.x);
      }
  };
  const hsa_agent_t cpu = Runtime::get()->cpu().handle();
  const bool to_host = direction == hsaDeviceToHost || direction == hsaHostToHost;
  const bool from_host = direction == hsaHostToDevice || direction == hsaHostToHost;
  const rocm_perf_transfer told{
      to->base, from->base, to_host ? cpu : agent, from_host ? cpu : agent, uint64_t{range->x} * range->y * range->z,
      0,        0};
  engines().submit({waits, waits + wait_count}, completion, work, copy_time(told), &told);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool) {
  return Runtime::get() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t* time) {
  Signal* found = signal_of(signal);
  if (!found) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!found->amd.end_ts) return HSA_STATUS_ERROR;
  *time = {found->amd.start_ts, found->amd.end_ts};
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t* time) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!runtime->agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  Signal* found = signal_of(signal);
  if (!found) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *time = {found->amd.start_ts, found->amd.end_ts};
  return HSA_STATUS_SUCCESS;
}
// Device and system count the same nanoseconds.
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t agent_tick,
                                                             uint64_t* system_tick) {
  Runtime* runtime = Runtime::get();
  if (!runtime || !runtime->agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!system_tick) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *system_tick = agent_tick;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_set(void* address, size_t size, hsa_amd_svm_attribute_pair_t* attributes,
                                        size_t count) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || (count && !attributes)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool accessible = false;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t attribute = attributes[i].attribute;
    if (attribute != HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE && attribute != HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE)
      continue;
    Agent* agent = runtime->agent({attributes[i].value});
    if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
    accessible |= agent->is_gpu();
  }
  if (!accessible) return HSA_STATUS_SUCCESS;
  const uint64_t base = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(allocations().mutex);
  if (!allocations().holding(base)) {
    allocations().by_base[base] = {HSA_EXT_POINTER_TYPE_HSA_VMEM,      base,    size, 0, &runtime->cpu(),
                                   runtime->cpu().pools.front().get(), nullptr, 0,    {}};
    Runtime::memory().add({base, base + size, gpu::RangeKind::Managed, true, true});
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_get(void* address, size_t size, hsa_amd_svm_attribute_pair_t* attributes,
                                        size_t count) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || (count && !attributes)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(allocations().mutex);
  const bool known = allocations().holding(reinterpret_cast<uint64_t>(address)) != nullptr;
  for (size_t i = 0; i < count; ++i) {
    hsa_amd_svm_attribute_pair_t& pair = attributes[i];
    switch (pair.attribute) {
      case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG: pair.value = HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED; break;
      case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION:
      case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION: pair.value = runtime->cpu().handle().handle; break;
      case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY:
        pair.attribute = known ? HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE : HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
        break;
      default: pair.value = 0;
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_prefetch_async(void* address, size_t size, hsa_agent_t agent, uint32_t wait_count,
                                        const hsa_signal_t* waits, hsa_signal_t completion) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || (wait_count && !waits)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Agent* target = runtime->agent(agent);
  if (!target) return HSA_STATUS_ERROR_INVALID_AGENT;
  const auto move = [=] {
    for (const auto& one : Runtime::get()->agents())
      if (one->is_gpu()) one->gpu->move(address, size, one.get() == target);
  };
  engines().submit({waits, waits + wait_count}, completion, move, move_time(*target, size), nullptr);
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
