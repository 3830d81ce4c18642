// Running sums of every row, from either end, with or without the element itself.
#include "buffers.h"

__global__ void cumsum(const int* x, int* out, int rows, int cols, int exclusive, int reverse) {
  const volatile int* from = x;
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
      unsigned sum = 0;
      int first = reverse ? i : 0, last = reverse ? cols - 1 : i;
      for (int j = first; j <= last; ++j)
        if (!exclusive || j != i) sum += (unsigned)from[row * cols + j];
      out[row * cols + i] = (int)sum;
    }
  }
}

int main() {
  const int rows = 16, cols = 300;
  std::vector<int> data(rows * cols);
  for (int i = 0; i < rows * cols; ++i) data[i] = i * 7919 % 1999;
  int* x = upload(data);
  int* out = upload(std::vector<int>(rows * cols, 0));
  cumsum<<<16, 64>>>(x, out, rows, cols, 0, 0);
  print_sum("sums", download(out, rows * cols));
  cumsum<<<5, 128>>>(x + 3, out, 10, 256, 1, 0);
  print_sum("before", download(out, rows * cols));
  cumsum<<<8, 64>>>(x, out, 8, 60, 0, 1);
  must(hipDeviceSynchronize());
  print_sum("reverse", download(out, rows * cols));
}
