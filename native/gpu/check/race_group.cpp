#include "race_group.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace gpu::check {
namespace {

constexpr size_t kMostLdsBytes = size_t{64} << 20;
constexpr size_t kMostHeardOf = 1024;

enum class Role : uint8_t { None, Barrier, WriteBack, Invalidate, CompareSwap, Append, LaneRead, LaneWrite };

// What instructions are to the check, by their names.
const std::vector<Role>& roles() {
  static const std::vector<Role> all = [] {
    std::vector<Role> out(kOpCount, Role::None);
    for (int op = 0; op < kOpCount; ++op) {
      const std::string_view name = op_table[op].name;
      if (op_table[op].cls == InstClass::BARRIER) out[size_t(op)] = Role::Barrier;
      else if (name == "buffer_wbl2") out[size_t(op)] = Role::WriteBack;
      else if (name == "buffer_inv") out[size_t(op)] = Role::Invalidate;
      else if (name == "ds_append" || name == "ds_consume") out[size_t(op)] = Role::Append;
      else if (name == "ds_read_addtid_b32") out[size_t(op)] = Role::LaneRead;
      else if (name == "ds_write_addtid_b32") out[size_t(op)] = Role::LaneWrite;
      else if (name.find("cmpswap") != name.npos || name.starts_with("ds_cmpst")) out[size_t(op)] = Role::CompareSwap;
    }
    return out;
  }();
  return all;
}

bool updates(const Inst& inst) {
  return (op_table[inst.op].flags & kOpAtomic) || InstClass(inst.cls) == InstClass::LDS_ATOMIC;
}

// Loads and stores at a scope wider than a wave are atomics, or volatile, which is compiled the same.
bool scoped(const Inst& inst) { return inst.glc || inst.scc; }

}  // namespace

GroupRaces::GroupRaces(LaunchRaces& launch) : launch_(launch), lds_(kMostLdsBytes) {}

void GroupRaces::begin(const WorkgroupContext& group) {
  group_ = &group;
  clocks_.begin(uint32_t(group.index), group.shape.waves());
  lds_.clear();
  lds_sites_.assign(group.launched->group_bytes / 8 + 1, {});
  heard_of_.clear();
  held_.clear();
  last_range_ = {};
}

uint8_t GroupRaces::number(const Wave& wave) {
  if (last_wave_ >= group_->shape.waves() || group_->waves[last_wave_] != &wave)
    last_wave_ = uint8_t(std::find(group_->waves.begin(), group_->waves.end(), &wave) - group_->waves.begin());
  return last_wave_;
}

bool GroupRaces::ordered(const Touch& earlier) const {
  if (!in_lds_ && !launch_.between_groups_ && earlier.group != now_.group) return true;
  return clocks_.ordered(now_.wave, earlier);
}

Why GroupRaces::why(const Touch& earlier) const {
  if (earlier.group == now_.group) return Why::NoBarrier;
  const auto heard = heard_of_.find(key_of(earlier.group, earlier.wave));
  return heard != heard_of_.end() && heard->second >= earlier.clock ? Why::NarrowScope : Why::NoOrder;
}

void GroupRaces::conflict(const Touch& earlier, uint64_t line, uint64_t bytes) {
  const uint64_t first = line * Shadow::kLine + uint64_t(std::countr_zero(bytes));
  const Race race{earlier, now_, first, uint32_t(std::popcount(bytes)), in_lds_, why(earlier)};
  if (!writes(now_.kind)) return launch_.found(race);
  Held held{race, nullptr, bytes, {}};
  const uint64_t start = line * Shadow::kLine;
  held.at = in_lds_ ? wave_->lds + start : reinterpret_cast<const uint8_t*>(start);
  for (uint64_t left = bytes; left; left &= left - 1) {
    const int byte = std::countr_zero(left);
    held.before[byte] = held.at[byte];
  }
  held_.push_back(held);
}

Touch GroupRaces::touch_of(const Wave& wave, const Inst& inst) {
  Touch touch;
  touch.group = clocks_.group();
  touch.wave = number(wave);
  touch.clock = clocks_.clock(touch.wave);
  touch.place = uint32_t((inst.pc - launch_.launch_.program->base()) / 4);
  touch.compares = roles()[inst.op] == Role::CompareSwap;
  return touch;
}

