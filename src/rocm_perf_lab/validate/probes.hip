// What published measurements of a GPU measured, by a program that times itself with events.
// Prints one line per probe: name and value. Cycles are the difference of a long and a short launch,
// so that what a launch costs is not in them.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "hip_check.h"
#include "streams.h"

// Each load's address is the value of the load before: 64 of them a turn, so that the loop is little.
__global__ void chase(const uint64_t* first, uint64_t* out, int turns) {
  uint64_t at = (uint64_t)first;
  for (int i = 0; i < turns; ++i) asm volatile(".rept 64\n\tglobal_load_dwordx2 %0, %0, off\n\ts_waitcnt vmcnt(0)\n\t.endr" : "+v"(at));
  *out = at;
}

__global__ void chase_scalar(const uint64_t* first, uint64_t* out, int turns) {
  uint64_t at = (uint64_t)first;
  for (int i = 0; i < turns; ++i) asm volatile(".rept 64\n\ts_load_dwordx2 %0, %0, 0x0\n\ts_waitcnt lgkmcnt(0)\n\t.endr" : "+s"(at));
  *out = at;
}

__global__ void chase_lds(uint64_t* out, int turns) {
  __shared__ unsigned words[64];
  auto* local = (__attribute__((address_space(3))) unsigned*)words;
  unsigned at = (unsigned)(size_t)local;
  words[0] = at;
  __syncthreads();
  for (int i = 0; i < turns; ++i) asm volatile(".rept 64\n\tds_read_b32 %0, %0\n\ts_waitcnt lgkmcnt(0)\n\t.endr" : "+v"(at));
  *out = at;
}

// 512 reads a turn, lanes `stride` bytes apart; what is not waited for comes in order.
__global__ void __launch_bounds__(64) lds_stride(uint64_t* out, unsigned stride, int turns) {
  __shared__ unsigned words[2048];
  auto* local = (__attribute__((address_space(3))) unsigned*)words;
  unsigned at = (unsigned)(size_t)local + threadIdx.x * stride, value = 0;
  words[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < turns; ++i) asm volatile(".rept 512\n\tds_read_b32 %0, %1\n\t.endr" : "=v"(value) : "v"(at) : "memory");
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(value));
  out[threadIdx.x] = value;
}

typedef float Four __attribute__((ext_vector_type(4)));

// Every block reads a word of each page, so that no XCD has to look for its address later.
__global__ void touch(const char* in, size_t bytes, uint64_t* out) {
  uint64_t sum = 0;
  for (size_t at = size_t(threadIdx.x) << 20; at < bytes; at += size_t(blockDim.x) << 20) sum += in[at];
  if (sum == 12345) *out = sum;
}

// mt4g's way to measure an L2: all threads of the device walk the array together, turn after turn, each
// block from the next one's place, so that every XCD comes to hold all of it; past the L1, waiting for
// nothing. With few waves the remainder that gives the place is what takes the time: clang up to 19 makes
// the reciprocal of the number of threads in every turn, newer ones before the loop, which is a quarter
// more bandwidth. So `Known` has it before the loop whatever the compiler, and the other way, with which
// the published rate of an MI300X was measured, is written out for its GPU.
#ifdef __gfx942__
#define PAST_L1 "sc1"
#else
#define PAST_L1 "glc"
#endif
template <bool Known>
__device__ size_t place(size_t turn, size_t threads, unsigned reciprocal) {
  const size_t at = (blockIdx.x + turn) * blockDim.x + threadIdx.x;
  if (!Known) return at % threads;
  unsigned rest = unsigned(at) - __umulhi(unsigned(at), reciprocal) * unsigned(threads);
  for (int i : {0, 1}) rest = rest >= threads ? rest - unsigned(threads) : rest;
  return rest;
}

