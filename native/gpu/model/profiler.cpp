#include "profiler.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "gpu.h"

namespace gpu {
namespace {

std::atomic<const rocm_perf_profiler*> g_profiler{nullptr};

// The waves of a profile as the tool sees them, with the lists they point to.
struct WaveViews {
  explicit WaveViews(const std::vector<AttWave>& waves) {
    for (const AttWave& wave : waves) {
      std::vector<rocm_perf_wait>& list = waits.emplace_back();
      for (const AttWait& wait : wave.waits) list.push_back({wait.pc, wait.waited_for.data(), wait.waited_for.size()});
      views.push_back({wave.shader_engine, wave.cu, wave.simd, wave.slot, wave.id, wave.begin, wave.end,
                       wave.instructions.data(), wave.instructions.size(), wave.timeline.data(), wave.timeline.size(),
                       list.data(), list.size()});
    }
  }
  std::deque<std::vector<rocm_perf_wait>> waits;
  std::vector<rocm_perf_wave> views;
};

rocm_perf_dispatch dispatch_of(const DispatchRequest& request, const std::string& kernel) {
  return {reinterpret_cast<const void*>(request.packet_address), kernel.c_str()};
}

}  // namespace

const rocm_perf_profiler* profiler() { return g_profiler; }

ProfileRequest wanted_by(const rocm_perf_profiler& tool, const DispatchRequest& request, const std::string& kernel) {
  ProfileRequest wanted{};
  wanted.att_select = {.se_mask = 0x1, .target_cu = 1, .simd_mask = 0xf};
  const rocm_perf_dispatch dispatch = dispatch_of(request, kernel);
  tool.want(&dispatch, &wanted, tool.user);
  return wanted;
}

void tell(const rocm_perf_profiler& tool, const DispatchRequest& request, const std::string& kernel,
          const DispatchResult& result, const DispatchProfile& profile) {
  const WaveViews waves(profile.waves);
  const rocm_perf_dispatch dispatch = dispatch_of(request, kernel);
  const rocm_perf_profile told{.ok = result.ok,
                               .launched_waves = result.waves,
                               .wave_instructions = result.wave_instructions,
                               .duration_ns = profile.duration_ns,
                               .cycles = profile.cycles,
                               .clock_mhz = profile.clock_mhz,
                               .detailed_fraction = profile.detailed_fraction,
                               .compute_units_used = profile.compute_units_used,
                               .counters = profile.counters.data(),
                               .counter_count = profile.counters.size(),
                               .waves = waves.views.data(),
                               .wave_count = waves.views.size(),
                               .occupancy = profile.occupancy.data(),
                               .occupancy_count = profile.occupancy.size(),
                               .sampling_error = profile.sampling_error};
  tool.done(&dispatch, &told, tool.user);
}

}  // namespace gpu

extern "C" int hsa_rocm_perf_set_profiler(const rocm_perf_profiler* profiler) {
  if (profiler && profiler->size < sizeof *profiler) return 1;
  gpu::g_profiler = profiler;
  return 0;
}

extern "C" int hsa_rocm_perf_counters(const char* architecture, char* text, size_t size) {
  std::string all;
  for (const char* name : gpu::modelled_counters(architecture)) all.append(name).append("\n");
  if (size) {
    const size_t copied = std::min(size - 1, all.size());
    std::memcpy(text, all.data(), copied);
    text[copied] = 0;
  }
  return int(all.size());
}
