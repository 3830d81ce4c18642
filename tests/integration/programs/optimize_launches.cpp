// A template launched as two instances, in several shapes, with several scalars, once in place; it
// prints a sum and writes the last row to a file, with the time of day beside it.
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <vector>

template <int STEP>
__global__ void blend(const float* in, float* out, int rows, int columns, float factor) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) {
    sum += in[row * columns + c] * STEP;
  }
  for (int c = 0; c < columns; ++c) {
    out[row * columns + c] = sum * factor;
  }
}

int main() {
  const int rows = 256, columns = 96;
  std::vector<float> host(rows * columns), result(rows * columns);
  for (size_t i = 0; i < host.size(); ++i) host[i] = float(i % 17) * 0.0625f;
  float *in, *out;
  const size_t bytes = host.size() * sizeof(float);
  if (hipMalloc(&in, bytes) || hipMalloc(&out, bytes)) return 2;
  (void)hipMemcpy(in, host.data(), bytes, hipMemcpyHostToDevice);
  (void)hipMemset(out, 0, bytes);
  for (int i = 0; i < 4; ++i) blend<1><<<rows / 64, 64>>>(in, out, rows, columns, 0.5f);
  blend<1><<<rows / 128, 128>>>(in, out, rows - 3, columns - 1, 0.25f);
  blend<2><<<rows / 64, 64>>>(in, out, rows / 2, columns, 0.5f);
  (void)hipMemcpy(result.data(), out, bytes, hipMemcpyDeviceToHost);
  double sum = 0;
  for (float v : result) sum += v;
  std::printf("sum %.4f\n", sum);
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  std::printf("printed at %lld\n", static_cast<long long>(now));
  if (FILE* file = std::fopen("last.txt", "w")) {
    for (int c = 0; c < columns; ++c) std::fprintf(file, "%.6f\n", result[(rows - 1) * columns + c]);
    std::fclose(file);
  }
  return 0;
}
