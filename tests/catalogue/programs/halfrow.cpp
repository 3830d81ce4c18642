// A matrix of halves times a vector, scaled and added to what is there unless beta is nought; held to the range of halves.
#include "buffers.h"

__global__ void halfrow(const _Float16* a, const _Float16* x, _Float16* y, int rows, int cols, float alpha, float beta) {
  const volatile _Float16* from = a;
  const volatile _Float16* with = x;
  int step = gridDim.x * blockDim.x;
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += step) {
    float sum = 0.0f;
    for (int again = 0; again < 5; ++again) {
      sum = 0.0f;
      for (int c = 0; c < cols; ++c) sum += (float)from[row * cols + c] * (float)with[c];
    }
    float v = alpha * sum;
    if (beta != 0.0f) v += beta * (float)y[row];
    if (v > 65504.0f) v = 65504.0f;
    if (v < -65504.0f) v = -65504.0f;
    y[row] = (_Float16)v;
  }
}

int main() {
  const int rows = 400, cols = 48;
  std::vector<_Float16> m(rows * cols), v(cols);
  for (int i = 0; i < rows * cols; ++i) m[i] = (_Float16)(0.0625f * (i * 7919 % 31) - 0.5f);
  for (int i = 0; i < cols; ++i) v[i] = (_Float16)(0.125f * (i * 5 % 17) - 0.5f);
  _Float16 *a = upload(m), *x = upload(v), *y = upload(std::vector<_Float16>(rows, (_Float16)1.0f));
  halfrow<<<7, 64>>>(a, x, y, rows, cols, 1.0f, 0.0f);
  print_sum("y", download(y, rows));
  halfrow<<<2, 128>>>(a + 16, x, y, 300, 32, 0.5f, 2.0f);
  must(hipDeviceSynchronize());
  print_sum("y", download(y, rows));
}
