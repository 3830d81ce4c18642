#include "out_of_bounds.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "check/faults.h"
#include "check/settings.h"
#include "fault_text.h"
#include "workgroup.h"

namespace gpu {
namespace {

constexpr uint64_t kBlock = 2 << 20;
constexpr size_t kPlaces = 100;

uint64_t round_down(uint64_t value, uint64_t to) { return value / to * to; }

// The addresses a device has mapped on account of a range.
struct Extent {
  uint64_t base, end;
};
Extent extent(const Range& r) {
  switch (r.kind) {
    case RangeKind::Vram: {
      const Padding padding = padding_of(r.asked_end() - r.base);
      return {r.base - padding.before, round_up(r.asked_end(), kPage) + padding.after};
    }
    case RangeKind::HostPinned:
    case RangeKind::Managed:
    case RangeKind::Vmem: return {round_down(r.base, kPage), round_up(r.end, kPage)};
    default: return {r.base, r.end};
  }
}

bool mapped_byte(const AddressSpace::Snapshot& memory, uint64_t address) {
  const auto covers = [&](const Range& r) {
    const Extent e = extent(r);
    return address >= e.base && address < e.end;
  };
  const auto& ranges = memory.ranges;
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), address, [](uint64_t a, const Range& r) { return a < r.base; });
  for (auto r = after; r != ranges.begin() && (r - 1)->end + kBlock > address; --r)
    if (covers(*(r - 1))) return true;
  for (auto r = after; r != ranges.end() && r->base < address + kBlock; ++r)
    if (covers(*r)) return true;
  return false;
}

// What was found in this process, told as it comes and summed up at its end.
class Places {
 public:
  void count(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Fault& fault,
             const AddressSpace& memory) {
    std::lock_guard lock(mutex_);
    if (all_++ == 0) {
      process_ = getpid();
      std::atexit([] { places().sum_up(); });
    }
    const Key key{launch.kernel->descriptor, fault.pc, fault.kind, fault.write};
    auto known = by_pc_.find(key);
    if (known == by_pc_.end()) known = by_pc_.emplace(key, find(launch, shape, wave_number, fault, memory)).first;
    ++(known->second ? *known->second : elsewhere_);
  }

  static Places& places() {
    static Places& all = *new Places;  // outlives every thread and static destructor
    return all;
  }

 private:
  using Key = std::tuple<uint64_t, uint64_t, FaultKind, bool>;

  // One place may have many instructions: a loop unrolled, a function inlined. nullptr: there are too
  // many places already.
  uint64_t* find(const Launch& launch, const GroupShape& shape, uint32_t wave_number, const Fault& fault,
                 const AddressSpace& memory) {
    const OutsideText text = tell_outside(launch, shape, wave_number, fault, memory);
    if (auto it = counts_.find(text.place); it != counts_.end()) return &it->second;
    if (counts_.size() == kPlaces) {
      if (!full_)
        std::fprintf(stderr, "rocm-perf: out of bounds in more than %zu places: the others are only counted\n",
                     kPlaces);
      full_ = true;
      return nullptr;
    }
    std::fprintf(stderr, "rocm-perf: out of bounds in %s: %s\n", text.place.c_str(), text.first.c_str());
    order_.push_back(text.place);
    return &counts_[text.place];
  }

  void sum_up() {
    std::lock_guard lock(mutex_);
    if (getpid() != process_) return;  // a fork has its parent's handlers
    std::fprintf(stderr, "rocm-perf: %llu access%s out of bounds in %zu place%s%s\n",
                 static_cast<unsigned long long>(all_), all_ == 1 ? "" : "es", counts_.size(),
                 counts_.size() == 1 ? "" : "s", elsewhere_ ? " and more" : "");
    FILE* kept = nullptr;
    if (const char* folder = std::getenv("ROCM_PERF_FINDINGS"); folder && *folder)
      kept = std::fopen((std::string(folder) + "/" + std::to_string(process_) + ".txt").c_str(), "w");
    const auto line = [&](uint64_t count, const std::string& place) {
      std::fprintf(stderr, "rocm-perf: %10llu in %s\n", static_cast<unsigned long long>(count), place.c_str());
      if (kept)
        std::fprintf(kept, "%llu\tout of bounds in %s\n", static_cast<unsigned long long>(count), place.c_str());
    };
    for (const std::string& place : order_) line(counts_[place], place);
    if (elsewhere_) line(elsewhere_, "other places");
    if (kept) std::fclose(kept);
  }

  std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
  std::map<Key, uint64_t*> by_pc_;
  std::vector<std::string> order_;
  uint64_t all_ = 0, elsewhere_ = 0;
  pid_t process_ = 0;
  bool full_ = false;
};

}  // namespace

Padding padding_of(uint64_t size) {
  const uint64_t pages = round_up(size, kPage), left = round_up(pages, kBlock) - pages;
  const uint64_t before = pages <= kBlock ? round_down(left / 2, kPage) : 0;
  return {before, left - before};
}

Bounds bounds_from_environment() {
  const char* text = std::getenv("ROCM_PERF_VIRTUAL_BOUNDS");
  if (text && std::strcmp(text, "page") == 0) return Bounds::Page;
  return text && std::strcmp(text, "report") == 0 ? Bounds::Report : Bounds::Strict;
}

// Memory that was freed stays a fault, though hardware may not have taken it away yet, and so does what
// another part of this process keeps between allocations.
bool Lenient::mapped(const Fault& fault) const {
  const uint64_t first = fault.address, last = first + fault.size - 1;
  if (last < first) return false;
  const auto now = memory_.snapshot();
  const Range* inside = now->find(first);
  if (inside && inside->holds(first, fault.size, fault.write))
    return false;  // allocated meanwhile: the wave will look again
  for (const uint64_t byte : {first, last}) {
    if (!mapped_byte(*now, byte) || memory_.nearest(byte).freed) return false;
    const uint64_t piece = arena().piece_at(byte);
    const Range* owner = piece ? now->find(piece) : nullptr;
    if (piece && (!owner || owner->base != piece)) return false;
  }
  if (fault.write && arena().contains(last)) arena().written_outside(last + 1);
  return true;
}

bool Lenient::passes(const Wave& wave, const Fault& fault) {
  const WorkgroupContext& group = *wave.group;
  if (fault.kind == FaultKind::Unmapped && !mapped(fault)) return false;
  // What is touched there belongs to no range that could be compared, and every access counts.
  if (group.launched->footprint) group.launched->footprint->lose();
  if (!told_) return true;
  const auto number = std::find(group.waves.begin(), group.waves.end(), &wave) - group.waves.begin();
  if (const check::Settings* checks = check::settings(); checks && checks->memory) {
    if (fault.kind != FaultKind::Unmapped || !check::reads_ahead(fault, memory_))
      check::fault(*group.launched, group.index, uint32_t(number), fault, memory_, false);
    return true;
  }
  Places::places().count(*group.launched, group.shape, uint32_t(number), fault, memory_);
  return true;
}

}  // namespace gpu
