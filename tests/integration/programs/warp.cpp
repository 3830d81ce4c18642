// What lanes say to each other: shuffles of every type, votes, matches, reductions, tiles, scans.
#include <hip/cooperative_groups/hip_reduce.h>
#include <hip/cooperative_groups/hip_scan.h>
#include <hip/cooperative_groups/memcpy_async.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace cg = cooperative_groups;

__managed__ int failures = 0;

#define EXPECT(condition)                                                                       \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      if (atomicAdd(&failures, 1) < 20) printf("line %d, thread %d: %s\n", __LINE__, threadIdx.x, #condition); \
    }                                                                                           \
  } while (0)

struct Wide { int a; double b; char c[5]; };

template <typename T> __device__ T of(int lane) { return static_cast<T>(lane * 3 + 1); }
template <> __device__ __half of<__half>(int lane) { return __float2half(lane * 0.5f); }

template <typename T> __device__ void shuffles() {
  int lane = __lane_id();
  T mine = of<T>(lane);
  EXPECT(__shfl(mine, 5) == of<T>(5));
  EXPECT(__shfl(mine, lane + 1) == of<T>((lane + 1) % 64));
  EXPECT(__shfl(mine, 3, 16) == of<T>((lane & ~15) + 3));
  EXPECT(__shfl_up(mine, 4) == of<T>(lane < 4 ? lane : lane - 4));
  EXPECT(__shfl_up(mine, 4, 8) == of<T>(lane % 8 < 4 ? lane : lane - 4));
  EXPECT(__shfl_down(mine, 9) == of<T>(lane + 9 > 63 ? lane : lane + 9));
  EXPECT(__shfl_down(mine, 1, 4) == of<T>(lane % 4 == 3 ? lane : lane + 1));
  EXPECT(__shfl_xor(mine, 33) == of<T>(lane ^ 33));
  EXPECT(__shfl_xor_sync(~0ull, mine, 6) == of<T>(lane ^ 6));
}

__global__ void warp() {
  int lane = __lane_id();
  EXPECT(lane == threadIdx.x % 64 && warpSize == 64);
  shuffles<int>();
  shuffles<unsigned>();
  shuffles<float>();
  shuffles<double>();
  shuffles<long long>();
  shuffles<unsigned long>();
  shuffles<__half>();
  Wide wide = {lane, lane * 0.5, {'a', 'b', 'c', 'd', static_cast<char>(lane)}};
  Wide other = __shfl_xor(wide, 1);
  EXPECT(other.a == (lane ^ 1) && other.b == (lane ^ 1) * 0.5 && other.c[4] == (lane ^ 1));

  EXPECT(__ballot(lane < 10) == 0x3ff && __ballot64(1) == ~0ull && __activemask() == ~0ull);
  EXPECT(__any(lane == 63) && !__any(lane > 63) && __all(lane < 64) && !__all(lane));
  if (lane & 1) {
    EXPECT(__activemask() == 0xaaaaaaaaaaaaaaaaull);
    EXPECT(__all(1) && __ballot(lane > 31) == 0xaaaaaaaa00000000ull);
  }
  EXPECT(__lanemask_eq() == 1ull << lane && __popcll(__lanemask_lt()) == lane);
  EXPECT((__lanemask_lt() | __lanemask_eq() | __lanemask_gt()) == ~0ull && (__lanemask_gt() & __lanemask_lt()) == 0);
  EXPECT(__mbcnt_hi(0xf0u, __mbcnt_lo(0x3u, 0u)) == __popcll(0xf000000003ull & __lanemask_lt()));
  unsigned long long same = 0x1111111111111111ull << (lane % 4);
  EXPECT(__match_any(lane % 4) == same && __match_any_sync(~0ull, lane % 4 * 0.25) == same);
  int all;
  EXPECT(__match_all_sync(~0ull, 7, &all) == ~0ull && all);
  EXPECT(__match_all_sync(~0ull, lane, &all) == 0 && !all);
  EXPECT(__reduce_add_sync(~0ull, lane) == 2016 && __reduce_max_sync(~0ull, lane) == 63);
  EXPECT(__reduce_min_sync(0xf0ull, (unsigned)lane) == 4 && __reduce_or_sync(~0ull, 1u << (lane % 8)) == 255u);

  auto block = cg::this_thread_block();
  EXPECT(block.size() == 128 && block.thread_rank() == threadIdx.x);
  auto tile = cg::tiled_partition<16>(block);
  int rank = tile.thread_rank();
  EXPECT(tile.size() == 16 && rank == threadIdx.x % 16 && tile.meta_group_rank() == threadIdx.x / 16);
  EXPECT(tile.meta_group_size() == 8 && tile.shfl(lane, 2) == (lane & ~15) + 2);
  EXPECT(tile.ballot(rank < 3) == 7 && tile.any(rank == 15) && !tile.all(rank < 15));
  EXPECT(cg::reduce(tile, rank, cg::plus<int>()) == 120 && cg::reduce(tile, rank, cg::greater<int>()) == 15);
  EXPECT(cg::inclusive_scan(tile, 2) == 2 * (rank + 1) && cg::exclusive_scan(tile, rank) == rank * (rank - 1) / 2);
  auto half = cg::binary_partition(tile, rank % 4 == 0);
  EXPECT(half.size() == (rank % 4 == 0 ? 4 : 12) && (rank % 4 || half.thread_rank() == rank / 4));
  EXPECT(cg::labeled_partition(tile, rank / 5).size() == (rank < 15 ? 5 : 1));
  auto small = cg::tiled_partition<4>(tile);
  EXPECT(small.shfl_down(rank, 1) == (rank % 4 == 3 ? rank : rank + 1) && small.shfl_xor(rank, 2) == (rank ^ 2));
  if (lane % 3 == 0) {
    auto active = cg::coalesced_threads();
    EXPECT(active.size() == 22 && active.thread_rank() == lane / 3);
    EXPECT(active.shfl(lane, 4) == 12 && active.ballot(lane > 57) == 3ull << 20);
    EXPECT(cg::reduce(active, 1, cg::plus<int>()) == 22);
    auto part = cg::tiled_partition(active, 8);  // ranks 0-7, 8-15 and the six that are left
    EXPECT(part.size() == (lane / 3 < 16 ? 8 : 6) && part.thread_rank() == lane / 3 % 8);
  }
  block.sync();
  EXPECT(__syncthreads_count(threadIdx.x < 70) == 70 && __syncthreads_and(1) && !__syncthreads_or(0));
  EXPECT(!__syncthreads_and(threadIdx.x) && __syncthreads_or(threadIdx.x == 100));
}

