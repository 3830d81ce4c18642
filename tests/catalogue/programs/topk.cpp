// The k largest of every row in order, equals by place; slots without a value hold the least integer and -1.
#include "buffers.h"

__global__ void topk(const int* x, int* values, int* where, int rows, int cols, int k) {
  const volatile int* from = x;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
      int rank = 0, mine = 0;
      for (int again = 0; again < 3; ++again) {
        rank = 0;
        mine = from[row * cols + i];
        for (int j = 0; j < cols; ++j) {
          int v = from[row * cols + j];
          if (v > mine || (v == mine && j < i)) ++rank;
        }
      }
      if (rank < k) {
        values[row * k + rank] = mine;
        where[row * k + rank] = i;
      }
    }
    for (int r = cols + threadIdx.x; r < k; r += blockDim.x) {
      values[row * k + r] = -2147483647 - 1;
      where[row * k + r] = -1;
    }
  }
}

int main() {
  const int rows = 16, cols = 120, k = 8;
  std::vector<int> data(rows * cols);
  for (int i = 0; i < rows * cols; ++i) data[i] = i * 7919 % 2003 - 700;
  int* x = upload(data);
  int* values = upload(std::vector<int>(rows * k, 0));
  int* where = upload(std::vector<int>(rows * k, 0));
  topk<<<rows, 64>>>(x, values, where, rows, cols, k);
  print_sum("values", download(values, rows * k));
  print_sum("where", download(where, rows * k));
  topk<<<4, 128>>>(x, values, where, 12, 150, 5);
  must(hipDeviceSynchronize());
  print_sum("values", download(values, rows * k));
  print_sum("where", download(where, rows * k));
}
