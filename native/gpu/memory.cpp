#include "memory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace gpu {

AddressSpace::Snapshot::Snapshot() {
  static std::atomic<uint64_t> last{0};
  number = ++last;
}

AddressSpace::Snapshot::Snapshot(std::vector<Range> list) : Snapshot() { ranges = std::move(list); }

const Range* AddressSpace::Snapshot::find(uint64_t address) const noexcept {
  auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address, [](uint64_t a, const Range& r) { return a < r.base; });
  if (after == ranges.begin()) return nullptr;
  const Range& range = *(after - 1);
  return address < range.end ? &range : nullptr;
}

namespace {

using ByBase = std::map<uint64_t, Range>;

// Nobody overruns the runtime's own memory by a little: it is no help to name it as a neighbour.
bool worth_naming(const Range& range) {
  return range.kind != RangeKind::Scratch && range.kind != RangeKind::Runtime && range.kind != RangeKind::Hostcall &&
         range.kind != RangeKind::Kernarg;
}

// The range that holds `address`, or the closest one worth naming; end() if there is none.
ByBase::const_iterator closest(const ByBase& ranges, uint64_t address) {
  auto after = ranges.upper_bound(address);
  auto before = after;
  if (before != ranges.begin() && address < std::prev(before)->second.end) return std::prev(before);
  while (after != ranges.end() && !worth_naming(after->second)) ++after;
  while (before != ranges.begin()) {
    --before;
    if (!worth_naming(before->second)) continue;
    const uint64_t below = address - before->second.end;
    return after == ranges.end() || below <= after->first - address ? before : after;
  }
  return after;
}

int64_t distance(const Range& range, uint64_t address) {
  if (address < range.base) return -int64_t(range.base - address);
  if (address >= range.asked_end()) return int64_t(address - range.asked_end()) + 1;
  return 0;
}

// A freed address stays unlisted, and an access to it a fault, for as long as the arena has others to
// give; the latest of them are also known by name, at about a hundred bytes each.
constexpr size_t kFreedRemembered = 1 << 13;

}  // namespace

struct AddressSpace::State {
  mutable std::mutex mutex;
  ByBase live, freed;
  uint64_t frees = 0;
  std::map<uint64_t, uint64_t> freed_order, freed_number;  // the free's number -> base, and back
  mutable std::shared_ptr<const Snapshot> published = std::make_shared<Snapshot>();
  mutable bool stale = false;

  ByBase::iterator forget(ByBase::iterator it) {
    const auto number = freed_number.find(it->first);
    freed_order.erase(number->second);
    freed_number.erase(number);
    return freed.erase(it);
  }
  void forget_freed(uint64_t base, uint64_t end) {
    auto it = freed.lower_bound(base);
    if (it != freed.begin() && std::prev(it)->second.end > base) --it;
    while (it != freed.end() && it->first < end) it = forget(it);
  }
  void remember_freed(const Range& range) {
    forget_freed(range.base, range.end);
    if (freed.size() == kFreedRemembered) forget(freed.find(freed_order.begin()->second));
    freed[range.base] = range;
    freed_number[range.base] = ++frees;
    freed_order[frees] = range.base;
  }
};

AddressSpace::AddressSpace() : state_(std::make_shared<State>()) {}

void AddressSpace::add(const Range& range) {
  std::lock_guard lock(state_->mutex);
  state_->forget_freed(range.base, range.end);
  state_->live[range.base] = range;
  state_->stale = true;
}

void AddressSpace::set_kind(uint64_t base, RangeKind kind) {
  std::lock_guard lock(state_->mutex);
  auto it = state_->live.find(base);
  if (it == state_->live.end() || it->second.kind == kind) return;
  it->second.kind = kind;
  state_->stale = true;
}

bool AddressSpace::remove(uint64_t base) {
  std::lock_guard lock(state_->mutex);
  auto it = state_->live.find(base);
  if (it == state_->live.end()) return false;
  state_->remember_freed(it->second);
  state_->live.erase(it);
  state_->stale = true;
  return true;
}

// Allocating is common and launching is rarer: the sorted copy is made by the first launch after
// a change, not by every change.
std::shared_ptr<const AddressSpace::Snapshot> AddressSpace::snapshot() const {
  std::lock_guard lock(state_->mutex);
  if (state_->stale) {
    auto fresh = std::make_shared<Snapshot>();
    fresh->ranges.reserve(state_->live.size());
    for (const auto& [base, range] : state_->live) {
      Range piece = range;
      // Host memory may be registered in overlapping pieces: the first one keeps the shared part.
      if (!fresh->ranges.empty()) piece.base = std::max(piece.base, fresh->ranges.back().end);
      if (piece.base < piece.end) fresh->ranges.push_back(piece);
    }
    state_->published = std::move(fresh);
    state_->stale = false;
  }
  return state_->published;
}

NearestRange AddressSpace::nearest(uint64_t address) const {
  std::lock_guard lock(state_->mutex);
  NearestRange result;
  auto take = [&](const ByBase& ranges, bool freed) {
    auto it = closest(ranges, address);
    if (it == ranges.end()) return;
    const int64_t d = distance(it->second, address);
    // A freed range counts only when the address lies in it: that is what happened to it.
    if (freed ? d != 0 : result.found && std::abs(result.distance) <= std::abs(d)) return;
    result = {true, freed, it->second, d};
  };
  take(state_->live, false);
  if (!(result.found && result.distance == 0)) take(state_->freed, true);
  return result;
}

}  // namespace gpu
