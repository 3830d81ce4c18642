// A copy of doubles, one element per thread, with a bounds check: the smallest kernel whose counters
// are known exactly. -n elements, -b threads per block, -i launches.
#include "check.h"

__global__ void vecCopy(const double* a, double* b, double* c, int n, int stride) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) c[id] = a[id];
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 1048576), block = option(argc, argv, "-b", 256);
  const int iterations = option(argc, argv, "-i", 3);
  if (n <= 0 || block <= 0 || block > 1024 || iterations <= 0) {
    std::fprintf(stderr, "usage: vcopy [-n elements] [-b threads per block] [-i launches]\n");
    return 2;
  }
  std::vector<double> a(n);
  for (int i = 0; i < n; ++i) a[i] = i + 0.5;
  Buffer<double> da(a), db(1), dc(static_cast<size_t>(n));
  dc.clear();
  for (int i = 0; i < iterations; ++i) vecCopy<<<divide_up(n, block), block>>>(da, db, dc, n, 1);
  HIP_CHECK(hipGetLastError());
  HIP_CHECK(hipDeviceSynchronize());
  std::printf("vcopy: %d elements, block %d, %d launches\n", n, block, iterations);
  return verdict("vcopy", max_error(dc.download(), a), 0.0);
}
