// A sparse matrix (rows by offsets) times a vector, added up in memory.
#include "buffers.h"

__global__ void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows, int base, float beta) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  volatile float* to = y + row;
  *to = beta == 0.0f ? 0.0f : beta * *to;
  for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k) *to = *to + values[k] * x[columns[k] - base];
}

int main() {
  const int rows = 40, wide = 4096;
  std::vector<int> offsets(rows + 1, 0);
  for (int r = 0; r < rows; ++r) offsets[r + 1] = offsets[r] + 560 + r * 7919 % 80;
  const int all = offsets[rows];
  std::vector<int> columns(all);
  for (int k = 0; k < all; ++k) columns[k] = static_cast<int>(static_cast<long long>(k) * 7919 % wide);
  int *o = upload(offsets), *c = upload(columns);
  float *v = upload(pattern<float>(all, 1009, 0.01f, -5.0f)), *x = upload(pattern<float>(wide, 509, 0.125f, -16.0f));
  float* y = upload(std::vector<float>(rows, 1.0f));
  spmv<<<1, 64>>>(o, c, v, x, y, rows, 0, 0.0f);
  print_sum("spmv", download(y, rows));
  spmv<<<1, 128>>>(o + 3, c, v, x, y, rows - 7, 0, 0.0f);
  must(hipDeviceSynchronize());
  print_sum("spmv", download(y, rows));
}
