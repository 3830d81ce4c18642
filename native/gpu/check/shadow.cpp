#include "shadow.h"

namespace gpu::check {
namespace {

constexpr bool conflicts(Kind a, Kind b) { return (writes(a) || writes(b)) && !(atomic(a) && atomic(b)); }

// Whatever conflicts with `earlier` conflicts with `later` too.
constexpr bool covers(Kind later, Kind earlier) {
  return later == Kind::Write || later == earlier || earlier == Kind::AtomicRead;
}

}  // namespace

uint32_t* Shadow::head(uint64_t line) {
  const uint64_t page = line / kLinesPerPage;
  if (page != last_page_ || !last_) {
    auto found = pages_.find(page);
    if (found == pages_.end()) {
      if (!room()) return nullptr;
      found = pages_.emplace(page, std::make_unique<Page>()).first;
    }
    last_page_ = page;
    last_ = found->second.get();
  }
  return &(*last_)[line % kLinesPerPage];
}

uint32_t Shadow::take() {
  if (free_) {
    const uint32_t index = free_;
    free_ = at(index).next;
    return index;
  }
  if (used_ / kChunk >= chunks_.size()) {
    if (!room()) return 0;
    chunks_.push_back(std::make_unique<Touch[]>(kChunk));
  }
  return used_++;
}

void Shadow::give(uint32_t index) {
  at(index).next = free_;
  free_ = index;
}

void Shadow::enter(uint64_t line, const Touch& touch, Judge& judge) {
  uint32_t* const first = head(line);
  if (!first) {
    ++lost_;
    return;
  }
  lines_ += *first == 0;
  uint64_t elsewhere = 0, beside = 0;  // bytes with a concurrent touch of this kind: other groups, the own one
  uint32_t same = 0;
  for (uint32_t* link = first; *link;) {
    const uint32_t index = *link;
    Touch& earlier = at(index);
    const uint64_t both = earlier.mask & touch.mask;
    const bool own = earlier.by(touch);
    if (own && earlier.clock == touch.clock && earlier.kind == touch.kind && earlier.place == touch.place) {
      if (both == touch.mask) return;  // whoever came between has looked at it
      same = index;
    } else if (both) {
      uint64_t drop = 0;
      if (own || judge.ordered(earlier)) {
        // The read before a compare-and-swap is checked by it: as good as atomic.
        if (covers(touch.kind, earlier.kind) || (own && touch.compares && earlier.kind == Kind::Read)) drop = both;
      } else if (conflicts(touch.kind, earlier.kind)) {
        judge.conflict(earlier, line, both);
      } else if (earlier.kind == touch.kind) {
        uint64_t& seen = earlier.group == touch.group ? beside : elsewhere;
        drop = both & seen;
        seen |= both;
      }
      earlier.mask &= ~drop;
      if (!earlier.mask) {
        *link = earlier.next;
        give(index);
        continue;
      }
    }
    link = &earlier.next;
  }
  if (same) {
    Touch& entry = at(same);
    const int apart = int(touch.lane) - int(entry.lane);
    if (touch.size != entry.size || touch.back || entry.back || int(touch.base) - int(entry.base) != apart * entry.size)
      entry.lane = kNoLane;
    entry.mask |= touch.mask;
    return;
  }
  const uint32_t fresh = take();
  if (!fresh) {
    ++lost_;
    return;
  }
  Touch& entry = at(fresh);
  entry = touch;
  entry.next = *first;
  *first = fresh;
}

void Shadow::clear() {
  if (!lines_) return;
  for (auto& [number, page] : pages_) page->fill(0);
  used_ = 1;
  free_ = 0;
  lines_ = 0;
}

}  // namespace gpu::check
