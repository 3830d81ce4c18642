// Tags of a set-associative cache with least-recently-used replacement.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpu {

class TagCache {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;
  struct Found {
    uint32_t at;
    bool hit;
    uint32_t before = 0;  // time of a hit line's last use
  };

  // `step`: how far a use moves the clock; with 0 only set_time() does.
  TagCache(uint32_t sets, uint32_t ways, uint32_t step = 1)
      : sets_(sets), ways_(ways), step_(step), tags_(size_t(sets) * ways, kNone), used_(tags_.size()), filled_(sets) {}

  // Where the line is, made most recent; or the least recent place of its set, still holding what
  // it held: the caller looks at it and calls place().
  Found find(uint32_t set, uint32_t line) {
    const size_t from = size_t(set) * ways_;
    const uint32_t* tags = &tags_[from];
    const uint32_t filled = filled_[set];
    uint32_t at = kNone;
    for (uint32_t w = 0; w < filled; ++w) at = tags[w] == line ? w : at;
    if (at != kNone) {
      const uint32_t before = used_[from + at];
      used_[from + at] = clock_ += step_;
      return {uint32_t(from + at), true, before};
    }
    if (filled < ways_) return {uint32_t(from + filled), false};
    const uint32_t* used = &used_[from];
    uint32_t oldest = 0, least = used[0];
    for (uint32_t w = 1; w < ways_; ++w) {
      const bool older = used[w] < least;
      least = older ? used[w] : least;
      oldest = older ? w : oldest;
    }
    return {uint32_t(from + oldest), false};
  }
  // Where the line is, or kNone; changes nothing.
  uint32_t place_of(uint32_t set, uint32_t line) const {
    const size_t from = size_t(set) * ways_;
    const uint32_t* tags = &tags_[from];
    uint32_t at = kNone;
    for (uint32_t w = 0; w < filled_[set]; ++w) at = tags[w] == line ? w : at;
    return at == kNone ? kNone : uint32_t(from + at);
  }
  // When it was last used, 0 where it is not there; changes nothing.
  uint32_t last_use(uint32_t set, uint32_t line) const {
    const uint32_t at = place_of(set, line);
    return at == kNone ? 0 : used_[at];
  }
  void place(uint32_t at, uint32_t line) {
    if (tags_[at] == kNone && filled_[at / ways_]++ == 0) touched_.push_back(at / ways_);
    tags_[at] = line;
    used_[at] = clock_ += step_;
  }
  void set_time(uint32_t now) { clock_ = now; }
  void prefetch(uint32_t set) const {
    __builtin_prefetch(&tags_[size_t(set) * ways_]);
    __builtin_prefetch(&used_[size_t(set) * ways_]);
  }
  // Sets that hold something. Most dispatches use few, so only those are cleared and walked.
  const std::vector<uint32_t>& touched() const { return touched_; }
  // The same in order of their number, for what must not depend on who came first.
  const std::vector<uint32_t>& touched_in_order() {
    std::sort(touched_.begin(), touched_.end());
    return touched_;
  }
  void clear() {
    for (uint32_t set : touched_) {
      const auto from = std::ptrdiff_t(set) * ways_;
      std::fill_n(tags_.begin() + from, filled_[set], kNone);
      std::fill_n(used_.begin() + from, filled_[set], 0u);
      filled_[set] = 0;
    }
    touched_.clear();
    clock_ = 0;
  }
  uint32_t tag(uint32_t at) const { return tags_[at]; }
  uint32_t used(uint32_t at) const { return used_[at]; }
  uint32_t sets() const { return sets_; }
  uint32_t size() const { return uint32_t(tags_.size()); }
  uint32_t ways() const { return ways_; }
  uint32_t filled(uint32_t set) const { return filled_[set]; }

 private:
  uint32_t sets_, ways_, step_;
  std::vector<uint32_t> tags_, used_;
  std::vector<uint8_t> filled_;  // ways of a set in use, the first ones
  std::vector<uint32_t> touched_;
  uint32_t clock_ = 0;
};

// Something kept per line of a cache, set to zero in the sets that hold lines.
template <class Value>
void clear_touched(std::vector<Value>& values, const TagCache& tags) {
  for (uint32_t set : tags.touched())
    std::fill_n(values.begin() + std::ptrdiff_t(set) * tags.ways(), tags.filled(set), Value{});
}

}  // namespace gpu
