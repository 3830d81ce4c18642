// A bias that every launch gives, and a mask that none does.
#include "buffers.h"
__global__ void masked(const float* in, const float* bias, const unsigned char* mask, float* out, int n, float p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile const float* v = in;
  float x = 0;
  for (int r = 0; r < 16; ++r) x = v[i];
  if (bias) x += bias[i];
  if (mask && mask[i]) x = 0.0f;
  out[i] = x * p;
}
int main() {
  const int n = 1000;
  float* in = upload(pattern<float>(n, 997, 0.25f, -3.0f)); float* bias = upload(pattern<float>(n, 97, 0.5f, 1.0f));
  float* out = upload(std::vector<float>(n));
  masked<<<8, 128>>>(in, bias, nullptr, out, n, 0.5f);
  print_sum("masked", download(out, n));
  masked<<<7, 128>>>(in, bias, nullptr, out, n - 150, 0.75f);
  must(hipDeviceSynchronize());
  print_sum("masked", download(out, n));
}
