// A product of matrices that adds to memory in every step.
#include "buffers.h"

__global__ void gemm(const float* a, const float* b, float* c, int rows, int columns, int depth, float alpha) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  c[row * columns + column] = 0.0f;
  for (int k = 0; k < depth; ++k) c[row * columns + column] += alpha * a[row * depth + k] * b[k * columns + column];
}

int main() {
  const int rows = 150, columns = 40, depth = 36;
  float* a = upload(pattern<float>(rows * depth, 61, 0.125f, -2.0f));
  float* b = upload(pattern<float>(depth * columns, 47, 0.25f, -4.0f));
  float* c = upload(std::vector<float>(rows * columns, 0.0f));
  gemm<<<dim3(3, 10), dim3(16, 16)>>>(a, b, c, rows, columns, depth, 0.5f);
  print_sum("gemm", download(c, rows * columns));
  gemm<<<dim3(3, 2), dim3(16, 16)>>>(a, b, c, 21, 35, 30, 1.25f);
  must(hipDeviceSynchronize());
  print_sum("gemm", download(c, rows * columns));
}
