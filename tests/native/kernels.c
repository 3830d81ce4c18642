// Device code of the HSA tests, compiled for each architecture and code object version:
//   clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -O2 -g ...
// Plain C, so that the tests rest on LLVM alone and not on our HIP headers.
#define KERNEL __attribute__((amdgpu_kernel, visibility("default")))
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3), loader_uninitialized))
#define LOCAL_POINTER __attribute__((address_space(3)))

typedef unsigned int u32;
typedef unsigned long long u64;

static u32 global_id(u32 block) { return __builtin_amdgcn_workgroup_id_x() * block + __builtin_amdgcn_workitem_id_x(); }

KERNEL void vector_add(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* c, u32 n, u32 block) {
  const u32 i = global_id(block);
  if (i < n) c[i] = a[i] + b[i];
}

// What a wave starts with, one record of eight words per work-item.
KERNEL void identify(GLOBAL u32* out, u32 width, u32 height) {
  __attribute__((address_space(4))) const void* packet = __builtin_amdgcn_dispatch_ptr();
  const u32 wx = *(__attribute__((address_space(4))) const unsigned short*)((__attribute__((address_space(4))) const char*)packet + 4);
  const u32 wy = *(__attribute__((address_space(4))) const unsigned short*)((__attribute__((address_space(4))) const char*)packet + 6);
  const u32 wz = *(__attribute__((address_space(4))) const unsigned short*)((__attribute__((address_space(4))) const char*)packet + 8);
  const u32 x = __builtin_amdgcn_workgroup_id_x() * wx + __builtin_amdgcn_workitem_id_x();
  const u32 y = __builtin_amdgcn_workgroup_id_y() * wy + __builtin_amdgcn_workitem_id_y();
  const u32 z = __builtin_amdgcn_workgroup_id_z() * wz + __builtin_amdgcn_workitem_id_z();
  GLOBAL u32* record = out + ((u64)(z * height + y) * width + x) * 8;
  record[0] = __builtin_amdgcn_workitem_id_x();
  record[1] = __builtin_amdgcn_workitem_id_y();
  record[2] = __builtin_amdgcn_workitem_id_z();
  record[3] = __builtin_amdgcn_workgroup_id_x();
  record[4] = __builtin_amdgcn_workgroup_id_y();
  record[5] = __builtin_amdgcn_workgroup_id_z();
  record[6] = wx | wy << 16;
  record[7] = wz + 1;
}

// Sums a block through LDS: barriers, static LDS, partial waves.
static LOCAL u32 shared_sum[1024];
KERNEL void block_sum(GLOBAL const u32* in, GLOBAL u32* out, u32 n, u32 block) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), i = global_id(block);
  shared_sum[t] = i < n ? in[i] : 0;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  for (u32 half = block / 2; half > 0; half /= 2) {
    if (t < half) shared_sum[t] += shared_sum[t + half];
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
    __builtin_amdgcn_s_barrier();
  }
  if (t == 0) out[__builtin_amdgcn_workgroup_id_x()] = shared_sum[0];
}

