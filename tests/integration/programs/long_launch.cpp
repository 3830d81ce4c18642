// One launch that takes a while, on the virtual GPU.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void counts(unsigned* out, unsigned rounds) {
  unsigned x = threadIdx.x + blockIdx.x;
  for (unsigned i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u + (x >> 9);
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main() {
  unsigned* out;
  if (hipMalloc(&out, 40 * 64 * sizeof *out)) return 1;
  counts<<<40, 64>>>(out, 50000);
  if (hipDeviceSynchronize()) return 1;
  puts("done");
}
