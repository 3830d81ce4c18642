// Races on global memory, each as a kernel with the mistake (`<false>`) and its corrected twin (`<true>`).
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr int kThreads = 256, kGroups = 6, kAll = kThreads * kGroups;

struct Buffers {
  const int* in;
  int *out, *more, *sync;
};

__device__ int device_counter;

template <bool right>
__global__ void stencil_in_place(Buffers b) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int* from = right ? b.in : b.out;
  b.out[i] = from[i] + from[(i + 1) % kAll];
}

template <bool right>
__global__ void counter(Buffers b) {
  if constexpr (right) atomicAdd(&b.out[0], 1);
  else b.out[0] = b.out[0] + 1;
}

template <bool right>
__global__ void maximum(Buffers b) {
  const int value = b.in[blockIdx.x * kThreads + threadIdx.x];
  if constexpr (right) atomicMax(&b.out[1], value);
  else if (value > b.out[1]) b.out[1] = value;
}

template <bool right>
__global__ void overlapping_targets(Buffers b) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  b.out[right ? i : i % 300] = i;
}

template <bool right>
__global__ void one_too_far(Buffers b) {
  const int first = blockIdx.x * kThreads;
  for (int k = threadIdx.x; k < kThreads + (right ? 0 : 1); k += kThreads)
    if (first + k < kAll) b.out[first + k] = blockIdx.x + 1;
}

// The last workgroup adds up what all have left. Who writes must release, who reads acquire.
template <bool right>
__global__ void last_group_adds(Buffers b) {
  __shared__ bool last;
  const int t = threadIdx.x;
  if (t == 0) {
    b.more[blockIdx.x] = blockIdx.x + 5;
    if constexpr (right) __threadfence();
    last = atomicAdd(&b.sync[0], 1) == kGroups - 1;
    if constexpr (right) __threadfence();
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (int k = 0; k < kGroups; ++k) sum += b.more[k];
    b.out[0] = sum;
  }
}

constexpr int kNarrow = __HIP_MEMORY_SCOPE_WORKGROUP, kWide = __HIP_MEMORY_SCOPE_AGENT;

template <bool right>
__global__ void handed_over(Buffers b) {
  constexpr int scope = right ? kWide : kNarrow;
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    b.more[64] = 17;
    __hip_atomic_store(&b.sync[8], 1, __ATOMIC_RELEASE, scope);
  } else if (blockIdx.x == 1) {
    while (!__hip_atomic_load(&b.sync[8], __ATOMIC_ACQUIRE, scope)) __builtin_amdgcn_s_sleep(1);
    b.out[0] = b.more[64];
  }
}

template <bool right>
__global__ void handed_over_relaxed(Buffers b) {
  constexpr int store = right ? __ATOMIC_RELEASE : __ATOMIC_RELAXED, load = right ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    b.more[65] = 18;
    __hip_atomic_store(&b.sync[16], 1, store, kWide);
  } else if (blockIdx.x == 1) {
    while (!__hip_atomic_load(&b.sync[16], load, kWide)) __builtin_amdgcn_s_sleep(1);
    b.out[0] = b.more[65];
  }
}

// A volatile flag with fences orders, without them it does not.
template <bool right>
__global__ void volatile_flag(Buffers b) {
  volatile int* flag = &b.sync[24];
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    b.more[66] = 19;
    if constexpr (right) __threadfence();
    *flag = 1;
  } else if (blockIdx.x == 1) {
    while (!*flag) __builtin_amdgcn_s_sleep(1);
    if constexpr (right) __threadfence();
    b.out[0] = b.more[66];
  }
}

template <bool right>
__global__ void lock(Buffers b) {
  constexpr int take = right ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED, give = right ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
  if (threadIdx.x) return;
  int* const word = &b.sync[32];
  int expected = 0;
  while (!__hip_atomic_compare_exchange_strong(word, &expected, 1, take, __ATOMIC_RELAXED, kWide)) {
    expected = 0;
    __builtin_amdgcn_s_sleep(1);
  }
  b.out[2] = b.out[2] + 1;
  __hip_atomic_store(word, 0, give, kWide);
}

template <bool right>
__global__ void all_meet(Buffers b) {
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  b.more[i] = i;
  __syncthreads();
  if (t == 0) {
    if constexpr (right) __threadfence();
    atomicAdd(&b.sync[40 + right], 1);
    while (__hip_atomic_load(&b.sync[40 + right], __ATOMIC_RELAXED, kWide) < kGroups) __builtin_amdgcn_s_sleep(1);
    if constexpr (right) __threadfence();
  }
  __syncthreads();
  b.out[i] = b.more[(i + 300) % kAll];
}

template <bool right>
__global__ void through_memory(Buffers b) {
  const int t = threadIdx.x, first = blockIdx.x * kThreads;
  b.more[first + t] = b.in[first + t];
  if constexpr (right) __syncthreads();
  b.out[first + t] = b.more[first + 255 - t];
}

