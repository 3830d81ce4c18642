// What the hardware promises about progress: every workgroup that fits on the device runs on while
// others wait for it, whichever way they wait; and the host sees atomics as they happen.
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr int kGroups = 64;  // more than a machine has cores

// Each workgroup waits for the one after it; the last one starts the chain.
template <bool Together> __global__ void chain(int* flags) {
  const int me = blockIdx.x, next = me + 1;
  if (next < (int)gridDim.x) {
    if (Together) {  // every wave asks, with a barrier in each round
      while (__hip_atomic_load(&flags[next], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) __syncthreads();
    } else if (threadIdx.x == 0) {  // one lane asks, the others wait at a barrier
      while (__hip_atomic_load(&flags[next], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) __hip_atomic_store(&flags[me], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__global__ void count(unsigned* shared, int rounds) {
  for (int i = 0; i < rounds; ++i) atomicAdd_system(shared, 1u);
}

template <typename To, typename From> __global__ void convert(To* to, From from) { *to = static_cast<To>(from); }

int main() {
  int failures = 0, *flags, done[kGroups];
  if (hipMalloc(&flags, sizeof done) != hipSuccess) return 2;
  for (int together = 0; together < 2; ++together) {
    (void)hipMemset(flags, 0, sizeof done);
    if (together) chain<true><<<kGroups, 256>>>(flags);
    else chain<false><<<kGroups, 256>>>(flags);
    (void)hipMemcpy(done, flags, sizeof done, hipMemcpyDeviceToHost);
    for (int flag : done) failures += flag != 1;
  }

  int native = 0;
  (void)hipDeviceGetAttribute(&native, hipDeviceAttributeHostNativeAtomicSupported, 0);
  failures += native != 1;
  unsigned* shared;
  if (hipMallocManaged(&shared, sizeof *shared) != hipSuccess) return 2;
  *shared = 0;
  constexpr int kRounds = 2000;
  count<<<4, 64>>>(shared, kRounds);
  for (int i = 0; i < kRounds; ++i) __atomic_fetch_add(shared, 1u, __ATOMIC_RELAXED);
  (void)hipDeviceSynchronize();
  failures += *shared != (4 * 64 + 1) * kRounds;

  __half* half;
  if (hipMallocManaged(&half, sizeof *half) != hipSuccess) return 2;
  convert<<<1, 1>>>(half, hip_bfloat16(1.5f));
  (void)hipDeviceSynchronize();
  failures += __half2float(*half) != 1.5f;

  printf("%d failures\n", failures);
  return failures != 0;
}
