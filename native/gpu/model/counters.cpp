#include "counters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <unordered_map>

namespace gpu {
namespace {

uint64_t sum(const EngineCounts& e, uint64_t classes) {
  uint64_t total = 0;
  for (; classes; classes &= classes - 1) total += e.classes[std::countr_zero(classes)];
  return total;
}

struct ExactCounter {
  const char* name;
  uint64_t (*value)(const EngineCounts&);
};
struct CuCounter {
  const char* name;
  double (*value)(const CuCounts&);
  bool memory;
};
struct TccCounter {
  const char* name;
  const char* gfx90a;
  uint64_t (*value)(const TccCounts&);
};
struct SqcCounter {
  const char* name;
  uint64_t (*value)(const SqcCounts&);
};

#define EXACT(counter, expression) {counter, [](const EngineCounts& e) -> uint64_t { return expression; }}

// One per shader engine, beside the sums of instruction classes (class_counters).
const ExactCounter kExact[] = {
    EXACT("SQ_WAVES", e.waves),
    EXACT("SQ_ITEMS", e.items),
    EXACT("SQ_WAVES_EQ_64", e.full_waves),
    EXACT("SQ_WAVES_LT_16", e.waves_by_lanes[0]),
    EXACT("SQ_WAVES_LT_32", e.waves_by_lanes[1]),
    EXACT("SQ_WAVES_LT_48", e.waves_by_lanes[2]),
    EXACT("SQ_WAVES_LT_64", e.waves_by_lanes[3]),
    EXACT("SPI_CSN_WAVE", e.waves),
    EXACT("SPI_CSN_NUM_THREADGROUPS", e.groups),
    // The end of a wave is a message too.
    EXACT("SQ_INSTS_SENDMSG", e.classes[size_t(InstClass::SENDMSG)] + e.waves),
};
#undef EXACT

#define CU(counter, memory, expression) \
  {counter, [](const CuCounts& c) -> double { return double(expression); }, memory}
double active(const CuCounts& c) {
  return double(c.active_valu + c.active_lds + c.active_vmem + c.active_flat + c.active_scalar + c.active_misc);
}
// A wave issues, waits for its turn to issue, or waits for anything else: recorded on an MI210 the three
// make SQ_WAVE_CYCLES to the last quad.
double waiting(const CuCounts& c) {
  return double(c.wave_cycles - std::min(c.wave_cycles, c.wait_inst + 4 * c.issued));
}
uint64_t wavefronts(const CuCounts& c, int space) {
  return c.ta_wavefronts[space][0] + c.ta_wavefronts[space][1] + c.ta_wavefronts[space][2];
}

// Summed over the compute units of a shader engine. SQ counters of waves count quad-cycles.
const CuCounter kSq[] = {
    CU("SQ_WAVE_CYCLES", false, c.wave_cycles / 4.0),
    CU("SQ_LEVEL_WAVES", false, c.wave_cycles),
    CU("SQ_BUSY_CU_CYCLES", false, c.busy_cycles),
    CU("SQ_WAIT_ANY", false, waiting(c) / 4.0),
    CU("SQ_WAIT_INST_ANY", false, c.wait_inst / 4.0),
    CU("SQ_WAIT_INST_LDS", false, c.wait_inst_lds / 4.0),
    CU("SQ_ACTIVE_INST_ANY", false, active(c)),
    CU("SQ_ACTIVE_INST_VALU", false, c.active_valu),
    CU("SQ_ACTIVE_INST_SCA", false, c.active_scalar),
    CU("SQ_ACTIVE_INST_LDS", false, c.active_lds),
    CU("SQ_ACTIVE_INST_VMEM", false, c.active_vmem),
    CU("SQ_ACTIVE_INST_FLAT", false, c.active_flat),
    CU("SQ_ACTIVE_INST_MISC", false, c.active_misc),
    CU("SQ_THREAD_CYCLES_VALU", false, c.valu_lane_quads),
    CU("SQ_VALU_MFMA_BUSY_CYCLES", false, c.matrix_busy),
    CU("SQ_LDS_IDX_ACTIVE", false, c.lds_active),
    CU("SQ_LDS_BANK_CONFLICT", false, c.lds_conflicts),
    CU("SQ_LDS_ATOMIC_RETURN", false, c.lds_atomic_returns),
    CU("SQ_LDS_UNALIGNED_STALL", false, 0.0 * c.lds_active),  // such an access is a fault here
    CU("SQ_IFETCH", false, c.ifetch),
    CU("SQ_IFETCH_LEVEL", false, c.ifetch_level),
    CU("SQ_INST_LEVEL_VMEM", false, c.vmem_level),
    CU("SQ_INST_LEVEL_SMEM", false, c.smem_level),
    CU("SQ_INST_LEVEL_LDS", false, c.lds_level),
};

// One per compute unit.
const CuCounter kVectorMemory[] = {
    CU("TA_TOTAL_WAVEFRONTS", true, wavefronts(c, 0) + wavefronts(c, 1)),
    CU("TA_FLAT_WAVEFRONTS", true, wavefronts(c, 1)),
    CU("TA_FLAT_READ_WAVEFRONTS", true, c.ta_wavefronts[1][0]),
    CU("TA_FLAT_WRITE_WAVEFRONTS", true, c.ta_wavefronts[1][1]),
    CU("TA_FLAT_ATOMIC_WAVEFRONTS", true, c.ta_wavefronts[1][2]),
    CU("TA_BUFFER_WAVEFRONTS", true, wavefronts(c, 0)),
    CU("TA_BUFFER_READ_WAVEFRONTS", true, c.ta_wavefronts[0][0]),
    CU("TA_BUFFER_WRITE_WAVEFRONTS", true, c.ta_wavefronts[0][1]),
    CU("TA_BUFFER_ATOMIC_WAVEFRONTS", true, c.ta_wavefronts[0][2]),
    CU("TD_LOAD_WAVEFRONT", true, c.td_loads),
    CU("TD_STORE_WAVEFRONT", true, c.td_stores),
    CU("TD_ATOMIC_WAVEFRONT", true, c.td_atomics),
    CU("TCP_TA_TCP_STATE_READ", true, wavefronts(c, 0) + wavefronts(c, 1)),
    CU("TCP_TOTAL_ACCESSES", true,
       c.tcp_lanes_read + c.tcp_lanes_write + c.tcp_lanes_atomic[0] + c.tcp_lanes_atomic[1]),
    CU("TCP_TOTAL_READ", true, c.tcp_lanes_read),
    CU("TCP_TOTAL_WRITE", true, c.tcp_lanes_write),
    CU("TCP_TOTAL_ATOMIC_WITHOUT_RET", true, c.tcp_lanes_atomic[0]),
    CU("TCP_TOTAL_ATOMIC_WITH_RET", true, c.tcp_lanes_atomic[1]),
    CU("TCP_TOTAL_CACHE_ACCESSES", true, c.tcp_accesses),
    CU("TCP_UTCL1_REQUEST", true, c.tcp_accesses),
    CU("TCP_TCC_READ_REQ", true, c.tcc_reads),
    CU("TCP_TCC_WRITE_REQ", true, c.tcc_writes),
    CU("TCP_TCC_ATOMIC_WITHOUT_RET_REQ", true, c.tcc_atomics[0]),
    CU("TCP_TCC_ATOMIC_WITH_RET_REQ", true, c.tcc_atomics[1]),
    CU("TCP_TCC_READ_REQ_LATENCY", true, c.tcc_read_latency),
    CU("TCP_TCC_WRITE_REQ_LATENCY", true, c.tcc_write_latency),
};
#undef CU

#define TCC(counter, older, expression) {counter, older, [](const TccCounts& c) -> uint64_t { return expression; }}
const TccCounter kTcc[] = {
    TCC("TCC_HIT", "TCC_HIT", c.hit),
    TCC("TCC_MISS", "TCC_MISS", c.miss),
    TCC("TCC_REQ", "TCC_REQ", c.read + c.write + c.atomic),
    TCC("TCC_READ", "TCC_READ", c.read),
    TCC("TCC_WRITE", "TCC_WRITE", c.write),
    TCC("TCC_ATOMIC", "TCC_ATOMIC", c.atomic),
    TCC("TCC_RW_REQ", "TCC_RW_REQ", c.read + c.write + c.atomic - c.uncached),
    TCC("TCC_UC_REQ", "TCC_UC_REQ", c.uncached),
    TCC("TCC_EA0_RDREQ", "TCC_EA_RDREQ", c.ea_read),
    TCC("TCC_EA0_RDREQ_32B", "TCC_EA_RDREQ_32B", c.ea_read_32),
    TCC("TCC_EA0_RDREQ_DRAM", "TCC_EA_RDREQ_DRAM", c.ea_read),
    TCC("TCC_EA0_RDREQ_LEVEL", "TCC_EA_RDREQ_LEVEL", c.ea_read_level),
    TCC("TCC_BUBBLE", nullptr, c.ea_read_128),
    TCC("TCC_EA0_WRREQ", "TCC_EA_WRREQ", c.ea_write),
    TCC("TCC_EA0_WRREQ_64B", "TCC_EA_WRREQ_64B", c.ea_write_64),
    TCC("TCC_EA0_WRREQ_DRAM", "TCC_EA_WRREQ_DRAM", c.ea_write),
    TCC("TCC_EA0_ATOMIC", "TCC_EA_ATOMIC", c.ea_atomic),
    TCC("TCC_WRITEBACK", "TCC_WRITEBACK", c.writeback + c.end_writeback),
    TCC("TCC_NORMAL_WRITEBACK", "TCC_NORMAL_WRITEBACK", c.writeback),
    TCC("TCC_ALL_TC_OP_WB_WRITEBACK", "TCC_ALL_TC_OP_WB_WRITEBACK", c.end_writeback),
    TCC("TCC_NORMAL_EVICT", "TCC_NORMAL_EVICT", c.evict),
};
#undef TCC

#define SQC(counter, expression) {counter, [](const SqcCounts& c) -> uint64_t { return expression; }}
const SqcCounter kSqc[] = {
    SQC("SQC_ICACHE_REQ", c.inst_requests),
    SQC("SQC_ICACHE_HITS", c.inst_hits),
    SQC("SQC_ICACHE_MISSES", c.inst_misses),
    SQC("SQC_ICACHE_MISSES_DUPLICATE", c.inst_duplicates),
    SQC("SQC_DCACHE_REQ", c.data_requests),
    SQC("SQC_DCACHE_HITS", c.data_hits),
    SQC("SQC_DCACHE_MISSES", c.data_misses),
    SQC("SQC_DCACHE_MISSES_DUPLICATE", c.data_duplicates),
    SQC("SQC_DCACHE_REQ_READ_1", c.data_reads[0]),
    SQC("SQC_DCACHE_REQ_READ_2", c.data_reads[1]),
    SQC("SQC_DCACHE_REQ_READ_4", c.data_reads[2]),
    SQC("SQC_DCACHE_REQ_READ_8", c.data_reads[3]),
    SQC("SQC_DCACHE_REQ_READ_16", c.data_reads[4]),
    SQC("SQC_TC_DATA_READ_REQ", c.tc_data_reads),
    SQC("SQC_TC_DATA_WRITE_REQ", c.tc_data_writes),
    SQC("SQC_TC_INST_REQ", c.tc_inst_requests),
    SQC("SQC_TC_REQ", c.tc_data_reads + c.tc_data_writes + c.tc_inst_requests),
};
#undef SQC

// One per XCD, or per shader engine: the dispatch's length.
constexpr const char* kPerXcc[] = {"GRBM_COUNT", "GRBM_GUI_ACTIVE"};
constexpr const char* kPerEngine[] = {"SQ_BUSY_CYCLES", "SQ_CYCLES"};  // in the order of count()

// gfx90a counts no FP8 or XF32 matrix operations.
bool known(const char* name, bool gfx90a) {
  return !gfx90a || (!std::strstr(name, "MFMA_F8") && !std::strstr(name, "XF32") && !std::strstr(name, "MOPS_F8"));
}
// By name, then by place. There are thousands of values and each name is one literal: numbers are sorted.
std::vector<CounterValue> in_order(const std::vector<CounterValue>& values, const std::vector<const char*>& names) {
  std::unordered_map<const char*, uint64_t> rank;
  for (const char* name : names) rank.emplace(name, rank.size());
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(values.size());
  for (const CounterValue& v : values)
    order.emplace_back(rank.at(v.name) << 48 | uint64_t{v.xcc} << 32 | uint64_t{v.shader_engine} << 16 | v.instance,
                       uint32_t(order.size()));
  std::sort(order.begin(), order.end());
  std::vector<CounterValue> sorted;
  sorted.reserve(values.size());
  for (const auto& [key, at] : order) sorted.push_back(values[at]);
  return sorted;
}
const char* tcc_name(const TccCounter& counter, bool gfx90a) { return gfx90a ? counter.gfx90a : counter.name; }

const std::span<const ClassCounter> kClassSums(class_counters, kClassCounters);

}  // namespace

const std::vector<const char*>& modelled_counters(std::string_view architecture) {
  auto list = [](bool gfx90a) {
    std::vector<const char*> names;
    for (const auto& counter : kExact) names.push_back(counter.name);
    for (const auto& counter : kClassSums)
      if (known(counter.name, gfx90a)) names.push_back(counter.name);
    for (const auto& counter : kSq) names.push_back(counter.name);
    for (const auto& counter : kVectorMemory) names.push_back(counter.name);
    for (const auto& counter : kTcc)
      if (const char* name = tcc_name(counter, gfx90a)) names.push_back(name);
    for (const auto& counter : kSqc) names.push_back(counter.name);
    names.insert(names.end(), std::begin(kPerXcc), std::end(kPerXcc));
    names.insert(names.end(), std::begin(kPerEngine), std::end(kPerEngine));
    std::sort(names.begin(), names.end(), [](const char* a, const char* b) { return std::strcmp(a, b) < 0; });
    return names;
  };
  // Never destroyed: a program may end before its kernels do.
  struct Lists {
    std::vector<const char*> gfx942, gfx90a, none;
  };
  static const Lists& lists = *new Lists{list(false), list(true), {}};
  return architecture == "gfx942" ? lists.gfx942 : architecture == "gfx90a" ? lists.gfx90a : lists.none;
}

std::vector<CounterValue> count(const CounterInput& input) {
  std::vector<CounterValue> out;
  const DeviceSpec& device = input.device;
  const bool gfx90a = device.architecture == "gfx90a";
  const uint32_t engines = engines_per_xcc(device), cus = cus_per_xcc(device);
  const auto asked = [&](const char* name) {
    return name && (!input.only || std::ranges::binary_search(*input.only, std::string_view(name)));
  };
  const auto chosen = [](const auto& table, auto&& wanted) {
    std::vector<const std::remove_reference_t<decltype(table[0])>*> rows;
    for (const auto& row : table)
      if (wanted(row)) rows.push_back(&row);
    return rows;
  };
  const auto named = [&](const auto& counter) { return asked(counter.name); };
  const auto exact_counters = chosen(kExact, named);
  const auto class_sums = chosen(kClassSums, [&](const auto& c) { return known(c.name, gfx90a) && asked(c.name); });
  const auto sq_counters = chosen(kSq, named), vector_counters = chosen(kVectorMemory, named);
  const auto tcc_counters = chosen(kTcc, [&](const auto& c) { return asked(tcc_name(c, gfx90a)); });
  const auto sqc_counters = chosen(kSqc, named);
  for (uint32_t x = 0; x < device.xccs; ++x) {
    const XccResult& from = input.simulation.xccs[input.source_xcc[x]];
    const double scale = input.scale[x], memory_scale = input.memory_scale[x];
    for (const char* name : kPerXcc)
      if (asked(name)) out.push_back({name, x, 0, 0, double(input.cycles)});
    for (uint32_t e = 0; e < engines; ++e) {
      const EngineCounts& exact = input.engines[x * engines + e];
      for (const auto* counter : exact_counters) out.push_back({counter->name, x, e, 0, double(counter->value(exact))});
      for (const auto* counter : class_sums)
        out.push_back({counter->name, x, e, 0, double(sum(exact, counter->classes))});
      uint64_t busy = 0;
      for (uint32_t i = e; i < from.cus.size(); i += engines) busy = std::max(busy, from.cus[i].busy_cycles);
      const double lengths[] = {std::min(double(input.cycles), std::round(double(busy) * std::min(scale, 1.0))),
                                double(input.cycles)};
      for (size_t k = 0; k < std::size(kPerEngine); ++k)
        if (asked(kPerEngine[k])) out.push_back({kPerEngine[k], x, e, 0, lengths[k]});
      for (const auto* counter : sq_counters) {
        double total = 0;
        for (uint32_t i = e; i < from.cus.size(); i += engines) total += counter->value(from.cus[i]);
        out.push_back({counter->name, x, e, 0, std::round(total * scale)});
      }
    }
    // Compute units that were not simulated share what the simulated ones stand for.
    const uint32_t simulated = uint32_t(from.cus.size());
    for (uint32_t i = 0; i < cus; ++i)
      for (const auto* counter : vector_counters) {
        double value = 0;
        if (simulated == cus) value = counter->value(from.cus[i]);
        else {
          for (const CuCounts& c : from.cus) value += counter->value(c);
          value /= cus;
        }
        out.push_back({counter->name, x, i % engines, i / engines, std::round(value * memory_scale)});
      }
    for (uint32_t channel = 0; channel < input.parameters.l2_channels; ++channel)
      for (const auto* counter : tcc_counters) {
        const double value = channel < from.channels.size() ? double(counter->value(from.channels[channel])) : 0;
        out.push_back({tcc_name(*counter, gfx90a), x, 0, channel, std::round(value * memory_scale)});
      }
    for (const auto* counter : sqc_counters) {
      double total = 0;
      for (const SqcCounts& c : from.sqcs) total += double(counter->value(c));
      out.push_back({counter->name, x, 0, 0, std::round(total * scale)});
    }
  }
  return in_order(out, modelled_counters(device.architecture));
}

}  // namespace gpu
