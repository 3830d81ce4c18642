// The program's queues, with an intercept queue in front of each.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "hsa/hsa_api_trace.h"

namespace capture {

struct Queue {
  hsa_queue_t* handle = nullptr;
  hsa_agent_t agent{};
  uint32_t size = 0, type = 0, private_bytes = 0, group_bytes = 0;
  void (*on_error)(hsa_status_t, hsa_queue_t*, void*) = nullptr;
  void* error_data = nullptr;
  std::atomic<int> failed{0};  // the status that stopped it

  // A barrier that was not yet satisfied when it was passed on, between two barriers of ours: what
  // came before it has run once `reached` is zero, and nothing behind it runs before `passed` is. A
  // launch that waits to be captured stops its queue in the same way.
  struct Blocker {
    hsa_signal_t reached, passed;
    bool ours = true;  // to destroy
  };
  std::mutex mutex;
  std::deque<Blocker> blockers;
  bool held = false;                // a barrier of ours stops it until the capture is over
  std::vector<hsa_signal_t> marks;  // of the draining under way; zero: everything before has run
};

class Queues {
 public:
  static void hook();

  void add(std::shared_ptr<Queue> queue);
  void remove(hsa_queue_t* handle);

  // From now on queues stop at barriers of ours.
  void stop_here();
  // With the gate closed: returns when no queue but `own` runs anything, copies included.
  void drain_others(Queue& own);
  // Lets queues that wait behind a barrier of ours go on.
  void resume();
  // After the gate was opened: nothing of a draining is left under way, and another may begin.
  void finish_drain();
  // Zero but while a capture is under way: barriers behind the program's wait for it.
  hsa_signal_t hold() const { return hold_; }

  // Copies are told apart by their completion signals.
  void copy_started(uint32_t count, const hsa_signal_t* after, hsa_signal_t completion);
  void forget_copy(hsa_signal_t completion);

 private:
  struct Copy {
    hsa_signal_value_t value;
    std::vector<hsa_signal_t> after;
  };
  static bool under_way(uint64_t completion, const Copy& copy);
  void wait_for_copies();
  std::vector<std::shared_ptr<Queue>> all();

  std::mutex mutex_;  // of the queues
  std::map<hsa_queue_t*, std::shared_ptr<Queue>> queues_;
  std::vector<std::shared_ptr<Queue>> kept_;  // for good: packets may come through while a queue is destroyed
  hsa_signal_t hold_{};
  std::vector<std::thread> drainers_;
  std::mutex copies_mutex_;
  std::map<uint64_t, Copy> copies_;
};

// The queue waits for something of the program's own.
bool is_blocked(Queue& queue);

hsa_signal_t make_signal(int64_t value);
// False: `give_up` said so first.
bool wait_zero(hsa_signal_t signal, const std::function<bool()>& give_up);

}  // namespace capture
