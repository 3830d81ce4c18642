// How many waves and workgroups of a kernel a compute unit holds: the one place that computes it.
// Limits come from arch/data/*.toml; arch/occupancy.py is the same function in Python, and
// tests/native/test_residency.py holds the two to each other.
#pragma once

#include <cstdint>
#include <string_view>

namespace residency {

struct SgprStep {
  uint32_t up_to, waves;
};

struct Limits {
  std::string_view architecture;
  uint32_t waves_per_simd, simds, vgprs, vgpr_granule, workgroups, lds_bytes, lds_bytes_per_workgroup,
      lds_granule_bytes;
  SgprStep sgpr_steps[4];
};

const Limits* find(std::string_view architecture);  // nullptr for one that is not modelled

// LDS as it is allocated.
uint32_t lds_taken(const Limits& limits, uint32_t bytes);

// By registers alone; `vgprs` counts accumulation registers too. 0: not even one fits.
uint32_t waves_per_simd(const Limits& limits, uint32_t vgprs, uint32_t sgprs);

// Whole workgroups on a compute unit; 0 where not even one fits.
uint32_t workgroups(const Limits& limits, uint32_t threads, uint32_t vgprs, uint32_t sgprs, uint32_t lds_bytes);

}  // namespace residency
