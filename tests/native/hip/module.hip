#include <hip/hip_runtime.h>
__device__ int factor = 3;
extern "C" __global__ void triple(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= factor;
}
