// Between the program and the device: open, except while a capture needs everything to stand still.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace capture {

class Gate {
 public:
  // Waits while the gate is closed.
  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !closed_; });
    ++inside_;
  }
  // For those who must not wait: they go in even through a closed gate, and are told whether it was closed.
  // While they are inside nobody can close an open gate; one that is closed may be opened meanwhile, and
  // settle() then waits for them. They hand what they were told to leave().
  bool pass() {
    std::lock_guard lock(mutex_);
    ++inside_;
    if (closed_) ++late_;
    return closed_;
  }
  void leave(bool was_closed = false) {
    std::lock_guard lock(mutex_);
    if (was_closed) --late_;
    if (--inside_ == 0 || late_ == 0) changed_.notify_all();
  }

  // Returns when everybody who was inside has left. Who comes from now on waits, or is told by pass().
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.wait(lock, [&] { return inside_ == 0; });
  }
  void open() {
    std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }
  // Once it is open again: returns when all who found it closed have left.
  void settle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return late_ == 0; });
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
  unsigned late_ = 0;  // how many of those inside found it closed
};

}  // namespace capture
