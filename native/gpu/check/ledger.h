// The work of the process, entered in the order in which the host submitted it, however it ran: what is found
// is the same on every run.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "history.h"
#include "stream_memory.h"

namespace gpu::check {

class Ledger {
 public:
  void touched(WorkId work, Accesses accesses);  // before it is closed
  void closed(WorkId work);                      // it has ended
  // Something that the host does now, after what it has submitted and before what it will.
  void note(std::function<void(Ledger&)> entry);
  // Memory that is somebody else's from now on.
  void forget(uint64_t base, uint64_t size);
  // No more will come: what could not be entered is said.
  void end();

  StreamMemory& stream_memory() { return stream_memory_; }

 private:
  struct Open {
    Accesses accesses;
    bool closed = false;
  };
  void go_on();
  void enter(WorkId work, Accesses accesses);
  // A race, as far as streams go.
  struct Meeting {
    WorkId first, then;
    History::Entry earlier;
    Touch now;
    uint64_t address, bytes;
    bool earlier_known, now_known;
  };
  using Places = std::pair<std::string, std::string>;
  void judge(const Places& places, const Meeting& race);
  void judge_open(WorkId known_by);
  bool spoke(WorkId a, WorkId b) const;
  void let_go(WorkId work);

  std::mutex mutex_;
  WorkId next_ = 1;
  std::map<WorkId, Open> open_;
  std::multimap<WorkId, std::function<void(Ledger&)>> notes_;  // before that work
  History history_;
  StreamMemory stream_memory_;
  // What speaks with other work while it runs, by way of memory.
  struct Speaker {
    bool released, acquired, with_host, tells_atomics, small;
  };
  std::map<WorkId, Speaker> speakers_;
  std::set<std::pair<WorkId, WorkId>> spoke_;
  // Of speakers: what they have said is known only when the host knows that both are over.
  std::vector<std::pair<Places, Meeting>> unjudged_;
};
Ledger& ledger();

}  // namespace gpu::check
