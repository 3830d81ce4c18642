// Asynchronous copies and shared virtual memory.
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>

#include "allocations.h"
#include "arena.h"
#include "device_clock.h"
#include "hsa_impl.h"
#include "outside_writes.h"
#include "signals.h"

namespace {

struct Task {
  std::vector<hsa_signal_t> waits;
  hsa_signal_t completion;
  std::function<void()> work;
  uint64_t modelled_ns = 0, submitted_ns = device_clock::host_ns();

  bool ready() const {
    for (hsa_signal_t handle : waits)
      if (Signal* signal = signal_of(handle); signal && signal->value().load(std::memory_order_acquire) != 0) return false;
    return true;
  }
};

// Two engines. Each takes the first task whose signals are zero, so a waiting copy holds up nobody.
class Engines {
 public:
  void submit(Task task) {
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
      taken.work();
      uint64_t end = std::max(now_ns(), start + 1);
      if (device_clock::modelled()) {
        start = taken.submitted_ns;
        for (hsa_signal_t handle : taken.waits)
          if (Signal* signal = signal_of(handle)) start = std::max(start, signal->amd.end_ts);
        end = start + taken.modelled_ns;
      }
      complete(taken.completion, start, end);
      lock.lock();
    }
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

bool over_the_bus(hsa_agent_t to, hsa_agent_t from) {
  Runtime* runtime = Runtime::get();
  const Agent *a = runtime ? runtime->agent(to) : nullptr, *b = runtime ? runtime->agent(from) : nullptr;
  return a != b || (a && !a->is_gpu());
}

// First and last byte of a box in pitched memory.
bool box_allowed(const hsa_pitched_ptr_t& p, const hsa_dim3_t& offset, const hsa_dim3_t& range) {
  const size_t first = offset.x + offset.y * p.pitch + offset.z * p.slice;
  const size_t last = first + (range.z - 1) * p.slice + (range.y - 1) * p.pitch + range.x;
  return copy_allowed(static_cast<uint8_t*>(p.base) + first, last - first);
}

}  // namespace

void stop_copies() { engines().stop(); }

namespace impl {

hsa_status_t hsa_amd_memory_async_copy(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent, size_t size, uint32_t wait_count, const hsa_signal_t* waits,
                                       hsa_signal_t completion) {
  if (!to || !from) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (const hsa_status_t status = check(wait_count, waits, completion); status != HSA_STATUS_SUCCESS) return status;
  if (!copy_allowed(to, size) || !copy_allowed(from, size)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  engines().submit({{waits, waits + wait_count}, completion, [=] {
    const gpu::OutsideWrite writing;
    if (!read_vmem(to, from, size)) std::memmove(to, from, size);
  }, device_clock::copy_ns(size, over_the_bus(to_agent, from_agent))});
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_memory_async_copy_on_engine(void* to, hsa_agent_t to_agent, const void* from, hsa_agent_t from_agent, size_t size,
                                                 uint32_t wait_count, const hsa_signal_t* waits, hsa_signal_t completion, hsa_amd_sdma_engine_id_t,
                                                 bool) {
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

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* to, const hsa_dim3_t* to_offset, const hsa_pitched_ptr_t* from,
                                            const hsa_dim3_t* from_offset, const hsa_dim3_t* range, hsa_agent_t, hsa_amd_copy_direction_t direction,
                                            uint32_t wait_count, const hsa_signal_t* waits, hsa_signal_t completion) {
  if (!to || !from || !to_offset || !from_offset || !range || !to->base || !from->base) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (const hsa_status_t status = check(wait_count, waits, completion); status != HSA_STATUS_SUCCESS) return status;
  const bool empty = !range->x || !range->y || !range->z;
  if (!empty && (!box_allowed(*to, *to_offset, *range) || !box_allowed(*from, *from_offset, *range))) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  auto work = [t = *to, f = *from, to_at = *to_offset, from_at = *from_offset, box = *range] {
    const gpu::OutsideWrite writing;
    for (uint32_t z = 0; z < box.z; ++z)
      for (uint32_t y = 0; y < box.y; ++y)
        std::memmove(static_cast<uint8_t*>(t.base) + to_at.x + (to_at.y + y) * t.pitch + (to_at.z + z) * t.slice,
                     static_cast<uint8_t*>(f.base) + from_at.x + (from_at.y + y) * f.pitch + (from_at.z + z) * f.slice, box.x);
  };
  const uint64_t bytes = uint64_t{range->x} * range->y * range->z;
  engines().submit({{waits, waits + wait_count}, completion, work, device_clock::copy_ns(bytes, direction != hsaDeviceToDevice)});
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool) { return Runtime::get() ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED; }

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t* time) {
  Signal* found = signal_of(signal);
  if (!found) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!time) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!found->amd.end_ts) return HSA_STATUS_ERROR;
  *time = {found->amd.start_ts, found->amd.end_ts};
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal, hsa_amd_profiling_dispatch_time_t* time) {
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
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t agent_tick, uint64_t* system_tick) {
  Runtime* runtime = Runtime::get();
  if (!runtime || !runtime->agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!system_tick) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *system_tick = agent_tick;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_set(void* address, size_t size, hsa_amd_svm_attribute_pair_t* attributes, size_t count) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || (count && !attributes)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  bool accessible = false;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t attribute = attributes[i].attribute;
    if (attribute != HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE && attribute != HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE_IN_PLACE) continue;
    Agent* agent = runtime->agent({attributes[i].value});
    if (!agent) return HSA_STATUS_ERROR_INVALID_AGENT;
    accessible |= agent->is_gpu();
  }
  if (!accessible) return HSA_STATUS_SUCCESS;
  const uint64_t base = reinterpret_cast<uint64_t>(address);
  std::lock_guard lock(allocations().mutex);
  if (!allocations().holding(base)) {
    allocations().by_base[base] = {HSA_EXT_POINTER_TYPE_HSA_VMEM, base, size, 0, &runtime->cpu(), runtime->cpu().pools.front().get(), nullptr, 0, {}};
    Runtime::memory().add({base, base + size, gpu::RangeKind::Managed, true, true});
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_get(void* address, size_t size, hsa_amd_svm_attribute_pair_t* attributes, size_t count) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || (count && !attributes)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  std::lock_guard lock(allocations().mutex);
  const bool known = allocations().holding(reinterpret_cast<uint64_t>(address)) != nullptr;
  for (size_t i = 0; i < count; ++i) {
    hsa_amd_svm_attribute_pair_t& pair = attributes[i];
    switch (pair.attribute) {
      case HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG: pair.value = HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED; break;
      case HSA_AMD_SVM_ATTRIB_PREFERRED_LOCATION: case HSA_AMD_SVM_ATTRIB_PREFETCH_LOCATION: pair.value = runtime->cpu().handle().handle; break;
      case HSA_AMD_SVM_ATTRIB_ACCESS_QUERY:
        pair.attribute = known ? HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE : HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS;
        break;
      default: pair.value = 0;
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_prefetch_async(void* address, size_t size, hsa_agent_t agent, uint32_t wait_count, const hsa_signal_t* waits,
                                        hsa_signal_t completion) {
  Runtime* runtime = Runtime::get();
  if (!runtime) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!address || !size || (wait_count && !waits)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!runtime->agent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  engines().submit({{waits, waits + wait_count}, completion, [] {}});
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
