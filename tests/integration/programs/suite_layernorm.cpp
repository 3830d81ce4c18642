// Layer normalisation, one thread per row, two passes over the row: as benchmark suites have it.
#include "../../../examples/check.h"

__global__ void layernorm(const float* in, const float* gain, const float* bias, float* out, int rows,
                          int width) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* x = in + static_cast<size_t>(row) * width;
  float* y = out + static_cast<size_t>(row) * width;
  float mean = 0.0f, square = 0.0f;
  for (int i = 0; i < width; ++i) mean += x[i];
  mean /= width;
  for (int i = 0; i < width; ++i) square += (x[i] - mean) * (x[i] - mean);
  float deviation = sqrtf(square / width + 1e-5f);
  for (int i = 0; i < width; ++i) y[i] = (x[i] - mean) / deviation * gain[i] + bias[i];
}

int main() {
  const int rows = 512, width = 256;
  Random random(5);
  std::vector<float> x = random.values(rows * width, -2.0f, 2.0f), gain = random.values(width),
                     bias = random.values(width);
  std::vector<double> want(rows * width);
  for (int r = 0; r < rows; ++r) {
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < width; ++i) mean += x[r * width + i] / width;
    for (int i = 0; i < width; ++i) square += (x[r * width + i] - mean) * (x[r * width + i] - mean);
    for (int i = 0; i < width; ++i)
      want[r * width + i] = (x[r * width + i] - mean) / std::sqrt(square / width + 1e-5) * gain[i] + bias[i];
  }
  Buffer<float> in(x), g(gain), b(bias), out(rows * width);
  layernorm<<<divide_up(rows, 64), 64>>>(in, g, b, out, rows, width);
  HIP_CHECK(hipGetLastError());
  return verdict("layernorm", max_error(out.download(), want), 1e-4);
}
