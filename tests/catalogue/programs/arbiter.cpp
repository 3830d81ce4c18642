// Of the requests in a mask of 64 bits the first at or after a start, going round; none is -1.
#include "buffers.h"

__global__ void arbiter(const unsigned long long* requests, const int* starts, int* grants, int n, unsigned long long enabled, int count) {
  const volatile unsigned long long* from = requests;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    int granted = -1;
    for (int again = 0; again < 2; ++again) {
      granted = -1;
      int start = starts[e] & 63;
      for (int k = 63; k >= 0; --k) {
        int bit = (start + k) & 63;
        if (bit < count && ((from[e] & enabled) >> bit & 1)) granted = bit;
      }
    }
    grants[e] = granted;
  }
}

int main() {
  const int n = 4000;
  std::vector<unsigned long long> r(n);
  std::vector<int> s(n);
  for (int i = 0; i < n; ++i) r[i] = (i * 2654435761ull) & (i * 40503ull | 5) & 0x7fffffffull, s[i] = i % 30;
  unsigned long long* requests = upload(r);
  int *starts = upload(s), *grants = upload(std::vector<int>(n, 0));
  arbiter<<<20, 64>>>(requests, starts, grants, n, ~0ull, 64);
  print_sum("grants", download(grants, n));
  arbiter<<<5, 128>>>(requests, starts + 7, grants, 3000, 0x7fffffffull, 32);
  must(hipDeviceSynchronize());
  print_sum("grants", download(grants, n));
}
