// Rows that a table of pointers points to.
#include "buffers.h"
__global__ void batched(const float* const* a, float* const* out, const int* sizes, int batch) {
  int k = blockIdx.x;
  if (k >= batch) return;
  for (int i = threadIdx.x; i < sizes[k]; i += blockDim.x) {
    volatile const float* v = a[k];
    float x = 0;
    for (int r = 0; r < 16; ++r) x = v[i];
    out[k][i] = 2.0f * x + 1.0f;
  }
}
int main() {
  const int batch = 6;
  std::vector<const float*> a; std::vector<float*> out; std::vector<int> sizes;
  for (int k = 0; k < batch; ++k) {
    sizes.push_back(200 + 37 * k);
    a.push_back(upload(pattern<float>(sizes[k], 101 + k, 0.25f, 1.0f)));
    out.push_back(upload(std::vector<float>(sizes[k])));
  }
  auto da = upload(a); auto dout = upload(out); auto ds = upload(sizes);
  batched<<<batch, 128>>>(da, dout, ds, batch);
  print_sum("batched", download(out[2], sizes[2]));
  batched<<<batch, 64>>>(da, dout, ds, batch - 1);
  must(hipDeviceSynchronize());
  print_sum("batched", download(out[5], sizes[5]));
}