#ifdef __gfx942__
// s[20:21] turn, s[22:23] number of threads, s24 its negative; v[2:3] place, v[4:5] address, v[6:9] value.
#define LESS_ONCE "v_subrev_u32 v4, s22, v2\nv_cmp_le_u32 vcc, s22, v2\ns_nop 1\nv_cndmask_b32 v2, v2, v4, vcc\n"
__device__ float walk_dividing(const Four* in, size_t n, size_t turns, unsigned threads) {
  float sum = 0;
  asm volatile(
      "s_mov_b64 s[20:21], 0\ns_mov_b32 s22, %[threads]\ns_mov_b32 s23, 0\ns_sub_i32 s24, 0, s22\n"
      "v_mov_b32 v11, 0\nv_mov_b32 v10, %[thread]\nv_mov_b32 v12, %[size]\n"
      "1: s_add_u32 s26, s20, %[block]\ns_addc_u32 s27, s21, 0\ns_mul_i32 s28, s27, %[size]\n"
      "v_mad_u64_u32 v[4:5], s[26:27], s26, v12, v[10:11]\nv_add_u32 v3, s28, v5\nv_mov_b32 v2, 0\n"
      "v_cmp_ne_u64 vcc, 0, v[2:3]\ns_and_saveexec_b64 s[26:27], vcc\ns_xor_b64 s[28:29], exec, s[26:27]\n"
      "s_cbranch_execnz 4f\ns_andn2_saveexec_b64 s[26:27], s[28:29]\ns_cbranch_execnz 2f\ns_branch 4f\n"
      "2: v_cvt_f32_u32 v2, s22\nv_mov_b32 v3, 0\nv_rcp_iflag_f32 v2, v2\ns_nop 0\nv_mul_f32 v2, 0x4f7ffffe, v2\n"
      "v_cvt_u32_f32 v2, v2\nv_mul_lo_u32 v5, s24, v2\nv_mul_hi_u32 v5, v2, v5\nv_add_u32 v2, v2, v5\n"
      "v_mul_hi_u32 v2, v4, v2\nv_mul_lo_u32 v2, v2, s22\nv_sub_u32 v2, v4, v2\n" LESS_ONCE LESS_ONCE
      "s_or_b64 exec, exec, s[26:27]\nv_cmp_gt_u64 vcc, %[n], v[2:3]\ns_and_saveexec_b64 s[26:27], vcc\n"
      "s_cbranch_execz 4f\ns_mov_b64 s[28:29], 0\n"
      "3: v_lshl_add_u64 v[4:5], v[2:3], 4, %[in]\nv_lshl_add_u64 v[2:3], v[2:3], 0, s[22:23]\n"
      "v_cmp_le_u64 vcc, %[n], v[2:3]\nflat_load_dwordx4 v[6:9], v[4:5] " PAST_L1 "\n"
      "s_or_b64 s[28:29], vcc, s[28:29]\nv_add_f32 %[sum], %[sum], v6\ns_andn2_b64 exec, exec, s[28:29]\n"
      "s_cbranch_execnz 3b\ns_or_b64 exec, exec, s[28:29]\ns_branch 4f\n"
      "4: s_or_b64 exec, exec, s[26:27]\ns_add_u32 s20, s20, 1\ns_addc_u32 s21, s21, 0\n"
      "s_cmp_eq_u64 s[20:21], %[turns]\ns_cbranch_scc0 1b\n"
      : [sum] "+v"(sum)
      : [threads] "s"(threads), [thread] "v"(threadIdx.x), [block] "s"(blockIdx.x), [size] "s"(blockDim.x),
        [n] "s"(n), [in] "s"(in), [turns] "s"(turns)
      : "memory", "scc", "vcc", "s20", "s21", "s22", "s23", "s24", "s26", "s27", "s28", "s29", "v2", "v3", "v4",
        "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12");
  return sum;
}
#endif

