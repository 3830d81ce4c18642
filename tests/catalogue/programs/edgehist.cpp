// Weights counted in bins with given edges; the last bin takes its upper edge too, and outliers may be kept.
#include "buffers.h"

__global__ void edgehist(const float* x, const int* weights, const float* edges, int* counts, int n, int bins, int outer) {
  const volatile float* from = x;
  const volatile float* limits = edges;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < n; e += step) {
    for (int again = 0; again < 5; ++again) {
      float v = from[e];
      int w = weights ? weights[e] : 1;
      for (int b = 0; b < bins; ++b) {
        float low = limits[b], high = limits[b + 1];
        bool in = v >= low && (v < high || (b == bins - 1 && v == high));
        if (in && again == 4) atomicAdd(&counts[b], w);
      }
      if (outer && again == 4) {
        if (v < limits[0]) atomicAdd(&counts[bins], w);
        if (v > limits[bins]) atomicAdd(&counts[bins + 1], w);
      }
    }
  }
}

int main() {
  const int n = 3000, bins = 16;
  std::vector<float> limits(bins + 1);
  for (int i = 0; i <= bins; ++i) limits[i] = 0.5f * i;
  std::vector<int> held(n);
  for (int i = 0; i < n; ++i) held[i] = i % 7 + 1;
  float* x = upload(pattern<float>(n, 801, 0.01f, -0.005f));
  int* weights = upload(held);
  float* edges = upload(limits);
  int* counts = upload(std::vector<int>(bins + 2, 0));
  edgehist<<<16, 64>>>(x, weights, edges, counts, n, bins, 0);
  print_sum("counts", download(counts, bins + 2));
  edgehist<<<4, 128>>>(x + 20, nullptr, edges + 2, counts, 2000, 12, 1);
  must(hipDeviceSynchronize());
  print_sum("counts", download(counts, bins + 2));
}
