// What published measurements of a GPU measured, by a program that times itself with events.
// Prints one line per probe: name and value. Cycles are the difference of a long and a short launch,
// so that what a launch costs is not in them.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "reads.h"

#define CHECK(call)                                                       \
  do {                                                                    \
    hipError_t status = (call);                                           \
    if (status != hipSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

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

// 64 matrix instructions a turn on four accumulators, so that none waits for another; two waves on
// each SIMD, so that neither the loop nor the fetching of code shows.
typedef float Four __attribute__((ext_vector_type(4)));
typedef float Sixteen __attribute__((ext_vector_type(16)));
typedef _Float16 Halves __attribute__((ext_vector_type(4)));
#define MATRIX(name, Accumulator, Operand, builtin, one)                                            \
  __global__ void name(float* out, int turns) {                                                     \
    Operand a = one;                                                                                \
    Accumulator c[4] = {};                                                                          \
    for (int i = 0; i < turns; ++i) {                                                               \
      _Pragma("unroll") for (int k = 0; k < 64; ++k) c[k % 4] = builtin(a, a, c[k % 4], 0, 0, 0); \
    }                                                                                               \
    out[threadIdx.x] = c[0][0] + c[1][0] + c[2][0] + c[3][0];                                       \
  }
MATRIX(matrix_f16_32, Sixteen, Halves, __builtin_amdgcn_mfma_f32_32x32x8f16, Halves(1))
MATRIX(matrix_f16_16, Four, Halves, __builtin_amdgcn_mfma_f32_16x16x16f16, Halves(1))
MATRIX(matrix_f32_32, Sixteen, float, __builtin_amdgcn_mfma_f32_32x32x2f32, 1.0f)
MATRIX(matrix_f32_16, Four, float, __builtin_amdgcn_mfma_f32_16x16x4f32, 1.0f)

// Every block reads a word of each page, so that no XCD has to look for its address later.
__global__ void touch(const char* in, size_t bytes, uint64_t* out) {
  uint64_t sum = 0;
  for (size_t at = size_t(threadIdx.x) << 20; at < bytes; at += size_t(blockDim.x) << 20) sum += in[at];
  if (sum == 12345) *out = sum;
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
  float* floats = reinterpret_cast<float*>(scratch);
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
  show("matrix_f16_32", cycles([&](int n) { matrix_f16_32<<<1, 512>>>(floats, n); }, 16, 128));
  show("matrix_f16_16", cycles([&](int n) { matrix_f16_16<<<1, 512>>>(floats, n); }, 16, 128));
  show("matrix_f32_32", cycles([&](int n) { matrix_f32_32<<<1, 512>>>(floats, n); }, 16, 128));
  show("matrix_f32_16", cycles([&](int n) { matrix_f32_16<<<1, 512>>>(floats, n); }, 16, 128));
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
  // Of two arrays the longer less the shorter; read for the first time, and from the Infinity Cache.
  const size_t sizes[] = {size_t(32) << 20, size_t(128) << 20};
  float4* arrays[2];
  for (int i : {0, 1}) CHECK(hipMalloc(&arrays[i], sizes[i]));
  for (int i : {0, 1}) touch<<<blocks, 64>>>(reinterpret_cast<char*>(arrays[i]), sizes[i], scratch);
  reads<<<blocks, 256>>>(reinterpret_cast<float4*>(scratch), reinterpret_cast<float4*>(scratch), 1);  // its code
  double took[2][2];
  for (int i : {0, 1})
    for (double& each : took[i])
      each = nanoseconds([&] { reads<<<blocks, 256>>>(arrays[i], reinterpret_cast<float4*>(scratch), sizes[i] / sizeof(float4)); });
  show("hbm_read", double(sizes[1] - sizes[0]) / (took[1][0] - took[0][0]));
  show("infinity_cache_read", double(sizes[1] - sizes[0]) / (took[1][1] - took[0][1]));
  return 0;
}
