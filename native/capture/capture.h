// One capture: hold everything, look, run the kernel alone, look again, let go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "queues.h"

namespace capture {

struct Kernel;
struct Want;

bool finished();            // captured, refused or failed: nothing is left to do
uint64_t count_dispatch();  // its number in the process, from 0
// What is wanted of this launch, to one process and once: whoever hears it must capture.
const Want* claim_target(const Kernel* kernel, uint64_t index);

// The launch to capture. It is on its queue already, behind barriers: everything before it has run
// when `drained` is zero, it runs itself when `go` is, and what is behind it when `over` is.
struct Target {
  Queue& queue;
  hsa_kernel_dispatch_packet_t packet;  // as the program wrote it
  std::shared_ptr<const Kernel> kernel;
  const Want& want;
  uint64_t index, number;
  hsa_signal_t drained, go, ran, over;
};

// In the handler of the queue, after the packets were written.
void capture_dispatch(const Target& target);

// Something that makes the capture less than faithful.
void note_problem(const std::string& reason);
// Something a reader should know.
void note_remark(const std::string& text);

}  // namespace capture
