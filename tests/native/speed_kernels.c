// Kernels of the speed benchmark: arguments (in, out, rounds, block), 256 work-items a group.
#define KERNEL __attribute__((amdgpu_kernel, visibility("default")))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3), loader_uninitialized))

typedef unsigned int u32;

// Integer and float arithmetic, divergence, LDS, global loads and stores, in the proportions of an
// ordinary kernel.
static LOCAL float tile[256];
KERNEL void mixed(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), i = __builtin_amdgcn_workgroup_id_x() * block + t;
  float sum = 0, value = in[i];
  for (u32 k = 0; k < rounds; ++k) {
    tile[t] = value;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    const float neighbour = tile[(t + k + 1) & 255];
    __builtin_amdgcn_s_barrier();
    sum = __builtin_fmaf(neighbour, 1.0009765625f, sum) + value * 0.5f;
    if ((t ^ k) & 8) sum -= in[(i + k * 16) % block];
    value = value * 1.25f + (float)((t * 2654435761u + k) >> 20);
  }
  out[i] = sum + value;
}

// Registers only: the executor's ceiling.
KERNEL void registers(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  float a = in[i], b = a + 1, c = a + 2, d = a + 3;
  for (u32 k = 0; k < rounds * 16; ++k) {
    a = __builtin_fmaf(a, 0.999f, b);
    b = __builtin_fmaf(b, 0.998f, c);
    c = __builtin_fmaf(c, 0.997f, d);
    d = __builtin_fmaf(d, 0.996f, a);
  }
  out[i] = a + b + c + d;
}

// One load and one store per work-item: launch and memory overhead.
KERNEL void copy(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  out[i] = in[i];
}
