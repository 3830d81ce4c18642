// Signals: a 64-byte amd_signal_t that device code and tools may read, and what we keep beside it.
#pragma once

#include <atomic>
#include <functional>

#include "hsa/amd_hsa_signal.h"
#include "hsa/hsa_ext_amd.h"

struct Queue;

struct Signal {
  amd_signal_t amd;
  std::atomic<uint32_t> waiters{0};  // threads asleep on this signal alone
  Queue* doorbell_of = nullptr;
  bool heard_at_once = false;  // by queues, where time is modelled

  std::atomic_ref<int64_t> value() { return std::atomic_ref<int64_t>(const_cast<int64_t&>(amd.value)); }
  hsa_signal_t handle() const { return {reinterpret_cast<uint64_t>(this)}; }
};
static_assert(offsetof(Signal, amd) == 0);

Signal* signal_of(hsa_signal_t handle);  // nullptr for 0, a destroyed or an impossible handle
Signal* make_signal(int64_t initial, int64_t kind = AMD_SIGNAL_KIND_USER);
void free_signal(Signal* signal);

// After a change of its value: wakes whoever sleeps on the signal, and whoever watches several.
void announce(Signal& signal);
// Subtracts one, as a packet does that has completed.
void complete(hsa_signal_t handle, uint64_t start_ns, uint64_t end_ns);

bool holds(hsa_signal_condition_t condition, int64_t value, int64_t compare);
int64_t wait_for(Signal& signal, hsa_signal_condition_t condition, int64_t compare, uint64_t timeout_ns, bool active);

// For threads that watch many things: sleeps until any signal changes after `seen`, or so long.
// Device code changes signals without telling, so nobody sleeps for ever.
uint32_t change_count();
void wait_for_change(uint32_t seen, uint64_t timeout_ns);
void wake_watchers();

void stop_async_handlers();

uint64_t now_ns();
