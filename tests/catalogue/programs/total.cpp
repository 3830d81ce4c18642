// The sum of integers, an atomic for each.
#include "buffers.h"

__global__ void total(const int* x, unsigned long long* sum, int n) {
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    atomicAdd(sum, static_cast<unsigned long long>(x[i]));
  }
}

int main() {
  const int n = 8190;
  std::vector<int> x = pattern<int>(n, 1021, 2000003, 0);
  int* in = upload(x);
  unsigned long long* sums = upload(std::vector<unsigned long long>(2, 5));
  total<<<8, 256>>>(in, sums, n);
  total<<<5, 64>>>(in, sums + 1, n - 1000);
  must(hipDeviceSynchronize());
  print_sum("total", download(sums, 2));
}
