// One capture: hold everything, look, run the kernel alone, look again, let go.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "queues.h"

namespace capture {

struct Kernel;
struct Want;

// The launch to capture. It is on its queue already, behind barriers: everything before it has run
// when `drained` is zero, it runs itself when `go` is, and what is behind it when `over` is.
struct HeldLaunch {
  Queue& queue;
  hsa_kernel_dispatch_packet_t packet;  // as the program wrote it
  std::shared_ptr<const Kernel> kernel;
  const Want& want;
  uint64_t index, number;
  hsa_signal_t drained, go, ran, over;
};

class Captures {
 public:
  bool finished() const;                             // captured, refused or failed: nothing is left to do
  uint64_t count_dispatch() { return dispatches_++; }  // its number in the process, from 0
  // What is wanted of this launch, to one process and once: whoever hears it must capture.
  const Want* claim_target(const Kernel* kernel, uint64_t index);

  // In the handler of the queue, after the packets were written.
  void capture(const HeldLaunch& target);

  // Something that makes the capture less than faithful.
  void note_problem(const std::string& reason) { note("problem", reason); }
  // Something a reader should know.
  void note_remark(const std::string& text) { note("note", text); }
  std::string take_notes();  // as lines

 private:
  bool claim(const Want& want);
  void capture_now(const HeldLaunch& target);
  void note(const char* kind, const std::string& text);

  std::atomic<uint64_t> settled_{0};  // wants that are captured, refused or another process's
  std::atomic<uint64_t> dispatches_{0};
  std::mutex one_at_a_time_;
  std::mutex mutex_;  // of the following
  std::set<const Want*> claimed_;
  std::string notes_;
};

}  // namespace capture
