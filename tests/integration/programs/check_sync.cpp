// Barriers that not all reach, each as a kernel with the mistake (`<false>`) and its corrected twin (`<true>`).
#include <hip/hip_runtime.h>

constexpr int kThreads = 256, kGroups = 2;

template <bool right>
__global__ void in_a_branch(const int* in, int* out) {
  const int t = threadIdx.x;
  if (in[t] % 2) {
    out[t] = 1;
    if constexpr (!right) __syncthreads();
  }
  if constexpr (right) __syncthreads();
  out[kThreads + t] = out[t];
}

template <bool right>
__global__ void in_a_loop(const int* in, int* out) {
  const int t = threadIdx.x;
  const int rounds = right ? 4 : in[t] % 4 + 1;
  for (int k = 0; k < rounds; ++k) {
    out[t] += k;
    __syncthreads();
  }
  out[kThreads + t] = rounds;
}

template <bool right>
__global__ void in_both_branches(const int* in, int* out) {
  const int t = threadIdx.x;
  if (in[t] % 3 == 0) {
    out[t] = 1;
    if constexpr (!right) __syncthreads();
    out[t] = 4;
  } else {
    out[t] = 2;
    if constexpr (!right) __syncthreads();
    out[t] = 5;
  }
  if constexpr (right) __syncthreads();
  out[kThreads + t] = 3;
}

// Work-items that have returned need not come.
template <bool right>
__global__ void after_a_return(const int* in, int* out) {
  const int t = threadIdx.x;
  if (right && t >= 200) return;
  if (right || t < 200) {
    out[t] = in[t];
    __syncthreads();
    out[t] += 1;
  }
  if constexpr (!right) out[kThreads + t] = 1;
}

template <bool right>
__device__ __attribute__((noinline)) void meet() {
  __syncthreads();
}

template <bool right>
__global__ void in_a_function(const int* in, int* out) {
  const int t = threadIdx.x;
  if (right || in[t] % 2) meet<right>();
  out[t] = t;
}

#define BOTH(kernel)                                                    \
  hipLaunchKernelGGL(kernel<false>, kGroups, kThreads, 0, 0, in, out);  \
  hipLaunchKernelGGL(kernel<true>, kGroups, kThreads, 0, 0, in, out);

int main() {
  int *in, *out, host[kThreads];
  for (int i = 0; i < kThreads; ++i) host[i] = i * 7 + 3;
  if (hipMalloc(&in, sizeof host) != hipSuccess || hipMalloc(&out, 2 * sizeof host) != hipSuccess) return 1;
  (void)hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice);
  BOTH(in_a_branch)
  BOTH(in_a_loop)
  BOTH(in_both_branches)
  BOTH(after_a_return)
  BOTH(in_a_function)
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  (void)hipFree(in);
  (void)hipFree(out);
  return 0;
}
