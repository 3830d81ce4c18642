// Numbers to signed bytes: scaled, rounded to even, cut off; small ones are nought. Eight times over.
#include "buffers.h"

__global__ void quantise(const float* in, signed char* out, int n, float scale, float limit) {
  const volatile float* from = in;
  volatile signed char* to = out;
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    for (int again = 0; again < 8; ++again) {
      float x = from[i], r = rintf(x * scale);
      if (!(r > -128.0f)) r = -128.0f;
      if (r > 127.0f) r = 127.0f;
      if (fabsf(x) < limit) r = 0.0f;
      to[i] = static_cast<signed char>(static_cast<int>(r));
    }
  }
}

int main() {
  const int n = 8190;
  float* in = upload(pattern<float>(n, 1009, 0.3701f, -180.13f));
  signed char* out = upload(std::vector<signed char>(n, 0));
  quantise<<<4, 64>>>(in, out, n, 0.5f, 1.7f);
  print_sum("quantise", download(out, n));
  quantise<<<3, 128>>>(in + 3, out + 1, 3000, 0.25f, 0.9f);
  must(hipDeviceSynchronize());
  print_sum("quantise", download(out, n));
}
