#include "simulation.h"

#include <algorithm>
#include <barrier>
#include <thread>
#include <tuple>

namespace gpu {
namespace {

// Shorter than a trip to the L2, so that requests meet what was asked a quantum earlier.
constexpr uint64_t kQuantum = 256;
// Below this many instructions starting threads costs more than they bring.
constexpr size_t kWorthThreads = 100'000;

class XccSimulation {
 public:
  XccSimulation(const SimulationInput& input, uint32_t xcc, DeviceState& state)
      : input_(input), memory_(*state.memory[xcc]) {
    const uint32_t engines = engines_per_xcc(input.device), all = cus_per_xcc(input.device);
    const uint32_t count = input.compute_units[xcc];
    share_ = double(count) / all;
    source_.groups = input.groups[xcc];
    // Where some of the compute units are simulated they get their part of what is started.
    source_.launch_cycles = input.parameters.wave_launch_cycles / share_;
    if (input.grid_walk) source_.walk_cycles = input.parameters.grid_walk_cycles / share_;
    source_.engine_free.assign(engines, 0);
    // Workgroups go round the compute units: of few of them most units see none.
    const uint32_t needed = uint32_t(std::min<size_t>(count, source_.groups.size()));
    for (uint32_t i = 0; i < needed; ++i) {
      // Compute units switched off at manufacture leave their scalar caches to one neighbour.
      const uint32_t sqc = uint32_t(uint64_t(i) * input.parameters.sqcs_per_xcc / all);
      std::unique_ptr<CuStorage>& storage = state.units[size_t{xcc} * all + i];
      if (!storage) storage = std::make_unique<CuStorage>(input.parameters);
      auto cu = std::make_unique<ComputeUnit>(input.parameters, input.table, memory_, input.residency, sqc, *storage);
      cu->shader_engine = xcc * engines + i % engines;
      cu->cu = i / engines;
      if (input.att && (input.att_select.se_mask >> cu->shader_engine & 1)) {
        cu->trace_occupancy = true;
        if (cu->cu == input.att_select.target_cu) cu->trace_simds = input.att_select.simd_mask;
      }
      cus.push_back(std::move(cu));
    }
    // One workgroup to each compute unit in turn until none fits.
    for (bool placed = true; placed && source_.next < source_.groups.size();) {
      placed = false;
      for (uint32_t i = 0; i < needed && source_.next < source_.groups.size(); ++i) {
        if (!cus[i]->fits(uint32_t(source_.groups[source_.next]->waves.size()))) continue;
        source_.place(*cus[i], 0, i % engines);
        placed = true;
      }
    }
  }

  uint64_t next() const {
    uint64_t soonest = ~uint64_t(0);
    for (const auto& cu : cus) soonest = std::min(soonest, cu->next());
    return soonest;
  }

  void run(uint64_t start, uint64_t end) {
    memory_.quantum(start, input_.active_xccs, share_);
    for (auto& cu : cus)
      if (cu->next() < end) cu->run(end, source_);
    if (!exhausted && source_.next == source_.groups.size()) {
      exhausted = end;
      for (const auto& cu : cus) exhausted_steps += cu->counts.steps;
    }
  }

  std::vector<std::unique_ptr<ComputeUnit>> cus;
  uint64_t exhausted = 0, exhausted_steps = 0;

 private:
  const SimulationInput& input_;
  XccMemory& memory_;
  WorkSource source_;
  double share_ = 1;
};

// Lines that left the XCDs in a quantum, in the order of the XCDs.
void enter(InfinityCache& mall, const std::vector<FabricRequest>& requests, double weight) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i + kAhead < requests.size()) mall.prefetch(requests[i + kAhead].line);
    mall.enter(requests[i].line, requests[i].halves, weight);
  }
}

}  // namespace

