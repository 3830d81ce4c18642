#include "workgroup.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "arena.h"
#include "check/settings.h"

namespace gpu {
namespace {

// One wave's turn. Long enough that switching costs nothing, short enough that a wave spinning on a
// lock another wave of the workgroup holds does not burn much.
constexpr uint64_t kTurn = 1 << 15;
// A workgroup's share before another one gets the thread: what makes flags between workgroups and
// grid barriers work. All that are suspended stay within what the modelled device can hold.
constexpr uint64_t kShare = 1 << 21;
constexpr uint64_t kDefaultInstructions = 1'000'000'000;
// An s_sleep counts as so many instructions towards the limit.
constexpr uint64_t kNap = 1000;
// Sleeping is not always waiting for others, and another workgroup's registers are not in the cache.
constexpr uint64_t kNapsBeforeYield = 16;
// Library code reads an element ahead and drops it: so far past the end of the LDS, a read gives the 0
// that hardware gives. Further out it is a fault.
constexpr uint32_t kZeros = 64;
constexpr uint64_t kScratchReservation = uint64_t{64} << 30;

constexpr InstClass kStoreClasses[] = {
    InstClass::GLOBAL_STORE, InstClass::GLOBAL_ATOMIC, InstClass::FLAT_STORE,
    InstClass::FLAT_ATOMIC,  InstClass::BUFFER_STORE,  InstClass::BUFFER_ATOMIC,
};

// Workgroups of the process that wait for an answer of the host. Others may wait for them in turn:
// their naps say nothing about their kernel either.
std::atomic<uint32_t> groups_at_host{0};

// Stores to memory are what a wave leaves behind. A wave that ends without any since its last barrier
// returned early (it may have filled its part of the LDS before), which hardware allows; one that
// stored past a barrier skipped it.
uint64_t writes_of(const Wave& wave) {
  uint64_t total = 0;
  for (InstClass cls : kStoreClasses) total += wave.counts[size_t(cls)];
  return total;
}

}  // namespace

uint64_t Interleaving::draw() {
  uint64_t z = (seed + ++drawn) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  return (z ^ (z >> 27)) * 0x94D049BB133111EBu >> 32;
}

uint32_t Interleaving::wave(uint32_t place, uint32_t waves) const {
  if (!seed) return place;
  const uint32_t turned = uint32_t((place + seed / 2) % waves);
  return seed % 2 ? waves - 1 - turned : turned;
}

// Short turns for most; sometimes one wave runs far ahead.
uint64_t Interleaving::turn() { return seed ? uint64_t{1} << (draw() % 10) : kTurn; }

// With an odd seed always: all waves in flight load before one of them stores.
bool Interleaving::stops_at_waits() { return seed && (seed % 2 || draw() % 2); }

// Backwards, or in strides that meet every one once.
uint64_t Interleaving::group(uint64_t seed, uint64_t place, uint64_t count) {
  if (!seed) return place;
  if (seed % 2) return count - 1 - place;
  uint64_t stride = count / 2 + seed;
  while (std::gcd(stride, count) != 1) ++stride;
  return uint64_t((__uint128_t(place) * stride + seed) % count);
}

Limits limits_from_environment() {
  Limits limits{kDefaultInstructions, true, bounds_from_environment()};
  if (const char* text = std::getenv("ROCM_PERF_VIRTUAL_MAX_INSTRUCTIONS")) {
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    if (end != text && *end == 0) limits.instructions_per_wave = value;
  }
  if (const char* text = std::getenv("ROCM_PERF_VIRTUAL_BARRIER"))
    limits.strict_barrier = std::strcmp(text, "hardware") != 0;
  if (const char* text = std::getenv("ROCM_PERF_VIRTUAL_WAVES"))
    limits.wave_order = uint32_t(std::strtoul(text, nullptr, 10));
  limits.leftover = limits.wave_order ? 0xFF : 0;  // a NaN, or -1
  if (const char* text = std::getenv("ROCM_PERF_VIRTUAL_LEFTOVER"))
    if (*text) limits.leftover = uint8_t(std::strtoul(text, nullptr, 10));
  return limits;
}

ScratchPool::ScratchPool(AddressSpace& memory) : memory_(memory) {
  for (uint64_t size = kScratchReservation; size >= 1 << 20 && !base_; size /= 4) {
    base_ = next_ = reinterpret_cast<uint64_t>(arena().allocate(size));
    end_ = base_ ? base_ + size : 0;
  }
  if (base_) memory_.add({base_, end_, RangeKind::Scratch, true, true});
}

ScratchPool::~ScratchPool() {
  if (!base_) return;
  memory_.remove(base_);
  arena().free(reinterpret_cast<void*>(base_));
}

uint8_t* ScratchPool::take(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (auto it = free_.lower_bound(bytes); it != free_.end() && it->first == bytes) {
    const uint64_t at = it->second;
    free_.erase(it);
    return reinterpret_cast<uint8_t*>(at);
  }
  if (bytes > end_ - next_) return nullptr;
  next_ += bytes;
  return reinterpret_cast<uint8_t*>(next_ - bytes);
}

void ScratchPool::give(uint8_t* at, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const uint64_t address = reinterpret_cast<uint64_t>(at);
  if (address + bytes == next_) next_ = address;
  else free_.emplace(bytes, address);
}

WorkgroupContext::~WorkgroupContext() {
  set_at_host(false);
  for (Wave* wave : waves) arena().free(wave);
  if (scratch) scratch_pool.give(scratch, scratch_bytes);
}

bool WorkgroupContext::start(const Launch& launch, const Limits& limits, const DeviceSpec& device, uint64_t group_index,
                             OutOfBounds* outside) {
  launched = &launch;
  index = group_index;
  shape = shape_of(launch, index);
  live = shape.waves();
  naps = 0;
  order = {limits.wave_order};
  set_at_host(false);
  fresh.reset();
  const uint64_t per_wave = uint64_t{launch.private_bytes} * kLanes, need = per_wave * live;
  if (need > scratch_bytes) {
    if (scratch) scratch_pool.give(scratch, scratch_bytes);
    scratch_bytes = 0;
    scratch = scratch_pool.take(need);
    if (!scratch) return false;
    scratch_bytes = need;
  }
  lds.assign(launch.group_bytes_taken + kZeros + (outside ? kLdsNowhere : 0), 0);
  const check::Settings* checks = check::settings();
  const bool exact = checks && checks->memory;
  // What no wave wrote is left over from another workgroup, in LDS, scratch and registers.
  const uint8_t leftover = limits.leftover;
  if (leftover) std::fill_n(lds.begin(), launch.group_bytes, leftover);
  if (leftover && need) std::memset(scratch, leftover, need);
  states.assign(live, State::Ready);
  writes.assign(live, 0);
  passed.assign(live, 0);
  while (waves.size() < live) {
    auto* wave = static_cast<Wave*>(arena().allocate(sizeof(Wave)));
    if (!wave) return false;
    waves.push_back(wave);
  }
  for (uint32_t i = 0; i < live; ++i) {
    Wave& wave = *waves[i];
    reset(wave);
    std::memset(wave.s_, leftover, sizeof wave.s_);
    std::memset(&wave.vcc, leftover, sizeof wave.vcc);
    std::memset(wave.vgpr[0], leftover, launch.acc_offset * sizeof wave.vgpr[0]);
    std::memset(wave.vgpr[kAccRow], leftover, (launch.vgpr_count - launch.acc_offset) * sizeof wave.vgpr[0]);
    wave.lds = lds.data();
    wave.lds_bytes = launch.group_bytes;
    wave.lds_taken = launch.group_bytes_taken;
    wave.lds_zeros = exact ? 0 : kZeros;
    wave.scratch = need ? scratch + per_wave * i : nullptr;
    wave.scratch_bytes_per_lane = launch.private_bytes;
    wave.group = this;
    wave.outside = outside;
    wave.gives_way = live > 1 && !limits.wave_order;
    wave.together = wave.gives_way ? 3 : 0;
    start_wave(wave, launch, shape, i, index, device);
  }
  if (launch.footprint) see(launch.footprint->view());
  return true;
}

bool WorkgroupContext::over_limit(Wave& wave, const Limits& limits) const {
  if (!limits.instructions_per_wave || wave.executed + naps * kNap < limits.instructions_per_wave) return false;
  wave.fault = {};
  wave.fault.kind = FaultKind::InstructionLimit;
  wave.fault.pc = wave.pc;
  return true;
}

void WorkgroupContext::set_at_host(bool now) {
  if (now != at_host) groups_at_host.fetch_add(now ? 1 : -1u, std::memory_order_relaxed);
  at_host = now;
}

void WorkgroupContext::see(const AddressSpace::Snapshot* view) {
  for (uint32_t i = 0; i < shape.waves(); ++i) waves[i]->memory = view;
}

namespace {

// The instruction at which the wave stopped has not happened: it comes again.
void uncount(Wave& wave, const Launch& launch) {
  --wave.executed;
  --wave.counts[launch.program->at(wave.pc)->cls];
  wave.fault = {};
}

}  // namespace

// Memory allocated after the launch is real memory, and watched memory opens when it is touched:
// look again before calling it a fault.
bool WorkgroupContext::retry(Wave& wave, const Launch& launch, const AddressSpace& memory) {
  if (!launch.program->at(wave.pc)) return false;  // it left its code
  if (launch.footprint && (wave.fault.kind == FaultKind::Unmapped || wave.fault.kind == FaultKind::ReadOnly) &&
      launch.footprint->open(wave.fault.address, wave.fault.size, wave.fault.write)) {
    see(launch.footprint->view());
    uncount(wave, launch);
    return true;
  }
  if (wave.fault.kind != FaultKind::Unmapped) return false;
  auto now = memory.snapshot();
  if (now.get() == wave.memory) return false;
  const Range* range = now->find(wave.fault.address);
  if (!range || !range->holds(wave.fault.address, wave.fault.size, wave.fault.write)) return false;
  if (launch.footprint) launch.footprint->lose();
  fresh = std::move(now);
  see(fresh.get());
  uncount(wave, launch);
  return true;
}

// All waves that have not ended are at a barrier. False: some of the others should have been. A wave
// that has been past this place before came out of a loop of barriers with fewer rounds to do; that
// is not a barrier it skipped.
bool WorkgroupContext::release_barrier(const Launch&, const Limits& limits) {
  uint32_t first_waiting = 0;
  while (states[first_waiting] != State::AtBarrier) ++first_waiting;
  bool skipped = false;
  if (live < shape.waves() && limits.strict_barrier) {
    for (uint32_t i = 0; i < shape.waves(); ++i)
      skipped |= states[i] == State::Done && passed[i] < waves[first_waiting]->pc && writes_of(*waves[i]) > writes[i];
  }
  if (skipped) {
    Wave& wave = *waves[first_waiting];
    wave.fault = {};
    wave.fault.kind = FaultKind::BarrierDivergence;
    wave.fault.pc = wave.pc - 4;  // s_barrier is one word, and pc is after it
    faulted_wave = first_waiting;
    return false;
  }
  for (uint32_t i = 0; i < shape.waves(); ++i) {
    if (states[i] != State::AtBarrier) continue;
    states[i] = State::Ready;
    waves[i]->together = waves[i]->gives_way;
    waves[i]->stored = false;
    writes[i] = writes_of(*waves[i]);
    passed[i] = std::max(passed[i], uint64_t{waves[i]->pc});
  }
  return true;
}

// The wave's load of a hostcall's control word has not happened: the host is still at it. Where the
// models watch, the answer is waited for here, so that the wave does the same on every run; else
// other waves run meanwhile.
Stop WorkgroupContext::ask_host(Wave& wave, const Launch& launch) {
  const uint64_t control = wave.fault.address;
  uncount(wave, launch);
  if (!observer) return Stop::Sleep;
  for (int turn = 0; awaits_host(control); ++turn) {
    if (turn < 64) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return Stop::Budget;
}

WorkgroupContext::Result WorkgroupContext::run(const Launch& launch, const Limits& limits, const AddressSpace& memory,
                                               const std::atomic<bool>& cancelled) {
  uint64_t turns = 0;
  used = 0;
  set_at_host(false);
  while (true) {
    bool progress = false, slept = false, asked = false;
    uint32_t waiting = 0;
    for (uint32_t place = 0; place < shape.waves(); ++place) {
      const uint32_t i = order.wave(place, shape.waves());
      if (states[i] == State::AtBarrier) ++waiting;
      if (states[i] != State::Ready) continue;
      Wave& wave = *waves[i];
      const uint64_t before = wave.executed;
      const uint64_t budget = order.turn();
      if (order.seed) wave.stops_at_waits = order.stops_at_waits();
      auto turn = [&] {
        return observer ? run_wave_observed(wave, *launch.program, budget, *observer)
                        : run_wave(wave, *launch.program, budget);
      };
      Stop stop;
      do {
        stop = turn();
        while (stop == Stop::Fault && retry(wave, launch, memory)) stop = turn();
        if (stop == Stop::Fault && wave.fault.kind == FaultKind::HostBusy) {
          stop = ask_host(wave, launch);
          asked |= stop == Stop::Sleep;
        }
        // Where the models watch, one wave calls the host at a time: else the host could take one wave's
        // call off the list just when another adds its own, which then tries again.
      } while (observer && wave.calls_host && (stop == Stop::Budget || stop == Stop::Sleep));
      used += wave.executed - before;
      switch (stop) {
        case Stop::Barrier:
          states[i] = State::AtBarrier;
          ++waiting;
          progress = true;
          break;
        case Stop::End:
          states[i] = State::Done;
          --live;
          progress = true;
          break;
        case Stop::Sleep: slept = true; break;
        case Stop::Budget: progress = true; break;
        case Stop::Fault: faulted_wave = i; return Result::Faulted;
      }
      if (stop != Stop::End && over_limit(wave, limits)) {
        faulted_wave = i;
        return Result::Faulted;
      }
      if (cancelled.load(std::memory_order_relaxed)) return Result::Cancelled;
    }
    if (live == 0) return Result::Finished;
    if (waiting == live) {
      if (!release_barrier(launch, limits)) return Result::Faulted;
    } else if (slept && !progress) {
      if (asked) {
        set_at_host(true);
        return Result::Yielded;
      }
      if (groups_at_host.load(std::memory_order_relaxed) == 0) ++naps;
      if (++turns == kNapsBeforeYield) return Result::Yielded;
    }
    if (used >= kShare || order.seed) return Result::Yielded;
  }
}

}  // namespace gpu
