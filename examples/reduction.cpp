// The sum of a vector, four ways: atomics alone, shared memory, shuffles, a cooperative grid.
// -n elements.
#include <hip/hip_cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void sum_atomic(const int* x, int n, unsigned long long* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, static_cast<unsigned long long>(x[i]));
}

__global__ void sum_shared(const int* x, int n, unsigned long long* total) {
  extern __shared__ unsigned long long part[];
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  part[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(total, part[0]);
}

__global__ void sum_shuffle(const int* x, int n, unsigned long long* total) {
  unsigned long long mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  for (int step = warpSize / 2; step > 0; step /= 2) mine += __shfl_down(mine, step);
  if (threadIdx.x % warpSize == 0) atomicAdd(total, mine);
}

__global__ void sum_grid(const int* x, int n, unsigned long long* part, unsigned long long* total) {
  cg::grid_group grid = cg::this_grid();
  unsigned long long mine = 0;
  for (unsigned long long i = grid.thread_rank(); i < static_cast<unsigned long long>(n); i += grid.size()) mine += x[i];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  mine = cg::reduce(tile, mine, cg::plus<unsigned long long>());
  if (tile.thread_rank() == 0) part[grid.thread_rank() / 64] = mine;
  grid.sync();
  if (grid.thread_rank() == 0) {
    unsigned long long sum = 0;
    for (unsigned long long i = 0; i < grid.size() / 64; ++i) sum += part[i];
    *total = sum;
  }
}

int main(int argc, char** argv) {
  int n = option(argc, argv, "-n", 100003);
  const int block = 256, blocks = 32;
  Random random;
  std::vector<int> x(n);
  unsigned long long want = 0;
  for (int& v : x) want += v = static_cast<int>(random.bits() % 1000);
  std::vector<unsigned long long> expected = {want};

  int failures = 0;
  Buffer<int> dx(x);
  Buffer<unsigned long long> total(1), part(blocks * block / 64);
  total.clear();
  sum_atomic<<<divide_up(n, block), block>>>(dx, n, total);
  HIP_CHECK(hipGetLastError());
  failures += verdict("sum atomic", max_error(total.download(), expected), 0.0);

  total.clear();
  sum_shared<<<blocks, block, block * sizeof(unsigned long long)>>>(dx, n, total);
  HIP_CHECK(hipGetLastError());
  failures += verdict("sum shared memory", max_error(total.download(), expected), 0.0);

  total.clear();
  sum_shuffle<<<blocks, block>>>(dx, n, total);
  HIP_CHECK(hipGetLastError());
  failures += verdict("sum shuffle", max_error(total.download(), expected), 0.0);

  total.clear();
  const int* px = dx;
  unsigned long long *pp = part, *pt = total;
  void* arguments[] = {&px, &n, &pp, &pt};
  HIP_CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_grid), dim3(blocks), dim3(block), arguments, 0, nullptr));
  failures += verdict("sum cooperative grid", max_error(total.download(), expected), 0.0);
  return failures;
}
