// Races on LDS, each as a kernel with the mistake (`<false>`) and its corrected twin (`<true>`).
#include <hip/hip_runtime.h>

#include <cstdio>

constexpr int kThreads = 256, kGroups = 3;

template <bool right>
__device__ void barrier() {
  if constexpr (right) __syncthreads();
}

template <bool right>
__global__ void reversed(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  tile[t] = in[i];
  barrier<right>();
  out[i] = tile[kThreads - 1 - t];
}

template <bool right>
__global__ void tree_sum(const int* in, int* out) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int half = kThreads / 2; half; half /= 2) {
    if (t < half) part[t] += part[t + half];
    barrier<right>();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

// The second barrier keeps the next round's writes from this round's reads.
template <bool right>
__global__ void tile_reused(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    tile[t] = in[(round * kThreads + t) % (kGroups * kThreads)];
    __syncthreads();
    sum += tile[(t + 77) % kThreads];
    barrier<right>();
  }
  out[blockIdx.x * kThreads + t] = sum;
}

template <bool right>
__global__ void histogram_cleared(const int* in, int* out) {
  __shared__ int bins[64];
  const int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  barrier<right>();
  atomicAdd(&bins[in[blockIdx.x * kThreads + t] % 64], 1);
  __syncthreads();
  if (t < 64) out[blockIdx.x * 64 + t] = bins[t];
}

template <bool right>
__global__ void histogram_read(const int* in, int* out) {
  __shared__ int bins[64];
  const int t = threadIdx.x;
  if (t < 64) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * kThreads + t] % 64], 1);
  barrier<right>();
  if (t < 64) out[blockIdx.x * 64 + t] = bins[t];
}

template <bool right>
__global__ void one_for_all(const int* in, int* out) {
  __shared__ int chosen;
  const int t = threadIdx.x;
  if (t == 0) chosen = in[blockIdx.x] + 1;
  barrier<right>();
  out[blockIdx.x * kThreads + t] = chosen;
}

template <bool right>
__global__ void running_sum(const int* in, int* out) {
  __shared__ int sums[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  sums[t] = in[i];
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    const int before = t >= step ? sums[t - step] : 0;
    barrier<right>();
    sums[t] += before;
    __syncthreads();
  }
  out[i] = sums[t];
}

template <bool right>
__global__ void transposed(const int* in, int* out) {
  __shared__ int tile[16][17];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  tile[y][x] = in[blockIdx.x * kThreads + threadIdx.x];
  barrier<right>();
  out[blockIdx.x * kThreads + threadIdx.x] = tile[x][y];
}

// What orders the lanes of a wave orders no others.
template <bool right>
__global__ void wave_barrier_only(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  tile[t] = in[i];
  if constexpr (right) __syncthreads();
  else __builtin_amdgcn_wave_barrier();
  out[i] = tile[t ^ 64];
}

// Bytes of one word may belong to different waves; the wrong one writes two at once.
template <bool right>
__global__ void neighbouring_bytes(const int* in, int* out) {
  __shared__ unsigned char bytes[kThreads + 4];
  const int t = threadIdx.x, at = (t % 64) * 4 + t / 64;
  if constexpr (right) {
    bytes[at] = (unsigned char)in[t];
  } else {
    *(volatile unsigned char*)&bytes[at] = (unsigned char)in[t];
    *(volatile unsigned char*)&bytes[at + 1] = (unsigned char)(in[t] + 1);
  }
  __syncthreads();
  out[blockIdx.x * kThreads + t] = bytes[t];
}

template <bool right>
__global__ void halo(const int* in, int* out) {
  __shared__ int tile[kThreads + 2];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  tile[t + 1] = in[i];
  if (t == 0) tile[0] = 7;
  if (t == kThreads - 1) tile[kThreads + 1] = 9;
  barrier<right>();
  out[i] = tile[t] + tile[t + 2];
}

template <bool right>
__global__ void written_while_read(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  tile[t] = in[i];
  __syncthreads();
  const int other = tile[t ^ 64];
  barrier<right>();
  tile[t] = other + 1;
  __syncthreads();
  out[i] = tile[t];
}

template <bool right>
__global__ void dynamic_lds(const int* in, int* out) {
  extern __shared__ int tile[];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  tile[t] = in[i] * 3;
  barrier<right>();
  out[i] = tile[(t + 128) % kThreads];
}

