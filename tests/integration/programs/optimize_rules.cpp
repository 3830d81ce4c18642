// Read by the tests of the rules proposer: what each rule offers, and what it must not touch.
#include <hip/hip_runtime.h>
constexpr int kCount = 8, kOther = kCount * 2;
__device__ void meet() { __syncthreads(); }
__device__ void bump(int* p) { atomicAdd(p, 1); }

__global__ void plain(const float* in, float* out, int n) {
  float sum = 0.0f, top = 0.0f;
  for (int i = 0; i < n; ++i) sum += in[i];
  for (int i = threadIdx.x; i < n; i += warpSize) top = fmaxf(top, in[i]);
  for (int i = 0; i < n; ++i) out[i] = in[i] / sum + top;
}

__global__ void careful(const float* in, float* out, int* count, int n) {
  extern __shared__ float dynamic[];
  __shared__ float tile[32][32];
  for (int i = 0; i < n; ++i) { out[i] = in[i]; __syncthreads(); }
  for (int i = 0; i < n; ++i) { out[i] = in[i]; meet(); }
  for (int i = 0; i < n; ++i) atomicAdd(count, 1);
  for (int i = 0; i < n; ++i) bump(count);
  for (int i = 0; i < n; ++i) dynamic[i] = in[i];
  for (int s = warpSize / 2; s > 0; s /= 2) out[0] += __shfl_xor(out[0], s);
  for (int i = 0; i < n; ++i) out[i] += __shfl_xor(out[i], 1);
  for (int i = 0; i < kOther; ++i) tile[i][threadIdx.x] = in[i];
}
