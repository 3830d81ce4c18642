// Between the program and the device: open, except while a capture needs everything to stand still.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace capture {

class Gate {
 public:
  // Waits while the gate is closed. `meanwhile` is called, at most once per closing, by whoever
  // waits, when the one who closed it asks for it.
  void enter(const std::function<void()>& meanwhile = {}) {
    std::unique_lock lock(mutex_);
    uint64_t served = 0;
    while (closed_) {
      if (meanwhile && asked_ != served) {
        served = asked_;
        lock.unlock();
        meanwhile();
        lock.lock();
        continue;
      }
      changed_.wait(lock);
    }
    ++inside_;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0) changed_.notify_all();
  }

  void close() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !closed_; });
    closed_ = true;
    changed_.wait(lock, [&] { return inside_ == 0; });
  }
  void ask() {
    std::lock_guard lock(mutex_);
    ++asked_;
    changed_.notify_all();
  }
  void open() {
    std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  bool closed() const { return closed_; }

  class Inside {
   public:
    explicit Inside(Gate& gate) : gate_(gate) { gate_.enter(); }
    ~Inside() { gate_.leave(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Gate& gate_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> closed_{false};
  unsigned inside_ = 0;
  uint64_t asked_ = 0;
};

inline Gate& gate() {
  static Gate* only = new Gate;  // threads may outlive static objects
  return *only;
}

}  // namespace capture
