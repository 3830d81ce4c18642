// One kernel, launched with buffers of their own, and once more on one buffer shifted by an element,
// where each row is a running sum. A promise that buffers never overlap is wrong for that launch.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

__global__ void add_scaled(const float* in, float* out, int rows, int columns, float factor) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* from = in + row * columns;
  float* to = out + row * columns;
  for (int c = 0; c < columns - 1; ++c) to[c] = to[c] + from[c] * factor;
}

int main() {
  const int rows = 128, columns = 256;
  std::vector<float> host(rows * columns), result(rows * columns);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 13) * 0.125f;
  float *in, *out;
  const size_t bytes = host.size() * sizeof(float);
  if (hipMalloc(&in, bytes) || hipMalloc(&out, bytes)) return 2;
  (void)hipMemcpy(in, host.data(), bytes, hipMemcpyHostToDevice);
  (void)hipMemset(out, 0, bytes);
  for (int i = 0; i < 5; ++i) add_scaled<<<2, 64>>>(in, out, rows, columns, 0.5f);
  add_scaled<<<2, 64>>>(out, out + 1, rows, columns, 0.25f);
  (void)hipMemcpy(result.data(), out, bytes, hipMemcpyDeviceToHost);
  double sum = 0;
  for (float v : result) sum += v;
  std::printf("sum %.6f, last %.6f\n", sum, result[columns - 1]);
  return 0;
}
