// A convolution of images, as networks have it: strides, padding, dilation.
#include "buffers.h"

__global__ void conv(const float* in, const float* weights, float* out, int channels, int height, int width, int filters,
                     int tall, int wide, int stride_y, int stride_x, int pad_y, int pad_x, int dilation) {
  const volatile float *from = in, *by = weights;
  int oh = (height + 2 * pad_y - dilation * (tall - 1) - 1) / stride_y + 1;
  int ow = (width + 2 * pad_x - dilation * (wide - 1) - 1) / stride_x + 1;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, f = blockIdx.z;
  if (x >= ow || y >= oh || f >= filters) return;
  float sum = 0.0f;
  for (int c = 0; c < channels; ++c)
    for (int r = 0; r < tall; ++r)
      for (int s = 0; s < wide; ++s) {
        int iy = y * stride_y - pad_y + r * dilation, ix = x * stride_x - pad_x + s * dilation;
        if (iy < 0 || iy >= height || ix < 0 || ix >= width) continue;
        sum += from[(c * height + iy) * width + ix] * by[((f * channels + c) * tall + r) * wide + s];
      }
  out[(f * oh + y) * ow + x] = sum;
}

int main() {
  const int channels = 8, size = 24, filters = 4;
  float* in = upload(pattern<float>(channels * size * size, 1009, 0.01f, -5.0f));
  float* weights = upload(pattern<float>(filters * channels * 9, 509, 0.125f, -16.0f));
  float* out = upload(std::vector<float>(filters * size * size, 0.0f));
  conv<<<dim3(1, size, filters), 64>>>(in, weights, out, channels, size, size, filters, 3, 3, 1, 1, 1, 1, 1);
  print_sum("conv", download(out, filters * size * size));
  conv<<<dim3(1, 12, 2), 64>>>(in, weights, out, 4, 12, 12, 2, 3, 3, 1, 1, 1, 1, 1);
  must(hipDeviceSynchronize());
  print_sum("conv", download(out, filters * size * size));
}
