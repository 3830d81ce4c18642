// Numbers of four bits, eight in a word, made real by groups with a scale and an optional zero point.
#include "buffers.h"

__global__ void dequantfour(const unsigned* packed, const float* scales, const signed char* zeros, float* out, int n, int group, int twos) {
  const volatile unsigned* from = packed;
  volatile float* to = out;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    for (int again = 0; again < 4; ++again) {
      int q = from[e / 8] >> (e % 8 * 4) & 15;
      if (twos && q > 7) q -= 16;
      int g = e / group, z = zeros ? zeros[g] : 0;
      to[e] = (q - z) * scales[g];
    }
  }
}

int main() {
  const int n = 4096, group = 32;
  std::vector<unsigned> p(n / 8);
  for (int i = 0; i < n / 8; ++i) p[i] = i * 2654435761u;
  std::vector<signed char> z(n / group);
  for (int i = 0; i < n / group; ++i) z[i] = i * 7 % 16;
  unsigned* packed = upload(p);
  float* scales = upload(pattern<float>(n / group, 101, 0.01f, 0.2f));
  signed char* zeros = upload(z);
  float* out = upload(std::vector<float>(n, 0.0f));
  dequantfour<<<32, 64>>>(packed, scales, zeros, out, n, group, 0);
  print_sum("dequant", download(out, n));
  dequantfour<<<8, 128>>>(packed + 2, scales, nullptr, out, 2048, 64, 1);
  must(hipDeviceSynchronize());
  print_sum("dequant", download(out, n));
}
