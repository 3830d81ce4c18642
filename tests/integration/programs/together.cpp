// What hardware does beyond what the language promises, and programs lean on knowingly or not.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

typedef unsigned long long u64;
typedef unsigned four __attribute__((ext_vector_type(4)));

// Waves leave a barrier together. While the first waits for memory, the others read the shared value
// before it is written again, though no second barrier says so.
template <bool Scalar> __global__ void rounds(const int* in, int* out, int count) {
  __shared__ int slot;
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    if (threadIdx.x == 0)
      slot = Scalar ? in[i] : __hip_atomic_load(&in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __syncthreads();
    sum = 31 * sum + slot;
  }
  out[threadIdx.x] = sum;
}

// Waves start together: all have read the value before the first, which waits for it, writes it again.
__global__ void taken(int* value, int* out) {
  const int mine = __hip_atomic_load(value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (threadIdx.x == 0) *value = mine + 1;
  out[threadIdx.x] = mine;
}

// What the other waves stored just before, a wave finds when it loads. No barrier says so.
__global__ void exchanged(volatile int* shared, int* out, int count) {
  int sum = 0;
  for (int i = 1; i <= count; ++i) {
    shared[blockDim.x * i + threadIdx.x] = i * threadIdx.x;
    sum += shared[blockDim.x * i + (threadIdx.x + 64) % blockDim.x];
    sum += shared[blockDim.x * i + (threadIdx.x + 192) % blockDim.x];
  }
  out[threadIdx.x] = sum;
}

// One lane's 8 or 16 aligned bytes are written and read in one piece: a value beside its flag.
__global__ void pieces(u64* two, four* wide, int count, int* torn) {
  if (threadIdx.x != 7) return;
  if (blockIdx.x == 0) {
    for (unsigned n = 1; n <= (unsigned)count; ++n) {
      __hip_atomic_store(two, n | (u64)~n << 32, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
      __builtin_nontemporal_store(four{n, ~n, n, ~n}, wide);
      __asm__ volatile("" ::: "memory");
    }
    return;
  }
  int bad = 0;
  for (unsigned last = 0; last < (unsigned)count;) {
    const u64 x = __hip_atomic_load(two, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    const four y = __builtin_nontemporal_load(wide);
    bad += (unsigned)x != ~(unsigned)(x >> 32);
    bad += y.x != ~y.y || y.x != y.z || y.y != y.w;
    last = y.x;
    __asm__ volatile("" ::: "memory");
  }
  *torn = bad;
}

int main() {
  int failures = 0;
  constexpr int kCount = 100, kThreads = 256;
  int *in, *out, *torn;
  u64* two;
  four* wide;
  if (hipMallocManaged(&in, 4 * kCount) || hipMallocManaged(&out, 4 * kThreads) || hipMallocManaged(&torn, 4) ||
      hipMallocManaged(&two, 64) || hipMallocManaged(&wide, 64))
    return 2;
  unsigned expected = 0;
  for (int i = 0; i < kCount; ++i) in[i] = i * i + 3, expected = 31 * expected + in[i];
  for (int scalar = 0; scalar < 2; ++scalar) {
    memset(out, 0, 4 * kThreads);
    if (scalar) rounds<true><<<1, kThreads>>>(in, out, kCount);
    else rounds<false><<<1, kThreads>>>(in, out, kCount);
    if (hipDeviceSynchronize()) return 2;
    for (int t = 0; t < kThreads; ++t) failures += unsigned(out[t]) != expected;
  }

  in[0] = 5;
  taken<<<1, kThreads>>>(in, out);
  if (hipDeviceSynchronize()) return 2;
  for (int t = 0; t < kThreads; ++t) failures += out[t] != 5;

  int* shared;
  if (hipMallocManaged(&shared, 4 * kThreads * (kCount + 1))) return 2;
  memset(shared, -1, 4 * kThreads * (kCount + 1));
  exchanged<<<1, kThreads>>>(shared, out, kCount);
  if (hipDeviceSynchronize()) return 2;
  for (int t = 0; t < kThreads; ++t)
    failures += out[t] != kCount * (kCount + 1) / 2 * ((t + 64) % kThreads + (t + 192) % kThreads);

  *two = u64(~0u) << 32;
  *wide = four{0, ~0u, 0, ~0u};
  *torn = -1;
  pieces<<<2, 64>>>(two, wide, 200000, torn);
  if (hipDeviceSynchronize()) return 2;
  failures += *torn != 0;

  printf("%d failures\n", failures);
  return failures != 0;
}
