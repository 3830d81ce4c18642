// Registers and LDS that are used before an s_waitcnt says that they are ready, each as a kernel with the mistake
// (`<false>`) and its corrected twin (`<true>`). Those called `clean_…` have no mistake either way.
#include <hip/hip_runtime.h>

#include <cstdio>

#include "planted.h"

#ifdef __gfx90a__
#define RETURNS "glc"
#else
#define RETURNS "sc0"
#endif

// ---- vector memory

template <bool right>
__global__ void load_used(Buffers b) {
  int x;
  PLANT("global_load_dword %0, %1, off\n", "s_waitcnt vmcnt(0)\n", "v_add_u32 %0, %0, %0\n s_waitcnt vmcnt(0)",
        : "=&v"(x) : "v"(b.in + place()));
  b.out[place()] = x;
}

// The second of two.
template <bool right>
__global__ void load_counted(Buffers b) {
  int x, y;
  PLANT("global_load_dword %0, %2, off\n global_load_dword %1, %2, off offset:4\n s_waitcnt vmcnt(1)\n"
        "v_add_u32 %0, 1, %0\n",
        "s_waitcnt vmcnt(0)\n", "v_add_u32 %1, 1, %1\n s_waitcnt vmcnt(0)",
        : "=&v"(x), "=&v"(y) : "v"(b.in + place()));
  b.out[place()] = x + y;
}

// Stores count, too.
template <bool right>
__global__ void load_behind_stores(Buffers b) {
  int x;
  PLANT("global_load_dword %0, %1, off\n global_store_dword %2, %3, off\n global_store_dword %2, %3, off\n",
        "s_waitcnt vmcnt(2)\n", "s_waitcnt vmcnt(3)\n v_add_u32 %0, 1, %0\n s_waitcnt vmcnt(0)",
        : "=&v"(x) : "v"(b.in + place()), "v"(b.out + place()), "v"(5) : "memory");
  b.more[place()] = x;
}

template <bool right>
__global__ void load_stored(Buffers b) {
  int x;
  PLANT("global_load_dword %0, %1, off\n", "s_waitcnt vmcnt(0)\n", "global_store_dword %2, %0, off\n s_waitcnt vmcnt(0)",
        : "=&v"(x) : "v"(b.in + place()), "v"(b.out + place()) : "memory");
}

template <bool right>
__global__ void load_is_an_address(Buffers b) {
  int x, y;
  PLANT("global_load_dword %0, %2, off\n", "s_waitcnt vmcnt(0)\n", "global_load_dword %1, %0, %3\n s_waitcnt vmcnt(0)",
        : "=&v"(x), "=&v"(y) : "v"(b.offsets + place()), "s"(b.in));
  b.out[place()] = y;
}

template <bool right>
__global__ void load_overwritten(Buffers b) {
  int x;
  PLANT("global_load_dword %0, %1, off\n", "s_waitcnt vmcnt(0)\n", "v_mov_b32 %0, 7\n s_waitcnt vmcnt(0)",
        : "=&v"(x) : "v"(b.in + place()));
  b.out[place()] = x;
}

// One kind of memory after the other, to the same register.
template <bool right>
__global__ void load_over_lds(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("ds_read_b32 %0, %2\n", "s_waitcnt lgkmcnt(0)\n", "global_load_dword %0, %1, off\n s_waitcnt vmcnt(0) lgkmcnt(0)",
        : "=&v"(x) : "v"(b.in + place()), "v"(lds(&tile[threadIdx.x])) : "memory");
  b.out[place()] = x;
}

template <bool right>
__global__ void half_used(Buffers b) {
  int x = 0, y;
  PLANT("global_load_short_d16 %0, %2, off\n", "s_waitcnt vmcnt(0)\n",
        "v_add_u16_sdwa %1, %0, %0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0\n"
        "s_waitcnt vmcnt(0)",
        : "+&v"(x), "=&v"(y) : "v"(b.in + place()));
  b.out[place()] = y;
}

// Lanes that were on at the load.
template <bool right>
__global__ void lanes_used(Buffers b) {
  int x = 0;
  long saved;
  PLANT("s_mov_b64 %1, exec\n s_mov_b64 exec, 0xff\n global_load_dword %0, %2, off\n s_mov_b64 exec, 0x80\n",
        "s_waitcnt vmcnt(0)\n", "v_add_u32 %0, 1, %0\n s_mov_b64 exec, %1\n s_waitcnt vmcnt(0)",
        : "+&v"(x), "=&s"(saved) : "v"(b.in + place()));
  b.out[place()] = x;
}

