#include "possible_time.h"

#include <algorithm>

namespace gpu {
namespace {

constexpr double kSimds = 4, kTurn = 4;  // a SIMD's turn, cycles

// Classes of instructions that a SIMD issues one of in a turn.
constexpr std::pair<InstClass, InstClass> kUnits[] = {
    {InstClass::VALU, InstClass::MFMA_XF32},     {InstClass::SALU, InstClass::SALU},
    {InstClass::SMEM, InstClass::SMEM_TIME},     {InstClass::GLOBAL_LOAD, InstClass::BUFFER_CACHE},
    {InstClass::LDS_LOAD, InstClass::LDS_OTHER}, {InstClass::BRANCH, InstClass::BRANCH},
};

uint32_t units_used(const Executed& executed, const DeviceSpec& device) {
  return uint32_t(std::clamp<uint64_t>(executed.places(), 1, cus_per_xcc(device)));
}

// What one instruction takes where it has the compute unit to itself (`alone`), and what it takes of
// what all of an XCD's compute units share.
struct Cost {
  double alone = 0, shared = 0;
  void operator+=(const Cost& other) {
    alone += other.alone;
    shared += other.shared;
  }
};

class Dearest {
 public:
  explicit Dearest(const PossibleInput& input) : input_(input), p_(input.parameters) {
    auto cycles = [&](double gbps) { return kLineBytes * input.device.clock_mhz / (gbps * 1000); };
    const double among = input.active_xccs;
    line_ = kLineBytes / double(p_.l2_channel_bytes_per_clock) +
            kLineBytes / double(p_.l2_channel_write_bytes_per_clock) + cycles(p_.xcc_fabric_gbps) +
            cycles(p_.xcc_fabric_write_gbps) + 2 * cycles(p_.mall_gbps / among) + cycles(p_.hbm_gbps / among) +
            cycles(p_.hbm_write_gbps / among);
    host_line_ = cycles(p_.host_gbps / among);
    beyond_ = double(p_.translation_latency) + std::max(p_.l2_latency, p_.l2_write_latency) + p_.hbm_latency;
  }

  Cost of(const GroupTrace& group) const {
    Cost cost;
    cost.alone = double(p_.group_turnaround_cycles);
    cost.shared = p_.wave_launch_cycles * double(group.waves.size());
    if (input_.grid_walk) cost.shared += double(p_.grid_walk_cycles) * input_.active_xccs;
    for (const WaveTrace& wave : group.waves) cost += of(wave);
    return cost;
  }
  // Dirty lines that the L2 holds at the end.
  double write_back() const { return double(input_.device.l2_bytes) / kLineBytes * line_; }

 private:
  Cost of(const WaveTrace& wave) const {
    Cost cost;
    cost.alone = p_.wave_start_cycles;
    const uint64_t* data = wave.data.data();
    uint64_t block = ~uint64_t(0);
    for (const uint32_t word : wave.steps) {
      const StaticInst& s = input_.table[word & ~kHasData];
      if (s.fetch_address >> 5 != block) cost += fetch();
      block = s.fetch_address >> 5;
      cost.alone += kTurn + std::max<double>({double(s.cycles), double(s.alone), double(p_.branch_taken_cycles),
                                              double(p_.barrier_cycles), double(p_.lds_instruction_cycles)});
      if (word & kHasData) {
        const MemHeader header = std::bit_cast<MemHeader>(*data++);
        cost += access(s, header, data);
        data += header.lines;
      } else if (s.unit == Unit::Lds) {
        cost.alone += p_.lds_latency;
      } else if (s.unit == Unit::Smem) {
        cost.alone += p_.scalar_latency;
      }
    }
    return cost;
  }
  Cost fetch() const {
    return {double(p_.fetch_latency + p_.scalar_miss_latency + p_.hbm_latency), p_.icache_requests_per_miss * line_};
  }
  Cost access(const StaticInst& s, const MemHeader& header, const uint64_t* lines) const {
    Cost cost;
    if (header.lds_passes)
      cost.alone += p_.lds_latency + p_.lds_instruction_base + kSimds * header.lds_passes +
                    header.lds_conflicts * (1 + p_.lds_conflict_millicycles / 1000.0);
    if (s.unit == Unit::Lds) return cost;
    cost.alone += beyond_ + double(std::max(p_.l1_latency, p_.scalar_latency + p_.scalar_miss_latency)) +
                  double(header.lanes) + double(header.lanes) * header.bytes_per_lane / p_.l1_bytes_per_clock;
    const double fill = double(kLineBytes) / p_.l1_fill_bytes_per_clock;
    for (uint32_t k = 0; k < header.lines; ++k) {
      cost.alone += 1 + fill + p_.scalar_request_cycles;
      cost.shared += line_ + (lines[k] & kHost ? host_line_ : 0);
      if (lines[k] & kHost) cost.alone += p_.host_latency;
    }
    if (header.atomic) cost.shared += double(header.lanes) * (1 + header.lines) / p_.atomic_lanes_per_clock;
    if (header.hostcall) cost.alone += p_.hostcall_cycles;
    return cost;
  }

  const PossibleInput& input_;
  const Parameters& p_;
  double line_ = 0, host_line_ = 0, beyond_ = 0;
};

}  // namespace

double least_of(const Ran& ran, const PossibleInput& input) {
  double least = kTurn * double(ran.executed.longest());
  for (const auto& [first, last] : kUnits) {
    double count = 0;
    for (size_t c = size_t(first); c <= size_t(last); ++c) count += double(ran.classes[c]);
    least = std::max(least, count * kTurn / kSimds / units_used(ran.executed, input.device));
  }
  return least;
}

double most_of(const std::vector<Ran>& xccs, const std::vector<const GroupTrace*>& recorded,
               const PossibleInput& input) {
  const Dearest dearest(input);
  Cost rate;  // for an instruction
  for (const GroupTrace* group : recorded) {
    const Cost cost = dearest.of(*group);
    const double steps = double(std::max<size_t>(1, group->steps()));
    rate = {std::max(rate.alone, cost.alone / steps), std::max(rate.shared, cost.shared / steps)};
  }
  double most = 0;
  for (const Ran& ran : xccs) {
    const double steps = double(ran.executed.total());
    // A compute unit is without work only when the last workgroup has been started; what is left then is
    // no more than one workgroup's.
    const double last = double(ran.executed.longest()) * input.waves_per_group;
    most = std::max(most, rate.shared * steps + rate.alone * (steps / units_used(ran.executed, input.device) + last));
  }
  return most + dearest.write_back();
}

}  // namespace gpu