template <bool right>
__global__ void plain_look_at_a_count(Buffers b) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0 && !right) b.out[4] = b.sync[48];
    atomicAdd(&b.sync[48], 1);
  }
}

// Bytes of one word may belong to different workgroups.
template <bool right>
__global__ void neighbouring_bytes(Buffers b) {
  auto* bytes = reinterpret_cast<unsigned char*>(b.out);
  const int t = threadIdx.x, at = t * kGroups + blockIdx.x;
  bytes[at] = (unsigned char)(blockIdx.x + 1);
  if (!right && t == 9) bytes[at + 1] = (unsigned char)(blockIdx.x + 100);
}

// Places are taken with an atomic; what is in them is read by other waves, too soon.
template <bool right>
__global__ void gathered(Buffers b) {
  const int t = threadIdx.x, first = blockIdx.x * kThreads;
  if (b.in[first + t] % 2) b.more[first + atomicAdd(&b.sync[56 + blockIdx.x], 1)] = t;
  if constexpr (right) __syncthreads();
  b.out[first + t] = b.more[first + (t * 7) % 128];
}

template <bool right>
__global__ void wrong_stride(Buffers b) {
  const int stride = right ? kThreads : kThreads - 1;
  b.out[blockIdx.x * stride + threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
}

template <bool right>
__global__ void reversed_in_place(Buffers b) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (right && i >= kAll / 2) return;  // each pair has one that swaps it
  const int other = b.out[kAll - 1 - i];
  b.out[kAll - 1 - i] = b.out[i];
  b.out[i] = other + !right;
}

// An addition built of a compare-and-swap: its first look is a plain one, as the manuals have it.
template <bool right>
__global__ void swapped_in(Buffers b) {
  if (threadIdx.x % 64) return;
  int* const word = &b.out[3];
  int seen = *word, expected;
  if constexpr (right) {
    do {
      expected = seen;
      seen = atomicCAS(word, expected, expected + 3);
    } while (seen != expected);
  } else {
    *word = seen + 3;
  }
}

template <bool right>
__global__ void variable_of_the_device(Buffers b) {
  if (threadIdx.x) return;
  if constexpr (right) atomicAdd(&device_counter, b.in[blockIdx.x]);
  else device_counter += b.in[blockIdx.x];
}

template <bool right>
__global__ void found_by_any(Buffers b) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (b.in[i] % 5 == 0) b.out[5] = right ? 1 : i;  // the same value, or anybody's
}

template <bool right>
__global__ void wrong_half(Buffers b) {
  const int i = blockIdx.x * kThreads + threadIdx.x, half = kAll / 2;
  int* const to = b.out + (right ? half : 0);
  if (i < half) to[i] = b.out[(i + 400) % half] + 1;
}

// Wide stores, shifted by less than their width.
template <bool right>
__global__ void wide_stores(Buffers b) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= kAll / 8) return;
  int* const at = b.out + i * (right ? 4 : 3);
  at[0] = i, at[1] = i + 1, at[2] = i + 2, at[3] = i + 3;
}

#define BOTH(kernel)                                                    \
  for (int right = 0; right < 2; ++right) {                             \
    (void)hipMemset(b.out, 0, kAll * sizeof(int));                      \
    (void)hipMemset(b.sync, 0, 256 * sizeof(int));                      \
    if (right) hipLaunchKernelGGL(kernel<true>, kGroups, kThreads, 0, 0, b); \
    else hipLaunchKernelGGL(kernel<false>, kGroups, kThreads, 0, 0, b); \
  }

int main() {
  Buffers b;
  int *in, host[kAll];
  for (int i = 0; i < kAll; ++i) host[i] = i * 7 + 3;
  if (hipMalloc(&in, sizeof host) != hipSuccess || hipMalloc(&b.out, sizeof host) != hipSuccess ||
      hipMalloc(&b.more, sizeof host) != hipSuccess || hipMalloc(&b.sync, 256 * sizeof(int)) != hipSuccess)
    return 1;
  b.in = in;
  (void)hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
  (void)hipMemset(b.more, 0, sizeof host);
  BOTH(stencil_in_place)
  BOTH(counter)
  BOTH(maximum)
  BOTH(overlapping_targets)
  BOTH(one_too_far)
  BOTH(last_group_adds)
  BOTH(handed_over)
  BOTH(handed_over_relaxed)
  BOTH(volatile_flag)
  BOTH(lock)
  BOTH(all_meet)
  BOTH(through_memory)
  BOTH(plain_look_at_a_count)
  BOTH(neighbouring_bytes)
  BOTH(gathered)
  BOTH(wrong_stride)
  BOTH(reversed_in_place)
  BOTH(swapped_in)
  BOTH(variable_of_the_device)
  BOTH(found_by_any)
  BOTH(wrong_half)
  BOTH(wide_stores)
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  for (void* memory : {(void*)in, (void*)b.out, (void*)b.more, (void*)b.sync}) (void)hipFree(memory);
  return 0;
}
