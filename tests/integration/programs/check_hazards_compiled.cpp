// What the compiler itself puts wait states into, a kernel for each kind: tests take them out.
#include <hip/hip_runtime.h>

#include <cstdio>

#include "planted.h"

typedef _Float16 FourHalves __attribute__((ext_vector_type(4)));

__device__ inline FourHalves halves(int n) { return {_Float16(n), 1, 2, 3}; }

__global__ void matrix_to_vector(Buffers b) {
  Four d = {};
  d = __builtin_amdgcn_mfma_f32_16x16x16f16(halves(place()), halves(1), d, 0, 0, 0);
  b.out[place()] = int(d.x * 3 + d.y);
}

__global__ void large_matrix_to_vector(Buffers b) {
  Sixteen d = {};
  d = __builtin_amdgcn_mfma_f32_32x32x8f16(halves(place()), halves(1), d, 0, 0, 0);
  b.out[place()] = int(d[3] * 3 + d[7]);
}

__global__ void small_matrix_to_memory(Buffers b) {
  Four d = {};
  d = __builtin_amdgcn_mfma_f32_4x4x4f16(halves(place()), halves(1), d, 0, 0, 0);
  *(Four*)(b.more + 4 * place()) = d;
}

__global__ void matrix_f32_to_vector(Buffers b) {
  Four d = {};
  d = __builtin_amdgcn_mfma_f32_16x16x4f32(float(place()), 1, d, 0, 0, 0);
  b.out[place()] = int(d.x * 3 + d.y);
}

__global__ void matrix_to_matrix(Buffers b) {
  Four d = {}, e = {};
  d = __builtin_amdgcn_mfma_f32_16x16x4f32(float(place()), 1, d, 0, 0, 0);
  e = __builtin_amdgcn_mfma_f32_16x16x4f32(d.x, d.y, e, 0, 0, 0);
  b.out[place()] = int(e.x);
}

__global__ void doubles_to_vector(Buffers b) {
  FourDoubles d = {};
  d = __builtin_amdgcn_mfma_f64_16x16x4f64(double(place()), 1, d, 0, 0, 0);
  b.out[place()] = int(d.x * 3 + d.y);
}

__global__ void doubles_to_memory(Buffers b) {
  FourDoubles d = {};
  d = __builtin_amdgcn_mfma_f64_16x16x4f64(double(place()), 1, d, 0, 0, 0);
  *(FourDoubles*)(b.more + 8 * (place() % kThreads)) = d;
}

__global__ void small_doubles_to_vector(Buffers b) {
  double d = __builtin_amdgcn_mfma_f64_4x4x4f64(double(place()), 1, 0, 0, 0, 0);
  b.out[place()] = int(d * 3);
}

__global__ void vector_to_dpp(Buffers b) {
  const int n = b.in[place()] * 3;
  b.out[place()] = __builtin_amdgcn_update_dpp(n, n + 1, 0x111, 0xf, 0xf, false);
}

__global__ void divided(Buffers b) { b.out[place()] = int(3.0f / float(b.in[place()])); }

__global__ void divided_doubles(Buffers b) { b.out[place()] = int(3.0 / double(b.in[place()])); }

__global__ void scalar_to_lane(Buffers b) {
  const int n = b.in[place()];
  b.out[place()] = __builtin_amdgcn_readlane(n, __builtin_amdgcn_readfirstlane(n) & 63);
}

__global__ void transcendental(Buffers b) {
  const float x = __builtin_amdgcn_rcpf(float(b.in[place()]));
  b.out[place()] = int(x + 3);
}

__global__ void dot_to_vector(Buffers b) {
#ifdef __HIP_DEVICE_COMPILE__
  b.out[place()] = __builtin_amdgcn_sdot4(b.in[place()], 77, 3, false) * 5;
#endif
}

int main() {
  Memory memory;
  memory.run({matrix_to_vector, large_matrix_to_vector, small_matrix_to_memory, matrix_f32_to_vector, matrix_to_matrix,
              doubles_to_vector, doubles_to_memory, small_doubles_to_vector, vector_to_dpp, divided, divided_doubles,
              scalar_to_lane, transcendental, dot_to_vector});
  std::puts("done");
}
