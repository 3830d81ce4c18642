// A picture of bytes made larger or smaller by two-way interpolation in whole numbers.
#include "buffers.h"

__global__ void resize(const unsigned char* in, unsigned char* out, int iw, int ih, int ow, int oh, int channels, int corners) {
  const volatile unsigned char* from = in;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < ow * oh * channels; e += step) {
    int v = 0;
    for (int again = 0; again < 5; ++again) {
      int c = e % channels, x = e / channels % ow, y = e / channels / ow;
      int fx = corners ? (ow > 1 ? x * (iw - 1) * 256 / (ow - 1) : 0) : (2 * x + 1) * iw * 128 / ow - 128;
      int fy = corners ? (oh > 1 ? y * (ih - 1) * 256 / (oh - 1) : 0) : (2 * y + 1) * ih * 128 / oh - 128;
      fx = min(max(fx, 0), (iw - 1) * 256);
      fy = min(max(fy, 0), (ih - 1) * 256);
      int x0 = fx >> 8, y0 = fy >> 8, x1 = min(x0 + 1, iw - 1), y1 = min(y0 + 1, ih - 1), ax = fx & 255, ay = fy & 255;
      v = (256 - ay) * ((256 - ax) * from[(y0 * iw + x0) * channels + c] + ax * from[(y0 * iw + x1) * channels + c]) +
          ay * ((256 - ax) * from[(y1 * iw + x0) * channels + c] + ax * from[(y1 * iw + x1) * channels + c]);
    }
    out[e] = (v + 32768) >> 16;
  }
}

int main() {
  const int iw = 40, ih = 30;
  std::vector<unsigned char> picture(iw * ih * 4);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = i * 7919 % 251;
  unsigned char* in = upload(picture);
  unsigned char* out = upload(std::vector<unsigned char>(60 * 45 * 4, 0));
  resize<<<30, 64>>>(in, out, iw, ih, 60, 45, 3, 0);
  print_sum("larger", download(out, 60 * 45 * 4));
  resize<<<9, 128>>>(in, out, iw, ih, 25, 21, 4, 1);
  must(hipDeviceSynchronize());
  print_sum("smaller", download(out, 60 * 45 * 4));
}
