// What a compute unit holds: workgroups and their waves, from start to end.
#include "compute_unit.h"

#include <algorithm>

namespace gpu {

void WorkSource::refill(ComputeUnit& cu, uint64_t time, uint32_t engine) {
  while (next < groups.size() && cu.fits(uint32_t(groups[next]->waves.size()))) place(cu, time, engine);
}

void WorkSource::place(ComputeUnit& cu, uint64_t time, uint32_t engine) {
  const double walked = double(next) * walk_cycles;
  const GroupTrace& group = *groups[next++];
  const double start = std::max({double(time), engine_free[engine], walked});
  engine_free[engine] = start + launch_cycles * double(group.waves.size());
  cu.start(group, uint64_t(start), launch_cycles);
}

CuStorage::CuStorage(const DeviceSpec& device, const Parameters& parameters)
    : l1(std::max<uint32_t>(1, uint32_t(device.l1_bytes / kLineBytes / parameters.l1_ways)), parameters.l1_ways),
      l1_ready(l1.size()) {}

void CuStorage::clear() {
  clear_touched(l1_ready, l1);
  l1.clear();
}

ComputeUnit::ComputeUnit(const Parameters& parameters, const StaticTable& table, XccMemory& memory,
                         const Residency& residency, uint32_t sqc, CuStorage& storage)
    : parameters_(parameters),
      table_(table),
      memory_(memory),
      residency_(residency),
      sqc_(sqc),
      l1_(storage.l1),
      l1_ready_(storage.l1_ready),
      slots_(storage.slots),
      scalar_queue_(parameters.scalar_queue),
      fetches_(kSimds, Places(parameters.fetches_per_simd)) {
  storage.clear();
  ready_.fill(kNever);
  simd_next_.fill(kNever);
}

ComputeUnit::~ComputeUnit() {
  if (live_)  // waves whose partners at a barrier were cut short
    for (SimWave& wave : slots_) wave.trace = nullptr;
}

bool ComputeUnit::fits(uint32_t waves) const {
  const uint32_t limit = waves == 1 ? residency_.waves_per_simd * kSimds : residency_.groups_per_cu;
  if (group_count_ >= limit) return false;
  if (residency_.lds_per_group && lds_used_ + residency_.lds_per_group > residency_.lds_per_cu) return false;
  uint32_t room = 0;
  for (uint32_t used : simd_waves_) room += residency_.waves_per_simd - used;
  return room >= waves;
}

void ComputeUnit::start(const GroupTrace& trace, uint64_t time, double interval) {
  for (const GroupTrace* earlier : trace.before)
    for (uint64_t line : earlier->lines) memory_.warm(line);
  const uint32_t g = uint32_t(__builtin_ctzll(~group_mask_));
  group_mask_ |= uint64_t(1) << g;
  SimGroup& group = groups_[g];
  group = {};
  group.live = group.size = uint32_t(trace.waves.size());
  group.trace = &trace;
  trace.begun = trace.ended = time;
  ++group_count_;
  ++counts.groups;
  lds_used_ += residency_.lds_per_group;
  if (live_ == 0) busy_since_ = time;
  for (uint32_t i = 0; i < group.size; ++i) {
    uint32_t simd = next_simd_;
    for (uint32_t k = 0; k < kSimds; ++k) {
      const uint32_t candidate = (next_simd_ + k) % kSimds;
      if (simd_waves_[candidate] < simd_waves_[simd]) simd = candidate;
    }
    next_simd_ = (simd + 1) % kSimds;
    uint32_t w = simd;
    while (slots_[w].trace) w += kSimds;
    SimWave& wave = slots_[w];
    wave.reset();
    wave.trace = &trace.waves[i];
    wave.step = wave.trace->steps.data();
    wave.steps_end = wave.step + wave.trace->steps.size();
    wave.data = wave.trace->data.data();
    wave.start = time + uint64_t(double(i) * interval);
    wave.group = g;
    wave.simd = simd;
    wave.slot = w / kSimds;
    group.members[i] = uint8_t(w);
    ready_[w] = wave.start + parameters_.wave_start_cycles;
    ++simd_waves_[simd];
    ++live_;
    ++counts.waves;
    counts.valu_lane_quads += wave.trace->valu_lane_quads;
    if (trace_occupancy) occupancy.push_back({wave.start, shader_engine, cu, simd, wave.slot, true});
    if (trace_simds >> simd & 1) {
      wave.att = int32_t(waves.size());
      AttWave att;
      att.shader_engine = shader_engine;
      att.cu = cu;
      att.simd = simd;
      att.slot = wave.slot;
      att.id = slot_uses_[w]++;
      att.begin = wave.att_until = wave.start;
      waves.push_back(std::move(att));
    }
    refresh(simd);
  }
}

void ComputeUnit::end_wave(uint32_t w, uint64_t now, WorkSource& source) {
  SimWave& wave = slots_[w];
  // A wave keeps its place until its stores are acknowledged.
  const uint64_t end = std::max(now, wave.stores_done);
  counts.wave_cycles += end - wave.start;
  last_end_ = std::max(last_end_, end);
  if (trace_occupancy) occupancy.push_back({end, shader_engine, cu, wave.simd, wave.slot, false});
  if (wave.att >= 0) {
    AttWave& att = waves[size_t(wave.att)];
    if (end > wave.att_until) att.timeline.push_back({kIdle, end - wave.att_until});
    att.end = end;
  }
  SimGroup& group = groups_[wave.group];
  group.trace->ended = std::max(group.trace->ended, end);
  for (uint32_t i = 0; i < group.size; ++i)
    if (group.members[i] == w) group.members[i] = 0xff;
  const uint32_t g = wave.group;
  ready_[w] = kNever;
  wave.trace = nullptr;
  --simd_waves_[wave.simd];
  --live_;
  --group.live;
  group.latest = std::max(group.latest, now);
  if (group.live) {
    arrive(group);
    return;
  }
  group_mask_ &= ~(uint64_t(1) << g);
  --group_count_;
  lds_used_ -= residency_.lds_per_group;
  const bool emptied = live_ == 0;
  if (emptied) counts.busy_cycles += end - std::min(end, busy_since_);
  source.refill(*this, end + parameters_.group_turnaround_cycles, shader_engine % uint32_t(source.engine_free.size()));
}

}  // namespace gpu
