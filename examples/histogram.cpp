// A histogram of bytes: atomics in memory, and atomics in LDS first. -n bytes.
#include "check.h"

constexpr int kBins = 256;

__global__ void histogram_global(const unsigned char* x, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
}

__global__ void histogram_shared(const unsigned char* x, int n, unsigned* bins) {
  __shared__ unsigned local[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x)
    if (local[b]) atomicAdd(&bins[b], local[b]);
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 200000);
  Random random;
  std::vector<unsigned char> x(n);
  std::vector<unsigned> want(kBins);
  for (unsigned char& v : x) ++want[v = static_cast<unsigned char>((random.bits() & random.bits()) % kBins)];

  int failures = 0;
  Buffer<unsigned char> dx(x);
  Buffer<unsigned> bins(kBins);
  bins.clear();
  histogram_global<<<32, 256>>>(dx, n, bins);
  HIP_CHECK(hipGetLastError());
  failures += verdict("histogram global", max_error(bins.download(), want), 0.0);
  bins.clear();
  histogram_shared<<<32, 256>>>(dx, n, bins);
  HIP_CHECK(hipGetLastError());
  failures += verdict("histogram LDS", max_error(bins.download(), want), 0.0);
  return failures;
}
