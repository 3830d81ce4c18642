// Many systems of two equations; one without an answer has noughts and a flag.
#include "buffers.h"

__global__ void solvetwo(const float* a, const float* b, float* x, int* flags, int n, int transposed) {
  const volatile float* from = a;
  const volatile float* right = b;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    double x0 = 0.0, x1 = 0.0;
    int bad = 0;
    for (int again = 0; again < 5; ++again) {
      double p = from[e * 4], q = from[e * 4 + 1], r = from[e * 4 + 2], s = from[e * 4 + 3];
      if (transposed) {
        double t = q;
        q = r;
        r = t;
      }
      double u = right[e * 2], v = right[e * 2 + 1], det = p * s - q * r;
      bad = det == 0.0;
      x0 = bad ? 0.0 : (u * s - q * v) / det;
      x1 = bad ? 0.0 : (p * v - u * r) / det;
    }
    x[e * 2] = (float)x0;
    x[e * 2 + 1] = (float)x1;
    flags[e] = bad;
  }
}

int main() {
  const int n = 2000;
  float* a = upload(pattern<float>(n * 4, 1009, 0.01f, 1.0f));
  float* b = upload(pattern<float>(n * 2, 503, 0.02f, 1.0f));
  float* x = upload(std::vector<float>(n * 2, 0.0f));
  int* flags = upload(std::vector<int>(n, 0));
  solvetwo<<<16, 64>>>(a, b, x, flags, n, 0);
  print_sum("x", download(x, n * 2));
  print_sum("flags", download(flags, n));
  solvetwo<<<4, 128>>>(a + 4, b, x, flags, 1500, 1);
  must(hipDeviceSynchronize());
  print_sum("x", download(x, n * 2));
}
