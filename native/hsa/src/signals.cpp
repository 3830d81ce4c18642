#include "signals.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <mutex>
#include <thread>
#include <vector>

#include "arena.h"
#include "check/work.h"
#include "device_clock.h"
#include "hsa_impl.h"
#include "queues.h"
#include "runtime.h"

namespace {

constexpr uint64_t kSpin_ns = 20'000, kNap_ns = 2'000'000;

void futex_wait(void* word, uint32_t expected, uint64_t timeout_ns) {
  timespec limit{time_t(timeout_ns / 1'000'000'000), long(timeout_ns % 1'000'000'000)};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &limit, nullptr, 0);
}
void futex_wake(void* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

std::atomic<uint32_t> changes{0}, watchers{0};

void host_saw(const Signal& signal) {
  device_clock::host_saw(signal);
  gpu::check::saw(signal.handle().handle);
}

// Signals live in blocks that the device can reach; a destroyed one is used again.
class SignalPool {
 public:
  Signal* take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    if (free_.empty()) return nullptr;
    Signal* out = free_.back();
    free_.pop_back();
    return out;
  }
  void give(Signal* signal) {
    std::lock_guard lock(mutex_);
    free_.push_back(signal);
  }

 private:
  static constexpr size_t kStride = 128, kPerBlock = 512;
  static_assert(sizeof(Signal) <= kStride);
  void grow() {
    auto* block = static_cast<uint8_t*>(gpu::arena().allocate(kStride * kPerBlock));
    if (!block) return;
    const uint64_t base = reinterpret_cast<uint64_t>(block);
    Runtime::memory().add({base, base + kStride * kPerBlock, gpu::RangeKind::Runtime, true, true});
    for (size_t i = kPerBlock; i-- > 0;) free_.push_back(reinterpret_cast<Signal*>(block + i * kStride));
  }
  std::mutex mutex_;
  std::vector<Signal*> free_;
};

SignalPool& pool() {
  static SignalPool* instance = new SignalPool;
  return *instance;
}

}  // namespace

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

Signal* signal_of(hsa_signal_t handle) {
  if (!handle.handle || handle.handle % 64) return nullptr;
  auto* signal = reinterpret_cast<Signal*>(handle.handle);
  return signal->amd.kind == AMD_SIGNAL_KIND_INVALID ? nullptr : signal;
}

Signal* make_signal(int64_t initial, int64_t kind) {
  Signal* signal = pool().take();
  if (!signal) return nullptr;
  // Not constructed anew: who completed the last user of this memory may still be looking whether
  // anybody waits, and may at worst wake one thread too many.
  signal->amd = {};
  signal->doorbell_of = nullptr;
  signal->heard_at_once = false;
  signal->amd.kind = kind;
  signal->amd.value = initial;
  return signal;
}

void free_signal(Signal* signal) {
  signal->amd.kind = AMD_SIGNAL_KIND_INVALID;
  pool().give(signal);
}

void announce(Signal& signal) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (signal.waiters.load(std::memory_order_relaxed)) futex_wake(const_cast<int64_t*>(&signal.amd.value));
  if (watchers.load(std::memory_order_relaxed)) wake_watchers();
}

void wake_watchers() {
  changes.fetch_add(1, std::memory_order_release);
  futex_wake(&changes);
}

uint32_t change_count() { return changes.load(std::memory_order_acquire); }

void wait_for_change(uint32_t seen, uint64_t timeout_ns) {
  watchers.fetch_add(1);
  if (changes.load() == seen) futex_wait(&changes, seen, std::min(timeout_ns, kNap_ns));
  watchers.fetch_sub(1);
}

void complete(hsa_signal_t handle, uint64_t start_ns, uint64_t end_ns) {
  Signal* signal = signal_of(handle);
  if (!signal) return;
  signal->amd.start_ts = start_ns;
  signal->amd.end_ts = end_ns;
  signal->value().fetch_sub(1, std::memory_order_acq_rel);
  announce(*signal);
}

bool holds(hsa_signal_condition_t condition, int64_t value, int64_t compare) {
  switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ: return value == compare;
    case HSA_SIGNAL_CONDITION_NE: return value != compare;
    case HSA_SIGNAL_CONDITION_LT: return value < compare;
    case HSA_SIGNAL_CONDITION_GTE: return value >= compare;
  }
  return false;
}

