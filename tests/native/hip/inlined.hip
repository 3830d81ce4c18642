// Kernels whose instructions come mostly from headers: which lines are they charged to, and which line is a
// fault's? The marks are looked up by the tests.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inlined.h"

namespace cg = cooperative_groups;

__global__ void math(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < 4; ++k) x = sinf(x) + expf(x) * powf(x, 1.5f);  // mark math
  out[i] = distance(x, apply(in, i, [](float v) { return erff(v) + __expf(v); }));  // mark lambda
}
template <int kWidth>
__global__ void shuffles(int* out) {
  int x = threadIdx.x;
  for (int k = kWidth / 2; k; k /= 2) x += __shfl_xor(x, k, kWidth);  // mark shuffle
  x += __popcll(__ballot(x & 1)) + __reduce_add_sync(~0ull, x);  // mark votes
  out[threadIdx.x] = x;
}
__global__ void groups(int* out) {
  __shared__ int values[256];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  values[threadIdx.x] = tile.shfl_down(int(threadIdx.x), 1);  // mark tile
  block.sync();  // mark sync
  if (tile.thread_rank() == 0) Counter{out}.add(values[threadIdx.x]);
  __syncthreads();  // mark barrier
  out[threadIdx.x] += values[255 - threadIdx.x] + int(__half2float(__float2half(1.5f * threadIdx.x)));
}
__global__ void talks(int* out, int n) {
  assert(n < 100);  // mark assert
  if (threadIdx.x == 0) printf("block %d of %d\n", int(blockIdx.x), n);  // mark printf
  out[threadIdx.x] = n;
}

__global__ void null_atomic(int* p) { atomicAdd(p + threadIdx.x, 1); }  // mark null_atomic
__global__ void null_own(int* p) { Counter{p}.add(3); }
__global__ void null_apply(const float* p, float* out) {
  *out = apply(p, threadIdx.x, [](float v) { return v + 1; });
}
__global__ void stops() { abort(); }  // mark abort
__global__ void asserts(int n) { assert(n == 0 && "told"); }  // mark asserts

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !std::strcmp(what, name); };
  float *in, *out;
  if (hipMalloc(&in, 4096) || hipMalloc(&out, 4096) || hipMemset(in, 0, 4096)) return 2;
  if (is("")) {
    for (int i = 0; i < 2; ++i) math<<<4, 256>>>(in, out);
    shuffles<64><<<1, 64>>>(reinterpret_cast<int*>(out));
    groups<<<1, 256>>>(reinterpret_cast<int*>(out));
    talks<<<1, 64>>>(reinterpret_cast<int*>(out), 3);
  }
  if (is("null_atomic")) null_atomic<<<1, 64>>>(nullptr);
  if (is("null_own")) null_own<<<1, 64>>>(nullptr);
  if (is("null_apply")) null_apply<<<1, 64>>>(nullptr, out);
  if (is("abort")) stops<<<1, 64>>>();
  if (is("asserts")) asserts<<<1, 64>>>(1);
  return hipDeviceSynchronize() == hipSuccess ? 0 : 3;
}
