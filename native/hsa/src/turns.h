// Whose turn it is, while time is modelled: what the caches hold, and who finds the device taken,
// depends on the order in which queues and copy engines do their work. It is done in the order of its
// submission, except that what waits for something else lets the others pass: for signals, and, as a kernel
// that looks for a flag, in ways that only show as so much work without an end. So it is the same order on
// every run, whichever host thread is faster.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

// Work in order: a queue, or one copy. Used by the thread that does the work, after submit().
class Lane {
 public:
  Lane();
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  uint64_t submit();  // a ticket for one more piece of work
  // Whether nobody with an earlier ticket could go on; waits until then. A change of that counts as one of
  // signals (wait_for_change).
  bool has_turn(uint64_t ticket) const;
  void take_turn(uint64_t ticket);
  void done(uint64_t ticket);
  // Lets others pass the first piece of work while the function says so; nullptr: no more.
  void hold(std::function<bool()> held);
  void close();  // nothing of it will be done any more

 private:
  bool first(uint64_t ticket) const;
  std::deque<uint64_t> tickets_;
  std::function<bool()> held_;
  bool closed_ = false;
};