template <bool right>
__global__ void two_phases(const int* in, int* out) {
  __shared__ int tile[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  tile[t] = in[i];
  __syncthreads();
  const int first = tile[(t * 5) % kThreads];
  barrier<right>();
  tile[(t * 3) % kThreads] = first;
  __syncthreads();
  out[i] = tile[t];
}

// A reduction whose last rounds are said to need no barrier, by somebody with other waves in mind.
template <bool right>
__global__ void last_wave(const int* in, int* out) {
  __shared__ int part[kThreads];
  const int t = threadIdx.x;
  part[t] = in[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int half = 128; half > (right ? 32 : 128); half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  volatile int* mine = part;
  for (int half = right ? 32 : 128; half; half /= 2)
    if (t < half) mine[t] += mine[t + half];
  if (t == 0) out[blockIdx.x] = part[0];
}

template <bool right>
__global__ void product_tile(const int* in, int* out) {
  __shared__ int a[16][16], b[16][16];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    a[y][x] = in[k * kThreads + threadIdx.x];
    b[y][x] = in[k * kThreads + 255 - threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[y][i] * b[i][x];
    barrier<right>();
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

// An atomic and a plain update of the same counter.
template <bool right>
__global__ void plain_and_atomic(const int* in, int* out) {
  __shared__ int count;
  const int t = threadIdx.x;
  if (t == 0) count = 0;
  __syncthreads();
  if (in[blockIdx.x * kThreads + t] % 2) {
    if (right || t != 64) atomicAdd(&count, 1);
    else count = count + 1;
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = count;
}

template <bool right>
__global__ void guarded_by_parity(const int* in, int* out) {
  __shared__ int two[2][kThreads];
  const int t = threadIdx.x;
  int sum = 0;
  for (int round = 0; round < 4; ++round) {
    int* const buffer = two[right ? round % 2 : 0];  // one buffer has no time to be read
    buffer[t] = in[(t + round) % kThreads];
    __syncthreads();
    sum += buffer[255 - t];
  }
  out[blockIdx.x * kThreads + t] = sum;
}

struct Pair {
  int low, high;
};

template <bool right>
__global__ void field_of_a_struct(const int* in, int* out) {
  __shared__ Pair pairs[kThreads];
  const int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  pairs[t].low = in[i];
  pairs[(t + 64) % kThreads].high = in[i] + 1;
  barrier<right>();
  out[i] = pairs[t].low + pairs[t].high;
}

// All write the same: that is no race, whoever comes last.
template <bool right>
__global__ void flag_raised(const int* in, int* out) {
  __shared__ int any;
  const int t = threadIdx.x;
  if (t == 0) any = 0;
  __syncthreads();
  if (in[blockIdx.x * kThreads + t] % 3 == 0) any = right ? 1 : 1 + t / 64;
  __syncthreads();
  if (t == 0) out[blockIdx.x] = any;
}

// A lock of waves: taken and given with atomics, or given with nothing.
template <bool right>
__global__ void locked_sum(const int* in, int* out) {
  __shared__ int lock, sum;
  const int t = threadIdx.x;
  if (t == 0) lock = sum = 0;
  __syncthreads();
  if (t % 64 == 0) {
    if constexpr (right)
      while (atomicCAS(&lock, 0, 1) != 0) __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    sum = sum + in[t];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if constexpr (right) atomicExch(&lock, 0);
  }
  __syncthreads();
  if (t == 0) out[blockIdx.x] = sum;
}

#define BOTH(kernel, lds)                                      \
  hipLaunchKernelGGL(kernel<false>, kGroups, kThreads, lds, 0, in, out); \
  hipLaunchKernelGGL(kernel<true>, kGroups, kThreads, lds, 0, in, out);

int main() {
  int *in, *out, host[kGroups * kThreads];
  for (int i = 0; i < kGroups * kThreads; ++i) host[i] = i * 7 + 3;
  if (hipMalloc(&in, sizeof host) != hipSuccess || hipMalloc(&out, sizeof host) != hipSuccess) return 1;
  (void)hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
  BOTH(reversed, 0)
  BOTH(tree_sum, 0)
  BOTH(tile_reused, 0)
  BOTH(histogram_cleared, 0)
  BOTH(histogram_read, 0)
  BOTH(one_for_all, 0)
  BOTH(running_sum, 0)
  BOTH(transposed, 0)
  BOTH(wave_barrier_only, 0)
  BOTH(neighbouring_bytes, 0)
  BOTH(halo, 0)
  BOTH(written_while_read, 0)
  BOTH(dynamic_lds, kThreads * sizeof(int))
  BOTH(two_phases, 0)
  BOTH(last_wave, 0)
  BOTH(product_tile, 0)
  BOTH(plain_and_atomic, 0)
  BOTH(guarded_by_parity, 0)
  BOTH(field_of_a_struct, 0)
  BOTH(flag_raised, 0)
  BOTH(locked_sum, 0)
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  (void)hipFree(in);
  (void)hipFree(out);
  return 0;
}
