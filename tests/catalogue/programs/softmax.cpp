// Softmax of rows, one thread to a row.
#include "buffers.h"

__global__ void softmax(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float top = -INFINITY, sum = 0.0f;
  for (int c = 0; c < columns; ++c) top = fmaxf(top, in[row * columns + c]);
  for (int c = 0; c < columns; ++c) sum += expf(in[row * columns + c] - top);
  for (int c = 0; c < columns; ++c) out[row * columns + c] = expf(in[row * columns + c] - top) / sum;
}

int main() {
  const int rows = 150, columns = 136;
  std::vector<float> x = pattern<float>(rows * columns, 257, 0.0625f, -8.0f);
  float *in = upload(x), *out = upload(std::vector<float>(x.size(), 0.0f));
  softmax<<<3, 64>>>(in, out, rows, columns);
  print_sum("softmax", download(out, x.size()));
  softmax<<<2, 128>>>(in, out, rows - 5, columns - 9);
  must(hipDeviceSynchronize());
  print_sum("softmax", download(out, x.size()));
}
