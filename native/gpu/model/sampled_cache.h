// A cache that keeps its contents between dispatches, of which some are simulated only in part.
#pragma once

#include <deque>

#include "cache.h"

namespace gpu {

// A line that is simulated stands for `weight` lines of the dispatch, so what the cache holds is
// counted in bytes and not in places: lines used one after the other form an epoch, and a line is
// held while its epoch and the newer ones are no larger than the cache. A line used again moves to
// the newest epoch, so that reading some lines over and over pushes out nothing else.
class SampledCache {
 public:
  // `sets` is a power of two.
  SampledCache(uint64_t bytes, uint32_t line_bytes, uint32_t sets, uint32_t ways)
      : tags_(sets, ways, 0), halves_(tags_.size()), capacity_(double(bytes)), half_(line_bytes / 2.0) {
    epochs_.push_back({});
    tags_.set_time(first_);
  }

  // `since`: a mark, where what was used before it does not count.
  bool holds(uint32_t line, uint32_t since = 0) const {
    return tags_.last_use(set(line), line) >= std::max(first_, since);
  }
  void prefetch(uint32_t line) const { tags_.prefetch(set(line)); }
  // From here on uses have a later time than all before; that time.
  uint32_t mark() {
    if (epochs_.back().bytes > 0) add_epoch();
    return first_ + uint32_t(epochs_.size()) - 1;
  }
  // A line or one of its halves (1, 2; both: 3) is used.
  void enter(uint32_t line, uint32_t halves, double weight) {
    begin_epoch(weight);
    const TagCache::Found found = tags_.find(set(line), line);
    if (found.hit && found.before >= first_) {
      take_out(found.before, halves_[found.at]);
      halves |= halves_[found.at];
    } else if (!found.hit) {
      if (const uint32_t used = tags_.used(found.at); used >= first_) take_out(used, halves_[found.at]);
      tags_.place(found.at, line);
    }
    halves_[found.at] = uint8_t(halves);
    const double bytes = half_ * __builtin_popcount(halves) * weight;
    epochs_.back().bytes += bytes;
    held_ += bytes;
    for (; held_ - epochs_.front().bytes >= capacity_ && epochs_.size() > 1; ++first_) {
      held_ -= epochs_.front().bytes;
      epochs_.pop_front();
    }
  }

 private:
  struct Epoch {
    double bytes = 0, weight = 1;
  };
  static constexpr double kEpochs = 64;  // of a full cache: it forgets a 64th of itself at a time

  uint32_t set(uint32_t line) const { return (line ^ line >> 11) & (tags_.sets() - 1); }
  void add_epoch() {
    epochs_.push_back({});
    tags_.set_time(first_ + uint32_t(epochs_.size()) - 1);
  }
  void begin_epoch(double weight) {
    const Epoch& now = epochs_.back();
    if (now.bytes >= capacity_ / kEpochs || (now.weight != weight && now.bytes > 0)) add_epoch();
    epochs_.back().weight = weight;
  }
  void take_out(uint32_t time, uint32_t halves) {
    Epoch& epoch = epochs_[time - first_];
    const double bytes = half_ * __builtin_popcount(halves) * epoch.weight;
    epoch.bytes -= bytes;
    held_ -= bytes;
  }

  TagCache tags_;  // a line's time is its epoch
  std::vector<uint8_t> halves_;
  const double capacity_, half_;
  double held_ = 0;
  std::deque<Epoch> epochs_;  // those still held
  uint32_t first_ = 1;        // the number of the oldest
};

}  // namespace gpu
