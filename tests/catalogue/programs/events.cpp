// How many events lie within a window before each.
#include "buffers.h"

__global__ void events(const long long* times, int* counts, int n, long long window) {
  const volatile long long* from = times;
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    int found = 0;
    long long t = from[i];
    for (int j = 0; j < n; ++j) {
      long long other = from[j];
      if (other <= t && other >= t - window) ++found;
    }
    counts[i] = found;
  }
}

int main() {
  const int n = 700;
  std::vector<long long> x(n);
  long long at = 1700000000000ll;
  for (int i = 0; i < n; ++i) x[i] = at += 1000 + i * 7919 % 1000003;
  long long* times = upload(x);
  int* counts = upload(std::vector<int>(n, 0));
  events<<<4, 64>>>(times, counts, n, 20000000);
  print_sum("events", download(counts, n));
  events<<<2, 128>>>(times, counts, 400, 5000000);
  must(hipDeviceSynchronize());
  print_sum("events", download(counts, n));
}
