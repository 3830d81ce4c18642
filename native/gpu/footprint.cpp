#include "footprint.h"

#include <cstring>

namespace gpu {
namespace {

constexpr uint64_t kKeptBytes = uint64_t{2} << 30;  // of one launch

}  // namespace

Footprint::Footprint(std::shared_ptr<const AddressSpace::Snapshot> memory, bool keeping)
    : memory_(std::move(memory)), keeping_(keeping) {
  auto closed = std::make_unique<AddressSpace::Snapshot>(memory_->ranges);
  for (Range& range : closed->ranges) range.readable = range.writable = false;
  views_.push_back(std::move(closed));
}

const AddressSpace::Snapshot* Footprint::view() const {
  std::lock_guard lock(mutex_);
  return views_.back().get();
}

bool Footprint::open(uint64_t address, uint64_t size, bool write) {
  const Range* real = memory_->find(address);
  if (!real || !real->holds(address, size, write) || !(write ? real->writable : real->readable)) return false;
  const size_t index = size_t(real - memory_->ranges.data());
  std::lock_guard lock(mutex_);
  const Range& known = views_.back()->ranges[index];
  if (write ? known.writable : known.readable) return true;  // another wave was first
  if (write && keeping_) keep(*real);
  auto wider = std::make_unique<AddressSpace::Snapshot>(views_.back()->ranges);
  (write ? wider->ranges[index].writable : wider->ranges[index].readable) = true;
  views_.push_back(std::move(wider));
  return true;
}

void Footprint::keep(const Range& range) {
  if (range.kind == RangeKind::Scratch) return;
  kept_bytes_ += range.end - range.base;
  // What the host has heard or may be changing meanwhile is not taken back.
  lost_ |= range.kind == RangeKind::Runtime || range.kind == RangeKind::Hostcall || kept_bytes_ > kKeptBytes;
  if (lost_) return kept_.clear();
  const auto* bytes = reinterpret_cast<const uint8_t*>(range.base);
  kept_.push_back({range, {bytes, bytes + (range.end - range.base)}});
}

bool Footprint::undo() {
  std::lock_guard lock(mutex_);
  if (lost_ || !keeping_) return false;
  for (const Kept& kept : kept_)
    std::memcpy(reinterpret_cast<void*>(kept.range.base), kept.bytes.data(), kept.bytes.size());
  return true;
}

void Footprint::lose() {
  std::lock_guard lock(mutex_);
  lost_ = true;
}

bool Footprint::complete() const {
  std::lock_guard lock(mutex_);
  return !lost_;
}

std::vector<Footprint::Touched> Footprint::touched() const {
  std::lock_guard lock(mutex_);
  std::vector<Touched> out;
  for (size_t i = 0; i < memory_->ranges.size(); ++i) {
    const Range& seen = views_.back()->ranges[i];
    if (seen.readable || seen.writable) out.push_back({memory_->ranges[i], seen.readable, seen.writable});
  }
  return out;
}

}  // namespace gpu