template <bool right>
__global__ void buffer_used(Buffers b) {
  int x;
  PLANT("buffer_load_dword %0, %1, %2, 0 offen\n", "s_waitcnt vmcnt(0)\n", "v_add_u32 %0, 1, %0\n s_waitcnt vmcnt(0)",
        : "=&v"(x) : "v"(4 * place()), "s"(described(b.in)));
  b.out[place()] = x;
}

template <bool right>
__global__ void atomic_used(Buffers b) {
  int x;
  PLANT("global_atomic_add %0, %1, %2, off " RETURNS "\n", "s_waitcnt vmcnt(0)\n",
        "v_add_u32 %0, 1, %0\n s_waitcnt vmcnt(0)", : "=&v"(x) : "v"(b.more + place()), "v"(1) : "memory");
  b.out[place()] = x;
}

// A matrix instruction reads all lanes.
template <bool right>
__global__ void load_multiplied(Buffers b) {
  float x;
  Four d = {};
  PLANT("s_nop 1\n global_load_dword %0, %2, off\n", "s_waitcnt vmcnt(0)\n",
        MFMA_F32_4X4X1 " %1, %0, %0, %1\n s_waitcnt vmcnt(0)\n s_nop 7\n s_nop 7",
        : "=&v"(x), "+&v"(d) : "v"(b.in + place()));
  b.out[place()] = int(d.x);
}

template <bool right>
__global__ void neighbour_used(Buffers b) {
  int x, y = 0;
  PLANT("global_load_dword %0, %2, off\n", "s_waitcnt vmcnt(0)\n",
        "v_mov_b32_dpp %1, %0 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf\n s_waitcnt vmcnt(0)",
        : "=&v"(x), "+&v"(y) : "v"(b.in + place()));
  b.out[place()] = y;
}

// ---- LDS

