// The end of a piece of work: an HSA signal that falls from 1 to 0, shared by everybody who may
// have to wait for it (the stream, events, later work of other streams) and used again afterwards.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <utility>

#include "modelled_time.h"
#include "ordered_work.h"

namespace hip {

struct Device;

class Completion {
 public:
  hsa_signal_t signal{};
  Device* device = nullptr;  // whose faults end a wait

  // A look that orders nothing: who goes on because of it waits as well.
  bool done() const { return hsa_signal_load_relaxed(signal) < 1; }
  void finish() { hsa_signal_store_screlease(signal, 0); }

 private:
  friend class CompletionRef;
  std::atomic<int> references_{0};
};

// A counted reference. Work in flight is itself a reference (Stream::in_flight), so a signal is
// never used again while a packet may still write it.
class CompletionRef {
 public:
  CompletionRef() = default;
  explicit CompletionRef(Completion* completion) : completion_(completion) { retain(); }
  CompletionRef(const CompletionRef& other) : completion_(other.completion_) { retain(); }
  CompletionRef(CompletionRef&& other) noexcept : completion_(std::exchange(other.completion_, nullptr)) {}
  CompletionRef& operator=(CompletionRef other) noexcept {
    std::swap(completion_, other.completion_);
    return *this;
  }
  ~CompletionRef() { release(); }

  Completion* operator->() const { return completion_; }
  Completion* get() const { return completion_; }
  explicit operator bool() const { return completion_ != nullptr; }
  bool pending() const { return completion_ && !completion_->done(); }
  // Whether later work has to be told to follow it. Where time is modelled the work may be done and
  // its time still to come; where order is checked, that it is done already is luck.
  bool orders() const { return completion_ && (!completion_->done() || time_is_modelled() || order_is_checked()); }

 private:
  void retain() {
    if (completion_) completion_->references_.fetch_add(1, std::memory_order_relaxed);
  }
  void release();
  Completion* completion_ = nullptr;
};

// A completion whose signal is 1; empty when HSA has no signals left.
CompletionRef make_completion(Device* device);

}  // namespace hip
