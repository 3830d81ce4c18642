// Streams of 16-byte loads and stores, as fast as memory takes them; for the probes and for the tests of the model.
#pragma once
#include <hip/hip_runtime.h>

__global__ void reads(const float4* in, float4* out, size_t n) {
  float4 sum{0, 0, 0, 0};
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    float4 v = in[i];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  if (sum.x == 12345.0f) out[0] = sum;
}

__global__ void writes(float4* out, size_t n) {
  const float value = float(threadIdx.x);
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
    out[i] = {value, value, value, value};
}
