// Rows of a table by number; a negative number is padding, a row of noughts.
#include "buffers.h"

__global__ void embed(const float* table, const int* ids, float* out, int count, int dim, int base, float scale) {
  const volatile float* from = table;
  volatile float* to = out;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < count * dim; e += step) {
    for (int again = 0; again < 8; ++again) {
      int row = e / dim, d = e - row * dim, id = ids[row];
      to[e] = id < 0 ? 0.0f : from[(id - base) * dim + d] * scale;
    }
  }
}

int main() {
  const int words = 200, dim = 24, count = 250;
  float* table = upload(pattern<float>(words * dim, 1009, 0.01f, -5.0f));
  std::vector<int> x(count);
  for (int i = 0; i < count; ++i) x[i] = i * 7919 % words;
  int* ids = upload(x);
  float* out = upload(std::vector<float>(count * dim, 0.0f));
  embed<<<16, 64>>>(table, ids, out, count, dim, 0, 0.5f);
  print_sum("embed", download(out, count * dim));
  embed<<<6, 128>>>(table, ids + 10, out, 100, dim, 0, 2.0f);
  must(hipDeviceSynchronize());
  print_sum("embed", download(out, count * dim));
}
