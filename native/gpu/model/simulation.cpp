#include "simulation.h"

#include <algorithm>
#include <cstring>
#include <cstdlib>
#include <barrier>
#include <stdexcept>
#include <thread>
#include <tuple>

namespace gpu {
namespace {

const Parameters& parameters_of(const DeviceSpec& device) {
  static constexpr Parameters kAll[] = {
#include "model_parameters.inc"
  };
  for (const Parameters& parameters : kAll)
    if (device.name == parameters.device) return parameters;
  throw std::logic_error("no model parameters for " + device.name);
}

// Shorter than a trip to the L2, so that requests meet what was asked a quantum earlier.
constexpr uint64_t kQuantum = 256;
// Compute units of an XCD take turns within it: of a burst the first of them would be served before the
// last has asked.
constexpr uint64_t kTurn = 64;
// Below this many instructions starting threads costs more than they bring.
constexpr size_t kWorthThreads = 100'000;

class XccSimulation {
 public:
  XccSimulation(const SimulationInput& input, uint32_t xcc, DeviceState& state)
      : xcc(xcc), memory(*state.memory[xcc]), input_(input) {
    share_ = double(input.compute_units[xcc]) / cus_per_xcc(input.device);
    source_.groups = input.groups[xcc];
    // Where some of the compute units are simulated they get their part of what is started.
    source_.launch_cycles = input.parameters.wave_launch_cycles / share_;
    if (input.grid_walk) source_.walk_cycles = double(input.parameters.grid_walk_cycles) * input.active_xccs / share_;
    source_.engine_free.assign(engines_per_xcc(input.device), 0);
    // Workgroups go round the compute units: of few of them most units see none.
    const size_t needed = std::min<size_t>(input.compute_units[xcc], source_.groups.size());
    for (uint32_t i = 0; i < needed; ++i) cus.push_back(compute_unit(i, state));
    place_first();
  }

  uint64_t next() const {
    uint64_t soonest = ~uint64_t(0);
    for (const auto& cu : cus) soonest = std::min(soonest, cu->next());
    return soonest;
  }

  void run(uint64_t start, uint64_t end) {
    memory.quantum(input_.active_xccs, share_, input_.from_others);
    for (uint64_t turn = start; turn < end; turn += kTurn) {
      memory.advance(turn);
      for (auto& cu : cus)
        if (cu->next() < turn + kTurn) cu->run(turn + kTurn, source_);
    }
    if (!exhausted && source_.next == source_.groups.size()) {
      exhausted = end;
      for (const auto& cu : cus) exhausted_steps += cu->counts.steps;
    }
  }

  const uint32_t xcc;
  XccMemory& memory;
  std::vector<std::unique_ptr<ComputeUnit>> cus;
  uint64_t exhausted = 0, exhausted_steps = 0;

 private:
  std::unique_ptr<ComputeUnit> compute_unit(uint32_t i, DeviceState& state) const {
    const uint32_t engines = engines_per_xcc(input_.device), all = cus_per_xcc(input_.device);
    // Compute units switched off at manufacture leave their scalar caches to one neighbour.
    const uint32_t sqc = uint32_t(uint64_t(i) * input_.parameters.sqcs_per_xcc / all);
    std::unique_ptr<CuStorage>& storage = state.units[size_t{xcc} * all + i];
    if (!storage) storage = std::make_unique<CuStorage>(input_.device, input_.parameters);
    auto cu = std::make_unique<ComputeUnit>(input_.parameters, input_.table, memory, input_.residency, sqc, *storage);
    cu->shader_engine = xcc * engines + i % engines;
    cu->cu = i / engines;
    if (input_.att && (input_.att_select.se_mask >> cu->shader_engine & 1)) {
      cu->trace_occupancy = true;
      if (cu->cu == input_.att_select.target_cu) cu->trace_simds = input_.att_select.simd_mask;
    }
    return cu;
  }

  // One workgroup to each compute unit in turn until none fits.
  void place_first() {
    for (bool placed = true; placed && source_.next < source_.groups.size();) {
      placed = false;
      for (uint32_t i = 0; i < cus.size() && source_.next < source_.groups.size(); ++i) {
        if (!cus[i]->fits(uint32_t(source_.groups[source_.next]->waves.size()))) continue;
        source_.place(*cus[i], 0, i % uint32_t(source_.engine_free.size()));
        placed = true;
      }
    }
  }

