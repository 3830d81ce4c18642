// Mean and variance of rows in double precision, added up in memory.
#include "buffers.h"

__global__ void moments(const double* in, double* mean, double* variance, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  volatile double *m = mean + row, *v = variance + row;
  *m = 0.0;
  for (int c = 0; c < columns; ++c) *m = *m + in[row * columns + c] / columns;
  *v = 0.0;
  for (int c = 0; c < columns; ++c) {
    double d = in[row * columns + c] - *m;
    *v = *v + d * d / columns;
  }
}

int main() {
  const int rows = 64, columns = 136;
  double* in = upload(pattern<double>(rows * columns, 997, 0.01, -3.0));
  double *mean = upload(std::vector<double>(rows, 0.0)), *variance = upload(std::vector<double>(rows, 0.0));
  moments<<<1, 64>>>(in, mean, variance, rows, columns);
  print_sum("moments", download(variance, rows));
  moments<<<1, 128>>>(in, mean, variance, rows - 7, columns - 5);
  must(hipDeviceSynchronize());
  print_sum("moments", download(mean, rows));
  print_sum("moments", download(variance, rows));
}