// Every workgroup waits for all the others, twice: a grid barrier.
KERNEL void grid_barrier(GLOBAL u32* arrived, GLOBAL u32* out, u32 groups, u32 sleep) {
  const u32 group = __builtin_amdgcn_workgroup_id_x();
  for (u32 round = 1; round <= 2; ++round) {
    if (__builtin_amdgcn_workitem_id_x() == 0) {
      __scoped_atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_DEVICE);
      while (__scoped_atomic_load_n(arrived, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) < groups * round)
        if (sleep) __builtin_amdgcn_s_sleep(1);
    }
    __builtin_amdgcn_s_barrier();
  }
  if (__builtin_amdgcn_workitem_id_x() == 0) out[group] = __scoped_atomic_load_n(arrived, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// Waves of one workgroup take turns under a lock in global memory.
KERNEL void spin_lock(GLOBAL u32* lock, GLOBAL u32* counter, u32 rounds) {
  if (__builtin_amdgcn_workitem_id_x() % 64 == 0) {
    for (u32 i = 0; i < rounds; ++i) {
      u32 free = 0;
      while (!__scoped_atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)) free = 0;
      *counter += 1;
      __scoped_atomic_store_n(lock, 0, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
    }
  }
}

// An array that does not fit into registers: private memory.
KERNEL void private_memory(GLOBAL const u32* in, GLOBAL u32* out, u32 n, u32 block) {
  const u32 i = global_id(block);
  volatile u32 table[64];
  for (u32 k = 0; k < 64; ++k) table[k] = in[(i + k) % n];
  u32 sum = 0;
  for (u32 k = 0; k < 64; ++k) sum = sum * 31 + table[(k * 7 + i) & 63];
  out[i] = sum;
}

// Globals: relocations, initial values, local symbols.
__attribute__((visibility("default"))) GLOBAL u32 device_counter = 7;
static GLOBAL u32 hidden_counter = 3;
GLOBAL u32* GLOBAL pointer_to_counter = &device_counter;
KERNEL void use_globals(GLOBAL u32* out) {
  out[0] = device_counter;
  out[1] = *pointer_to_counter;
  out[2] = hidden_counter;
  device_counter += 1;
  hidden_counter += 1;
}

// ---- faults ----------------------------------------------------------------------------------

KERNEL void store_at(GLOBAL u32* p, u64 bytes) { *(GLOBAL volatile u32*)((GLOBAL char*)p + bytes + 4 * __builtin_amdgcn_workitem_id_x()) = 1; }
KERNEL void load_at(GLOBAL u32* p, u64 bytes, GLOBAL u32* out) {
  out[0] = *(GLOBAL volatile u32*)((GLOBAL char*)p + bytes);
}
KERNEL void lds_past_end(GLOBAL u32* out, u32 index) {
  static LOCAL u32 small[16];
  small[__builtin_amdgcn_workitem_id_x() & 15] = index;
  out[0] = *(LOCAL_POINTER volatile u32*)(small + index);
}
KERNEL void trap(void) { __builtin_trap(); }
KERNEL void endless(GLOBAL volatile u32* p) {
  while (*p == 0) {}
}
KERNEL void skip_barrier(GLOBAL volatile u32* out) {
  if (__builtin_amdgcn_workitem_id_x() < 64) __builtin_amdgcn_s_barrier();
  out[__builtin_amdgcn_workitem_id_x()] = 1;
}
KERNEL void early_return(GLOBAL volatile u32* out, u32 n) {
  if (__builtin_amdgcn_workitem_id_x() >= n) return;
  out[__builtin_amdgcn_workitem_id_x()] = 1;
  __builtin_amdgcn_s_barrier();
  out[__builtin_amdgcn_workitem_id_x()] += 1;
}
// Waves of a workgroup leave a loop of barriers one after the other, having stored in every round.
KERNEL void uneven_rounds(GLOBAL volatile u32* out) {
  const u32 t = __builtin_amdgcn_workitem_id_x();
  for (u32 round = 0; round <= t / 64; ++round) {
    out[t] += 1;
    __builtin_amdgcn_s_barrier();
    out[t] += 1;
  }
}
// Work-items past the end fill their part of the LDS and return before the others' barrier.
KERNEL void return_after_lds(GLOBAL u32* out, u32 n) {
  const u32 t = __builtin_amdgcn_workitem_id_x();
  *(volatile LOCAL u32*)&shared_sum[t] = t;
  if (t >= n) return;
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  __builtin_amdgcn_s_barrier();
  out[t] = shared_sum[n - 1 - t];
}
KERNEL void unknown_instruction(void) { __asm__ volatile(".long 0xfffffffe"); }

// model_laws: workgroups that differ in length (variation: not, growing, one in 16, by their place), with or
// without LDS, reading `stride` words apart, the lanes of a wave alike or not.
static LOCAL float shaped_tile[512];
KERNEL void shaped(GLOBAL const float* in, GLOBAL float* out, u32 words, u32 turns, u32 variation, u32 lds, u32 stride,
                   u32 divergent) {
  const u32 t = __builtin_amdgcn_workitem_id_x(), group = __builtin_amdgcn_workgroup_id_x(),
            i = (group * 512 + t) & (words - 1);
  u32 count = turns;
  if (variation == 1) count = turns * (group & 1023) / 512;
  if (variation == 2) count = group % 16 == 5 ? turns * 4 : turns;
  if (variation == 3) count = turns + (group * 2654435761u >> 29);
  if (divergent) count += t % 5;
  float value = in[i];
  for (u32 k = 0; k < count; ++k) value = value * 1.25f + in[(i * stride + k * 4096) & (words - 1)];
  if (lds) {
    shaped_tile[t & 511] = value;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    value += shaped_tile[(t * stride + 1) & 511];
  }
  out[i] = value;
}
