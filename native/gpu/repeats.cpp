#include "repeats.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace gpu {
namespace {

constexpr size_t kRecords = 64;
// Looking at memory is worth it while it is much cheaper than running: a wave instruction takes
// about as long as reading this many bytes several times over.
constexpr uint64_t kBytesPerInstruction = 100;
// Contents that keep changing: a kernel of an iteration, not of a benchmark loop.
constexpr unsigned kPatience = 2;

// What a wave can do beside reading and writing memory, or to memory in both ways at once.
constexpr InstClass kMore[] = {
    InstClass::GLOBAL_ATOMIC, InstClass::FLAT_ATOMIC, InstClass::BUFFER_ATOMIC,
    InstClass::SMEM_TIME, InstClass::SENDMSG,
};

bool counts(const Range& range) { return range.kind != RangeKind::Kernarg && range.kind != RangeKind::Scratch; }

template <class T>
void append(std::vector<uint8_t>& to, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

}  // namespace

Repeats::Repeats() {
  const char* text = std::getenv("ROCM_PERF_VIRTUAL_REPEATS");
  enabled_ = !(text && std::strcmp(text, "run") == 0);
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
  if (arguments) key.insert(key.end(), arguments, arguments + launch.kernel->kernarg_bytes);
  return key;
}

// Four chains of words, each step a bijection: one changed word always shows.
Repeats::Hash Repeats::hash(const std::vector<Range>& ranges) {
  constexpr uint64_t kOdd[4] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93};
  Hash h{1, 2, 3, 4};
  for (const Range& range : ranges) {
    const auto* at = reinterpret_cast<const uint8_t*>(range.base);
    const uint64_t bytes = range.end - range.base, whole = bytes & ~uint64_t{31};
    auto step = [&h, &kOdd](const uint8_t* from) {
      uint64_t word[4];
      std::memcpy(word, from, sizeof word);
      for (int i = 0; i < 4; ++i) h[i] = std::rotl(h[i] ^ word[i], 29) * kOdd[i];
    };
    for (uint64_t offset = 0; offset < whole; offset += 32) step(at + offset);
    uint8_t last[32] = {};
    std::memcpy(last, at + whole, bytes - whole);
    step(last);
  }
  return h;
}

std::list<Repeats::Record>::iterator Repeats::find(const std::vector<uint8_t>& key) {
  return std::find_if(records_.begin(), records_.end(), [&](const Record& record) { return record.key == key; });
}

Repeats::Plan Repeats::plan(const Launch& launch) {
  if (!enabled_) return Plan::Run;
  std::vector<uint8_t> key = key_of(launch);
  std::lock_guard lock(mutex_);
  auto it = find(key);
  if (it != records_.end() && it->object.lock() != launch.object) it = (records_.erase(it), records_.end());
  if (it == records_.end()) {
    records_.push_front({std::move(key), launch.object, Record::State::Seen, {}, {}, 0});
    if (records_.size() > kRecords) records_.pop_back();
    return Plan::Run;
  }
  records_.splice(records_.begin(), records_, it);
  switch (it->state) {
    case Record::State::Hopeless: return Plan::Run;
    case Record::State::Seen: return Plan::Watch;
    case Record::State::Idempotent: break;
  }
  const bool there = std::all_of(it->touched.begin(), it->touched.end(), [&](const Range& range) {
    const Range* now = launch.memory->find(range.base);
    return now && now->base == range.base && now->end == range.end && now->kind == range.kind;
  });
  if (there && hash(it->touched) == it->contents) return Plan::Skip;
  it->state = ++it->disappointments > kPatience ? Record::State::Hopeless : Record::State::Seen;
  return it->state == Record::State::Seen ? Plan::Watch : Plan::Run;
}

void Repeats::watched(const Launch& launch, const DispatchResult& result) {
  const std::vector<uint8_t> key = key_of(launch);
  std::lock_guard lock(mutex_);
  const auto it = find(key);
  if (it == records_.end()) return;
  it->state = Record::State::Hopeless;
  if (!result.ok || !launch.footprint->complete()) return;
  for (InstClass cls : kMore)
    if (result.counts[size_t(cls)]) return;
  it->touched.clear();
  uint64_t bytes = 0;
  for (const Footprint::Touched& touched : launch.footprint->touched()) {
    if (touched.range.kind == RangeKind::Runtime || (touched.read && touched.written && counts(touched.range))) return;
    if (!counts(touched.range)) continue;
    it->touched.push_back(touched.range);
    bytes += touched.range.end - touched.range.base;
  }
  if (bytes > result.wave_instructions * kBytesPerInstruction) return;
  it->contents = hash(it->touched);
  it->state = Record::State::Idempotent;
}

}  // namespace gpu
