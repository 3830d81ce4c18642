#include "residency.h"

#include <algorithm>

namespace residency {
namespace {

constexpr uint32_t kLanes = 64;

constexpr Limits kLimits[] = {
#include "wave_limits.inc"
};

}  // namespace

const Limits* find(std::string_view architecture) {
  for (const Limits& limits : kLimits)
    if (limits.architecture == architecture) return &limits;
  return nullptr;
}

uint32_t lds_taken(const Limits& limits, uint32_t bytes) {
  return (bytes + limits.lds_granule_bytes - 1) / limits.lds_granule_bytes * limits.lds_granule_bytes;
}

uint32_t waves_per_simd(const Limits& limits, uint32_t vgprs, uint32_t sgprs) {
  const uint32_t taken = (std::max(vgprs, 1u) + limits.vgpr_granule - 1) / limits.vgpr_granule * limits.vgpr_granule;
  uint32_t by_sgprs = limits.sgpr_steps[std::size(limits.sgpr_steps) - 1].waves;
  for (const SgprStep& step : limits.sgpr_steps)
    if (sgprs <= step.up_to) {
      by_sgprs = step.waves;
      break;
    }
  return std::min({limits.waves_per_simd, limits.vgprs / taken, by_sgprs});
}

uint32_t workgroups(const Limits& limits, uint32_t threads, uint32_t vgprs, uint32_t sgprs, uint32_t lds_bytes) {
  if (threads == 0 || lds_bytes > limits.lds_bytes_per_workgroup) return 0;
  const uint32_t waves = (threads + kLanes - 1) / kLanes, most = limits.simds * limits.waves_per_simd;
  // A workgroup of one wave needs no barrier, and barriers are what limits their number.
  uint32_t fit =
      std::min(waves == 1 ? most : limits.workgroups, limits.simds * waves_per_simd(limits, vgprs, sgprs) / waves);
  if (lds_bytes) fit = std::min(fit, limits.lds_bytes / lds_taken(limits, lds_bytes));
  return fit;
}

}  // namespace residency
