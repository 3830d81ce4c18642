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
#include <string>
#include <utility>

#include "gpu.h"

namespace {

// Of the whole process: what the models cost, whatever else the host runs.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

class Probe final : public gpu::Profiler {
 public:
  explicit Probe(FILE* out) : out_(out), att_(std::getenv("MODEL_PROBE_ATT") != nullptr) {}

  gpu::ProfileRequest want(const gpu::DispatchRequest&, std::string_view) override {
    began_ = cpu_seconds();
    gpu::ProfileRequest request;
    request.timing = true;
    const char* counters = std::getenv("MODEL_PROBE_COUNTERS");
    request.counters = !counters || std::atoi(counters) != 0;
    request.att = att_;
    if (const char* steps = std::getenv("MODEL_PROBE_STEPS")) request.detailed_steps = std::strtoull(steps, nullptr, 10);
    if (const char* cu = std::getenv("MODEL_PROBE_CU")) request.att_select.target_cu = uint32_t(std::atoi(cu));
    else request.att_select.target_cu = 0;
    return request;
  }

  void done(const gpu::DispatchRequest&, std::string_view kernel, const gpu::DispatchResult& result,
            const gpu::DispatchProfile& profile) override {
    const double seconds = cpu_seconds() - began_;
    std::lock_guard lock(mutex_);
    std::fprintf(out_, "{\"kernel\": \"%.*s\", \"ok\": %s, \"duration_ns\": %llu, \"cycles\": %llu, \"detailed_fraction\": %.17g, \"instructions\": %llu",
                 int(kernel.size()), kernel.data(), result.ok ? "true" : "false", (unsigned long long)profile.duration_ns,
                 (unsigned long long)profile.cycles, profile.detailed_fraction, (unsigned long long)result.wave_instructions);
    if (std::getenv("MODEL_PROBE_TIME")) std::fprintf(out_, ", \"seconds\": %.6f", seconds);
    std::map<std::string, std::pair<double, int>> sums;
    for (const gpu::CounterValue& c : profile.counters) {
      auto& [sum, instances] = sums[c.name];
      sum += c.value;
      ++instances;
    }
    std::fprintf(out_, ", \"counters\": {");
    const char* comma = "";
    for (const auto& [name, value] : sums) std::fprintf(out_, "%s\"%s\": [%.17g, %d]", std::exchange(comma, ", "), name.c_str(), value.first, value.second);
    std::fprintf(out_, "}, \"occupancy\": %zu, \"waves\": [", profile.occupancy.size());
    comma = "";
    for (const gpu::AttWave& wave : profile.waves) {
      std::fprintf(out_, "%s{\"simd\": %u, \"slot\": %u, \"id\": %u, \"begin\": %llu, \"end\": %llu, \"instructions\": [", std::exchange(comma, ", "),
                   wave.simd, wave.slot, wave.id, (unsigned long long)wave.begin, (unsigned long long)wave.end);
      const char* inner = "";
      for (const gpu::AttInstruction& i : wave.instructions)
        std::fprintf(out_, "%s[%llu, %u, %u, %u, %llu]", std::exchange(inner, ", "), (unsigned long long)i.time, i.category, i.stall, i.duration,
                     (unsigned long long)i.pc);
      std::fprintf(out_, "], \"timeline\": [");
      inner = "";
      for (const gpu::AttState& s : wave.timeline) std::fprintf(out_, "%s[%u, %llu]", std::exchange(inner, ", "), s.state, (unsigned long long)s.duration);
      std::fprintf(out_, "], \"waits\": %zu}", wave.waits.size());
    }
    std::fprintf(out_, "]}\n");
    std::fflush(out_);
  }

 private:
  FILE* out_;
  const bool att_;
  double began_ = 0;
  std::mutex mutex_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) bool OnLoad(void*, uint64_t, uint64_t, const char* const*) {
  const char* path = std::getenv("MODEL_PROBE_OUT");
  FILE* out = path ? std::fopen(path, "w") : nullptr;
  auto* set = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "hsa_rocm_perf_set_profiler"));
  if (!out || !set) return false;
  set(new Probe(out));
  return true;
}
extern "C" __attribute__((visibility("default"))) void OnUnload() {}
