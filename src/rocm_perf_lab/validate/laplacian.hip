// A 7-point Laplacian in double on a cube, one element per thread: published with its time and its
// traffic on one die of an MI250X. laplacian SIDE LAUNCHES
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "hip_check.h"

__global__ void __launch_bounds__(256) laplacian(double* out, const double* in, int side, double next, double centre) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = blockIdx.y, z = blockIdx.z;
  if (x == 0 || y == 0 || z == 0 || x >= side - 1 || y >= side - 1 || z >= side - 1) return;
  const size_t row = side, plane = row * side, at = x + row * y + plane * z;
  out[at] = centre * in[at] +
            next * (in[at - 1] + in[at + 1] + in[at - row] + in[at + row] + in[at - plane] + in[at + plane]);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int side = std::atoi(argv[1]), launches = std::atoi(argv[2]);
  const size_t bytes = size_t(side) * side * side * sizeof(double);
  double *in = nullptr, *out = nullptr;
  CHECK(hipMalloc(&in, bytes));
  CHECK(hipMalloc(&out, bytes));
  for (int i = 0; i < launches; ++i)
    laplacian<<<dim3((side + 255) / 256, side, side), 256>>>(out, in, side, 1.0, -6.0);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  return 0;
}
