// A template launched as two instances; each row's sum in all its places.
#include "buffers.h"

template <int STEP>
__global__ void blend(const float* in, float* out, int rows, int columns, float factor) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; c += STEP) sum += in[row * columns + c];
  for (int c = 0; c < columns; ++c) out[row * columns + c] = sum * factor - in[row * columns + c];
}

int main() {
  const int rows = 64, columns = 140;
  std::vector<float> x = pattern<float>(rows * columns, 127, 0.0625f, 0.5f);
  float *in = upload(x), *out = upload(std::vector<float>(x.size(), 0.0f));
  blend<1><<<1, 64>>>(in, out, rows, columns, 0.5f);
  print_sum("blend", download(out, x.size()));
  blend<1><<<1, 128>>>(in, out, rows - 3, columns - 1, 0.25f);
  blend<2><<<1, 64>>>(in, out, rows / 2, columns, 0.75f);
  must(hipDeviceSynchronize());
  print_sum("blend", download(out, x.size()));
}