  const SimulationInput& input_;
  WorkSource source_;
  double share_ = 1;
};

// Lines that left an XCD in a quantum, in the order of the XCDs: the Infinity Cache sees them, and of those that
// were written the other XCDs' copies are probed out.
void enter(DeviceState& state, uint32_t from, double weight) {
  const std::vector<FabricRequest>& requests = state.memory[from]->fabric;
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < requests.size(); ++i) {
    const FabricRequest& request = requests[i];
    if (state.mall) {
      if (i + kAhead < requests.size()) state.mall->prefetch(requests[i + kAhead].line);
      state.mall->enter(request.line, request.halves, weight);
    }
    if (!request.written) continue;
    for (uint32_t x = 0; x < state.memory.size(); ++x)
      if (x != from && state.memory[x]) state.memory[x]->invalidate(request.line);
  }
}

// Of a simulated line.
double weight_of(const SimulationInput& input) { return 1 / input.traffic_share; }

using Running = std::vector<std::unique_ptr<XccSimulation>>;

// The XCDs that have workgroups, in order, each with its first ones placed.
Running begin(const SimulationInput& input, DeviceState& state) {
  const uint32_t xccs = input.device.xccs;
  state.memory.resize(xccs);
  state.units.resize(size_t{xccs} * cus_per_xcc(input.device));
  if (!state.mall && input.device.l3_bytes)
    state.mall = std::make_unique<SampledCache>(
        input.device.l3_bytes, uint32_t(kLineBytes),
        uint32_t(input.device.l3_bytes / kLineBytes / input.parameters.mall_ways), input.parameters.mall_ways);
  const uint32_t data_since = input.counting && state.mall ? state.mall->mark() : 0;
  Running running;
  for (uint32_t x = 0; x < xccs; ++x) {
    if (input.groups[x].empty()) continue;
    if (!state.memory[x])
      state.memory[x] = std::make_unique<XccMemory>(input.device, input.parameters, state.mall.get());
    // What part of a dispatch's data an L2 finds there, simulated windows of it do not tell.
    const bool keep_l2 = input.whole && (!input.counting || input.parameters.l2_kept_while_counting);
    state.memory[x]->begin(keep_l2, !input.counting, input.page_weight, data_since);
    running.push_back(std::make_unique<XccSimulation>(input, x, state));
  }
  return running;
}

unsigned workers_for(const SimulationInput& input, const Running& running) {
  size_t steps = 0;
  for (const auto& groups : input.groups)
    for (const GroupTrace* group : groups) steps += group->steps();
  return steps < kWorthThreads ? 1 : std::max(1u, std::min<unsigned>(input.threads, unsigned(running.size())));
}

// Quantum by quantum, until no wave is left; between two of them the Infinity Cache sees what left the XCDs.
void run_all(Running& running, DeviceState& state, double weight, unsigned workers) {
  uint64_t start = 0, end = 0;
  bool more = true;
  auto plan = [&] {
    uint64_t soonest = ~uint64_t(0);
    for (const auto& xcc : running) soonest = std::min(soonest, xcc->next());
    more = soonest != ~uint64_t(0);
    start = std::max(end, soonest / kQuantum * kQuantum);
    end = start + kQuantum;
  };
  auto merge = [&]() noexcept {
    for (const auto& xcc : running) enter(state, xcc->xcc, weight);
    plan();
  };
  plan();
  if (workers == 1) {
    while (more) {
      for (const auto& xcc : running) xcc->run(start, end);
      merge();
    }
    return;
  }
  std::barrier sync(workers, merge);
  auto work = [&](unsigned me) {
    while (more) {
      for (size_t i = me; i < running.size(); i += workers) running[i]->run(start, end);
      sync.arrive_and_wait();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < workers; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
}

// What one XCD counted; its part of a thread trace goes to `all`.
XccResult finish(XccSimulation& running, const SimulationInput& input, DeviceState& state, SimulationResult& all) {
  XccResult out;
  XccMemory& memory = running.memory;
  memory.fabric.clear();
  for (auto& cu : running.cus) {
    out.end = std::max(out.end, cu->last_end());
    out.steps += cu->counts.steps;
    out.vmem += cu->counts.vmem;
    out.cus.push_back(cu->counts);
    std::move(cu->waves.begin(), cu->waves.end(), std::back_inserter(all.waves));
    std::move(cu->occupancy.begin(), cu->occupancy.end(), std::back_inserter(all.occupancy));
  }
  out.cus.resize(input.compute_units[running.xcc]);
  out.exhausted = running.exhausted;
  out.exhausted_steps = running.exhausted_steps;
  if (input.parameters.l2_written_back) {
    out.write_back = memory.write_back();
    enter(state, running.xcc, weight_of(input));
  }
  out.channels = memory.channels;
  out.sqcs = memory.sqcs;
  return out;
}

}  // namespace

DeviceState::DeviceState(const DeviceSpec& device) : parameters(parameters_of(device)) {
  addresses.shared_with_host = device.apu;
  const char* xnack = std::getenv("HSA_XNACK");
  addresses.managed.moves_on_fault = xnack && std::strcmp(xnack, "1") == 0;
}

SimulationResult simulate(const SimulationInput& input, DeviceState& state) {
  Running running = begin(input, state);
  run_all(running, state, weight_of(input), workers_for(input, running));
  SimulationResult result;
  result.xccs.resize(input.device.xccs);
  for (const auto& xcc : running) result.xccs[xcc->xcc] = finish(*xcc, input, state, result);
  // Of an XCD that ran workgroups which were not simulated nobody knows what its L2 holds.
  for (uint32_t x = 0; x < input.active_xccs; ++x)
    if (state.memory[x] && (input.groups[x].empty() || !input.whole)) state.memory[x]->empty_l2();
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
