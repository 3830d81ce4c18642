// The largest in a window round every place, cut at the ends; the window may lie wholly before or after it.
#include "buffers.h"

__global__ void winmax(const int* x, int* out, int n, int before, int after) {
  const volatile int* from = x;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    int best = 0;
    for (int again = 0; again < 5; ++again) {
      best = -2147483647 - 1;
      for (int j = e - before; j <= e + after; ++j) {
        if (j < 0 || j >= n) continue;
        int v = from[j];
        if (v > best) best = v;
      }
    }
    out[e] = best;
  }
}

int main() {
  const int n = 4000;
  std::vector<int> data(n);
  for (int i = 0; i < n; ++i) data[i] = i * 7919 % 3001;
  int* x = upload(data);
  int* out = upload(std::vector<int>(n, 0));
  winmax<<<20, 64>>>(x, out, n, 6, 6);
  print_sum("winmax", download(out, n));
  winmax<<<5, 128>>>(x + 11, out, 3000, 15, 0);
  must(hipDeviceSynchronize());
  print_sum("winmax", download(out, n));
}
