// Sums or means of the segments of a list of doubles; an empty one has nought.
#include "buffers.h"

__global__ void segsum(const double* values, const int* offsets, double* sums, int segments, int mean) {
  const volatile double* from = values;
  int step = gridDim.x * blockDim.x;
  for (int s = blockIdx.x * blockDim.x + threadIdx.x; s < segments; s += step) {
    int begin = offsets[s], end = offsets[s + 1];
    double sum = 0.0;
    for (int again = 0; again < 6; ++again) {
      sum = 0.0;
      for (int i = begin; i < end; ++i) sum += from[i];
    }
    sums[s] = mean && end > begin ? sum / (end - begin) : sum;
  }
}

int main() {
  const int segments = 300;
  std::vector<int> o(segments + 1, 0);
  for (int i = 0; i < segments; ++i) o[i + 1] = o[i] + 2 + i * 2 % 30;
  double* values = upload(pattern<double>(o[segments], 512, 0.25, 1.0));
  int* offsets = upload(o);
  double* sums = upload(std::vector<double>(segments, 0.0));
  segsum<<<5, 64>>>(values, offsets, sums, segments, 0);
  print_sum("sums", download(sums, segments));
  segsum<<<1, 128>>>(values, offsets, sums, 200, 1);
  must(hipDeviceSynchronize());
  print_sum("sums", download(sums, segments));
}
