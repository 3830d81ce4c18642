// Kernels whose limit a thread trace alone tells; the argument says which one runs, four times.
#include <hip/hip_runtime.h>

#include <cstring>

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4v __attribute__((ext_vector_type(4)));

__global__ void copy(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void __launch_bounds__(256) reduce(const float* in, float* out, int n) {
  __shared__ float all[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  all[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned k = 128; k > 0; k >>= 1) {
    if (threadIdx.x < k) all[threadIdx.x] += all[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = all[0];
}

// Forty workgroups for 304 compute units.
__global__ void __launch_bounds__(256) small(float* x, int steps) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float v = x[i];
  for (int k = 0; k < steps; ++k) v = v * 1.5f + x[(i + k * 64) & 4095];
  x[i] = v;
}

__global__ void __launch_bounds__(256) matrix(float* out, int steps) {
  half4 a = {1, 2, 3, 4}, b = {1, 1, 1, 1};
  float4v c[4] = {};
  for (int i = 0; i < steps; ++i)
    for (int k = 0; k < 4; ++k) c[k] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c[k], 0, 0, 0);
  out[blockIdx.x * 256 + threadIdx.x] = c[0][0] + c[1][1] + c[2][2] + c[3][3];
}

// The first wave of each workgroup works between the barriers, the others wait for it.
__global__ void __launch_bounds__(256) uneven(float* x, int steps) {
  __shared__ float all[256];
  float v = x[blockIdx.x * 256 + threadIdx.x];
  for (int k = 0; k < steps; ++k) {
    all[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x < 64)
      for (int j = 0; j < 40; ++j) v = v * 1.1f + all[(threadIdx.x + j) & 255];
    __syncthreads();
  }
  x[blockIdx.x * 256 + threadIdx.x] = v;
}

int main(int, char** arguments) {
  const int n = 1 << 23;
  float *a = nullptr, *b = nullptr;
  if (hipMalloc(&a, n * 4) != hipSuccess || hipMalloc(&b, n * 4) != hipSuccess) return 1;
  if (hipMemset(a, 0, n * 4) != hipSuccess || hipMemset(b, 0, n * 4) != hipSuccess) return 1;
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  for (int i = 0; i < 4; ++i) {
    if (is("copy")) copy<<<n / 4 / 256, 256>>>((const float4*)a, (float4*)b, n / 4);
    if (is("reduce")) reduce<<<1216, 256>>>(a, b, n);
    if (is("small")) small<<<40, 256>>>(b, 64);
    if (is("matrix")) matrix<<<1216, 256>>>(b, 100);
    if (is("uneven")) uneven<<<2432, 256>>>(b, 8);
  }
  return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