int64_t wait_for(Signal& signal, hsa_signal_condition_t condition, int64_t compare, uint64_t timeout_ns, bool active) {
  const uint64_t start = now_ns(), spin = active ? 10 * kSpin_ns : kSpin_ns;
  while (true) {
    const int64_t value = signal.value().load(std::memory_order_acquire);
    if (holds(condition, value, compare)) {
      host_saw(signal);
      return value;
    }
    const uint64_t passed = now_ns() - start;
    if (passed >= timeout_ns) return value;
    if (passed < spin) {
      std::this_thread::yield();
      continue;
    }
    signal.waiters.fetch_add(1);
    // The low half of the value is the futex word: a change of only the high half costs one nap.
    if (signal.value().load() == value)
      futex_wait(const_cast<int64_t*>(&signal.amd.value), uint32_t(value), std::min(timeout_ns - passed, kNap_ns));
    signal.waiters.fetch_sub(1);
  }
}

namespace {

struct SignalGroup {
  std::vector<hsa_signal_t> signals;
};

uint32_t wait_any(uint32_t count, const hsa_signal_t* signals, const hsa_signal_condition_t* conditions,
                  const int64_t* values, uint64_t timeout_ns, int64_t* satisfying) {
  const uint64_t start = now_ns();
  while (true) {
    const uint32_t seen = change_count();
    for (uint32_t i = 0; i < count; ++i) {
      Signal* signal = signal_of(signals[i]);
      if (!signal) continue;
      const int64_t value = signal->value().load(std::memory_order_acquire);
      if (!holds(conditions[i], value, values[i])) continue;
      if (satisfying) *satisfying = value;
      host_saw(*signal);
      return i;
    }
    const uint64_t passed = now_ns() - start;
    if (passed >= timeout_ns) return UINT32_MAX;
    if (passed < kSpin_ns) std::this_thread::yield();
    else wait_for_change(seen, timeout_ns - passed);
  }
}

template <class Change>
auto changed(hsa_signal_t handle, Change change) {
  Signal* signal = signal_of(handle);
  using Result = decltype(change(*signal));
  if (!signal) return Result();
  gpu::check::set(handle.handle, false);
  if constexpr (std::is_void_v<Result>) {
    change(*signal);
    announce(*signal);
  } else {
    Result out = change(*signal);
    announce(*signal);
    return out;
  }
}

void store(hsa_signal_t handle, int64_t value, std::memory_order order) {
  Signal* signal = signal_of(handle);
  if (!signal) return;
  if (signal->doorbell_of) {
    ring(*signal->doorbell_of, value);
    return;
  }
  device_clock::host_sets(*signal);
  gpu::check::set(handle.handle, true);
  signal->value().store(value, order);
  announce(*signal);
}

}  // namespace

namespace impl {

hsa_status_t hsa_signal_create(hsa_signal_value_t initial, uint32_t consumer_count, const hsa_agent_t* consumers,
                               hsa_signal_t* signal) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!signal || (consumer_count && !consumers)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Signal* made = make_signal(initial);
  if (!made) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *signal = made->handle();
  gpu::check::set(signal->handle, true);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_signal_create(hsa_signal_value_t initial, uint32_t consumer_count, const hsa_agent_t* consumers,
                                   uint64_t, hsa_signal_t* signal) {
  return impl::hsa_signal_create(initial, consumer_count, consumers, signal);
}
hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  Signal* found = signal_of(signal);
  if (!signal.handle) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!found) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  free_signal(found);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t** address) {
  Signal* found = signal_of(signal);
  if (!found) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  if (!address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *address = &found->amd.value;
  return HSA_STATUS_SUCCESS;
}

// Orders nothing, for a check either.
hsa_signal_value_t hsa_signal_load_relaxed(hsa_signal_t signal) {
  Signal* found = signal_of(signal);
  return found ? found->value().load(std::memory_order_relaxed) : 0;
}
hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t signal) {
  Signal* found = signal_of(signal);
  if (!found) return 0;
  const int64_t value = found->value().load(std::memory_order_acquire);
  gpu::check::saw(signal.handle);
  return value;
}
void hsa_signal_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  store(signal, value, std::memory_order_relaxed);
}
void hsa_signal_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  store(signal, value, std::memory_order_release);
}
void hsa_signal_silent_store_relaxed(hsa_signal_t signal, hsa_signal_value_t value) {
  store(signal, value, std::memory_order_relaxed);
}
void hsa_signal_silent_store_screlease(hsa_signal_t signal, hsa_signal_value_t value) {
  store(signal, value, std::memory_order_release);
}