// Adds a lane's bytes of one line to what the instruction touches there.
void GroupRaces::gather(uint64_t line, uint32_t base, uint32_t part, int lane) {
  const uint64_t bytes = (part == 64 ? ~uint64_t(0) : (uint64_t{1} << part) - 1) << base;
  size_t found = lines_.size();
  while (found && lines_[found - 1].line != line) --found;
  if (!found) {
    lines_.push_back({line, bytes, uint8_t(lane), uint8_t(base), false});
    return;
  }
  Gathered& all = lines_[found - 1];
  if ((all.mask & bytes) == bytes) return;  // the first lane stands for all
  const uint32_t size = now_.size, apart = uint32_t(lane - all.lane) * size;
  const bool one = uint32_t(std::popcount(all.mask)) == size;
  const bool down = (all.back || one) && base + apart == all.base;
  if (all.lane != kNoLane && part == size && (down || (!all.back && base == all.base + apart))) all.back = down;
  else all.lane = kNoLane;
  all.mask |= bytes;
}

// What the lanes touch, as one touch per line.
void GroupRaces::enter(const MemAccess& access, const uint64_t* addresses, uint64_t mask, bool lds) {
  in_lds_ = lds;
  const uint64_t limit = lds ? wave_->lds_bytes : UINT64_MAX;
  const uint32_t size = access.size;
  now_.size = uint8_t(size);
  lines_.clear();
  for (uint64_t left = mask; left; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint64_t at = addresses[lane];
    if (at + size > limit) continue;  // told elsewhere
    for (uint32_t rest = size; rest;) {
      const uint32_t base = uint32_t(at % Shadow::kLine), part = std::min(rest, Shadow::kLine - base);
      gather(at / Shadow::kLine, base, part, lane);
      at += part;
      rest -= part;
    }
  }
  Shadow& shadow = lds ? lds_ : launch_.global_;
  for (const Gathered& all : lines_) {
    now_.mask = all.mask;
    now_.lane = all.lane;
    now_.base = all.base;
    now_.back = all.back;
    shadow.enter(all.line, now_, *this);
  }
}

// Memory that kernels only read, or that is the runtime's business, is left out.
bool GroupRaces::shared(const Wave& wave, uint64_t address) {
  if (address >= last_range_.base && address < last_range_.end) return last_shared_;
  const Range* range = launch_.launch_.memory->find(address);
  if (!range && wave.memory) range = wave.memory->find(address);  // allocated since
  if (!range) return false;
  last_range_ = *range;
  last_shared_ = range->kind != RangeKind::Kernarg && range->kind != RangeKind::Runtime &&
                 range->kind != RangeKind::Hostcall && range->kind != RangeKind::Scratch;
  return last_shared_;
}

void GroupRaces::meet(const LaunchRaces::Site& seen, bool returns) {
  if (!seen.clock) return;
  if (seen.group == clocks_.group()) {
    clocks_.meet(now_.wave, seen.wave, seen.clock, returns);
  } else if (heard_of_.size() < kMostHeardOf) {
    uint32_t& clock = heard_of_[key_of(seen.group, seen.wave)];
    clock = std::max(clock, seen.clock);
  }
}

void GroupRaces::atomics(const MemAccess& access, uint64_t mask, bool lds, bool returns) {
  const uint8_t wave = now_.wave;
  const bool update = now_.kind == Kind::AtomicWrite;
  uint64_t last = ~uint64_t(0);
  for (uint64_t left = mask; left; left &= left - 1) {
    const uint64_t address = access.address[std::countr_zero(left)], site = address & ~uint64_t(7);
    if (site == last || (lds && address / 8 >= lds_sites_.size())) continue;
    last = site;
    if (now_.compares && !launch_.perhaps_.empty()) {
      const uint64_t reader = key_of(clocks_.group(), wave);
      for (uint64_t byte = site; byte < site + 8; ++byte) launch_.perhaps_.erase({reader, lds ? ~byte : byte});
    }
    LaunchRaces::Site& known = lds ? lds_sites_[address / 8] : launch_.sites_[site];
    meet(known, returns);
    if (update) known = {clocks_.group(), clocks_.clock(wave), wave};
    if (lds) continue;
    const auto published = launch_.published_.find(site);
    const bool before = published != launch_.published_.end();
    if (before) clocks_.read(wave, published->second);
    if (!update || !clocks_.released(wave)) continue;
    if (before) published->second = join(published->second, clocks_.released(wave));
    else launch_.published_.emplace(site, clocks_.released(wave));
  }
}

