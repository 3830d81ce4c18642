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

// ---- kinds of kernels that real programs spend their time in

static u32 rotated(u32 x, u32 by) { return __builtin_rotateleft32(x, by); }

// A hash: integers only.
KERNEL void hashing(GLOBAL const u32* in, GLOBAL u32* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  u32 a = in[i] + i, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
  for (u32 k = 0; k < rounds * 4; ++k) {
    a = b + rotated(a + ((b & c) | (~b & d)) + k * 0x9e3779b9u, 7);
    d = a + rotated(d + ((a & b) | (~a & c)) + 0xe8c7b756u, 12);
    c = d + rotated(c + ((d & a) | (~d & b)) + 0x242070dbu, 17);
    b = c + rotated(b + (c ^ d ^ a) + 0xc1bdceeeu, 22);
  }
  out[i] = a ^ b ^ c ^ d;
}

// A row times a column: two loads for each product.
KERNEL void product(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x();
  const u32 x = t & 63, y = (t >> 6) + 4 * (g & 15);
  float sum = 0;
  for (u32 k = 0; k < rounds * 4; ++k) sum = __builtin_fmaf(in[y * 256 + k], in[k * 64 + x], sum);
  out[g * block + t] = sum;
}

// The same by tiles of 16 x 16 in LDS.
static LOCAL float left[16][16], right[16][16];
KERNEL void tiled(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), g = __builtin_amdgcn_workgroup_id_x(), x = t & 15, y = t >> 4;
  float sum = 0;
  for (u32 k = 0; k < rounds / 4; ++k) {
    left[y][x] = in[(y * 256 + k * 16 + x) & 65535];
    right[y][x] = in[((k * 16 + y) * 64 + x + g) & 65535];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    for (u32 n = 0; n < 16; ++n) sum = __builtin_fmaf(left[y][n], right[n][x], sum);
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
  }
  out[g * block + t] = sum;
}

// Five points of a grid, in doubles.
KERNEL void stencil(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), i = __builtin_amdgcn_workgroup_id_x() * block + t;
  GLOBAL const double* grid = (GLOBAL const double*)in;
  double sum = 0;
  for (u32 k = 1; k <= rounds; ++k) {
    const u32 at = 256 * k + t;
    sum += grid[at] * 0.5 + (grid[at - 1] + grid[at + 1] + grid[at - 256] + grid[at + 256]) * 0.125;
  }
  out[i] = (float)sum;
}

// Forces between bodies: a reciprocal square root for each.
KERNEL void bodies(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  const float x = in[i], y = in[i ^ 1], z = in[i ^ 2];
  float fx = 0, fy = 0, fz = 0;
  for (u32 k = 0; k < rounds * 2; ++k) {
    const float dx = in[4 * k] - x, dy = in[4 * k + 1] - y, dz = in[4 * k + 2] - z;
    const float r = __builtin_amdgcn_rsqf(dx * dx + dy * dy + dz * dz + 0.01f), f = r * r * r;
    fx += dx * f, fy += dy * f, fz += dz * f;
  }
  out[i] = fx + fy + fz;
}

// Divisions of doubles, each needing the last.
KERNEL void divisions(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  double a = in[i] + 1.5, b = 0.75 + i;
  for (u32 k = 0; k < rounds; ++k) a = b / (a + 1.0) + 0.5, b = a / (b * 0.25 + 1.0);
  out[i] = (float)(a + b);
}

// Every lane has its own number of rounds.
KERNEL void divergent(GLOBAL const u32* in, GLOBAL u32* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  u32 steps = 0;
  for (u32 k = 0; k < rounds / 8; ++k) {
    u32 n = (i * 2654435761u >> 16) + k + in[i];
    while (n > 1 && steps < 100000) n = n & 1 ? 3 * n + 1 : n / 2, ++steps;
  }
  out[i] = steps;
}

// Each load's address is what the last one gave.
KERNEL void gather(GLOBAL const u32* in, GLOBAL u32* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  u32 at = i;
  for (u32 k = 0; k < rounds * 2; ++k) at = (at * 1664525u + in[at & 0xffff] + 1013904223u) >> 3;
  out[i] = at;
}

// Counts in LDS, then in memory.
static LOCAL u32 bins[256];
KERNEL void counting(GLOBAL const u32* in, GLOBAL u32* out, u32 rounds, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), i = __builtin_amdgcn_workgroup_id_x() * block + t;
  bins[t] = 0;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  u32 state = i + in[i];
  for (u32 k = 0; k < rounds * 2; ++k) {
    state = state * 1664525u + 1013904223u;
    __atomic_fetch_add(&bins[state >> 24], 1, __ATOMIC_RELAXED);
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __atomic_fetch_add(&out[t], bins[t], __ATOMIC_RELAXED);
}

// Sums over a wave by exchanging lanes.
KERNEL void lanes(GLOBAL const u32* in, GLOBAL u32* out, u32 rounds, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), i = __builtin_amdgcn_workgroup_id_x() * block + t;
  u32 value = in[i] + i;
  for (u32 k = 0; k < rounds; ++k) {
    for (u32 step = 1; step < 64; step *= 2)
      value += (u32)__builtin_amdgcn_ds_bpermute((int)((t ^ step) * 4), (int)value);
    value = value * 3 + (u32)__builtin_amdgcn_readfirstlane((int)value);
  }
  out[i] = value;
}

// Matrix instructions.
typedef float float4 __attribute__((ext_vector_type(4)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
KERNEL void matrices(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  const float v = in[i];
  const half4 a = {(_Float16)v, (_Float16)1.0f, (_Float16)0.5f, (_Float16)(v + 1)}, b = {a[3], a[2], a[1], a[0]};
  float4 c = {0, 0, 0, 0};
  for (u32 k = 0; k < rounds * 2; ++k) c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
  out[i] = c[0] + c[1] + c[2] + c[3];
}

// Random numbers, logarithms, sines and exponentials.
KERNEL void random(GLOBAL const u32* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  u32 state = i * 747796405u + in[i];
  float sum = 0;
  for (u32 k = 0; k < rounds; ++k) {
    state = state * 1664525u + 1013904223u;
    const float u = (float)(state >> 8) * 0x1p-24f + 0x1p-25f;
    state = state * 1664525u + 1013904223u;
    const float v = (float)(state >> 8) * 0x1p-24f;
    const float normal = __builtin_amdgcn_sqrtf(-1.3862943f * __builtin_amdgcn_logf(u)) * __builtin_amdgcn_sinf(v);
    sum += __builtin_amdgcn_exp2f(0.3f * normal);
  }
  out[i] = sum;
}

// Halves, two at a time.
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
KERNEL void halves(GLOBAL const float* in, GLOBAL float* out, u32 rounds, u32 block) {
  const u32 i = __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x();
  half2 a = {(_Float16)in[i], (_Float16)0.5f}, b = {(_Float16)0.25f, (_Float16)1.0f};
  for (u32 k = 0; k < rounds * 4; ++k) a = a * b + (half2){(_Float16)0.125f, (_Float16)0.75f}, b = b * a - a;
  out[i] = (float)a[0] + (float)b[1];
}
