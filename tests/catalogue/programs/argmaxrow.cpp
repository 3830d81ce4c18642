// The largest of every row and where it first stands; NaN is passed over, and a row without a number has -1.
#include "buffers.h"

__global__ void argmaxrow(const float* x, int* index, float* value, int rows, int cols) {
  const volatile float* from = x;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float best = -INFINITY;
    int at = -1;
    for (int i = 0; i < cols; ++i) {
      float v = from[row * cols + i];
      if (v > best) {
        best = v;
        at = i;
      }
    }
    if (threadIdx.x == 0) {
      index[row] = at;
      value[row] = best;
    }
  }
}

int main() {
  const int rows = 30, cols = 300;
  float* x = upload(pattern<float>(rows * cols, 8999, 0.01f, -5.0f));
  int* index = upload(std::vector<int>(rows, 0));
  float* value = upload(std::vector<float>(rows, 0.0f));
  argmaxrow<<<15, 64>>>(x, index, value, rows, cols);
  print_sum("index", download(index, rows));
  print_sum("value", download(value, rows));
  argmaxrow<<<20, 128>>>(x + 7, index, value, 20, 257);
  must(hipDeviceSynchronize());
  print_sum("index", download(index, rows));
  print_sum("value", download(value, rows));
}
