// Integers of 32 and 64 bits, of which the program uses small ones; a number that says which of several.
#include "buffers.h"
__global__ void wide(const int* a, const long long* b, int* out, long long* big, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile const int* va = a;
  volatile const long long* vb = b;
  int x = 0; long long y = 0;
  for (int r = 0; r < 16; ++r) { x = va[i]; y = vb[i]; }
  if (mode == 3) x = x + 7;
  if (mode & 8) y = -y;
  out[i] = x / 3;
  big[i] = y * 2 + 1;
}
int main() {
  const int n = 1000;
  std::vector<int> a(n); std::vector<long long> b(n);
  for (int i = 0; i < n; ++i) { a[i] = i * 7919 % 1009 - 300; b[i] = (long long)i * 104729 % 100003; }
  int* da = upload(a); long long* db = upload(b);
  int* out = upload(std::vector<int>(n)); long long* big = upload(std::vector<long long>(n));
  wide<<<8, 128>>>(da, db, out, big, n, 2);
  print_sum("wide", download(out, n));
  wide<<<7, 128>>>(da, db, out, big, n - 130, 1);
  must(hipDeviceSynchronize());
  print_sum("wide", download(out, n)); print_sum("wide", download(big, n));
}