template <bool Known>
__global__ void l2_reads(const Four* in, Four* out, size_t n, int turns) {
  const size_t threads = gridDim.x * blockDim.x;
  Four sum{}, value;
#ifdef __gfx942__
  if (!Known) sum.x = walk_dividing(in, n, size_t(turns), unsigned(threads)), turns = 0;
#endif
  const unsigned reciprocal = ~0u / unsigned(threads);
  for (size_t turn = 0; turn < size_t(turns); ++turn)
    for (size_t i = place<Known>(turn, threads, reciprocal); i < n; i += threads) {
      asm volatile("flat_load_dwordx4 %0, %1 " PAST_L1 : "=v"(value) : "v"(in + i) : "memory");
      sum.x += value.x;
    }
  asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)");
  out[threadIdx.x] = sum;
}

__global__ void l2_writes(Four* out, size_t n, int turns) {
  const size_t threads = gridDim.x * blockDim.x;
  const Four value = {1, 2, 3, float(threadIdx.x)};
  for (size_t turn = 0; turn < size_t(turns); ++turn)
    for (size_t i = place<false>(turn, threads, 0); i < n; i += threads)
      asm volatile("flat_store_dwordx4 %0, %1" : : "v"(out + i), "v"(value) : "memory");
}

__global__ void empty() {}

static double clock_ghz;
static uint64_t* scratch;

template <class Launch>
double nanoseconds(Launch launch) {
  hipEvent_t before, after;
  CHECK(hipEventCreate(&before));
  CHECK(hipEventCreate(&after));
  CHECK(hipEventRecord(before));
  launch();
  CHECK(hipEventRecord(after));
  CHECK(hipEventSynchronize(after));
  float ms = 0;
  CHECK(hipEventElapsedTime(&ms, before, after));
  CHECK(hipEventDestroy(before));
  CHECK(hipEventDestroy(after));
  return 1e6 * ms;
}

// Cycles of one of `each` things a turn does.
template <class Launch>
double cycles(Launch launch, int turns, int each) {
  double took[2];
  for (int i : {0, 1}) {
    launch((i + 1) * turns);  // warm: code and data
    took[i] = nanoseconds([&] { launch((i + 1) * turns); });
  }
  return (took[1] - took[0]) * clock_ghz / (double(turns) * each);
}

// A cycle of pointers through `bytes`, `jump` lines of 128 bytes from one to the next.
uint64_t* ring(size_t bytes, size_t jump) {
  const size_t lines = bytes / 128;
  char* at = nullptr;
  CHECK(hipMalloc(&at, bytes));
  auto* host = static_cast<uint64_t*>(std::calloc(bytes, 1));
  for (size_t i = 0; i < lines; ++i) host[i * 16] = uint64_t(at + (i + jump) % lines * 128);
  CHECK(hipMemcpy(at, host, bytes, hipMemcpyHostToDevice));
  std::free(host);
  return reinterpret_cast<uint64_t*>(at);
}

// Bytes a nanosecond of a kernel that walks `bytes` in each turn, from twice as many turns less as many:
// what a launch costs, and the first turn that fills the L2, is not in it.
template <class Launch>
double bandwidth(Launch launch, size_t bytes, int turns) {
  return double(bytes) * clock_ghz / cycles(launch, turns, 1);
}

