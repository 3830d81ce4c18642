// A 5 x 5 convolution of an image, one thread per pixel: as benchmark suites have it.
#include "../../../examples/check.h"

#include <algorithm>

constexpr int kRadius = 2, kSide = 2 * kRadius + 1;

__global__ void convolve(const float* image, const float* filter, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
  for (int dy = -kRadius; dy <= kRadius; ++dy) {
    for (int dx = -kRadius; dx <= kRadius; ++dx) {
      int px = min(max(x + dx, 0), width - 1), py = min(max(y + dy, 0), height - 1);
      sum += image[py * width + px] * filter[(dy + kRadius) * kSide + dx + kRadius];
    }
  }
  out[y * width + x] = sum;
}

int main() {
  const int width = 256, height = 128;
  Random random(7);
  std::vector<float> image = random.values(width * height), filter = random.values(kSide * kSide);
  std::vector<double> want(width * height, 0.0);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int dy = -kRadius; dy <= kRadius; ++dy)
        for (int dx = -kRadius; dx <= kRadius; ++dx) {
          int px = std::min(std::max(x + dx, 0), width - 1), py = std::min(std::max(y + dy, 0), height - 1);
          want[y * width + x] += static_cast<double>(image[py * width + px]) *
                                 filter[(dy + kRadius) * kSide + dx + kRadius];
        }
  Buffer<float> in(image), f(filter), out(width * height);
  convolve<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(in, f, out, width, height);
  HIP_CHECK(hipGetLastError());
  return verdict("convolution", max_error(out.download(), want), 1e-4);
}
