// A function given by points, straight between them, held or continued past the ends.
#include "buffers.h"

__global__ void lerptab(const float* xs, const float* ys, int n, const float* at, float* out, int count, int extend) {
  const volatile float* knots = xs;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += step) {
    float v = 0.0f;
    for (int again = 0; again < 4; ++again) {
      float x = at[e];
      if (n == 1) {
        v = ys[0];
      } else {
        int seg = 0;
        for (int i = 1; i < n - 1; ++i)
          if (x >= knots[i]) seg = i;
        float x0 = knots[seg], x1 = knots[seg + 1], y0 = ys[seg], y1 = ys[seg + 1];
        if (!extend && x <= knots[0]) v = ys[0];
        else if (!extend && x >= knots[n - 1]) v = ys[n - 1];
        else if (x1 == x0) v = y1;
        else v = y0 + (x - x0) / (x1 - x0) * (y1 - y0);
      }
    }
    out[e] = v;
  }
}

int main() {
  const int n = 40, count = 3000;
  std::vector<float> points(n);
  for (int i = 0; i < n; ++i) points[i] = 0.25f * i;
  float* xs = upload(points);
  float* ys = upload(pattern<float>(n, 31, 0.5f, -3.0f));
  float* at = upload(pattern<float>(count, 1999, 0.005f, 0.0f));
  float* out = upload(std::vector<float>(count, 0.0f));
  lerptab<<<20, 64>>>(xs, ys, n, at, out, count, 0);
  print_sum("held", download(out, count));
  lerptab<<<5, 128>>>(xs + 5, ys, 20, at, out, 2000, 1);
  must(hipDeviceSynchronize());
  print_sum("continued", download(out, count));
}
