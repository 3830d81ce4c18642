// A copy that writes everything eight times over.
#include "buffers.h"

__global__ void copy(const float* in, float* out, int n) {
  const volatile float* from = in;
  volatile float* to = out;
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    for (int again = 0; again < 8; ++again) to[i] = from[i];
  }
}

int main() {
  const int n = 16381;
  std::vector<float> x = pattern<float>(n, 1009, 0.25f, -3.0f);
  float *in = upload(x), *out = upload(std::vector<float>(n, 0.0f));
  copy<<<4, 64>>>(in, out, n);
  copy<<<3, 128>>>(in + 3, out + 1, 5000);
  must(hipDeviceSynchronize());
  print_sum("copy", download(out, n));
}
