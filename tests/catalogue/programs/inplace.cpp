// The first of a row added to each of it: in place, where it changes on the way, then with two buffers.
#include "buffers.h"

__global__ void inplace(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  for (int c = 0; c < columns; ++c) { out[row * columns + c] = in[row * columns] + in[row * columns + c]; }
}

int main() {
  const int rows = 128, columns = 48;
  std::vector<float> x = pattern<float>(rows * columns, 509, 0.125f, 1.0f);
  float *in = upload(x), *out = upload(std::vector<float>(x.size(), 0.0f));
  inplace<<<1, 64>>>(in, in, rows / 2, columns);
  print_sum("inplace", download(in, x.size()));
  inplace<<<2, 64>>>(in, out, rows, columns);
  must(hipDeviceSynchronize());
  print_sum("inplace", download(out, x.size()));
}
