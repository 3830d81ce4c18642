// Who touched which bytes of global memory, over all work of the process: pieces of lines that were touched
// the same way. What every later conflict would also have with something newer is dropped, as in a Shadow.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>

#include "accesses.h"
#include "work.h"

namespace gpu::check {

class History {
 public:
  struct Entry {
    Touch touch;         // its mask is of each line of the piece
    uint64_t first = 0;  // the line on which it is known who it was
    WorkId work = 0;
    bool operator==(const Entry& other) const {
      return work == other.work && first == other.first && touch.mask == other.touch.mask &&
             touch.kind == other.touch.kind && touch.place == other.touch.place;
    }
  };
  struct Meeting {
    const Entry* earlier;
    uint64_t line, lines, bytes;  // where both are, and which bytes of each line
  };
  // What lies on the lines of a run, and shares bytes with it.
  void each(const Run& run, const std::function<void(const Entry&, uint64_t line, uint64_t lines)>& visit) const;
  // Enters a run of `work`. Of what meets it: `before` says what is over, `conflict` hears of what is not.
  void enter(const Run& run, WorkId work, const std::function<bool(WorkId)>& is_before,
             const std::function<void(const Meeting&)>& meets);
  void forget(uint64_t base, uint64_t size);
  uint64_t lost() const { return lost_; }
  // Work of which nothing is left in it since the last time it was asked.
  std::vector<WorkId> gone();

 private:
  struct Piece {
    uint64_t end;
    std::vector<Entry> entries;
  };
  using Pieces = std::map<uint64_t, Piece>;  // by their first line

  Pieces::iterator split(uint64_t line);
  void join(uint64_t begin, uint64_t end);
  void add(std::vector<Entry>& to, const Entry& entry);
  void drop(WorkId work);

  Pieces pieces_;
  std::unordered_map<WorkId, uint32_t> counts_;  // entries of a piece of work
  std::vector<WorkId> gone_;
  uint64_t entries_ = 0, lost_ = 0;
};

constexpr bool conflict(Kind a, Kind b) { return (writes(a) || writes(b)) && !(atomic(a) && atomic(b)); }
// Whatever conflicts with `earlier` conflicts with `later` too.
constexpr bool stands_for(Kind later, Kind earlier) {
  return later == Kind::Write || later == earlier || earlier == Kind::AtomicRead;
}

}  // namespace gpu::check
