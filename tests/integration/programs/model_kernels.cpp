// Kernels whose behaviour on a GPU is known, one per command: what the models are held to.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hip_check.h"
#include "streams.h"

__global__ void chase(const unsigned* next, unsigned* out, int steps) {
  unsigned at = threadIdx.x;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[threadIdx.x] = at;
}

__global__ void fma_chain(float* out, int n) {
  float a = threadIdx.x, b = 1.0001f, c = 0.5f;
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int k = 0; k < 32; ++k) a = fmaf(a, b, c);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

// One wave, 64 reads of four bytes, lanes `stride` bytes apart.
__global__ void __launch_bounds__(64) lds_read(unsigned* out, unsigned stride) {
  __shared__ unsigned words[2048];
  auto* local = (__attribute__((address_space(3))) unsigned*)words;
  unsigned at = (unsigned)(size_t)local + threadIdx.x * stride, value = 0;
  words[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < 64; ++i) asm volatile("ds_read_b32 %0, %1\n\ts_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(at) : "memory");
  out[threadIdx.x] = value;
}

// One wave: n times eight reads of sixteen bytes without a conflict, then a wait for them.
__global__ void __launch_bounds__(64) lds_wide(float4* out, int n) {
  __shared__ float4 words[64];
  auto* local = (__attribute__((address_space(3))) float4*)words;
  const unsigned at = (unsigned)(size_t)(local + threadIdx.x);
  words[threadIdx.x] = {};
  __syncthreads();
  for (int i = 0; i < n; ++i)
    asm volatile(
        "ds_read_b128 v[32:35], %0\n\tds_read_b128 v[32:35], %0\n\tds_read_b128 v[32:35], %0\n\t"
        "ds_read_b128 v[32:35], %0\n\tds_read_b128 v[32:35], %0\n\tds_read_b128 v[32:35], %0\n\t"
        "ds_read_b128 v[32:35], %0\n\tds_read_b128 v[32:35], %0\n\ts_waitcnt lgkmcnt(0)" ::"v"(at)
        : "v32", "v33", "v34", "v35", "memory");
  out[threadIdx.x] = words[threadIdx.x];
}

__global__ void strided_lds(unsigned* out, int n) {
  __shared__ unsigned words[2048];
  auto* local = (__attribute__((address_space(3))) unsigned*)words;
  unsigned at = (unsigned)(size_t)local + (threadIdx.x & 63) * 128, value = 0;
  words[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < n; ++i) asm volatile("ds_read_b32 %0, %1\n\ts_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(at) : "memory");
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void big_lds(float* out, const float* in, int n) {
  extern __shared__ float kept[];
  float a = in[threadIdx.x];
  for (int i = 0; i < n; ++i) {
    kept[threadIdx.x] = a;
    __syncthreads();
    a = a * 1.01f + kept[(threadIdx.x * 17 + i) & 255] + in[(i * 256 + threadIdx.x) & 65535];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

__global__ void diverge(float* out, int n) {
  float a = threadIdx.x;
  for (int i = 0; i < n; ++i)
    if ((threadIdx.x & 15) == (i & 15))
      for (int k = 0; k < 32; ++k) a = a * 1.0001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}

// 64 matrix instructions a turn, four accumulators, one wave.
typedef float Accumulator __attribute__((ext_vector_type(16)));
typedef _Float16 Operand __attribute__((ext_vector_type(4)));
__global__ void matrix(float* out, int n) {
  Operand a = {1, 2, 3, 4};
  Accumulator c[4] = {};
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int k = 0; k < 64; ++k) c[k % 4] = __builtin_amdgcn_mfma_f32_32x32x8f16(a, a, c[k % 4], 0, 0, 0);
  }
  out[threadIdx.x] = c[0][0] + c[1][1] + c[2][2] + c[3][3];
}

__global__ void copies(const float4* in, float4* out, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) out[i] = in[i];
}

// Rows of blocks, or one row of as many, with next to nothing to do.
__global__ void grid_of(float* out) {
  if (threadIdx.x == 64) out[0] = 1;
}

// A work-item reads `n` words of its own row.
__global__ void rows(const float* in, float* out, int n, int pitch) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[threadIdx.x * pitch + i];
  out[threadIdx.x] = sum;
}

__global__ void count(unsigned* bins) { atomicAdd(&bins[threadIdx.x & 7], 1u); }

__global__ void empty() {}

__global__ void clock_of(long long* out) { *out = clock64(); }

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const long long n = argc > 2 ? std::atoll(argv[2]) : 64, blocks = argc > 3 ? std::atoll(argv[3]) : 304;
  auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  float* f = nullptr;
  CHECK(hipMalloc(&f, 32 << 20));
  CHECK(hipMemset(f, 0, 32 << 20));
  auto* u = reinterpret_cast<unsigned*>(f);
  if (is("chase")) {  // n bytes in a cycle; `blocks` steps cold, then warm, then twice as many
    const size_t lines = size_t(n) / 128, jump = lines > 100000 ? 1021 : 1;
    std::vector<unsigned> next(lines * 32);
    for (size_t i = 0; i < lines; ++i) next[i * 32] = unsigned((i + jump) % lines * 32);
    unsigned* d = nullptr;
    CHECK(hipMalloc(&d, lines * 128));
    CHECK(hipMemcpy(d, next.data(), lines * 128, hipMemcpyHostToDevice));
    for (int times : {1, 1, 2}) chase<<<1, 1>>>(d, u, int(blocks) * times);
  } else if (is("fma")) {
    fma_chain<<<blocks, 256>>>(f, int(n));
  } else if (is("lds_read")) {
    for (unsigned stride = 4; stride <= 128; stride *= 2) lds_read<<<1, 64>>>(u, stride);
  } else if (is("lds_wide")) {
    for (int times : {1, 1, 2}) lds_wide<<<1, 64>>>(reinterpret_cast<float4*>(f), int(n) * times);
  } else if (is("strided_lds")) {
    strided_lds<<<blocks, 256>>>(u, int(n));
  } else if (is("big_lds")) {
    big_lds<<<blocks, 256, 65536>>>(f, f + (1 << 20), int(n));
  } else if (is("diverge")) {
    diverge<<<blocks, 256>>>(f, int(n));
  } else if (is("reads")) {  // n MiB
    float4* d = nullptr;
    CHECK(hipMalloc(&d, size_t(n) << 20));
    for (int i = 0; i < 2; ++i) reads<<<blocks, 256>>>(d, reinterpret_cast<float4*>(f), size_t(n) << 16);
  } else if (is("copies")) {  // n MiB: on the device, from and to pinned memory, and managed memory
    for (int kind = 0; kind < 3; ++kind) {
      float4 *in = nullptr, *out = nullptr;
      for (float4** memory : {&in, &out}) {
        if (kind == 0) CHECK(hipMalloc(memory, size_t(n) << 20));
        if (kind == 1) CHECK(hipHostMalloc(memory, size_t(n) << 20));
        if (kind == 2) CHECK(hipMallocManaged(memory, size_t(n) << 20));
      }
      for (int i = 0; i < 2; ++i) copies<<<blocks, 256>>>(in, out, size_t(n) << 16);
    }
  } else if (is("matrix")) {
    for (int times : {1, 1, 2}) matrix<<<1, 64>>>(f, int(n) * times);
  } else if (is("grid_of")) {  // n blocks, then n in rows of 64
    grid_of<<<dim3(unsigned(n)), 64>>>(f);
    grid_of<<<dim3(64, unsigned(n) / 64), 64>>>(f);
  } else if (is("rows")) {  // a line of 128 rows, `blocks` words apart
    rows<<<1, 128>>>(f, f + (4 << 20), int(n), int(blocks));
  } else if (is("count")) {
    count<<<blocks, 256>>>(u);
  } else if (is("empty")) {
    for (int i = 0; i < n; ++i) empty<<<1, 64>>>();
  } else if (is("clock")) {  // what the device's clock shows
    long long shown = 0;
    clock_of<<<1, 1>>>(reinterpret_cast<long long*>(f));
    CHECK(hipMemcpy(&shown, f, sizeof shown, hipMemcpyDeviceToHost));
    std::printf("%lld\n", shown);
  } else {
    std::fprintf(stderr, "no kernel %s\n", what);
    return 2;
  }
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  return 0;
}
