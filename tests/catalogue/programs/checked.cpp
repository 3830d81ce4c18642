// Values by index; an index that is none ends the program.
#include "buffers.h"
__global__ void checked(const float* in, const int* at, float* out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile const int* v = at;
  int k = 0;
  for (int r = 0; r < 16; ++r) k = v[i];
  if (k < 0 || k >= m) __builtin_trap();
  out[i] = in[k] * 2.0f;
}
int main() {
  const int n = 1000, m = 400;
  float* in = upload(pattern<float>(4096, 997, 0.25f, -3.0f)); int* at = upload(pattern<int>(n, m, 1, 0)); float* out = upload(std::vector<float>(n));
  checked<<<8, 128>>>(in, at, out, n, m);
  print_sum("checked", download(out, n));
  checked<<<7, 128>>>(in, at, out, n - 150, m);
  must(hipDeviceSynchronize());
  print_sum("checked", download(out, n));
}
