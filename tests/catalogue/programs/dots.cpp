// Products of rows in half precision, added up in single precision and in memory.
#include <hip/hip_fp16.h>

#include "buffers.h"

__global__ void dots(const __half* a, const __half* b, float* out, int rows, int columns, float bias) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  volatile float* to = out + row;
  *to = bias;
  for (int c = 0; c < columns; ++c) *to = *to + __half2float(a[row * columns + c]) * __half2float(b[c]);
}

int main() {
  const int rows = 96, columns = 72;
  std::vector<__half> x(rows * columns), y(columns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = __float2half(0.013f * (i * 7919 % 509) - 3.1f);
  for (int i = 0; i < columns; ++i) y[i] = __float2half(0.11f * (i * 37 % 29) - 1.3f);
  __half *a = upload(x), *b = upload(y);
  float* out = upload(std::vector<float>(rows, 0.0f));
  dots<<<2, 64>>>(a, b, out, rows, columns, 0.75f);
  print_sum("dots", download(out, rows));
  dots<<<1, 128>>>(a, b, out, rows - 7, columns - 3, 2.5f);
  must(hipDeviceSynchronize());
  print_sum("dots", download(out, rows));
}
