#include "history.h"

#include <utility>

namespace gpu::check {
namespace {

// Together some hundred bytes each. Beyond them nothing is entered, and that is said.
constexpr uint64_t kMostPieces = 4 << 20, kMostEntries = 16 << 20;

}  // namespace

// The piece that begins at `line`, cut out of one that holds it, or the first after it.
History::Pieces::iterator History::split(uint64_t line) {
  auto after = pieces_.lower_bound(line);
  if (after != pieces_.end() && after->first == line) return after;
  if (after == pieces_.begin()) return after;
  auto holding = std::prev(after);
  if (holding->second.end <= line) return after;
  for (const Entry& entry : holding->second.entries) ++counts_[entry.work];
  entries_ += holding->second.entries.size();
  Piece rest{holding->second.end, holding->second.entries};
  holding->second.end = line;
  return pieces_.emplace_hint(after, line, std::move(rest));
}

void History::add(std::vector<Entry>& to, const Entry& entry) {
  to.push_back(entry);
  ++counts_[entry.work];
  ++entries_;
}

void History::drop(WorkId work) {
  --entries_;
  const auto found = counts_.find(work);
  if (--found->second) return;
  counts_.erase(found);
  gone_.push_back(work);
}

std::vector<WorkId> History::gone() {
  std::erase_if(gone_, [&](WorkId work) { return counts_.count(work) != 0; });
  return std::exchange(gone_, {});
}

void History::each(const Run& run,
                   const std::function<void(const Entry&, uint64_t line, uint64_t lines)>& visit) const {
  auto it = pieces_.upper_bound(run.line);
  if (it != pieces_.begin() && std::prev(it)->second.end > run.line) --it;
  for (; it != pieces_.end() && it->first < run.end; ++it) {
    const uint64_t from = std::max(it->first, run.line), to = std::min(it->second.end, run.end);
    for (const Entry& entry : it->second.entries)
      if (entry.touch.mask & run.touch.mask) visit(entry, from, to - from);
  }
}

void History::enter(const Run& run, WorkId work, const std::function<bool(WorkId)>& is_before,
                    const std::function<void(const Meeting&)>& meets) {
  if (pieces_.size() > kMostPieces || entries_ > kMostEntries) {
    ++lost_;
    return;
  }
  const Entry fresh{run.touch, run.line, work};
  split(run.end);
  auto it = split(run.line);
  for (uint64_t line = run.line; line < run.end;) {
    if (it == pieces_.end() || it->first > line) {  // nobody has been there
      const uint64_t end = it == pieces_.end() ? run.end : std::min(run.end, it->first);
      it = pieces_.emplace_hint(it, line, Piece{end, {}});
      add(it->second.entries, fresh);
      line = end;
      ++it;
      continue;
    }
    Piece& piece = it->second;
    for (size_t i = 0; i < piece.entries.size();) {
      Entry& earlier = piece.entries[i];
      const uint64_t bytes = earlier.touch.mask & run.touch.mask;
      if (bytes && earlier.work != work) {
        if (is_before(earlier.work)) {
          if (stands_for(run.touch.kind, earlier.touch.kind)) earlier.touch.mask &= ~bytes;
        } else if (conflict(run.touch.kind, earlier.touch.kind)) {
          meets({&earlier, line, piece.end - line, bytes});
        }
      }
      if (earlier.touch.mask) {
        ++i;
        continue;
      }
      drop(earlier.work);
      earlier = piece.entries.back();
      piece.entries.pop_back();
    }
    add(piece.entries, fresh);
    line = piece.end;
    ++it;
  }
  join(run.line, run.end);
}

// Pieces that have become alike are one again.
void History::join(uint64_t begin, uint64_t end) {
  auto it = pieces_.lower_bound(begin);
  if (it != pieces_.begin()) --it;
  while (it != pieces_.end() && it->first <= end) {
    const auto next = std::next(it);
    if (next == pieces_.end()) return;
    if (next->first != it->second.end || next->second.entries != it->second.entries) {
      it = next;
      continue;
    }
    it->second.end = next->second.end;
    for (const Entry& entry : next->second.entries) drop(entry.work);
    pieces_.erase(next);
  }
}

void History::forget(uint64_t base, uint64_t size) {
  if (!size) return;
  const uint64_t end = (base + size - 1) / Shadow::kLine + 1;
  split(end);
  for (auto it = split(base / Shadow::kLine); it != pieces_.end() && it->first < end; it = pieces_.erase(it))
    for (const Entry& entry : it->second.entries) drop(entry.work);
}

}  // namespace gpu::check