template <bool right>
__global__ void lds_used(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("ds_read_b32 %0, %1\n", "s_waitcnt lgkmcnt(0)\n", "v_add_u32 %0, 1, %0\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x) : "v"(lds(&tile[threadIdx.x])) : "memory");
  b.out[place()] = x;
}

template <bool right>
__global__ void lds_counted(Buffers b) {
  int x, y;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("s_waitcnt lgkmcnt(0)\n ds_read_b32 %0, %2\n ds_read_b32 %1, %2\n s_waitcnt lgkmcnt(1)\n v_add_u32 %0, 1, %0\n",
        "s_waitcnt lgkmcnt(0)\n", "v_add_u32 %1, 1, %1\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x), "=&v"(y) : "v"(lds(&tile[threadIdx.x])) : "memory");
  b.out[place()] = x + y;
}

template <bool right>
__global__ void lds_atomic_used(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("ds_add_rtn_u32 %0, %1, %2\n", "s_waitcnt lgkmcnt(0)\n", "v_add_u32 %0, 1, %0\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x) : "v"(lds(&tile[threadIdx.x])), "v"(3) : "memory");
  b.out[place()] = x;
}

template <bool right>
__global__ void permuted_used(Buffers b) {
  int x;
  PLANT("ds_bpermute_b32 %0, %1, %2\n", "s_waitcnt lgkmcnt(0)\n", "v_add_u32 %0, 1, %0\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x) : "v"(4 * int(threadIdx.x ^ 1)), "v"(place()));
  b.out[place()] = x;
}

// Loaded to LDS, and read there by the same wave.
template <bool right>
__global__ void loaded_to_lds(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  const unsigned base = __builtin_amdgcn_readfirstlane(lds(&tile[threadIdx.x & 64]));
  PLANT("s_mov_b32 m0, %3\n s_nop 4\n buffer_load_dword %1, %2, 0 offen lds\n", "s_waitcnt vmcnt(0)\n",
        "ds_read_b32 %0, %4\n s_waitcnt vmcnt(0) lgkmcnt(0)",
        : "=&v"(x) : "v"(4 * place()), "s"(described(b.in)), "s"(base), "v"(lds(&tile[threadIdx.x])) : "memory");
  b.out[place()] = x;
}

// ---- scalars

template <bool right>
__global__ void scalar_used(Buffers b) {
  int x;
  PLANT("s_load_dword %0, %1, 0x0\n", "s_waitcnt lgkmcnt(0)\n", "s_add_u32 %0, %0, 1\n s_waitcnt lgkmcnt(0)",
        : "=&s"(x) : "s"(b.in) : "scc");
  b.out[place()] = x;
}

// The second may come first.
template <bool right>
__global__ void scalar_counted(Buffers b) {
  int x, y;
  PLANT("s_waitcnt lgkmcnt(0)\n s_load_dword %0, %2, 0x0\n s_load_dword %1, %2, 0x4\n s_waitcnt lgkmcnt(1)\n",
        "s_waitcnt lgkmcnt(0)\n", "s_add_u32 %0, %0, 1\n s_waitcnt lgkmcnt(0)",
        : "=&s"(x), "=&s"(y) : "s"(b.in) : "scc");
  b.out[place()] = x + y;
}

template <bool right>
__global__ void scalar_used_by_vector(Buffers b) {
  int x, y;
  PLANT("s_load_dword %0, %2, 0x0\n", "s_waitcnt lgkmcnt(0)\n", "v_mov_b32 %1, %0\n s_waitcnt lgkmcnt(0)",
        : "=&s"(x), "=&v"(y) : "s"(b.in));
  b.out[place()] = y;
}

template <bool right>
__global__ void scalar_is_an_address(Buffers b) {
  long x;
  int y;
  PLANT("s_load_dwordx2 %0, %2, 0x0\n", "s_waitcnt lgkmcnt(0)\n",
        "global_load_dword %1, %3, %0\n s_waitcnt vmcnt(0) lgkmcnt(0)",
        : "=&s"(x), "=&v"(y) : "s"(b.pointer), "v"(4 * place()));
  b.out[place()] = y;
}

template <bool right>
__global__ void scalar_overwritten(Buffers b) {
  int x;
  PLANT("s_load_dword %0, %1, 0x0\n", "s_waitcnt lgkmcnt(0)\n", "s_mov_b32 %0, 3\n s_waitcnt lgkmcnt(0)",
        : "=&s"(x) : "s"(b.in));
  b.out[place()] = x;
}

template <bool right>
__global__ void branch_on_a_load(Buffers b) {
  int x = 0;
  PLANT("s_load_dwordx2 vcc, %1, 0x0\n", "s_waitcnt lgkmcnt(0)\n",
        "s_cbranch_vccz 1f\n v_mov_b32 %0, 1\n 1:\n s_waitcnt lgkmcnt(0)", : "+&v"(x) : "s"(b.in) : "vcc");
  b.out[place()] = x;
}

template <bool right>
__global__ void time_used(Buffers b) {
  long x;
  int y;
  PLANT("s_memtime %0\n", "s_waitcnt lgkmcnt(0)\n", "s_lshr_b64 %0, %0, 1\n s_waitcnt lgkmcnt(0)\n v_mov_b32 %1, 1",
        : "=&s"(x), "=&v"(y) : : "scc");
  b.out[place()] = y;
}

// LDS comes in order, scalars need not: one may stand for the other.
template <bool right>
__global__ void mixed(Buffers b) {
  int x, y;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("s_waitcnt lgkmcnt(0)\n ds_read_b32 %0, %2\n s_load_dword %1, %3, 0x0\n s_waitcnt lgkmcnt(1)\n",
        "s_waitcnt lgkmcnt(0)\n", "v_add_u32 %0, 1, %0\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x), "=&s"(y) : "v"(lds(&tile[threadIdx.x])), "s"(b.in) : "memory");
  b.out[place()] = x + y;
}

// ---- flat

template <bool right>
__global__ void flat_used(Buffers b) {
  int x;
  PLANT("flat_load_dword %0, %1\n s_waitcnt lgkmcnt(0)\n", "s_waitcnt vmcnt(0)\n",
        "v_add_u32 %0, 1, %0\n s_waitcnt vmcnt(0)", : "=&v"(x) : "v"(b.in + place()));
  b.out[place()] = x;
}

template <bool right>
__global__ void flat_in_lds_used(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("flat_load_dword %0, %1\n s_waitcnt vmcnt(0)\n", "s_waitcnt lgkmcnt(0)\n",
        "v_add_u32 %0, 1, %0\n s_waitcnt lgkmcnt(0)", : "=&v"(x) : "v"((int*)&tile[threadIdx.x]) : "memory");
  b.out[place()] = x;
}

// ---- waves

template <bool right>
__global__ void written_for_others(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  PLANT("ds_write_b32 %1, %2\n", "s_waitcnt lgkmcnt(0)\n", "s_barrier\n ds_read_b32 %0, %3\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x) : "v"(lds(&tile[threadIdx.x])), "v"(place()), "v"(lds(&tile[threadIdx.x ^ 64])) : "memory");
  b.out[place()] = x;
}

// Waiting behind the barrier is too late.
template <bool right>
__global__ void waited_behind_the_barrier(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  PLANT("ds_write_b32 %1, %2\n", "s_waitcnt lgkmcnt(0)\n",
        "s_barrier\n s_waitcnt lgkmcnt(0)\n ds_read_b32 %0, %3\n s_waitcnt lgkmcnt(0)",
        : "=&v"(x) : "v"(lds(&tile[threadIdx.x])), "v"(place()), "v"(lds(&tile[threadIdx.x ^ 64])) : "memory");
  b.out[place()] = x;
}

template <bool right>
__global__ void loaded_for_others(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  const unsigned base = __builtin_amdgcn_readfirstlane(lds(&tile[threadIdx.x & 64]));
  PLANT("s_mov_b32 m0, %3\n s_nop 4\n buffer_load_dword %1, %2, 0 offen lds\n", "s_waitcnt vmcnt(0)\n",
        "s_barrier\n ds_read_b32 %0, %4\n s_waitcnt vmcnt(0) lgkmcnt(0)",
        : "=&v"(x) : "v"(4 * place()), "s"(described(b.in)), "s"(base), "v"(lds(&tile[threadIdx.x ^ 64])) : "memory");
  b.out[place()] = x;
}

// ---- no mistakes

// Each of one kind ends as it was issued: no wait is needed between a store and what overwrites its data, a
// write to LDS and a read of it, two loads to one register.
template <bool right>
__global__ void clean_in_order(Buffers b) {
  int x = 3, y;
  __shared__ int tile[kThreads];
  asm volatile(
      "global_store_dword %2, %0, off\n v_mov_b32 %0, 4\n ds_write_b32 %3, %0\n v_mov_b32 %0, 5\n ds_read_b32 %1, %3\n"
      "global_load_dword %0, %2, off\n global_load_dword %0, %2, off offset:4\n s_waitcnt vmcnt(0) lgkmcnt(0)"
      : "+&v"(x), "=&v"(y)
      : "v"(b.in + place()), "v"(lds(&tile[threadIdx.x]))
      : "memory");
  b.out[place()] = x + y;
}

// The other half of the register, and lanes that were off.
template <bool right>
__global__ void clean_elsewhere(Buffers b) {
  int x = 0, y, z = 1;
  long saved;
  asm volatile(
      "global_load_short_d16_hi %0, %4, off\n"
      "v_add_u16_sdwa %1, %0, %0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:WORD_0\n"
      "s_mov_b64 %3, exec\n s_mov_b64 exec, 0xff\n global_load_dword %2, %4, off\n s_mov_b64 exec, 0xff00\n"
      "v_add_u32 %2, 1, %2\n s_mov_b64 exec, %3\n s_waitcnt vmcnt(0)"
      : "+&v"(x), "=&v"(y), "+&v"(z), "=&s"(saved)
      : "v"(b.in + place()));
  b.out[place()] = x + y + z;
}

// A flat store to LDS is there when lgkmcnt says so, whatever vmcnt says.
template <bool right>
__global__ void clean_flat_for_others(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  asm volatile(
      "flat_store_dword %1, %2\n s_waitcnt lgkmcnt(0)\n s_barrier\n ds_read_b32 %0, %3\n s_waitcnt vmcnt(0) lgkmcnt(0)"
      : "=&v"(x)
      : "v"((int*)&tile[threadIdx.x]), "v"(place()), "v"(lds(&tile[threadIdx.x ^ 64]))
      : "memory");
  b.out[place()] = x;
}

// More than a counter can hold: the first has ended when the last is issued.
template <bool right>
__global__ void clean_full_counter(Buffers b) {
  int x, y;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  asm volatile(
      "ds_read_b32 %0, %2\n .rept 16\n ds_read_b32 %1, %2\n .endr\n v_add_u32 %0, 1, %0\n s_waitcnt lgkmcnt(0)"
      : "=&v"(x), "=&v"(y)
      : "v"(lds(&tile[threadIdx.x]))
      : "memory");
  b.out[place()] = x + y;
}

template <bool right>
void run() {
  Memory memory;
  memory.run({load_used<right>, load_counted<right>, load_behind_stores<right>, load_stored<right>,
              load_is_an_address<right>, load_overwritten<right>, load_over_lds<right>, half_used<right>,
              lanes_used<right>, buffer_used<right>, atomic_used<right>, load_multiplied<right>, neighbour_used<right>,
              lds_used<right>, lds_counted<right>, lds_atomic_used<right>, permuted_used<right>, loaded_to_lds<right>,
              scalar_used<right>, scalar_counted<right>, scalar_used_by_vector<right>, scalar_is_an_address<right>,
              scalar_overwritten<right>, branch_on_a_load<right>, time_used<right>, mixed<right>, flat_used<right>,
              flat_in_lds_used<right>, written_for_others<right>, waited_behind_the_barrier<right>,
              loaded_for_others<right>, clean_in_order<right>, clean_elsewhere<right>, clean_full_counter<right>,
              clean_flat_for_others<right>});
}

int main() {
  run<false>();
  run<true>();
  std::puts("done");
}
