// The instructions of a compute unit's waves, one after the other: when each is issued, and what that costs.
#include <algorithm>
#include <bit>

#include "compute_unit.h"

namespace gpu {
namespace {

constexpr uint64_t kQuad = 4;  // a SIMD's turn: the schedulers of a compute unit go round its four SIMDs
// Latencies were measured up to the first use, which s_waitcnt holds back a turn.
uint64_t until_wait(uint64_t latency) { return latency - kQuad; }
enum Category : uint8_t {
  kSmem = 1,
  kSalu = 2,
  kVmem = 3,
  kFlat = 4,
  kLds = 5,
  kValu = 6,
  kJump = 7,
  kNext = 8,
  kImmediate = 9,
  kMessage = 11
};

bool overlaps(const RegisterSpan& a, const RegisterSpan& b) {
  return a.count && b.count && a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

void ComputeUnit::refresh(uint32_t simd) {
  uint64_t best = kNever;
  uint32_t at = simd;
  for (uint32_t w = simd; w < residency_.waves_per_simd * kSimds; w += kSimds) {
    const bool sooner = ready_[w] < best;
    best = sooner ? ready_[w] : best;
    at = sooner ? w : at;
  }
  simd_next_[simd] = best;
  simd_best_[simd] = at;
  next_ = std::min(std::min(simd_next_[0], simd_next_[1]), std::min(simd_next_[2], simd_next_[3]));
}

void ComputeUnit::run(uint64_t until, WorkSource& source) {
  while (next_ < until) {
    uint32_t simd = 0;
    while (simd_next_[simd] != next_) ++simd;
    const uint32_t w = simd_best_[simd];
    step(w, ready_[w], source);
    refresh(simd);
  }
}

uint64_t ComputeUnit::matrix_ready(const SimWave& wave, const StaticInst& s, uint64_t now) const {
  uint64_t ready = now;
  for (const auto& result : wave.results) {
    if (result.ready <= ready) continue;
    // The next matrix instruction may take the accumulator straight from the last one.
    const bool chained =
        s.unit == Unit::Matrix && s.src[2].first == result.span.first && s.src[2].count == result.span.count;
    const bool needs = (!chained && overlaps(s.src[2], result.span)) || overlaps(s.src[0], result.span) ||
                       overlaps(s.src[1], result.span) || (s.unit != Unit::Matrix && overlaps(s.dst, result.span));
    if (needs) ready = result.ready;
  }
  return ready;
}

uint64_t ComputeUnit::wait(SimWave& wave, const StaticInst& s, uint64_t now) {
  uint64_t done = now;
  std::vector<uint64_t>* waited = nullptr;
  auto drain = [&](SimWave::OpenRing& ring, uint32_t keep) {
    for (; ring.count > keep; ring.pop()) {
      const SimWave::Open& open = ring.oldest();
      done = std::max(done, open.done);
      if (wave.att < 0 || open.done <= now) continue;
      if (!waited) {
        auto& list = waves[size_t(wave.att)].waits;
        list.push_back({s.pc, {}});
        waited = &list.back().waited_for;
      }
      waited->push_back(table_[open.inst].pc);
    }
  };
  drain(wave.vm, s.vmcnt);
  // Scalar loads come back in any order: with some of them open only zero is certain, and
  // compilers ask for nothing else.
  drain(wave.lgkm, s.lgkmcnt);
  return done;
}

void ComputeUnit::note(SimWave& wave, const StaticInst& s, uint64_t time, uint64_t stall, uint64_t duration,
                       uint8_t category, uint8_t stall_state) {
  AttWave& att = waves[size_t(wave.att)];
  auto state = [&](uint8_t what, uint64_t cycles) {
    if (!cycles) return;
    if (!att.timeline.empty() && att.timeline.back().state == what) att.timeline.back().duration += cycles;
    else att.timeline.push_back({what, cycles});
  };
  if (time > wave.att_until) state(kIdle, time - wave.att_until);
  state(stall_state, stall);
  state(kExec, duration - stall);
  wave.att_until = std::max(wave.att_until, time) + duration;
  att.instructions.push_back({time, s.pc, uint32_t(stall), uint32_t(duration), category});
}

void ComputeUnit::arrive(SimGroup& group) {
  if (!group.live || group.arrived < group.live) return;
  const uint64_t release = group.latest + parameters_.barrier_cycles;
  for (uint32_t i = 0; i < group.size; ++i) {
    const uint32_t w = group.members[i];
    if (w == 0xff || ready_[w] != kNever) continue;
    SimWave& wave = slots_[w];
    const uint64_t arrived = wave.arrived;
    counts.wait_any += release - arrived;
    if (wave.att >= 0) {
      const StaticInst& s = table_[wave.step[-1] & ~kHasData];
      note(wave, s, arrived, release - arrived, release - arrived + kQuad, kImmediate, kWaiting);
    }
    ready_[w] = release + kQuad;
    refresh(wave.simd);
  }
  group.arrived = 0;
  group.latest = 0;
}

uint64_t ComputeUnit::vector_memory(SimWave& wave, const StaticInst& s, const MemHeader& header, uint64_t issue) {
  const uint32_t lines = header.lines;
  const bool flat = s.cls <= InstClass::SCRATCH_ATOMIC;
  const uint32_t kind = header.atomic ? 2 : header.write ? 1 : 0;
  ++counts.ta_wavefronts[flat ? 1 : 0][kind];
  // So many lanes, one line and so many bytes a cycle.
  const uint64_t bytes = uint64_t(header.lanes) * header.bytes_per_lane,
                 per_clock = parameters_.address_lanes_per_clock;
  const uint64_t cycles = std::max<uint64_t>(
      {1, (header.lanes + per_clock - 1) / per_clock, bytes / parameters_.l1_bytes_per_clock, lines});
  const uint64_t begin = std::max(issue, ta_free_);
  ta_free_ = begin + cycles;
  counts.tcp_accesses += header.accesses;
  const uint64_t l1_latency = until_wait(parameters_.l1_latency);
  uint64_t done = begin + cycles - 1 + l1_latency;  // latencies are those of one lane
  ++counts.td_loads;  // the data unit counts every instruction as a load (vcopy)
  if (header.atomic) ++counts.td_atomics;
  else if (header.write) ++counts.td_stores;
  const bool atomic_return = header.atomic && s.returns;
  if (header.atomic) counts.tcp_lanes_atomic[atomic_return] += header.lanes;
  else if (header.write) counts.tcp_lanes_write += header.lanes;
  else counts.tcp_lanes_read += header.lanes;
  for (uint32_t k = 0; k < lines; ++k) memory_.prefetch(wave.data[k]);
  for (uint32_t k = 0; k < lines; ++k) {
    const uint64_t line = *wave.data++;
    const uint64_t at = begin + k * cycles / lines;
    if (header.atomic) {
      counts.tcc_atomics[atomic_return] += uint64_t(__builtin_popcountll(line & 3));
      done = std::max(done, memory_.atomic(line, at, std::max(1u, header.lanes / std::max(1u, lines))));
      continue;
    }
    if (header.write) {
      counts.tcc_writes += uint64_t(__builtin_popcountll(line & 3));
      const uint64_t acknowledged = memory_.write(line, at);
      counts.tcc_write_latency += acknowledged - at;
      done = std::max(done, acknowledged);
      continue;
    }
    const uint32_t tag = uint32_t(line / kLineBytes);
    const TagCache::Found found = l1_.find(l1_set(tag), tag);
    if (found.hit && !(line & kUncached)) {
      ++counts.tcp_tag_hits;
      done = std::max(done, std::max(at + l1_latency, l1_ready_[found.at]));
      continue;
    }
    if (!found.hit) l1_.place(found.at, tag);
    const bool whole = parameters_.l1_request_bytes == kLineBytes;
    const uint32_t halves = uint32_t(line & 3);
    counts.tcc_reads += whole ? 1 : uint64_t(__builtin_popcount(halves));
    // Returns share one port into the L1.
    const uint64_t fill = 64 * uint64_t(__builtin_popcount(halves)) / parameters_.l1_fill_bytes_per_clock;
    uint64_t back = memory_.read(line, at, halves, false);
    fill_free_ = std::max(fill_free_ + fill, at);
    back = std::max(back, fill_free_);
    counts.tcc_read_latency += back - at;
    l1_ready_[found.at] = back + l1_latency;
    done = std::max(done, back + l1_latency);
  }
  return header.hostcall ? done + parameters_.hostcall_cycles : done;
}

// When the instruction is there. They come 32 bytes at a time.
inline uint64_t ComputeUnit::fetched(SimWave& wave, const StaticInst& s, uint64_t now) {
  const uint64_t block = s.fetch_address >> 5;
  if (block == wave.block) return now;
  Places& waiting = fetches_[wave.simd];
  if (waiting.free() > now) return waiting.free();
  const bool jumped = block != wave.block + 1;
  wave.block = block;
  ++counts.ifetch;
  const uint64_t there = memory_.fetch(sqc_, s.fetch_address, now);
  if (there > now) waiting.take(there);
  counts.ifetch_level += there - now + parameters_.fetch_latency;
  if (there == now && !(jumped && wave.step == wave.trace->steps.data())) return now;
  return there + (jumped ? parameters_.fetch_latency : 0);
}

inline ComputeUnit::Issue ComputeUnit::valu(const Step& step) {
  uint64_t& free = valu_free_[step.wave.simd];
  const uint64_t issue = std::max(step.ready, free);
  free = issue + step.inst.cycles;
  counts.active_valu += step.inst.cycles / kQuad;
  return {issue, issue + kQuad, kValu};
}

inline ComputeUnit::Issue ComputeUnit::matrix(const Step& step) {
  SimWave& wave = step.wave;
  const StaticInst& s = step.inst;
  const uint64_t issue = std::max({step.ready, valu_free_[wave.simd], matrix_free_[wave.simd]});
  valu_free_[wave.simd] = issue + s.alone;
  matrix_free_[wave.simd] = issue + s.cycles;
  counts.matrix_busy += s.cycles;
  counts.active_valu += 1;
  auto& result = wave.results[wave.result_at++ & 3];
  result = {s.dst, issue + s.cycles + kQuad};
  wave.results_until = std::max(wave.results_until, result.ready);
  return {issue, issue + kQuad, kValu};
}

inline ComputeUnit::Issue ComputeUnit::salu(const Step& step) {
  uint64_t& free = scalar_free_[step.wave.simd];
  const uint64_t issue = std::max(step.now, free);
  free = issue + kQuad;
  ++counts.active_scalar;
  return {issue, issue + step.inst.cycles, kSalu};
}

inline ComputeUnit::Issue ComputeUnit::scalar_load(const Step& step) {
  SimWave& wave = step.wave;
  const uint64_t issue = std::max({step.now, smem_free_[wave.simd], scalar_queue_.free()});
  smem_free_[wave.simd] = issue + kQuad;
  ++counts.active_scalar;
  uint64_t done = issue + until_wait(parameters_.scalar_latency);
  if (step.has_data) {
    const MemHeader header = std::bit_cast<MemHeader>(*wave.data++);
    for (uint32_t k = 0; k < header.lines; ++k) {
      const uint64_t line = *wave.data++;
      if (header.write) memory_.scalar_write(sqc_, line, issue);
      else
        done = std::max(done,
                        until_wait(memory_.scalar_read(sqc_, line, issue, header.bytes_per_lane / 4u, scalar_queue_)));
    }
  }
  if (step.inst.cls == InstClass::SMEM_TIME) wave.trace->clocks.push_back(issue);
  counts.smem_level += done - issue;
  if (wave.lgkm.count < 64) wave.lgkm.push({done, step.id});
  return {issue, issue + kQuad, kSmem};
}

inline ComputeUnit::Issue ComputeUnit::vector_access(const Step& step) {
  SimWave& wave = step.wave;
  const StaticInst& s = step.inst;
  uint64_t issue = std::max(step.ready, vmem_free_[wave.simd]);
  if (ta_free_ > issue + parameters_.address_queue_cycles) issue = ta_free_ - parameters_.address_queue_cycles;
  if (wave.vm.full()) {  // the oldest must be back
    issue = std::max(issue, wave.vm.oldest().done);
    wave.vm.pop();
  }
  vmem_free_[wave.simd] = issue + kQuad;
  ++(s.cls <= InstClass::SCRATCH_ATOMIC ? counts.active_flat : counts.active_vmem);
  const bool flat = s.cls >= InstClass::FLAT_LOAD && s.cls <= InstClass::FLAT_ATOMIC;
  const Issue issued{issue, issue + kQuad, flat ? kFlat : kVmem};
  if (!step.has_data) return issued;  // cache control, or no lane
  ++counts.vmem;
  const MemHeader header = std::bit_cast<MemHeader>(*wave.data++);
  uint64_t done = vector_memory(wave, s, header, issue);
  if (wave.vm.count) done = std::max(done, wave.vm.newest().done);  // in order
  counts.vmem_level += done - issue;
  if (header.write) wave.stores_done = std::max(wave.stores_done, done);
  wave.vm.push({done, step.id});
  if (s.flat && wave.lgkm.count < 64) wave.lgkm.push({done, step.id});
  if (header.lds_passes) {
    count_lds(header);
    lds_free_ += header.lds_passes + header.lds_conflicts;
  }
  return issued;
}

inline void ComputeUnit::count_lds(const MemHeader& header) {
  counts.lds_active += header.lds_passes + header.lds_conflicts;
  counts.lds_conflicts += header.lds_conflicts;
}

inline ComputeUnit::Issue ComputeUnit::lds_access(const Step& step) {
  SimWave& wave = step.wave;
  uint64_t issue = std::max(step.ready, lds_issue_[wave.simd]);
  if (lds_free_ > issue + parameters_.lds_queue_cycles) issue = lds_free_ - parameters_.lds_queue_cycles;
  ++counts.active_lds;
  MemHeader header;
  header.lds_passes = 2;  // permutations use the crossbar, not the banks
  if (step.has_data) {
    header = std::bit_cast<MemHeader>(*wave.data++);
    count_lds(header);
    counts.lds_atomic_returns += header.atomic;
  }
  const uint64_t conflicts = header.lds_conflicts * uint64_t(parameters_.lds_conflict_millicycles) / 1000;
  const uint64_t wider = parameters_.lds_pass_cycles * (header.lds_passes - std::min<uint64_t>(2, header.lds_passes));
  lds_issue_[wave.simd] = issue + std::max<uint64_t>(parameters_.lds_instruction_cycles + wider,
                                                     parameters_.lds_instruction_base + conflicts);
  const uint64_t begin = std::max(issue, lds_free_);
  lds_free_ = begin + header.lds_passes + conflicts;
  const uint64_t done = begin + until_wait(parameters_.lds_latency) + header.lds_passes -
                        std::min<uint64_t>(2, header.lds_passes) + conflicts;
  counts.lds_level += done - issue;
  counts.wait_inst_lds += issue - step.now;
  if (wave.lgkm.full()) wave.lgkm.pop();
  wave.lgkm.push({done, step.id});
  return {issue, issue + kQuad, kLds};
}

inline ComputeUnit::Issue ComputeUnit::branch(const Step& step) {
  const SimWave& wave = step.wave;
  const StaticInst& s = step.inst;
  const uint64_t issue = std::max(step.now, branch_free_[wave.simd]);
  branch_free_[wave.simd] = issue + kQuad;
  const bool taken = wave.step != wave.steps_end && table_[*wave.step & ~kHasData].pc != s.pc + uint64_t{4} * s.words;
  const uint64_t duration = taken ? parameters_.branch_taken_cycles : parameters_.branch_not_taken_cycles;
  ++counts.active_misc;
  return {issue, issue + duration, taken ? kJump : kNext, duration};
}

void ComputeUnit::step(uint32_t w, uint64_t now, WorkSource& source) {
  SimWave& wave = slots_[w];
  if (wave.step == wave.steps_end) return end_wave(w, now, source);  // a trace that was cut
  const uint32_t word = *wave.step, id = word & ~kHasData;
  const StaticInst& s = table_[id];
  if (const uint64_t there = fetched(wave, s, now); there != now) {
    ready_[w] = there;
    return;
  }
  ++wave.step;
  ++counts.steps;
  counts.accesses += (word & kHasData) != 0;
  const uint64_t ready = wave.results_until > now ? matrix_ready(wave, s, now) : now;
  const Step step{wave, s, id, (word & kHasData) != 0, now, ready};
  Issue issue{now, now + kQuad, kMessage};
  switch (s.unit) {
    case Unit::Valu: issue = valu(step); break;
    case Unit::Matrix: issue = matrix(step); break;
    case Unit::Salu: issue = salu(step); break;
    case Unit::Smem: issue = scalar_load(step); break;
    case Unit::Vmem: issue = vector_access(step); break;
    case Unit::Lds: issue = lds_access(step); break;
    case Unit::Branch: issue = branch(step); break;
    case Unit::Wait: {
      const uint64_t done = wait(wave, s, now);
      counts.wait_any += done - now;
      if (wave.att >= 0) note(wave, s, now, done - now, done - now + kQuad, kImmediate, kWaiting);
      ready_[w] = done + kQuad;
      return;
    }
    case Unit::Barrier: {
      SimGroup& group = groups_[wave.group];
      ++group.arrived;
      group.latest = std::max(group.latest, now);
      wave.arrived = now;
      ready_[w] = kNever;
      return arrive(group);
    }
    case Unit::End:
      ++counts.active_misc;
      ++counts.issued;
      if (wave.att >= 0) note(wave, s, now, 0, kQuad, kMessage, kStalled);
      return end_wave(w, now + kQuad, source);
    case Unit::Idle: issue = {now, now + s.cycles, kImmediate, s.cycles}; break;
    case Unit::Message: ++counts.active_misc; break;
  }
  counts.wait_inst += issue.at - now;
  counts.issued += s.unit != Unit::Idle;
  if (wave.att >= 0) note(wave, s, now, issue.at - now, issue.at - now + issue.duration, issue.category, kStalled);
  ready_[w] = issue.next;
}

}  // namespace gpu
