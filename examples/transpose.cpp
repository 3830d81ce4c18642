// Transpose of a matrix: naive, through LDS with bank conflicts, through padded LDS without.
// -w width, -h height.
#include "check.h"

constexpr int kTile = 32, kRows = 8;

__global__ void transpose_naive(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < width && y + j < height) out[x * height + y + j] = in[(y + j) * width + x];
}

template <int Pad> __global__ void transpose_shared(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile + Pad];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char** argv) {
  const int width = option(argc, argv, "-w", 500), height = option(argc, argv, "-h", 300);
  const size_t count = static_cast<size_t>(width) * height;
  Random random;
  std::vector<float> x = random.values(count), want(count);
  for (int r = 0; r < height; ++r)
    for (int c = 0; c < width; ++c) want[c * height + r] = x[r * width + c];
  dim3 grid(divide_up(width, kTile), divide_up(height, kTile)), block(kTile, kRows);

  int failures = 0;
  Buffer<float> in(x), out(count);
  auto check = [&](const char* name) {
    HIP_CHECK(hipGetLastError());
    failures += verdict(name, max_error(out.download(), want), 0.0);
    out.clear();
  };
  out.clear();
  transpose_naive<<<grid, block>>>(in, out, width, height);
  check("transpose naive");
  transpose_shared<0><<<grid, block>>>(in, out, width, height);
  check("transpose LDS");
  transpose_shared<1><<<grid, block>>>(in, out, width, height);
  check("transpose padded LDS");
  return failures;
}
