// Rows scaled by their root mean square, with optional weights, which may be stored less one.
#include "buffers.h"

__global__ void rmsnorm(const float* x, const float* weight, float* out, int rows, int cols, float eps, int plusone) {
  const volatile float* from = x;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      float sum = 0.0f;
      for (int i = 0; i < cols; ++i) {
        float v = from[row * cols + i];
        sum += v * v;
      }
      float w = 1.0f;
      if (weight) w = plusone ? weight[c] + 1.0f : weight[c];
      out[row * cols + c] = from[row * cols + c] * (1.0f / sqrtf(sum / cols + eps)) * w;
    }
  }
}

int main() {
  const int rows = 24, cols = 160;
  float* x = upload(pattern<float>(rows * cols, 1009, 0.01f, -5.0f));
  float* w = upload(pattern<float>(cols, 31, 0.05f, 0.1f));
  float* out = upload(std::vector<float>(rows * cols, 0.0f));
  rmsnorm<<<rows, 64>>>(x, w, out, rows, cols, 1e-5f, 0);
  print_sum("rmsnorm", download(out, rows * cols));
  rmsnorm<<<10, 128>>>(x, w, out, 20, 100, 1e-6f, 1);
  print_sum("rmsnorm", download(out, rows * cols));
  rmsnorm<<<8, 64>>>(x + 64, nullptr, out, 8, 64, 1e-5f, 0);
  must(hipDeviceSynchronize());
  print_sum("rmsnorm", download(out, rows * cols));
}
