// The program that hostile proposals are made for: two kernels, helpers, macros, a global, an
// include of its own, and a host side that checks the answer. Prints OK.
#include "optimize_target.h"

#define SCALE(x) ((x) * kScale)
#define JOIN(a, b) a##b
#define NAP __builtin_amdgcn_s_sleep(1)

__device__ int visits = 0;
int host_calls = 0;

__device__ float helper(float v) { return v * 0.5f + 1.0f; }
__device__ void count_visit() { atomicAdd(&visits, 1); }

__global__ void bystander(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] + 1.0f;
}

// Row sums, scaled; one thread per row.
__global__ void target(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[64];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = 0.0f;
  __syncthreads();
  if (row >= rows) return;
  const float* x = in + row * columns;
  float sum = tile[threadIdx.x];
  for (int c = 0; c < columns; ++c) {
    sum += SCALE(x[c]);
  }
  out[row] = helper(sum);
}

int main() {
  const int rows = 256, columns = 512;
  std::vector<float> host(rows * columns), result(rows);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 97) / 97.0f - 0.25f;
  float *in, *out;
  CHECK(hipMalloc(&in, host.size() * sizeof(float)));
  CHECK(hipMalloc(&out, rows * sizeof(float)));
  CHECK(hipMemcpy(in, host.data(), host.size() * sizeof(float), hipMemcpyHostToDevice));
  target<<<rows / 64, 64>>>(in, out, rows, columns);
  CHECK(hipGetLastError());
  CHECK(hipMemcpy(result.data(), out, rows * sizeof(float), hipMemcpyDeviceToHost));
  double worst = 0.0;
  for (int r = 0; r < rows; ++r) {
    double sum = 0.0;
    for (int c = 0; c < columns; ++c) sum += host[r * columns + c] * kScale;
    worst = std::fmax(worst, std::fabs(result[r] - (sum * 0.5 + 1.0)));
  }
  bystander<<<rows / 64, 64>>>(in, out, rows);
  CHECK(hipDeviceSynchronize());
  CHECK(hipFree(in));
  CHECK(hipFree(out));
  std::printf(worst < 1e-3 ? "OK\n" : "WRONG by %g\n", worst);
  return worst < 1e-3 ? 0 : 1;
}
