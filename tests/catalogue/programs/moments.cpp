// Mean and variance of rows in double precision, kept in memory.
#include "buffers.h"

__global__ void moments(const double* in, double* mean, double* variance, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  mean[row] = 0.0;
  for (int c = 0; c < columns; ++c) mean[row] += in[row * columns + c] / columns;
  variance[row] = 0.0;
  for (int c = 0; c < columns; ++c) {
    double d = in[row * columns + c] - mean[row];
    variance[row] += d * d / columns;
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
