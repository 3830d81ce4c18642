// A program's own header: code in it is the program's, however deep it is inlined.
#pragma once

template <class F>
__device__ inline float apply(const float* p, int i, F f) {
  return f(p[i]);  // own header
}

struct Counter {
  int* at;
  __device__ void add(int n) { atomicAdd(at + threadIdx.x, n); }  // own atomic
};

__device__ inline float distance(float x, float y) { return sqrtf(fmaf(x, x, y * y)); }  // own math
