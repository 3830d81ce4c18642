// Products of complex numbers, either conjugated by a bit; the second list may be shorter and repeats. May work in place.
#include "buffers.h"

struct Complex {
  float re, im;
};

__global__ void cmulconj(const Complex* a, const Complex* b, Complex* out, int n, int nb, int conj) {
  const volatile Complex* from = a;
  const volatile Complex* with = b;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    float re = 0.0f, im = 0.0f;
    for (int again = 0; again < 8; ++again) {
      float p = from[e].re, q = from[e].im, r = with[e % nb].re, s = with[e % nb].im;
      if (conj & 1) q = -q;
      if (conj & 2) s = -s;
      re = p * r - q * s;
      im = p * s + q * r;
    }
    out[e].re = re;
    out[e].im = im;
  }
}

int main() {
  const int n = 4000;
  std::vector<Complex> data(n), twiddle(64);
  for (int i = 0; i < n; ++i) data[i] = Complex{0.01f * (i * 31 % 401) - 2.0f, 0.01f * (i * 17 % 301) - 1.0f};
  for (int i = 0; i < 64; ++i) twiddle[i] = Complex{1.0f - 0.01f * i, 0.01f * i};
  Complex *a = upload(data), *b = upload(twiddle), *out = upload(data);
  cmulconj<<<20, 64>>>(a, b, out, n, 64, 0);
  cmulconj<<<5, 128>>>(a, b, a, 3000, 32, 1);
  cmulconj<<<5, 128>>>(out, a, out, 2000, 2000, 2);
  must(hipDeviceSynchronize());
  double sum = 0.0;
  for (Complex* list : {a, out})
    for (const Complex& c : download(list, n)) sum += c.re + 2.0 * c.im;
  std::printf("complex %.4f\n", sum);
}
