// A 7-point Laplacian in double on a cube: one element per thread, and four per thread along z.
// -n edge of the cube.
#include "check.h"

__constant__ double factors[2];  // centre, neighbour

__device__ size_t at(int x, int y, int z, int n) { return (static_cast<size_t>(z) * n + y) * n + x; }

template <int Each> __global__ void __launch_bounds__(256) laplacian(const double* u, double* f, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  int first = blockIdx.z * Each;
  for (int i = 0; i < Each; ++i) {
    int z = first + i;
    if (z < 1 || z >= n - 1) continue;
    double sum = u[at(x - 1, y, z, n)] + u[at(x + 1, y, z, n)] + u[at(x, y - 1, z, n)] + u[at(x, y + 1, z, n)] +
                 u[at(x, y, z - 1, n)] + u[at(x, y, z + 1, n)];
    f[at(x, y, z, n)] = factors[0] * u[at(x, y, z, n)] + factors[1] * sum;
  }
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 48);
  const size_t count = static_cast<size_t>(n) * n * n;
  // For u = x^2 + y^2 + z^2 the discrete Laplacian is exactly 6.
  std::vector<double> u(count), want(count);
  const double h = 1.0 / (n - 1);
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        size_t i = (static_cast<size_t>(z) * n + y) * n + x;
        u[i] = h * h * (static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z);
        bool inside = x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1;
        want[i] = inside ? 6.0 : 0.0;
      }
  const double f[2] = {-6.0 / (h * h), 1.0 / (h * h)};
  HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factors), f, sizeof f));

  int failures = 0;
  Buffer<double> du(u), df(count);
  dim3 block(64, 4);
  df.clear();
  laplacian<1><<<dim3(divide_up(n, 64), divide_up(n, 4), n), block>>>(du, df, n);
  HIP_CHECK(hipGetLastError());
  failures += verdict("laplacian 1 per thread", max_error(df.download(), want), 1e-8);
  df.clear();
  laplacian<4><<<dim3(divide_up(n, 64), divide_up(n, 4), divide_up(n, 4)), block>>>(du, df, n);
  HIP_CHECK(hipGetLastError());
  failures += verdict("laplacian 4 per thread", max_error(df.download(), want), 1e-8);
  return failures;
}