void show(const char* name, double value) {
  std::printf("%s %.6g\n", name, value);
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
  hipDeviceProp_t device;
  CHECK(hipGetDeviceProperties(&device, 0));
  clock_ghz = device.clockRate * 1e-6;
  CHECK(hipMalloc(&scratch, 8192));
  show("launch_floor", nanoseconds([] { empty<<<1, 64>>>(); }) / 1000);
  uint64_t* near = ring(4096, 1);
  show("scalar_l1", cycles([&](int n) { chase_scalar<<<1, 64>>>(near, scratch, n); }, 64, 64));
  show("vector_l1", cycles([&](int n) { chase<<<1, 1>>>(near, scratch, n); }, 64, 64));
  show("lds", cycles([&](int n) { chase_lds<<<1, 1>>>(scratch, n); }, 64, 64));
  uint64_t* middle = ring(1 << 20, 1);
  show("l2", cycles([&](int n) { chase<<<1, 1>>>(middle, scratch, n); }, 256, 64));
  for (unsigned stride = 4; stride <= 128; stride *= 2) {
    char name[32];
    std::snprintf(name, sizeof name, "lds_stride_%u", stride);
    show(name, 64 * cycles([&](int n) { lds_stride<<<1, 64>>>(scratch, stride, n); }, 4, 512));
  }
  if (quick) return 0;
  // 512 and 1024 steps, each through memory of its own, in the half of the array that was copied first:
  // the Infinity Cache still holds the other.
  const size_t jump = 1021, steps = 512;
  uint64_t* far = ring(size_t(512) << 20, jump);
  const unsigned blocks = 8 * device.multiProcessorCount;
  touch<<<blocks, 64>>>(reinterpret_cast<char*>(far), size_t(512) << 20, scratch);
  double cold[2];
  for (size_t i : {0, 1}) cold[i] = nanoseconds([&] { chase<<<1, 1>>>(far + i * steps * jump * 16, scratch, int(steps / 64 * (i + 1))); });
  show("hbm", (cold[1] - cold[0]) * clock_ghz / steps);
  // Of two arrays, several times as large as all L2s, the longer less the shorter; for the first time, and again
  // from the Infinity Cache. One more comes first: its code, and what the L2 then has to write back.
  const size_t sizes[] = {size_t(32) << 20, size_t(160) << 20, size_t(224) << 20};
  auto stream = [&](const char* first, const char* again, auto launch) {
    double took[2] = {};
    for (size_t bytes : sizes) {
      float4* array = nullptr;
      CHECK(hipMalloc(&array, bytes));
      touch<<<blocks, 64>>>(reinterpret_cast<char*>(array), bytes, scratch);
      const double sign = bytes == sizes[2] ? 1 : -1;
      double each[2];
      for (double& time : each) time = nanoseconds([&] { launch(array, bytes / sizeof(float4)); });
      for (int i : {0, 1}) took[i] = sign * each[i] + (sign > 0 ? took[i] : 0);
    }
    show(first, double(sizes[2] - sizes[1]) / took[0]);
    show(again, double(sizes[2] - sizes[1]) / took[1]);
  };
  stream("hbm_read", "infinity_cache_read", [&](float4* at, size_t n) { reads<<<blocks, 256>>>(at, reinterpret_cast<float4*>(scratch), n); });
  stream("hbm_write", "infinity_cache_write", [&](float4* at, size_t n) { writes<<<blocks, 256>>>(at, n); });
  // The L2, in arrays as large as it and of four fifths, by two blocks on each compute unit. As many turns
  // as are simulated alike, once and twice.
  const int turns = device.l2CacheSize > 4 << 20 ? 8 : 64;
  Four* held = nullptr;
  CHECK(hipMalloc(&held, size_t(device.l2CacheSize)));
  for (bool whole : {true, false}) {
    const size_t n = size_t(device.l2CacheSize * (whole ? 1 : 0.8)) / sizeof(Four);
    auto* out = reinterpret_cast<Four*>(scratch);
    auto read = [&](int turns) {
      if (whole) l2_reads<false><<<2 * device.multiProcessorCount, 256>>>(held, out, n, turns);
      else l2_reads<true><<<2 * device.multiProcessorCount, 256>>>(held, out, n, turns);
    };
    auto write = [&](int turns) { l2_writes<<<2 * device.multiProcessorCount, 256>>>(held, n, turns); };
    show(whole ? "l2_read" : "l2_read_part", bandwidth(read, n * sizeof(Four), turns));
    show(whole ? "l2_write" : "l2_write_part", bandwidth(write, n * sizeof(Four), turns));
  }
  return 0;
}
