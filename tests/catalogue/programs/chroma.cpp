// Pixels to luma and two colours, full or studio range, with an optional alpha already multiplied in.
#include "buffers.h"

struct Pixel {
  unsigned char r, g, b, a;
};

__global__ void chroma(const Pixel* in, unsigned char* luma, unsigned char* cb, unsigned char* cr, int n, int full, int premul) {
  const volatile Pixel* from = in;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    int y = 0, u = 0, v = 0;
    for (int again = 0; again < 6; ++again) {
      int r = from[e].r, g = from[e].g, b = from[e].b, a = from[e].a;
      if (premul && a == 0) r = g = b = 0;
      else if (premul) {
        r = min(255, (r * 255 + a / 2) / a);
        g = min(255, (g * 255 + a / 2) / a);
        b = min(255, (b * 255 + a / 2) / a);
      }
      if (full) {
        y = (77 * r + 150 * g + 29 * b + 128) >> 8;
        u = ((-43 * r - 85 * g + 128 * b + 128) >> 8) + 128;
        v = ((128 * r - 107 * g - 21 * b + 128) >> 8) + 128;
      } else {
        y = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
        u = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
        v = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
      }
    }
    luma[e] = min(max(y, 0), 255);
    cb[e] = min(max(u, 0), 255);
    cr[e] = min(max(v, 0), 255);
  }
}

int main() {
  const int n = 3000;
  std::vector<Pixel> picture(n);
  for (int i = 0; i < n; ++i) {
    int a = 128 + i % 127;
    picture[i] = Pixel{(unsigned char)(i * 31 % 128), (unsigned char)(i * 17 % 127), (unsigned char)(i * 7 % 125), (unsigned char)a};
  }
  Pixel* in = upload(picture);
  unsigned char* y = upload(std::vector<unsigned char>(n, 0));
  unsigned char* u = upload(std::vector<unsigned char>(n, 0));
  unsigned char* v = upload(std::vector<unsigned char>(n, 0));
  chroma<<<20, 64>>>(in, y, u, v, n, 0, 1);
  print_sum("y", download(y, n));
  print_sum("u", download(u, n));
  chroma<<<5, 128>>>(in + 9, y, u, v, 2000, 1, 0);
  must(hipDeviceSynchronize());
  print_sum("y", download(y, n));
  print_sum("v", download(v, n));
}
