// Rows with a pitch, in 64 bits.
#include "buffers.h"
__global__ void pitched(const float* in, float* out, size_t rows, size_t columns, size_t pitch) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  size_t row = i / columns, column = i % columns;
  volatile const float* v = in;
  float x = 0;
  for (int r = 0; r < 16; ++r) x = v[row * pitch + column];
  out[row * pitch + column] = x * 2.0f + 1.0f;
}
int main() {
  const int rows = 20, columns = 60, pitch = 64;
  float* in = upload(pattern<float>(rows * pitch, 997, 0.25f, -3.0f)); float* out = upload(std::vector<float>(rows * pitch));
  pitched<<<10, 128>>>(in, out, rows, columns, pitch);
  print_sum("pitched", download(out, rows));
  pitched<<<10, 128>>>(in, out, rows - 3, columns - 20, pitch);
  must(hipDeviceSynchronize());
  print_sum("pitched", download(out, rows));
}
