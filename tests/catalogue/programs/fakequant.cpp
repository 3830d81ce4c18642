// Numbers to steps and back: small ones are nought, others rounded to even, cut off.
#include "buffers.h"

__global__ void fakequant(const float* in, float* out, int n, float inverse, float scale, float limit, int zero) {
  const volatile float* from = in;
  volatile float* to = out;
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    for (int again = 0; again < 8; ++again) {
      float x = from[i], q = rintf(x * inverse) + zero;
      q = q < -128.0f ? -128.0f : q > 127.0f ? 127.0f : q;
      float y = (q - zero) * scale;
      to[i] = fabsf(x) >= limit ? y : 0.0f;
    }
  }
}

int main() {
  const int n = 8192;
  float* in = upload(pattern<float>(n, 1009, 0.3701f, -180.13f));
  float* out = upload(std::vector<float>(n, 0.0f));
  fakequant<<<4, 64>>>(in, out, n, 2.0f, 0.5f, 1.75f, 0);
  print_sum("fakequant", download(out, n));
  fakequant<<<3, 128>>>(in, out, 3000, 4.0f, 0.25f, 0.75f, 0);
  must(hipDeviceSynchronize());
  print_sum("fakequant", download(out, n));
}
