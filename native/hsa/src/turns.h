// Whose turn it is, while time is modelled: what the caches hold, and who finds the device taken,
// depends on the order in which queues and copy engines do their work. It is done in the order of its
// submission, except that what waits for something else lets the others pass; so it is the same order
// on every run, whichever host thread is faster.
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
  // Waits until nobody with an earlier ticket could go on. Gives up after some seconds: work may wait
  // for later work in ways nobody sees, as a kernel that looks for a flag.
  void take_turn(uint64_t ticket);
  void done(uint64_t ticket);
  // Holds the first piece of work back while the function says so; nullptr: no more.
  void hold(std::function<bool()> held);

 private:
  std::deque<uint64_t> tickets_;
  std::function<bool()> held_;
};
