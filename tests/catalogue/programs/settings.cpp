// Many whole numbers among the arguments.
#include "buffers.h"
__global__ void settings(const int* in, int* out, int n, int a, int b, int c, int d, int e, int f, int g, int h, int k, int l, int m, int o, int p, int q, int s, int t, int u) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile const int* v = in;
  int x = 0;
  for (int r = 0; r < 16; ++r) x = v[i];
  out[i] = x * a + b - c + d - e + f - g + h - k + l - m + o - p + q - s * 2 + t * 3 - u * 5;
}
int main() {
  const int n = 1000;
  int* in = upload(pattern<int>(n, 997, 2, -3)); int* out = upload(std::vector<int>(n));
  settings<<<8, 128>>>(in, out, n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
  print_sum("settings", download(out, n));
  settings<<<7, 128>>>(in, out, n - 150, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21);
  must(hipDeviceSynchronize());
  print_sum("settings", download(out, n));
}
