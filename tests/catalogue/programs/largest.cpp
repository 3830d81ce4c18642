// The largest of each row and where it is first, kept in memory on the way.
#include "buffers.h"

__global__ void largest(const float* in, float* top, int* where, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  volatile float* best = top + row;
  volatile int* at = where + row;
  *best = in[row * columns];
  *at = 0;
  for (int c = 1; c < columns; ++c) {
    if (in[row * columns + c] > *best) {
      *best = in[row * columns + c];
      *at = c;
    }
  }
}

int main() {
  const int rows = 96, columns = 72;
  float* in = upload(pattern<float>(rows * columns, 6911, 0.03f, 0.5f));
  float* top = upload(std::vector<float>(rows, 0.0f));
  int* where = upload(std::vector<int>(rows, 0));
  largest<<<2, 64>>>(in, top, where, rows, columns);
  print_sum("largest", download(top, rows));
  print_sum("where", download(where, rows));
  largest<<<1, 128>>>(in, top, where, rows - 5, columns - 3);
  must(hipDeviceSynchronize());
  print_sum("largest", download(top, rows));
  print_sum("where", download(where, rows));
}
