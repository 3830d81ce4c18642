// The largest and the smallest value of every key; keys outside are passed over.
#include "buffers.h"

__global__ void keymax(const int* keys, const int* values, int* high, int* low, int n, int groups) {
  const volatile int* from = values;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    for (int again = 0; again < 6; ++again) {
      int k = keys[e], v = from[e];
      if (k >= 0 && k < groups) {
        atomicMax(&high[k], v);
        atomicMin(&low[k], v);
      }
    }
  }
}

int main() {
  const int n = 3000, groups = 90;
  std::vector<int> k(n), v(n);
  for (int i = 0; i < n; ++i) k[i] = i * 31 % groups, v[i] = i * 7919 % 4001;
  int *keys = upload(k), *values = upload(v);
  int* high = upload(std::vector<int>(groups, 0));
  int* low = upload(std::vector<int>(groups, 1000000));
  keymax<<<16, 64>>>(keys, values, high, low, n, groups);
  print_sum("high", download(high, groups));
  print_sum("low", download(low, groups));
  keymax<<<5, 128>>>(keys, values + 9, high, low, 2000, 60);
  must(hipDeviceSynchronize());
  print_sum("high", download(high, groups));
  print_sum("low", download(low, groups));
}