SimulationResult simulate(const SimulationInput& input, DeviceState& state) {
  const uint32_t xccs = input.device.xccs;
  if (state.memory.size() != xccs) state.memory.resize(xccs);
  state.units.resize(size_t{xccs} * cus_per_xcc(input.device));
  if (!state.mall && input.device.l3_bytes)
    state.mall =
        std::make_unique<InfinityCache>(input.device.l3_bytes, uint32_t(kLineBytes), input.parameters.mall_ways);
  const double weight = 1 / input.traffic_share;  // of a simulated line

  std::vector<std::unique_ptr<XccSimulation>> running(xccs);
  std::vector<uint32_t> used;
  size_t steps = 0;
  for (uint32_t x = 0; x < xccs; ++x) {
    if (input.groups[x].empty()) continue;
    if (!state.memory[x])
      state.memory[x] = std::make_unique<XccMemory>(input.device, input.parameters, state.mall.get());
    state.memory[x]->begin(input.parameters.l2_kept_between_dispatches != 0, input.keep_instructions);
    running[x] = std::make_unique<XccSimulation>(input, x, state);
    used.push_back(x);
    for (const GroupTrace* group : input.groups[x]) steps += group->steps();
  }

  const unsigned workers =
      steps < kWorthThreads ? 1 : std::max(1u, std::min<unsigned>(input.threads, unsigned(used.size())));
  uint64_t start = 0, end = 0;
  bool more = true;
  auto plan = [&] {
    uint64_t soonest = ~uint64_t(0);
    for (uint32_t x : used) soonest = std::min(soonest, running[x]->next());
    more = soonest != ~uint64_t(0);
    start = std::max(end, soonest / kQuantum * kQuantum);
    end = start + kQuantum;
  };
  auto merge = [&]() noexcept {
    if (state.mall)
      for (uint32_t x : used) enter(*state.mall, state.memory[x]->fabric, weight);
    plan();
  };
  plan();
  if (workers == 1) {
    while (more) {
      for (uint32_t x : used) running[x]->run(start, end);
      merge();
    }
  } else {
    std::barrier sync(workers, merge);
    auto work = [&](unsigned me) {
      while (more) {
        for (size_t i = me; i < used.size(); i += workers) running[used[i]]->run(start, end);
        sync.arrive_and_wait();
      }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back(work, i);
    work(0);
    for (std::thread& thread : threads) thread.join();
  }

  SimulationResult result;
  result.xccs.resize(xccs);
  for (uint32_t x : used) {
    XccResult& out = result.xccs[x];
    XccMemory& memory = *state.memory[x];
    memory.fabric.clear();
    for (auto& cu : running[x]->cus) {
      out.end = std::max(out.end, cu->last_end());
      out.steps += cu->counts.steps;
      out.vmem += cu->counts.vmem;
      out.cus.push_back(cu->counts);
      std::move(cu->waves.begin(), cu->waves.end(), std::back_inserter(result.waves));
      std::move(cu->occupancy.begin(), cu->occupancy.end(), std::back_inserter(result.occupancy));
    }
    out.cus.resize(input.compute_units[x]);
    out.exhausted = running[x]->exhausted;
    out.exhausted_steps = running[x]->exhausted_steps;
    if (!input.parameters.l2_kept_between_dispatches) {
      out.write_back = memory.write_back();
      if (state.mall) enter(*state.mall, memory.fabric, weight);
    }
    out.channels = memory.channels;
    out.sqcs = memory.sqcs;
  }
  // A slot that is left and taken in one cycle is left first.
  std::sort(result.occupancy.begin(), result.occupancy.end(), [](const AttOccupancy& a, const AttOccupancy& b) {
    return std::tie(a.time, a.shader_engine, a.cu, a.simd, a.slot, a.start) <
           std::tie(b.time, b.shader_engine, b.cu, b.simd, b.slot, b.start);
  });
  std::sort(result.waves.begin(), result.waves.end(), [](const AttWave& a, const AttWave& b) {
    return std::tie(a.shader_engine, a.simd, a.slot, a.id) < std::tie(b.shader_engine, b.simd, b.slot, b.id);
  });
  return result;
}

}  // namespace gpu
