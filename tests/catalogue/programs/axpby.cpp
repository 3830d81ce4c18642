// Two vectors added in place, eight times over.
#include "buffers.h"

__global__ void axpby(float a, const float* x, float b, float* y, int n) {
  const volatile float* from = x;
  volatile float* to = y;
  int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    float old = to[i];
    for (int again = 0; again < 8; ++again) to[i] = a * from[i] - b * old;
  }
}

int main() {
  const int n = 16381;
  float* x = upload(pattern<float>(n, 1009, 0.25f, -3.0f));
  float* y = upload(pattern<float>(n, 503, 0.5f, 7.0f));
  axpby<<<4, 64>>>(2.5f, x, 0.75f, y, n);
  print_sum("axpby", download(y, n));
  axpby<<<3, 128>>>(-1.0f, x + 1, 3.0f, y + 2, 5000);
  must(hipDeviceSynchronize());
  print_sum("axpby", download(y, n));
}
