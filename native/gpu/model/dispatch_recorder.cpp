#include "dispatch_recorder.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>

#include "residency/residency.h"

namespace gpu {
namespace {

// What is simulated in detail. A dispatch beyond this is sampled: first the workgroups of one XCD
// only, then windows of those (sample.h); of a long wave only its beginning, the longer the fewer there are.
constexpr size_t kDetailedSteps = 4'000'000, kDetailedBytes = size_t{768} << 20, kStepsPerWave = 16384;
constexpr uint64_t kTurns = 6;

uint64_t ran(const Wave& wave, InstClass first, InstClass last) {
  uint64_t total = 0;
  for (size_t c = size_t(first); c <= size_t(last); ++c) total += wave.counts[c];
  return total;
}

std::string tell_impossible(const std::string& kernel, double us, double least_us, double most_us) {
  char text[256];
  std::snprintf(text, sizeof text,
                "the model gives it %.6g us, and it takes no less than %.6g and no more than %.6g; this is a mistake "
                "of the model, so it has no time\n",
                us, least_us, most_us);
  return "rocm-perf: impossible time of kernel " + demangle(kernel) + ": " + text;
}

}  // namespace

DispatchRecorder::DispatchRecorder(const DeviceSpec& device, DeviceState& state, const Launch& launch,
                                   const ProfileRequest& request)
    : device_(device),
      state_(state),
      launch_(launch),
      request_(request),
      detailed_steps_(request.detailed_steps ? request.detailed_steps : kDetailedSteps),
      table_(*launch.program, state.parameters),
      engines_(size_t(engines_per_xcc(device)) * device.xccs),
      executed_(device.xccs),
      vmem_(device.xccs) {
  state.addresses.learn(*launch.memory);
  const uint64_t items =
      uint64_t{launch.request.workgroup[0]} * launch.request.workgroup[1] * launch.request.workgroup[2];
  waves_per_group_ = uint32_t(std::max<uint64_t>(1, (items + kLanes - 1) / kLanes));
  const uint64_t waves = launch.group_count * waves_per_group_;
  steps_per_wave_ = std::max<size_t>(kStepsPerWave, detailed_steps_ / std::max<uint64_t>(1, waves));
}

Observer* DispatchRecorder::begin(WorkgroupContext& group) {
  if (!recorded(group.index)) return nullptr;
  std::unique_ptr<GroupRecorder> recorder;
  if (spare_.empty()) {
    recorder = std::make_unique<GroupRecorder>(table_, state_.addresses, steps_per_wave_);
  } else {
    recorder = std::move(spare_.back());
    spare_.pop_back();
  }
  recorder->begin(group.index, group.waves, group.shape.waves());
  open_.emplace_back(&group, std::move(recorder));
  return open_.back().second.get();
}

void DispatchRecorder::finished(const WorkgroupContext& group) {
  const uint32_t xcc = uint32_t(group.index % device_.xccs), per_xcc = engines_per_xcc(device_);
  EngineCounts& engine = engines_[size_t{xcc} * per_xcc + group.index / device_.xccs % per_xcc];
  const uint32_t waves = group.shape.waves(), items = group.shape.items();
  uint64_t executed = 0, longest = 0, accesses = 0;
  for (uint32_t i = 0; i < waves; ++i) {
    const Wave& wave = *group.waves[i];
    for (size_t c = 0; c < engine.classes.size(); ++c) engine.classes[c] += wave.counts[c];
    engine.executed += wave.executed;
    executed += wave.executed;
    if (wave.executed >= longest) {
      longest = wave.executed;
      accesses = ran(wave, InstClass::SMEM, InstClass::LDS_OTHER);
    }
    vmem_[xcc] += ran(wave, InstClass::GLOBAL_LOAD, InstClass::BUFFER_ATOMIC);
    const uint32_t lanes = std::min<uint32_t>(kLanes, items - i * kLanes);
    if (lanes == kLanes) ++engine.full_waves;
    else ++engine.waves_by_lanes[lanes / 16];
  }
  executed_[xcc].add(group.index / device_.xccs, executed, longest, accesses);
  engine.waves += waves;
  engine.items += items;
  ++engine.groups;
  for (auto it = open_.begin(); it != open_.end(); ++it) {
    if (it->first != &group) continue;
    if (recorded(group.index)) keep(it->second->take());
    spare_.push_back(std::move(it->second));
    open_.erase(it);
    break;
  }
}

// How many XCDs ask for a line of memory that any of them asks for.
double DispatchRecorder::shared_by() const {
  std::unordered_map<uint64_t, uint32_t> seen;  // the XCDs of a line
  for (const GroupTrace& group : groups_)
    for (const WaveTrace& wave : group.waves)
      wave.each_line([&](const MemHeader& header, uint64_t line) {
        if (header.write || header.atomic || (line & kUncached)) return;
        for (uint64_t half : {kLow, kHigh})
          if (line & half) seen[(line & ~uint64_t(kLineFlags)) | half] |= 1u << group.index % device_.xccs;
      });
  uint64_t asked = 0;
  for (const auto& [line, xccs] : seen) asked += uint64_t(__builtin_popcount(xccs));
  return seen.empty() ? 1 : double(asked) / double(seen.size());
}

void DispatchRecorder::keep(GroupTrace group) {
  if (!simulated(group.index)) group.only_lines();
  steps_ += group.steps();
  bytes_ += group.bytes();
  groups_.push_back(std::move(group));
  while (steps_ > detailed_steps_ || bytes_ > kDetailedBytes) {
    const size_t before = steps_ + bytes_;
    const bool first = all_xccs_ && device_.xccs > 1;
    if (first) shared_by_ = shared_by();
    else windows_.thin(groups_.back().index / device_.xccs + 1);
    all_xccs_ = false;
    drop_unwanted();
    if (!first && steps_ + bytes_ == before) return;  // one window alone is too much: no other is taken
  }
}

void DispatchRecorder::drop_unwanted() {
  std::erase_if(groups_, [&](const GroupTrace& g) { return !recorded(g.index); });
  for (GroupTrace& g : groups_)
    if (!simulated(g.index)) g.only_lines();
  steps_ = bytes_ = 0;
  for (const GroupTrace& g : groups_) {
    steps_ += g.steps();
    bytes_ += g.bytes();
  }
}

Estimate DispatchRecorder::estimate_of(uint32_t xcc, const SimulationInput& input, const XccResult& result) const {
  std::vector<Sampled> groups;
  for (const GroupTrace* g : input.groups[xcc])
    groups.push_back({g->index / device_.xccs, g->begun, g->ended, g->steps()});
  SimulatedPart part;
  part.end = double(result.end);
  part.exhausted = double(result.exhausted);
  part.share = double(input.compute_units[xcc]) / cus_per_xcc(device_);
  part.other_xccs = !all_xccs_ && device_.xccs > 1;
  for (const CuCounts& cu : result.cus) {
    part.data_wait_cycles += double(cu.wait_any);
    part.turn_wait_cycles += double(cu.wait_inst);
    part.wave_cycles += double(cu.wave_cycles);
    part.waves += cu.waves;
    part.wave_steps += cu.steps;
    part.accesses += cu.accesses;
  }
  Estimate found = estimate(groups, windows_, executed_[xcc], part);
  if (input.groups[xcc].size() == executed_[xcc].places() && !part.other_xccs) return found;
  // XCDs that were not simulated have as much more to do as they ran instructions, and waves of their own.
  const double own = double(std::max<uint64_t>(1, executed_[xcc].total()));
  double most = 1;
  if (part.other_xccs)
    for (const Executed& other : executed_) most = std::max(most, double(other.total()) / own);
  found = {found.cycles * most, found.error * most, found.started * most};
  for (const Executed& other : executed_)
    if (part.other_xccs || &other == &executed_[xcc]) outlast(found, other, part);
  return found;
}

SimulationInput DispatchRecorder::simulation_input(unsigned threads) {
  SimulationInput input{.device = device_, .parameters = state_.parameters, .table = table_};
  input.threads = threads;
  input.counting = request_.counters;
  input.whole = windows_.whole();
  input.grid_walk = launch_.groups[1] > 1 || launch_.groups[2] > 1;
  input.att = request_.att;
  input.att_select = request_.att_select;
  Residency& r = input.residency;
  const residency::Limits& limits = *residency::find(device_.architecture);
  r.waves_per_simd = launch_.waves_per_simd;
  r.groups_per_cu = limits.workgroups;
  r.lds_per_cu = limits.lds_bytes;
  r.lds_per_group = residency::lds_taken(limits, launch_.group_bytes);

  // Open recorders of groups that end late may leave the list out of order.
  std::sort(groups_.begin(), groups_.end(), [](const GroupTrace& a, const GroupTrace& b) { return a.index < b.index; });
  const uint32_t xccs = device_.xccs, cus = cus_per_xcc(device_);
  input.groups.resize(xccs);
  input.compute_units.assign(xccs, cus);
  input.active_xccs = uint32_t(std::clamp<uint64_t>(launch_.group_count, 1, xccs));
  std::vector<const GroupTrace*> before;
  for (GroupTrace& group : groups_) {
    if (group.waves.empty()) {
      before.push_back(&group);
      continue;
    }
    group.before = std::move(before);
    before.clear();
    input.groups[group.index % xccs].push_back(&group);
  }
  if (!windows_.whole() && !groups_.empty()) {
    // Too few workgroups for every compute unit: as many as they fill as often as in the whole, or
    // some times over, as the first turn, all started at once, is unlike the others.
    const uint64_t launched = (launch_.group_count + xccs - 1) / xccs;  // on this XCD
    const uint64_t on_a_cu = std::clamp<uint64_t>(launched / cus, 1, launch_.groups_per_cu);
    const uint64_t turns = std::clamp<uint64_t>(launched / (on_a_cu * cus), 1, kTurns);
    for (uint32_t x = 0; x < xccs; ++x)
      // Not one too few: what does not fit would make another turn.
      input.compute_units[x] =
          uint32_t(std::clamp<uint64_t>((input.groups[x].size() + on_a_cu * turns - 1) / (on_a_cu * turns), 1, cus));
  }
  uint64_t kept = 0, everything = 0, simulated_xccs = 0;
  for (const GroupTrace& group : groups_) kept += group.steps();
  for (uint32_t x = 0; x < xccs; ++x) {
    everything += executed_[x].total();
    if (!input.groups[x].empty()) simulated_xccs += executed_[x].total();
  }
  if (kept < everything) input.traffic_share = double(kept) / double(everything);
  // Every XCD sees all pages, the workgroups simulated only some of them.
  if (kept && kept < simulated_xccs) input.page_weight = double(simulated_xccs) / double(kept);
  input.from_others = 1 - 1 / shared_by_;
  return input;
}

PossibleTime DispatchRecorder::possible_time(const SimulationInput& input) const {
  const PossibleInput about{.device = device_,
                            .parameters = state_.parameters,
                            .table = table_,
                            .active_xccs = input.active_xccs,
                            .waves_per_group = waves_per_group_,
                            .grid_walk = input.grid_walk};
  std::vector<Ran> ran;
  PossibleTime out;
  for (uint32_t x = 0; x < device_.xccs; ++x) {
    ran.push_back({executed_[x]});
    for (uint32_t e = 0; e < engines_per_xcc(device_); ++e)
      for (size_t c = 0; c < kMaxClasses; ++c)
        ran[x].classes[c] += engines_[size_t{x} * engines_per_xcc(device_) + e].classes[c];
    out.least = std::max(out.least, least_of(ran[x], about));
  }
  std::vector<const GroupTrace*> recorded;
  for (const auto& groups : input.groups) recorded.insert(recorded.end(), groups.begin(), groups.end());
  out.most = most_of(ran, recorded, about);
  return out;
}

DispatchProfile DispatchRecorder::profile(unsigned threads) {
  const ProfileRequest& request = request_;
  const Parameters& p = state_.parameters;
  const uint32_t xccs = device_.xccs, cus = cus_per_xcc(device_);
  const SimulationInput input = simulation_input(threads);
  SimulationResult simulated = simulate(input, state_);
  DispatchProfile profile;
  CounterInput counting{.device = device_, .parameters = p, .engines = engines_, .simulation = simulated};
  Estimate longest;
  uint64_t detailed = 0, executed = 0;
  for (uint32_t x = 0; x < xccs; ++x) {
    const uint32_t from = input.groups[x].empty() && !all_xccs_ ? 0 : x;
    const XccResult& result = simulated.xccs[from];
    const double total = double(executed_[x].total());
    const double scale = result.steps ? total / double(result.steps) : 0;
    counting.source_xcc.push_back(from);
    counting.scale.push_back(scale);
    counting.memory_scale.push_back(result.vmem ? double(vmem_[x]) / double(result.vmem) : scale);
    executed += executed_[x].total();
    if (from != x) continue;
    detailed += result.steps;
    Estimate found = estimate_of(x, input, result);
    // What the L2 holds at the end is that of the whole, by way of a part of the memory bandwidth.
    found.cycles += double(result.write_back) * double(input.compute_units[x]) / cus;
    if (found.cycles >= longest.cycles) longest = found;
    for (const CuCounts& cu : result.cus) profile.compute_units_used += cu.groups != 0;
  }
  if (!all_xccs_) profile.compute_units_used = uint32_t(std::min<uint64_t>(device_.compute_units, launch_.group_count));
  const PossibleTime possible = possible_time(input);
  // What is known of all workgroups holds for an estimate too.
  if (detailed < executed) longest.cycles = std::max(longest.cycles, possible.least);
  const double mhz = device_.clock_mhz;
  // The driver serves one fault after the other, and the waves that touch the piece wait.
  const double faulted = double(state_.addresses.managed.take_faulted(all_xccs_ && windows_.whole()));
  const double overhead = (p.launch_ns + p.finish_ns) * mhz / 1000.0 + faulted / p.migration_mbps * mhz;
  const double cycles = longest.cycles + overhead;
  if (!possible.hold(longest.cycles) || !std::isfinite(cycles * 1000 / mhz))
    throw ImpossibleTime(tell_impossible(launch_.kernel->name, cycles / mhz, (possible.least + overhead) / mhz,
                                         (possible.most + overhead) / mhz));
  profile.cycles = uint64_t(std::llround(cycles));
  profile.clock_mhz = mhz;
  profile.duration_ns = uint64_t(std::llround(double(profile.cycles) * 1000.0 / mhz));
  profile.detailed_fraction = executed ? double(detailed) / double(executed) : 1;
  profile.sampling_error = profile.cycles ? longest.error / double(profile.cycles) : 0;
  if (request.counters) {
    counting.cycles = profile.cycles;
    if (request.only) counting.only = std::span(request.only, request.only_count);
    profile.counters = count(counting);
  }
  profile.waves = std::move(simulated.waves);
  profile.occupancy = std::move(simulated.occupancy);
  return profile;
}

ClockTimes DispatchRecorder::clock_times(const DispatchProfile& profile) const {
  ClockTimes times;
  times.duration = profile.cycles;
  const uint64_t begin = uint64_t(state_.parameters.launch_ns) * device_.clock_mhz / 1000;
  for (const GroupTrace& group : groups_) {
    if (group.waves.empty()) continue;
    ClockTimes::Group& out = times.groups.emplace_back();
    out.index = group.index;
    // Windows were simulated one right after the other; in the whole they lie apart.
    const double place = double(group.index) / double(launch_.group_count) * double(profile.cycles - begin);
    const bool apart = !windows_.whole() && windows_.window(group.index / device_.xccs) > 0;
    const uint64_t later = begin + uint64_t(apart ? std::max(0.0, place - double(group.begun)) : 0);
    for (const WaveTrace& wave : group.waves) {
      ClockTimes::WaveTimes& own = out.waves.emplace_back();
      own.readings = std::move(wave.clocks);
      for (uint64_t& cycle : own.readings) cycle += later;
      if (wave.cut && !wave.steps.empty()) own.pace = double(group.ended - group.begun) / double(wave.steps.size());
    }
  }
  return times;
}

}  // namespace gpu
