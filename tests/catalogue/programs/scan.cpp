// Running sums within each block, each thread from the beginning.
#include "buffers.h"

__global__ void scan(const unsigned* in, unsigned* out, int n) {
  int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  if (i >= n) return;
  unsigned sum = 0;
  for (int j = first; j <= i; ++j) sum += in[j];
  out[i] = sum;
}

int main() {
  const int n = 2045;
  std::vector<unsigned> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<unsigned>(i) * 2654435761u;
  unsigned *in = upload(x), *out = upload(std::vector<unsigned>(n, 0));
  scan<<<16, 128>>>(in, out, n);
  print_sum("scan", download(out, n));
  scan<<<7, 64>>>(in, out, 400);
  must(hipDeviceSynchronize());
  print_sum("scan", download(out, n));
}
