// Two sounds of 16 bits mixed with a gain in 15 bits, cut or rounded, and held to the range. May work in place.
#include "buffers.h"

__global__ void satmix(const short* a, const short* b, short* out, int n, int gain, int mode) {
  const volatile short* from = a;
  const volatile short* with = b;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    long long s = 0;
    for (int again = 0; again < 8; ++again) {
      s = (long long)from[e] * gain;
      switch (mode) {
        case 0: s >>= 15; break;
        case 1: s = (s + 16384) >> 15; break;
        default: s /= 32768;
      }
      s += with[e];
      if (s > 32767) s = 32767;
      if (s < -32768) s = -32768;
    }
    out[e] = (short)s;
  }
}

int main() {
  const int n = 6000;
  std::vector<short> p(n), q(n);
  for (int i = 0; i < n; ++i) p[i] = i * 7919 % 12001 - 2000, q[i] = i * 31 % 9001 - 1500;
  short *a = upload(p), *b = upload(q), *out = upload(q);
  satmix<<<30, 64>>>(a, b, out, n, 20000, 0);
  print_sum("mixed", download(out, n));
  satmix<<<6, 128>>>(a, out, a, 4000, 32768, 1);
  must(hipDeviceSynchronize());
  print_sum("mixed", download(a, n));
}
