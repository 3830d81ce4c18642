// Functions that programs want called when a signal has a value, or soon.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "check/work.h"
#include "hsa_impl.h"
#include "runtime.h"
#include "signals.h"

namespace {

// One thread calls the handlers, in the order their conditions come true.
class AsyncHandlers {
 public:
  struct Entry {
    Signal* signal;
    hsa_signal_condition_t condition;
    int64_t value;
    hsa_amd_signal_handler handler;
    void* arg;
  };

  void add(Entry entry) {
    std::lock_guard lock(mutex_);
    entries_.push_back(entry);
    start();
  }
  void call(std::function<void()> function) {
    std::lock_guard lock(mutex_);
    functions_.push_back(std::move(function));
    start();
  }
  void stop() {
    {
      std::lock_guard lock(mutex_);
      if (!running_) return;
      stopping_ = true;
      nudge();
    }
    thread_.join();
    std::lock_guard lock(mutex_);
    running_ = stopping_ = false;
    entries_.clear();
    functions_.clear();
  }

 private:
  void start() {
    if (!running_) {
      running_ = true;
      thread_ = std::thread([this] { run(); });
    }
    nudge();
  }
  void nudge() {
    wake_watchers();
    some_.notify_all();
  }
  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      const uint32_t seen = change_count();
      bool called = false;
      while (!functions_.empty() && !stopping_) {
        auto function = std::move(functions_.front());
        functions_.pop_front();
        lock.unlock();
        function();
        lock.lock();
        called = true;
      }
      for (size_t i = 0; i < entries_.size() && !stopping_;) {
        Entry entry = entries_[i];
        const int64_t value = entry.signal->value().load(std::memory_order_acquire);
        if (entry.signal->amd.kind == AMD_SIGNAL_KIND_INVALID) {
          entries_.erase(entries_.begin() + long(i));
          continue;
        }
        if (!holds(entry.condition, value, entry.value)) {
          ++i;
          continue;
        }
        // Taken out while it runs: a handler may destroy its signal or register another one.
        entries_.erase(entries_.begin() + long(i));
        lock.unlock();
        gpu::check::saw(entry.signal->handle().handle);
        const bool again = entry.handler(value, entry.arg);
        lock.lock();
        if (again) entries_.push_back(entry);
        called = true;
      }
      if (called || stopping_) continue;
      if (entries_.empty() && functions_.empty()) {
        some_.wait(lock);
      } else {
        lock.unlock();
        wait_for_change(seen, UINT64_MAX);
        lock.lock();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable some_;
  std::vector<Entry> entries_;
  std::deque<std::function<void()>> functions_;
  std::thread thread_;
  bool running_ = false, stopping_ = false;
};

AsyncHandlers& async_handlers() {
  static AsyncHandlers* instance = new AsyncHandlers;
  return *instance;
}

}  // namespace

void stop_async_handlers() { async_handlers().stop(); }

namespace impl {

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler handler, void* arg) {
  if (!Runtime::get()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (!handler) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Signal* found = signal_of(signal);
  if (!found) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  async_handlers().add({found, condition, value, handler, arg});
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_async_function(void (*function)(void* arg), void* arg) {
  if (!function) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  async_handlers().call([=] { function(arg); });
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
