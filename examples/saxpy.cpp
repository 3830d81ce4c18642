// y = a x + y, one element per thread, with a grid-stride variant.
#include "check.h"

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void saxpy_strided(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + y[i];
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 1 << 18), block = 256;
  const float a = 2.5f;
  Random random;
  std::vector<float> x = random.values(n), y = random.values(n), want(n);
  for (int i = 0; i < n; ++i) want[i] = std::fma(a, x[i], y[i]);

  int failures = 0;
  Buffer<float> dx(x), dy(y);
  saxpy<<<divide_up(n, block), block>>>(n, a, dx, dy);
  HIP_CHECK(hipGetLastError());
  failures += verdict("saxpy", max_error(dy.download(), want), 1e-6);

  dy.upload(y);
  saxpy_strided<<<64, block>>>(n, a, dx, dy);
  HIP_CHECK(hipGetLastError());
  failures += verdict("saxpy grid-stride", max_error(dy.download(), want), 1e-6);
  return failures;
}
