// A transposed matrix, eight times over.
#include "buffers.h"

__global__ void transpose(const float* in, float* out, int rows, int columns) {
  const volatile float* from = in;
  volatile float* to = out;
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int k = y; k < y + 16; k += 8) {
    for (int again = 0; again < 8; ++again) {
      if (x < rows && k < columns) to[k * rows + x] = from[x * columns + k];
    }
  }
}

int main() {
  const int rows = 112, columns = 144;
  std::vector<float> x = pattern<float>(rows * columns, 997, 0.5f, 1.0f);
  float *in = upload(x), *out = upload(std::vector<float>(x.size(), 0.0f));
  transpose<<<dim3(7, 9), dim3(16, 8)>>>(in, out, rows, columns);
  print_sum("transpose", download(out, x.size()));
  transpose<<<dim3(3, 5), dim3(16, 8)>>>(in, out, 43, 70);
  must(hipDeviceSynchronize());
  print_sum("transpose", download(out, x.size()));
}
