// What happens before what, between kernels, copies, fills and the host: each piece of work knows what was
// over when it began.
//
// Order is handed on by three things only: a queue, whose packets follow each other; signals, which are set
// by work that ends and waited for by what follows; and the host, which knows what it has waited for when it
// submits. Threads of the host count as one: how they order each other is their own business, and what one of
// them has waited for, all may know. None of it depends on when something happened to run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host_stack.h"

namespace gpu {
struct Launch;
}  // namespace gpu

namespace gpu::check {

using WorkId = uint32_t;  // in the order in which the host submitted; 0: none

// What is over, as a number of pieces of each lane. A lane is a row of pieces that follow each other.
using Progress = std::vector<uint32_t>;
using Clock = std::shared_ptr<const Progress>;
Clock both(const Clock& a, const Clock& b);

// Whether somebody wants to know; if not, nothing below does anything.
bool work_is_ordered();

// ---- the host: the calling thread, or the work that it does just now ------------------------------------

Clock host_clock();
// Hands over a piece of work; its call stack is kept.
WorkId submitted();
WorkId last_submitted();   // by this thread
WorkId next_to_submit();   // by whatever thread
void saw(uint64_t signal);
void set(uint64_t signal, bool anew);  // anew: whatever it had been set for before is forgotten
// Something beside the streams may have told the host of the work that this thread does, or this work of
// everything that has begun.
void host_learns();
void learns_all();

// ---- who does the work -------------------------------------------------------------------------------

// Begins on this thread, after what is known. Until the end, what the thread waits for and sets is the work's.
class Doing {
 public:
  Doing(WorkId work, const Clock& after);
  ~Doing();
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  const WorkId outer_;
};
// The same for those who cannot have a scope: the thread does that work until it takes another, or none (0).
void take(WorkId work);
void is_over();

WorkId doing();
Clock clock_of(WorkId work);
Clock signal_clock(uint64_t signal);
// Adds what the work that now sets the signal knows.
void ends_with(uint64_t signal, const Clock& known);

// ---- afterwards: both have begun -----------------------------------------------------------------------

bool before(WorkId a, WorkId b);
bool known_at(WorkId a, WorkId b);  // the host knew that `a` was over when it submitted `b`
const HostStack& stack_of(WorkId work);
uint32_t call_number(WorkId work);  // the same for what was handed over by the same calls
// What a kernel was launched as; kept as long as somebody may tell of it.
void is_launch(WorkId work, const Launch& launch);
const Launch* launch_of(WorkId work);
void forget_launch(WorkId work);

}  // namespace gpu::check