void GroupRaces::touching(const Wave& wave, const Inst& inst, const MemAccess& access) {
  held_.clear();
  wave_ = &wave;
  const uint8_t which = number(wave);
  clocks_.goes_on(which);
  if (access.space == Space::Scratch || access.space == Space::None) return;
  const bool lds = access.space == Space::Lds;
  const uint64_t in_lds = lds ? access.mask : access.lds_mask;
  const uint64_t global = lds ? 0 : access.mask;
  const bool update = updates(inst);
  const auto kind = [&](bool plain) {
    if (update) return Kind::AtomicWrite;
    if (plain) return access.write ? Kind::Write : Kind::Read;
    return access.write ? Kind::AtomicWrite : Kind::AtomicRead;
  };
  if (in_lds) {
    ++launch_.lds_accesses_;
    now_ = touch_of(wave, inst);
    now_.kind = kind(true);
    enter(access, access.address, in_lds, true);
    if (access.two) enter(access, access.address2, in_lds, true);
    if (update) atomics(access, in_lds, true, op_table[inst.op].dst_width > 0);
  }
  if (global) {
    now_ = touch_of(wave, inst);
    now_.kind = kind(access.space == Space::Scalar || !scoped(inst));
    // What is the runtime's own business still orders: barriers of a grid wait there.
    if (shared(wave, access.address[std::countr_zero(global)])) {
      ++launch_.accesses_;
      if (last_range_.kind == RangeKind::HostPinned || last_range_.kind == RangeKind::Managed) {
        launch_.atomics_on_host_ |= atomic(now_.kind);
        launch_.writes_to_host_ |= writes(now_.kind);
      }
      enter(access, access.address, global, false);
    }
    if (atomic(now_.kind)) atomics(access, global, false, !update || inst.glc);
  }
}

// A word of LDS for each lane, at a place that registers for all lanes say; heard of afterwards.
void GroupRaces::of_lanes(const Wave& wave, const Inst& inst, uint64_t exec, uint32_t base, uint32_t step, Kind kind) {
  MemAccess touched;
  touched.size = 4;
  for (int lane = 0; lane < kLanes; ++lane)
    touched.address[lane] = base + uint64_t(int64_t(inst.imm)) + uint64_t{step} * unsigned(lane);
  wave_ = &wave;
  now_ = touch_of(wave, inst);
  now_.kind = kind;
  enter(touched, touched.address, exec, true);
  for (const Held& held : held_) launch_.found(held.race);  // what was there before is not known
  held_.clear();
  if (kind == Kind::AtomicWrite) atomics(touched, exec, true, true);
}

// What a load puts straight into LDS: a word per lane.
void GroupRaces::to_lds(const Wave& wave, const Inst& inst, uint64_t exec) {
  of_lanes(wave, inst, exec, wave.m0 & 0xffff, 4, Kind::Write);
}

void GroupRaces::synchronise(uint8_t wave, const Inst& inst) {
  switch (roles()[inst.op]) {
    case Role::Barrier: return clocks_.at_barrier(wave);
    case Role::WriteBack:
      if (inst.scc) clocks_.release(wave), launch_.released_ = true;
      return;
    case Role::Invalidate:
      if (inst.scc) clocks_.acquire(wave), launch_.acquired_ = true;
      return;
    default: return;
  }
}

void GroupRaces::executed(const Wave& wave, const Inst& inst, uint64_t exec, const MemAccess&) {
  for (const Held& held : held_) {
    bool changed = false;
    for (uint64_t left = held.bytes; left && !changed; left &= left - 1) {
      const int byte = std::countr_zero(left);
      changed = held.at[byte] != held.before[byte];
    }
    if (changed) launch_.found(held.race);
    else ++launch_.same_value_;
  }
  held_.clear();
  const OpInfo& op = op_table[inst.op];
  if (roles()[inst.op] != Role::None) {
    const uint8_t which = number(wave);
    clocks_.goes_on(which);
    synchronise(which, inst);
  }
  if ((op.flags & kOpToLds) || inst.lds) to_lds(wave, inst, exec);
  const Role role = roles()[inst.op];
  if (exec && (role == Role::Append || role == Role::LaneRead || role == Role::LaneWrite)) {
    ++launch_.lds_accesses_;
    // One lane counts for all.
    if (role == Role::Append) of_lanes(wave, inst, exec & (0 - exec), wave.m0 >> 16, 0, Kind::AtomicWrite);
    else of_lanes(wave, inst, exec, wave.m0 & 0xffff, 4, role == Role::LaneRead ? Kind::Read : Kind::Write);
  }
}

}  // namespace gpu::check
