// Values fetched by index with a mask; negative indices count from the end, and those outside are filled, held or wrapped.
#include "buffers.h"

__global__ void gathermask(const float* src, const int* index, const unsigned char* mask, float* out, int count, int n, float fill, int mode) {
  const volatile float* from = src;
  const volatile int* places = index;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += step) {
    if (mask && !mask[e]) continue;
    float v = 0.0f;
    for (int again = 0; again < 6; ++again) {
      v = fill;
      int i = places[e];
      if (i < 0) i += n;
      if (n > 0 && (i < 0 || i >= n)) {
        if (mode == 1) i = i < 0 ? 0 : n - 1;
        if (mode == 2) {
          i %= n;
          if (i < 0) i += n;
        }
      }
      if (i >= 0 && i < n) v = from[i];
    }
    out[e] = v;
  }
}

int main() {
  const int n = 900, count = 4000;
  std::vector<int> places(count);
  std::vector<unsigned char> held(count);
  for (int i = 0; i < count; ++i) places[i] = i * 7919 % n, held[i] = i % 3 != 0;
  float* src = upload(pattern<float>(n, 1009, 0.01f, -5.0f));
  int* index = upload(places);
  unsigned char* mask = upload(held);
  float* out = upload(std::vector<float>(count, 1.0f));
  gathermask<<<20, 64>>>(src, index, mask, out, count, n, 0.0f, 0);
  print_sum("gather", download(out, count));
  gathermask<<<6, 128>>>(src, index + 8, nullptr, out, 3000, 700, 0.5f, 1);
  print_sum("held", download(out, count));
  gathermask<<<6, 64>>>(src, index, mask, out, 2000, 640, 0.0f, 2);
  must(hipDeviceSynchronize());
  print_sum("wrapped", download(out, count));
}
