// Where the last of the largest of each row is, and how many values are as large.
#include "buffers.h"

__global__ void lastmax(const float* in, int* where, long long* sums, const long long* amounts, int columns, int pitch) {
  const volatile float* from = in + blockIdx.x * pitch;
  const volatile long long* of = amounts + blockIdx.x * pitch;
  if (threadIdx.x == 0) {
    int best = -1;
    float most = -INFINITY;
    long long sum = 0;
    for (int c = 0; c < columns; ++c) {
      float v = from[c];
      sum += of[c];
      if (v >= most) { most = v; best = c; }
    }
    where[blockIdx.x] = best;
    sums[blockIdx.x] = sum;
  }
}

int main() {
  const int rows = 24, pitch = 320;
  float* in = upload(pattern<float>(rows * pitch, 97, 0.125f, -6.0f));
  std::vector<long long> x(rows * pitch);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<long long>(i * 7919 % 200003) - 100000;
  long long *amounts = upload(x), *sums = upload(std::vector<long long>(rows, 0));
  int* where = upload(std::vector<int>(rows, 0));
  lastmax<<<rows, 256>>>(in, where, sums, amounts, 301, pitch);
  print_sum("lastmax", download(where, rows));
  print_sum("lastmax", download(sums, rows));
  lastmax<<<16, 256>>>(in, where, sums, amounts, 200, pitch);
  must(hipDeviceSynchronize());
  print_sum("lastmax", download(where, rows));
  print_sum("lastmax", download(sums, rows));
}
