// Softmax of each row of a matrix, three ways: one thread per row, one wave per row with shuffles,
// one block per row with shared memory in a single pass over the data.
// -r rows, -c columns.
#include "check.h"

__global__ void softmax_thread(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = in + static_cast<size_t>(row) * columns;
  float* y = out + static_cast<size_t>(row) * columns;
  float top = -INFINITY, sum = 0.0f;
  for (int c = 0; c < columns; ++c) top = fmaxf(top, x[c]);
  for (int c = 0; c < columns; ++c) sum += expf(x[c] - top);
  for (int c = 0; c < columns; ++c) y[c] = expf(x[c] - top) / sum;
}

__device__ float wave_max(float v) {
  for (int step = warpSize / 2; step > 0; step /= 2) v = fmaxf(v, __shfl_xor(v, step));
  return v;
}
__device__ float wave_sum(float v) {
  for (int step = warpSize / 2; step > 0; step /= 2) v += __shfl_xor(v, step);
  return v;
}

__global__ void softmax_wave(const float* in, float* out, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
  if (row >= rows) return;
  const float* x = in + static_cast<size_t>(row) * columns;
  float* y = out + static_cast<size_t>(row) * columns;
  float top = -INFINITY, sum = 0.0f;
  for (int c = lane; c < columns; c += warpSize) top = fmaxf(top, x[c]);
  top = wave_max(top);
  for (int c = lane; c < columns; c += warpSize) sum += expf(x[c] - top);
  sum = wave_sum(sum);
  for (int c = lane; c < columns; c += warpSize) y[c] = expf(x[c] - top) / sum;
}

// Maximum and sum travel together: a running sum is rescaled where the maximum grows.
struct Partial {
  float top, sum;
};
__device__ Partial join(Partial a, Partial b) {
  float top = fmaxf(a.top, b.top);
  if (top == -INFINITY) return {top, 0.0f};
  return {top, a.sum * expf(a.top - top) + b.sum * expf(b.top - top)};
}

template <int Threads>
__global__ void __launch_bounds__(Threads) softmax_block(const float* in, float* out, int columns) {
  __shared__ Partial shared[Threads];
  const float* x = in + static_cast<size_t>(blockIdx.x) * columns;
  float* y = out + static_cast<size_t>(blockIdx.x) * columns;
  Partial mine = {-INFINITY, 0.0f};
  for (int c = threadIdx.x; c < columns; c += Threads) mine = join(mine, {x[c], 1.0f});
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (int step = Threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) shared[threadIdx.x] = join(shared[threadIdx.x], shared[threadIdx.x + step]);
    __syncthreads();
  }
  Partial all = shared[0];
  for (int c = threadIdx.x; c < columns; c += Threads) y[c] = expf(x[c] - all.top) / all.sum;
}

int main(int argc, char** argv) {
  const int rows = option(argc, argv, "-r", 256), columns = option(argc, argv, "-c", 1000);
  const size_t count = static_cast<size_t>(rows) * columns;
  Random random;
  std::vector<float> x = random.values(count, -8.0f, 8.0f);
  std::vector<double> want(count);
  for (int r = 0; r < rows; ++r) {
    double top = -INFINITY, sum = 0.0;
    for (int c = 0; c < columns; ++c) top = std::fmax(top, x[r * columns + c]);
    for (int c = 0; c < columns; ++c) sum += std::exp(x[r * columns + c] - top);
    for (int c = 0; c < columns; ++c) want[r * columns + c] = std::exp(x[r * columns + c] - top) / sum;
  }

  int failures = 0;
  Buffer<float> in(x), out(count);
  out.clear();
  softmax_thread<<<divide_up(rows, 64), 64>>>(in, out, rows, columns);
  HIP_CHECK(hipGetLastError());
  failures += verdict("softmax thread per row", max_error(out.download(), want), 1e-6);

  out.clear();
  softmax_wave<<<divide_up(static_cast<long>(rows) * 64, 256), 256>>>(in, out, rows, columns);
  HIP_CHECK(hipGetLastError());
  failures += verdict("softmax wave per row", max_error(out.download(), want), 1e-6);

  out.clear();
  softmax_block<256><<<rows, 256>>>(in, out, columns);
  HIP_CHECK(hipGetLastError());
  failures += verdict("softmax block per row", max_error(out.download(), want), 1e-6);
  return failures;
}
