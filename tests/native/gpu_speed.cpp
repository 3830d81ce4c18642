// How fast the executor is: runs one kernel of a code object again and again, prints JSON.
//   gpu_speed DEVICE CODE_OBJECT KERNEL GROUPS SECONDS [models]
// `models`: every launch is counted and timed by the cache and timing models, as under a profiler.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "arena.h"
#include "gpu.h"

namespace {

// As many as the hardware's slots hold in one pass, sorted.
constexpr const char* kPass[] = {
    "GRBM_COUNT",       "GRBM_GUI_ACTIVE",   "SQ_BUSY_CYCLES",  "SQ_INSTS_LDS",   "SQ_INSTS_SALU", "SQ_INSTS_VALU",
    "SQ_INSTS_VMEM",    "SQ_WAIT_ANY",       "SQ_WAVES",        "SQ_WAVE_CYCLES", "TCC_EA0_RDREQ", "TCC_EA0_WRREQ",
    "TCC_HIT",          "TCC_MISS",          "TCP_TCC_READ_REQ", "TCP_TCC_WRITE_REQ", "TCP_TOTAL_ACCESSES", "TCP_TOTAL_CACHE_ACCESSES"};

void want(const rocm_perf_dispatch*, rocm_perf_wanted* wanted, void*) {
  wanted->timing = wanted->counters = true;
  wanted->only = kPass;
  wanted->only_count = std::size(kPass);
  wanted->detailed_steps = uint64_t{1} << 40;  // nothing sampled
}

void done(const rocm_perf_dispatch*, const rocm_perf_profile* profile, void* detailed) {
  *static_cast<double*>(detailed) = profile->detailed_fraction;
}

}  // namespace

int main(int count, char** words) {
  setenv("ROCM_PERF_VIRTUAL_REPEATS", "run", 1);  // every launch is the same one
  const bool models = count == 7 && std::strcmp(words[6], "models") == 0;
  if (count != 6 && !models) return std::fprintf(stderr, "usage: gpu_speed DEVICE CODE_OBJECT KERNEL GROUPS SECONDS [models]\n"), 2;
  const gpu::DeviceSpec* spec = gpu::find_device(words[1]);
  std::ifstream file(words[2], std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
  if (!spec || image.empty()) return std::fprintf(stderr, "gpu_speed: no such device or file\n"), 2;
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); };

  auto start = Clock::now();
  gpu::AddressSpace memory;
  const auto device = gpu::make_gpu(*spec, memory);
  const double start_up = seconds(start);
  gpu::LoadError error;
  const auto object = device->load(image.data(), image.size(), error);
  if (!object) return std::fprintf(stderr, "gpu_speed: %s\n", error.message.c_str()), 2;
  const gpu::KernelSymbol* kernel = nullptr;
  for (const gpu::KernelSymbol& k : object->kernels())
    if (k.name == words[3]) kernel = &k;
  if (!kernel) return std::fprintf(stderr, "gpu_speed: no kernel %s\n", words[3]), 2;

  constexpr uint32_t kBlock = 256;
  const uint32_t groups = uint32_t(std::strtoul(words[4], nullptr, 10)), items = groups * kBlock;
  auto give = [&](size_t bytes, gpu::RangeKind kind) {
    const uint64_t at = reinterpret_cast<uint64_t>(gpu::arena().allocate(bytes));
    memory.add({at, at + bytes, kind});
    return at;
  };
  const uint64_t in = give(size_t{items} * 4, gpu::RangeKind::Vram), out = give(size_t{items} * 4, gpu::RangeKind::Vram);
  auto* values_in = reinterpret_cast<uint32_t*>(in);  // floats from 0.5 to 2
  for (uint32_t n = 0; n < items; ++n) values_in[n] = 0x3f000000u | (n * 2654435761u) >> 8;
  const uint64_t arguments = give(4096, gpu::RangeKind::Kernarg);
  struct { uint64_t in, out; uint32_t rounds, block; } values{in, out, 64, kBlock};
  std::memcpy(reinterpret_cast<void*>(arguments), &values, sizeof values);
  gpu::DispatchRequest request;
  request.workgroup[0] = kBlock;
  request.grid[0] = items;
  request.kernel_object = kernel->descriptor;
  request.kernarg = arguments;
  request.group_bytes = kernel->group_bytes;
  request.private_bytes = kernel->private_bytes;

  double detailed = 0;
  const rocm_perf_profiler profiler{sizeof profiler, want, done, &detailed};
  if (models) hsa_rocm_perf_set_profiler(&profiler);
  uint64_t instructions = 0, launches = 0;
  const gpu::DispatchResult first = device->run(request);  // decodes
  // What the first launch left, and did: the same however it is run.
  uint64_t left = 0;
  for (uint32_t n = 0; n < items; ++n) left = (left ^ reinterpret_cast<uint32_t*>(out)[n]) * 0x9e3779b97f4a7c15u;
  for (uint64_t count : first.counts) left = (left ^ count) * 0x9e3779b97f4a7c15u;
  start = Clock::now();
  const std::clock_t cpu_start = std::clock();  // of all threads: what a busy machine does not blur
  double passed = 0;
  for (const double wanted = std::strtod(words[5], nullptr); passed < wanted; passed = seconds(start), ++launches) {
    const gpu::DispatchResult result = device->run(request);
    if (!result.ok) return std::fputs(result.fault.text.c_str(), stderr), 1;
    instructions += result.wave_instructions;
  }
  const double cpu = double(std::clock() - cpu_start) / CLOCKS_PER_SEC;
  std::printf("{\"kernel\": \"%s\", \"wave_instructions\": %llu, \"seconds\": %.4f, \"cpu_seconds\": %.4f, \"launches\": %llu, \"detailed\": %.4f, \"start_up_ms\": %.3f, \"left\": \"%016llx\"}\n", words[3],
              static_cast<unsigned long long>(instructions), passed, cpu, static_cast<unsigned long long>(launches), detailed, start_up * 1000, static_cast<unsigned long long>(left));
}