// Sequential consistency serves every order: signals are not where the time goes.
#define RPL_UPDATE(op, order, method)                                             \
  void hsa_signal_##op##_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    changed(signal, [=](Signal& s) { s.value().method(value); });                 \
  }
#define RPL_SWAP(order)                                                                           \
  hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value) { \
    return changed(signal, [=](Signal& s) { return s.value().exchange(value); });                 \
  }                                                                                               \
  hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,     \
                                            hsa_signal_value_t value) {                           \
    return changed(signal, [=](Signal& s) {                                                       \
      int64_t seen = expected;                                                                    \
      s.value().compare_exchange_strong(seen, value);                                             \
      return seen;                                                                                \
    });                                                                                           \
  }
#define RPL_ORDERS(order)                \
  RPL_UPDATE(add, order, fetch_add)      \
  RPL_UPDATE(subtract, order, fetch_sub) \
  RPL_UPDATE(and, order, fetch_and) RPL_UPDATE(or, order, fetch_or) RPL_UPDATE(xor, order, fetch_xor) RPL_SWAP(order)
RPL_ORDERS(relaxed)
RPL_ORDERS(scacquire)
RPL_ORDERS(screlease)
RPL_ORDERS(scacq_screl)

hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                                             hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t hint) {
  Signal* found = signal_of(signal);
  return found ? wait_for(*found, condition, compare, timeout, hint == HSA_WAIT_STATE_ACTIVE) : 0;
}
hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                                           hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t hint) {
  return impl::hsa_signal_wait_scacquire(signal, condition, compare, timeout, hint);
}

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t,
                                 hsa_signal_value_t* satisfying) {
  return wait_any(count, signals, conditions, values, timeout, satisfying);
}
uint32_t hsa_amd_signal_wait_all(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t hint,
                                 hsa_signal_value_t* satisfying) {
  const uint64_t start = now_ns();
  for (uint32_t i = 0; i < count; ++i) {
    Signal* signal = signal_of(signals[i]);
    if (!signal) continue;
    const uint64_t passed = now_ns() - start;
    const int64_t value = wait_for(*signal, conditions[i], values[i], timeout > passed ? timeout - passed : 0,
                                   hint == HSA_WAIT_STATE_ACTIVE);
    if (satisfying) satisfying[i] = value;
    if (!holds(conditions[i], value, values[i])) return UINT32_MAX;
  }
  return 0;
}

hsa_status_t hsa_signal_group_create(uint32_t signal_count, const hsa_signal_t* signals, uint32_t, const hsa_agent_t*,
                                     hsa_signal_group_t* group) {
  if (!group || !signals || !signal_count) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  group->handle = reinterpret_cast<uint64_t>(new SignalGroup{{signals, signals + signal_count}});
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t group) {
  if (!group.handle) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  delete reinterpret_cast<SignalGroup*>(group.handle);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                                                 const hsa_signal_value_t* compares, hsa_wait_state_t,
                                                 hsa_signal_t* signal, hsa_signal_value_t* value) {
  if (!group.handle) return HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP;
  if (!conditions || !compares || !signal || !value) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const auto& signals = reinterpret_cast<SignalGroup*>(group.handle)->signals;
  const uint32_t index = wait_any(uint32_t(signals.size()), signals.data(), conditions, compares, UINT64_MAX, value);
  if (index < signals.size()) *signal = signals[index];
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                                               const hsa_signal_value_t* compares, hsa_wait_state_t hint,
                                               hsa_signal_t* signal, hsa_signal_value_t* value) {
  return impl::hsa_signal_group_wait_any_scacquire(group, conditions, compares, hint, signal, value);
}

}  // namespace impl
