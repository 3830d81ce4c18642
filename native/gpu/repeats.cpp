#include "repeats.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "outside_writes.h"

namespace gpu {
namespace {

constexpr size_t kRecords = 64;
// Looking at memory is worth it while it is much cheaper than running: a wave instruction takes
// about as long as reading this many bytes several times over, and simulating one ten times as long.
constexpr uint64_t kBytesPerInstruction = 100, kBytesPerTimedInstruction = 1000;
// Contents that keep changing: a kernel of an iteration, not of a benchmark loop.
constexpr unsigned kPatience = 2;
constexpr uint64_t kKeptBytes = uint64_t{64} << 20, kKeptBytesInAll = uint64_t{512} << 20;  // of one launch, of all

constexpr InstClass kAtomics[] = {InstClass::GLOBAL_ATOMIC, InstClass::FLAT_ATOMIC, InstClass::BUFFER_ATOMIC};
constexpr InstClass kNotMemory[] = {InstClass::SMEM_TIME, InstClass::SENDMSG};

template <size_t kSize>
bool any(const DispatchResult& result, const InstClass (&classes)[kSize]) {
  return std::any_of(std::begin(classes), std::end(classes),
                     [&](InstClass cls) { return result.counts[size_t(cls)] != 0; });
}

bool counts(const Range& range) { return range.kind != RangeKind::Kernarg && range.kind != RangeKind::Scratch; }
// What only the device and copies in stream order change.
bool device_only(const Range& range) {
  return range.kind == RangeKind::Vram || range.kind == RangeKind::Vmem || range.kind == RangeKind::Code;
}

std::atomic<bool> told{false};  // once in a process, however many GPUs it has

}  // namespace

Repeats::Repeats() {
  const char* text = std::getenv("ROCM_PERF_VIRTUAL_REPEATS");
  enabled_ = !(text && std::strcmp(text, "run") == 0);
  if (text && std::strcmp(text, "skip") == 0) told = true;
}

// A program that measures itself would be astonished.
void Repeats::tell() {
  if (told.exchange(true)) return;
  std::fputs(
      "rocm-perf: a launch that would have changed nothing was not run again, nor will others be; "
      "ROCM_PERF_VIRTUAL_REPEATS=run runs them all, =skip says no more of it\n",
      stderr);
}

std::vector<uint8_t> Repeats::key_of(const Launch& launch) {
  const DispatchRequest& request = launch.request;
  std::vector<uint8_t> key;
  key.reserve(64 + launch.kernel->kernarg_bytes);
  append(key, request.kernel_object);
  append(key, request.dims);
  for (int i = 0; i < 3; ++i) {
    append(key, request.workgroup[i]);
    append(key, request.grid[i]);
  }
  append(key, request.private_bytes);
  append(key, request.group_bytes);
  const auto* arguments = reinterpret_cast<const uint8_t*>(request.kernarg);
  key.insert(key.end(), arguments, arguments + launch.kernel->kernarg_bytes);
  return key;
}

Repeats::Hash Repeats::hash(const std::vector<Range>& ranges) {
  Hash h{1, 2, 3, 4};
  for (const Range& range : ranges)
    add_content(h, reinterpret_cast<const uint8_t*>(range.base), range.end - range.base);
  return h;
}

std::list<Repeats::Record>::iterator Repeats::find(const std::vector<uint8_t>& key) {
  return std::find_if(records_.begin(), records_.end(), [&](const Record& record) { return record.key == key; });
}

Repeats::Plan Repeats::plan(const Launch& launch, bool may_skip) {
  const Range* arguments = launch.memory->find(launch.request.kernarg);
  if (!enabled_ || (launch.kernel->kernarg_bytes &&
                    (!arguments || arguments->end - launch.request.kernarg < launch.kernel->kernarg_bytes)))
    return Plan::Run;
  // A result is kept by whole allocations, and what another stream did to one meanwhile must not be
  // undone with it: results are kept while there is one queue, and set while no copy is under way.
  const bool alone = launch.request.only_queue;
  std::vector<uint8_t> key = key_of(launch);
  std::lock_guard lock(mutex_);
  auto it = find(key);
  if (it != records_.end() && it->object.lock() != launch.object) it = (records_.erase(it), records_.end());
  if (it == records_.end()) {
    records_.push_front({std::move(key), launch.object, Record::State::Seen, {}, {}, {}, {}, 0, 0});
    if (records_.size() > kRecords) records_.pop_back();
    return Plan::Run;
  }
  records_.splice(records_.begin(), records_, it);
  switch (it->state) {
    case Record::State::Hopeless: return Plan::Run;
    case Record::State::Seen: return Plan::Watch;
    case Record::State::Idempotent:
    case Record::State::Stateful: break;
  }
  const bool there = std::all_of(it->touched.begin(), it->touched.end(), [&](const Range& range) {
    const Range* now = launch.memory->find(range.base);
    return now && now->base == range.base && now->end == range.end && now->kind == range.kind;
  });
  const bool stateful = it->state == Record::State::Stateful;
  std::unique_lock still(outside_writes().mutex, std::defer_lock);
  if (stateful) still.lock();
  const Hash now = there ? hash(it->touched) : Hash{};
  if (there && now == it->contents && (!stateful || (alone && !it->kept.empty()))) {
    if (!may_skip) return Plan::Run;
    for (size_t i = 0; i < it->kept.size(); ++i)
      std::memcpy(reinterpret_cast<void*>(it->written[i].base), it->kept[i].data(), it->kept[i].size());
    if (!launch.request.timed) tell();  // its time is the model's either way
    return Plan::Skip;
  }
  const bool first = stateful && there && it->kept.empty();
  it->kept.clear();
  if ((stateful && !alone) || (!first && ++it->disappointments > kPatience)) {
    it->state = Record::State::Hopeless;
    return Plan::Run;
  }
  it->contents = now;
  it->outside_writes = outside_writes().count;
  return Plan::Watch;
}

// What the record of a launch that was watched is good for; fills in what it touched.
Repeats::Record::State Repeats::state_of(Record& record, const Launch& launch, const DispatchResult& result) {
  using State = Record::State;
  if (!result.ok || !launch.footprint->complete() || any(result, kNotMemory)) return State::Hopeless;
  bool idempotent = !any(result, kAtomics), device = true;
  uint64_t bytes = 0, to_keep = 0;
  record.touched.clear();
  record.written.clear();
  for (const Footprint::Touched& touched : launch.footprint->touched()) {
    const Range& range = touched.range;
    if (range.kind == RangeKind::Runtime || range.kind == RangeKind::Hostcall) return State::Hopeless;
    if (!counts(range)) continue;
    record.touched.push_back(range);
    bytes += range.end - range.base;
    device &= device_only(range);
    if (!touched.written) continue;
    idempotent &= !touched.read;
    record.written.push_back(range);
    to_keep += range.end - range.base;
  }
  if (bytes > result.wave_instructions * (launch.request.timed ? kBytesPerTimedInstruction : kBytesPerInstruction))
    return State::Hopeless;
  if (idempotent) return State::Idempotent;
  return device && to_keep <= kKeptBytes ? State::Stateful : State::Hopeless;
}

void Repeats::watched(const Launch& launch, const DispatchResult& result) {
  const std::vector<uint8_t> key = key_of(launch);
  std::lock_guard lock(mutex_);
  const auto it = find(key);
  if (it == records_.end()) return;
  const auto same = [](const Range& a, const Range& b) { return a.base == b.base && a.end == b.end; };
  const bool knew = it->state == Record::State::Stateful;
  const std::vector<Range> before = it->touched;
  it->state = state_of(*it, launch, result);
  if (it->state == Record::State::Idempotent) it->contents = hash(it->touched);
  // The contents before are known for what the last one touched.
  if (it->outside_writes != outside_writes().count) return;
  if (it->state != Record::State::Stateful || !knew ||
      !std::equal(before.begin(), before.end(), it->touched.begin(), it->touched.end(), same))
    return;
  for (const Range& range : it->written)
    it->kept.emplace_back(reinterpret_cast<const uint8_t*>(range.base), reinterpret_cast<const uint8_t*>(range.end));
  uint64_t total = 0;
  for (Record& record : records_) {  // the latest first
    for (const auto& bytes : record.kept) total += bytes.size();
    if (total > kKeptBytesInAll) record.kept.clear();
  }
}

}  // namespace gpu
