// A tools library that has every dispatch of a program profiled and writes what the models say, one
// JSON object a line, to $MODEL_PROBE_OUT. MODEL_PROBE_ATT=1 adds the thread trace of CU
// $MODEL_PROBE_CU (default 0) of shader engine 0; MODEL_PROBE_STEPS limits the detailed part;
// MODEL_PROBE_TIME=1 adds the CPU time spent; MODEL_PROBE_COUNTERS=0 leaves counters out, as a run
// that only traces kernels does.
#include <dlfcn.h>

#include <ctime>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "model/profiler.h"

namespace {

// Of the whole process: what the models cost, whatever else the host runs.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

FILE* out = nullptr;
double began = 0;
std::mutex mutex;

void want(const rocm_perf_dispatch*, rocm_perf_wanted* wanted, void*) {
  began = cpu_seconds();
  wanted->timing = true;
  const char* counters = std::getenv("MODEL_PROBE_COUNTERS");
  wanted->counters = !counters || std::atoi(counters) != 0;
  wanted->att = std::getenv("MODEL_PROBE_ATT") != nullptr;
  if (const char* steps = std::getenv("MODEL_PROBE_STEPS")) wanted->detailed_steps = std::strtoull(steps, nullptr, 10);
  const char* cu = std::getenv("MODEL_PROBE_CU");
  wanted->att_select.target_cu = cu ? uint32_t(std::atoi(cu)) : 0;
}

void done(const rocm_perf_dispatch* dispatch, const rocm_perf_profile* profile, void*) {
  const double seconds = cpu_seconds() - began;
  std::lock_guard lock(mutex);
  std::fprintf(out, "{\"kernel\": \"%s\", \"ok\": %s, \"duration_ns\": %llu, \"cycles\": %llu, \"detailed_fraction\": %.17g, \"sampling_error\": %.17g, \"instructions\": %llu",
               dispatch->kernel, profile->ok ? "true" : "false", (unsigned long long)profile->duration_ns,
               (unsigned long long)profile->cycles, profile->detailed_fraction, profile->sampling_error, (unsigned long long)profile->wave_instructions);
  if (std::getenv("MODEL_PROBE_TIME")) std::fprintf(out, ", \"seconds\": %.6f", seconds);
  std::map<std::string, std::pair<double, int>> sums;
  for (const rocm_perf_counter& c : std::span(profile->counters, profile->counter_count)) {
    auto& [sum, instances] = sums[c.name];
    sum += c.value;
    ++instances;
  }
  std::fprintf(out, ", \"counters\": {");
  const char* comma = "";
  for (const auto& [name, value] : sums) std::fprintf(out, "%s\"%s\": [%.17g, %d]", std::exchange(comma, ", "), name.c_str(), value.first, value.second);
  std::fprintf(out, "}, \"occupancy\": %zu, \"waves\": [", profile->occupancy_count);
  comma = "";
  for (const rocm_perf_wave& wave : std::span(profile->waves, profile->wave_count)) {
    std::fprintf(out, "%s{\"simd\": %u, \"slot\": %u, \"id\": %u, \"begin\": %llu, \"end\": %llu, \"instructions\": [", std::exchange(comma, ", "),
                 wave.simd, wave.slot, wave.id, (unsigned long long)wave.begin, (unsigned long long)wave.end);
    const char* inner = "";
    for (const rocm_perf_instruction& i : std::span(wave.instructions, wave.instruction_count))
      std::fprintf(out, "%s[%llu, %u, %u, %u, %llu]", std::exchange(inner, ", "), (unsigned long long)i.time, i.category, i.stall, i.duration,
                   (unsigned long long)i.pc);
    std::fprintf(out, "], \"timeline\": [");
    inner = "";
    for (const rocm_perf_state& s : std::span(wave.timeline, wave.timeline_count)) std::fprintf(out, "%s[%u, %llu]", std::exchange(inner, ", "), s.state, (unsigned long long)s.duration);
    std::fprintf(out, "], \"waits\": %zu}", wave.wait_count);
  }
  std::fprintf(out, "]}\n");
  std::fflush(out);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) bool OnLoad(void*, uint64_t, uint64_t, const char* const*) {
  const char* path = std::getenv("MODEL_PROBE_OUT");
  out = path ? std::fopen(path, "w") : nullptr;
  auto* set = reinterpret_cast<decltype(&hsa_rocm_perf_set_profiler)>(dlsym(RTLD_DEFAULT, "hsa_rocm_perf_set_profiler"));
  static const rocm_perf_profiler profiler{sizeof profiler, want, done, nullptr};
  return out && set && set(&profiler) == 0;
}
extern "C" __attribute__((visibility("default"))) void OnUnload() {}