// Two buffers taken in turn: one is read while the next is copied, between the halves of a barrier.
__global__ void pipeline(const int* in, int* out, int tiles) {
  __shared__ int buffer[2][128];
  cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, buffer[0], in, sizeof buffer[0]);
  block.sync();
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) cg::memcpy_async(block, buffer[(t + 1) % 2], in + (t + 1) * 128, sizeof buffer[0]);
    auto token = block.barrier_arrive();
    out[t * 128 + threadIdx.x] = 2 * buffer[t % 2][127 - threadIdx.x];
    block.barrier_wait(std::move(token));
  }
}

__global__ void grid(int* counts, int rounds) {
  cg::grid_group all = cg::this_grid();
  EXPECT(all.is_valid() && all.size() == gridDim.x * blockDim.x);
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x == 0) atomicAdd(&counts[r], 1);
    all.sync();
    EXPECT(__hip_atomic_load(&counts[r], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == (int)gridDim.x);
    all.sync();
  }
}

int main() {
  warp<<<3, 128>>>();
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  int *in, *out;
  (void)hipMallocManaged(&in, sizeof(int) * 1024);
  (void)hipMallocManaged(&out, sizeof(int) * 1024);
  for (int i = 0; i < 1024; ++i) in[i] = i;
  pipeline<<<1, 128>>>(in, out, 8);
  if (hipDeviceSynchronize() != hipSuccess) return 5;
  for (int i = 0; i < 1024; ++i) failures += out[i] != 2 * (i / 128 * 128 + 127 - i % 128);
  int *counts, rounds = 4;
  (void)hipMalloc(&counts, sizeof(int) * rounds);
  (void)hipMemset(counts, 0, sizeof(int) * rounds);
  void* arguments[] = {&counts, &rounds};
  if (hipLaunchCooperativeKernel((const void*)grid, dim3(12), dim3(128), arguments, 0, nullptr) != hipSuccess) return 3;
  if (hipDeviceSynchronize() != hipSuccess) return 4;
  std::printf("%d failures\n", failures);
  return failures != 0;
}
