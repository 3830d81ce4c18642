// The largest of each row, with shared memory that the launch sizes.
#include "buffers.h"
__global__ void block(const float* in, float* out, int rows, int columns) {
  extern __shared__ float part[];
  int t = threadIdx.x;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float s = 0;
    for (int c = t; c < columns; c += blockDim.x) {
      volatile const float* v = in;
      float x = 0;
      for (int r = 0; r < 16; ++r) x = v[row * columns + c];
      s = fmaxf(s, x);
    }
    part[t] = s;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
      if (t < k) part[t] = fmaxf(part[t], part[t + k]);
      __syncthreads();
    }
    if (t == 0) out[row] = part[0];
    __syncthreads();
  }
}
int main() {
  const int rows = 40, columns = 300;
  float* in = upload(pattern<float>(rows * columns, 997, 0.25f, -3.0f)); float* out = upload(std::vector<float>(rows));
  block<<<10, 128, 128 * 4>>>(in, out, rows, columns);
  print_sum("block", download(out, rows));
  block<<<12, 128, 128 * 4>>>(in, out, rows - 3, columns - 20);
  must(hipDeviceSynchronize());
  print_sum("block", download(out, rows));
}
