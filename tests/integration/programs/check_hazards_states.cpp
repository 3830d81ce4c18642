// Instructions with too few wait states between them, each as a kernel with the mistake (`<false>`) and its
// corrected twin (`<true>`). Those called `clean_…` have no mistake either way. What lacks is one s_nop.
#include <hip/hip_runtime.h>

#include <cstdio>

#include "planted.h"

// What follows a matrix instruction that nothing else waits for.
#define SETTLE "\n s_nop 7\n s_nop 7\n s_nop 7"

// ---- scalars that a vector instruction writes

template <bool right>
__global__ void scalar_to_address(Buffers b) {
  int x, s;
  PLANT("v_readfirstlane_b32 %1, %3\n s_nop 3\n", "s_nop 0\n",
        "buffer_load_dword %0, off, %2, %1\n s_waitcnt vmcnt(0)",
        : "=&v"(x), "=&s"(s) : "s"(described(b.in)), "v"(4));
  b.out[place()] = x;
}

template <bool right>
__global__ void scalar_to_base(Buffers b) {
  int x;
  PLANT("s_mov_b64 s[40:41], %2\n s_nop 0\n v_readfirstlane_b32 s40, %3\n s_nop 3\n", "s_nop 0\n",
        "global_load_dword %0, %1, s[40:41]\n s_waitcnt vmcnt(0)",
        : "=&v"(x) : "v"(4 * int(threadIdx.x)), "s"(b.in), "v"(unsigned(reinterpret_cast<unsigned long>(b.in))) : "s40", "s41");
  b.out[place()] = x;
}

template <bool right>
__global__ void scalar_to_lane(Buffers b) {
  int x, s;
  PLANT("v_readfirstlane_b32 %1, %2\n s_nop 2\n", "s_nop 0\n", "v_writelane_b32 %0, 5, %1",
        : "=&v"(x), "=&s"(s) : "v"(4));
  b.out[place()] = x;
}

template <bool right>
__global__ void mask_to_division(Buffers b) {
  float x;
  PLANT("v_cmp_eq_u32 vcc, 3, %1\n s_nop 2\n", "s_nop 0\n", "v_div_fmas_f32 %0, %1, %1, %1",
        : "=v"(x) : "v"(float(place())) : "vcc");
  b.out[place()] = int(x);
}

template <bool right>
__global__ void mask_is_zero(Buffers b) {
  int x;
  PLANT("v_cmp_eq_u32 vcc, 3, %1\n s_nop 3\n", "s_nop 0\n", "v_mov_b32 %0, src_vccz", : "=v"(x) : "v"(place()) : "vcc");
  b.out[place()] = x;
}

// On gfx942.
template <bool right>
__global__ void scalar_to_vector(Buffers b) {
  int x, s;
  PLANT("v_readfirstlane_b32 %1, %2\n s_nop 0\n", "s_nop 0\n", "v_add_u32 %0, %1, %2", : "=v"(x), "=&s"(s) : "v"(4));
  b.out[place()] = x;
}

template <bool right>
__global__ void exec_to_lane(Buffers b) {
  int s;
  long saved;
  PLANT("s_mov_b64 %1, exec\n v_cmpx_lt_i32 vcc, -1, %2\n s_nop 2\n", "s_nop 0\n",
        "v_readfirstlane_b32 %0, %2\n s_mov_b64 exec, %1", : "=&s"(s), "=&s"(saved) : "v"(place()) : "vcc");
  b.out[place()] = s;
}

template <bool right>
__global__ void exec_to_dpp(Buffers b) {
  int x = 0;
  long saved;
  PLANT("s_mov_b64 %1, exec\n v_cmpx_lt_i32 vcc, -1, %2\n s_nop 3\n", "s_nop 0\n",
        "v_mov_b32_dpp %0, %2 row_shr:1 row_mask:0xf bank_mask:0xf\n s_mov_b64 exec, %1",
        : "+v"(x), "=&s"(saved) : "v"(place()) : "vcc");
  b.out[place()] = x;
}

template <bool right>
__global__ void exec_to_matrix(Buffers b) {
  Four d = {};
  long saved;
  PLANT("s_mov_b64 %1, exec\n v_cmpx_lt_i32 vcc, -1, %2\n s_nop 2\n", "s_nop 0\n",
        MFMA_F32_4X4X1 " %0, %3, %3, %0\n s_mov_b64 exec, %1" SETTLE,
        : "+v"(d), "=&s"(saved) : "v"(place()), "v"(1.0f) : "vcc");
  b.out[place()] = int(d.x);
}

// ---- M0 and hardware registers

template <bool right>
__global__ void m0_to_lds(Buffers b) {
  int x;
  __shared__ int tile[kThreads];
  tile[threadIdx.x] = 1;
  PLANT("s_waitcnt lgkmcnt(0)\n s_mov_b32 m0, 0\n", "s_nop 0\n", "ds_read_addtid_b32 %0\n s_waitcnt lgkmcnt(0)",
        : "=v"(x) : : "memory");
  b.out[place()] = x + tile[threadIdx.x];
}

template <bool right>
__global__ void m0_to_message(Buffers b) {
  PLANT("s_mov_b32 m0, 0\n", "s_nop 0\n", "s_sendmsg 0", : : : "memory");
  b.out[place()] = 1;
}

template <bool right>
__global__ void mode_read(Buffers b) {
  int s;
  PLANT("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n s_nop 0\n", "s_nop 0\n",
        "s_getreg_b32 %0, hwreg(HW_REG_MODE, 0, 4)", : "=s"(s));
  b.out[place()] = s;
}

template <bool right>
__global__ void mode_written(Buffers b) {
  PLANT("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 1\n s_nop 0\n", "s_nop 0\n",
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0\n s_nop 1", : :);
  b.out[place()] = 1;
}

// ---- vector registers

template <bool right>
__global__ void vector_to_dpp(Buffers b) {
  int x = 0, y;
  PLANT("v_mov_b32 %1, %2\n s_nop 0\n", "s_nop 0\n", "v_mov_b32_dpp %0, %1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
        : "+v"(x), "=&v"(y) : "v"(place()));
  b.out[place()] = x;
}

template <bool right>
__global__ void data_overwritten(Buffers b) {
  Words x = {1, 2, 3, 4};
  PLANT("s_nop 1\n global_store_dwordx4 %1, %0, off\n", "s_nop 1\n", "v_mov_b32 v21, 7\n s_waitcnt vmcnt(0)",
        : "+{v[20:23]}"(x) : "v"(b.more + 4 * place()) : "memory");
  b.out[place()] = int(x.x);
}

// On gfx942.
template <bool right>
__global__ void vector_to_lane(Buffers b) {
  int s, y;
  PLANT("v_mov_b32 %1, %2\n", "s_nop 0\n", "v_readlane_b32 %0, %1, 3", : "=s"(s), "=&v"(y) : "v"(place()));
  b.out[place()] = s;
}

template <bool right>
__global__ void transcendental(Buffers b) {
  float x, y;
  PLANT("v_rcp_f32 %1, %2\n", "s_nop 0\n", "v_add_f32 %0, %1, %2", : "=v"(x), "=&v"(y) : "v"(2.0f));
  b.out[place()] = int(x);
}

template <bool right>
__global__ void moved_half(Buffers b) {
  int x, y = 0;
  PLANT("v_add_u16_sdwa %1, %2, %2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_0\n",
        "s_nop 0\n", "v_add_u32 %0, %1, %2", : "=v"(x), "+&v"(y) : "v"(place()));
  b.out[place()] = x;
}

// ---- dot products

template <bool right>
__global__ void dot_read(Buffers b) {
  int x, y;
  PLANT("v_dot4_i32_i8 %1, %2, %2, %2\n s_nop 1\n", "s_nop 0\n", "v_add_u32 %0, %1, %2",
        : "=v"(x), "=&v"(y) : "v"(place()));
  b.out[place()] = x;
}

template <bool right>
__global__ void dot_multiplied(Buffers b) {
  int x, y;
  PLANT("v_dot4_i32_i8 %1, %2, %2, %2\n s_nop 1\n", "s_nop 0\n", "v_dot4_i32_i8 %0, %1, %2, %2\n s_nop 2",
        : "=v"(x), "=&v"(y) : "v"(place()));
  b.out[place()] = x;
}

// ---- matrix instructions

template <bool right>
__global__ void vector_to_matrix(Buffers b) {
  Four d = {};
  float a;
  PLANT("v_mov_b32 %1, 1.0\n s_nop 0\n", "s_nop 0\n", MFMA_F32_4X4X1 " %0, %1, %1, %0" SETTLE, : "+v"(d), "=&v"(a));
  b.out[place()] = int(d.x);
}

// By passes: 2, 4 or 8, 8 or 16.
template <bool right>
__global__ void matrix_read_2(Buffers b) {
  Four d = {};
  float x;
  PLANT("s_nop 1\n" MFMA_F16_4X4X4 " %1, %2, %2, %1\n s_nop 3\n", "s_nop 0\n", "v_add_f32 %0, 1.0, v20" SETTLE,
        : "=&v"(x), "+{v[20:23]}"(d) : "v"(Pair{1, 2}));
  b.out[place()] = int(x + d.x);
}

template <bool right>
__global__ void matrix_read_4(Buffers b) {
  Four d = {};
  float x;
#ifdef __gfx90a__
#define LACKING "s_nop 7\n s_nop 1\n"
#else
#define LACKING "s_nop 5\n"
#endif
  PLANT("s_nop 1\n" MFMA_F16_16X16X16 " %1, %2, %2, %1\n" LACKING, "s_nop 0\n", "v_add_f32 %0, 1.0, v20" SETTLE,
        : "=&v"(x), "+{v[20:23]}"(d) : "v"(Pair{1, 2}));
#undef LACKING
  b.out[place()] = int(x + d.x);
}

template <bool right>
__global__ void matrix_read_16(Buffers b) {
  Sixteen d = {};
  float x;
#ifdef __gfx90a__
#define LACKING "s_nop 7\n s_nop 7\n s_nop 1\n"
#else
#define LACKING "s_nop 7\n s_nop 1\n"
#endif
  PLANT("s_nop 1\n" MFMA_F16_32X32X8 " %1, %2, %2, %1\n" LACKING, "s_nop 0\n", "v_add_f32 %0, 1.0, v20" SETTLE,
        : "=&v"(x), "+{v[20:35]}"(d) : "v"(Pair{1, 2}));
#undef LACKING
  b.out[place()] = int(x + d.x);
}

// The unit of single precision, which gfx942 has apart: one less.
template <bool right>
__global__ void matrix_f32_read(Buffers b) {
  Four d = {};
  float x;
#ifdef __gfx90a__
#define LACKING "s_nop 3\n"
#else
#define LACKING "s_nop 2\n"
#endif
  PLANT("s_nop 1\n" MFMA_F32_4X4X1 " %1, %2, %2, %1\n" LACKING, "s_nop 0\n", "v_add_f32 %0, 1.0, v20" SETTLE,
        : "=&v"(x), "+{v[20:23]}"(d) : "v"(1.0f));
#undef LACKING
  b.out[place()] = int(x + d.x);
}

template <bool right>
__global__ void matrix_stored(Buffers b) {
  Four d = {};
  PLANT("s_nop 1\n" MFMA_F16_4X4X4 " %0, %1, %1, %0\n s_nop 3\n", "s_nop 0\n",
        "global_store_dwordx4 %2, %0, off\n s_waitcnt vmcnt(0)" SETTLE,
        : "+&v"(d) : "v"(Pair{1, 2}), "v"(b.more + 4 * place()) : "memory");
  b.out[place()] = int(d.x);
}

template <bool right>
__global__ void matrix_to_lds(Buffers b) {
  Four d = {};
  __shared__ int tile[kThreads];
  PLANT("s_nop 1\n" MFMA_F16_4X4X4 " %0, %1, %1, %0\n s_nop 3\n", "s_nop 0\n",
        "ds_write_b32 %2, v20\n s_waitcnt lgkmcnt(0)" SETTLE,
        : "+{v[20:23]}"(d) : "v"(Pair{1, 2}), "v"(lds(&tile[threadIdx.x])) : "memory");
  b.out[place()] = int(d.x) + tile[threadIdx.x];
}

template <bool right>
__global__ void matrix_overwritten(Buffers b) {
  Four d = {};
  PLANT("s_nop 1\n" MFMA_F16_4X4X4 " %0, %1, %1, %0\n s_nop 3\n", "s_nop 0\n", "v_mov_b32 v22, 1" SETTLE,
        : "+{v[20:23]}"(d) : "v"(Pair{1, 2}));
  b.out[place()] = int(d.x);
}

template <bool right>
__global__ void matrix_multiplied(Buffers b) {
  Four d = {}, e = {};
  PLANT("s_nop 1\n" MFMA_F16_4X4X4 " v[20:23], %2, %2, %0\n s_nop 3\n", "s_nop 0\n",
        MFMA_F16_4X4X4 " %1, v[20:21], %2, %1" SETTLE,
        : "+&v"(d), "+&v"(e) : "v"(Pair{1, 2}) : "v20", "v21", "v22", "v23");
  b.out[place()] = int(d.x + e.x);
}

// Accumulators that are partly the same.
template <bool right>
__global__ void matrix_other_accumulator(Buffers b) {
  Pair a = {1, 2};
#ifdef __gfx90a__
#define LACKING "s_nop 0\n"
#else
#define LACKING "s_nop 1\n"
#endif
  PLANT("v_mov_b32 v20, 0\n v_mov_b32 v21, 0\n v_mov_b32 v22, 0\n v_mov_b32 v23, 0\n v_mov_b32 v24, 0\n"
        "v_mov_b32 v25, 0\n s_nop 1\n" MFMA_F16_4X4X4 " v[20:23], %0, %0, v[20:23]\n" LACKING,
        "s_nop 0\n", MFMA_F16_4X4X4 " v[22:25], %0, %0, v[22:25]" SETTLE,
        : : "v"(a) : "v20", "v21", "v22", "v23", "v24", "v25");
#undef LACKING
  b.out[place()] = 1;
}

template <bool right>
__global__ void accumulator_overwritten(Buffers b) {
  Sixteen d = {}, c = {};
#ifdef __gfx90a__
#define LACKING "s_nop 7\n s_nop 5\n"
#else
#define LACKING "s_nop 5\n"
#endif
  PLANT("s_nop 1\n" MFMA_F16_32X32X8 " %0, %2, %2, %1\n" LACKING, "s_nop 0\n", "v_mov_b32 v44, 1" SETTLE,
        : "+&v"(d), "+{v[40:55]}"(c) : "v"(Pair{1, 2}));
#undef LACKING
  b.out[place()] = int(d.x + c.x);
}

// On gfx942: two passes are too short for the next to go on with.
template <bool right>
__global__ void matrix_short_chain(Buffers b) {
  Four d = {};
  PLANT("s_nop 1\n" MFMA_F16_4X4X4 " %0, %1, %1, %0\n s_nop 0\n", "s_nop 0\n", MFMA_F16_4X4X4 " %0, %1, %1, %0" SETTLE,
        : "+&v"(d) : "v"(Pair{1, 2}));
  b.out[place()] = int(d.x);
}

template <bool right>
__global__ void doubles_read(Buffers b) {
  FourDoubles d = {};
  double x;
  PLANT("s_nop 1\n" MFMA_F64_16X16X4 " %1, %2, %2, %1\n s_nop 7\n s_nop 1\n", "s_nop 0\n", "v_add_f64 %0, v[20:21], v[20:21]" SETTLE,
        : "=&v"(x), "+{v[20:27]}"(d) : "v"(1.0));
  b.out[place()] = int(x + d.x);
}

template <bool right>
__global__ void doubles_stored(Buffers b) {
  FourDoubles d = {};
  PLANT("s_nop 1\n" MFMA_F64_16X16X4 " %0, %1, %1, %0\n s_nop 7\n s_nop 7\n s_nop 0\n", "s_nop 0\n",
        "global_store_dwordx2 %2, v[22:23], off\n s_waitcnt vmcnt(0)" SETTLE,
        : "+{v[20:27]}"(d) : "v"(1.0), "v"(b.more + 4 * place()) : "memory");
  b.out[place()] = int(d.x);
}

template <bool right>
__global__ void small_doubles_read(Buffers b) {
  double d = 0, x;
  PLANT("s_nop 1\n" MFMA_F64_4X4X4 " %1, %2, %2, %1\n s_nop 4\n", "s_nop 0\n", "v_add_f64 %0, %1, %1" SETTLE,
        : "=&v"(x), "+&v"(d) : "v"(1.0));
  b.out[place()] = int(x + d);
}

template <bool right>
__global__ void small_doubles_chained(Buffers b) {
  double d = 0;
  PLANT("s_nop 1\n" MFMA_F64_4X4X4 " %0, %1, %1, %0\n s_nop 2\n", "s_nop 0\n", MFMA_F64_4X4X4 " %0, %1, %1, %0" SETTLE,
        : "+&v"(d) : "v"(1.0));
  b.out[place()] = int(d);
}

template <bool right>
__global__ void doubles_then_fma(Buffers b) {
  double d = 0, x;
  PLANT("s_nop 1\n" MFMA_F64_4X4X4 " %1, %2, %2, %1\n s_nop 0\n", "s_nop 0\n", "v_fma_f64 %0, %2, %2, %2" SETTLE,
        : "=&v"(x), "+&v"(d) : "v"(1.0));
  b.out[place()] = int(x + d);
}

// ---- no mistakes

// The same accumulator, longer instructions: hardware goes on with what it has.
template <bool right>
__global__ void clean_chain(Buffers b) {
  Sixteen d = {};
  asm volatile("s_nop 1\n" MFMA_F16_32X32X8 " %0, %1, %1, %0\n" MFMA_F16_32X32X8 " %0, %1, %1, %0" SETTLE
               : "+&v"(d)
               : "v"(Pair{1, 2}));
  b.out[place()] = int(d.x);
}

// Matrix instructions wait for each other: those between are the wait.
template <bool right>
__global__ void clean_between(Buffers b) {
  Sixteen d = {}, e = {}, f = {}, g = {};
  float x;
  asm volatile("s_nop 1\n" MFMA_F16_32X32X8 " %1, %5, %5, %1\n" MFMA_F16_32X32X8 " %2, %5, %5, %2\n" MFMA_F16_32X32X8
               " %3, %5, %5, %3\n" MFMA_F16_32X32X8 " %4, %5, %5, %4\n v_add_f32 %0, 1.0, v20" SETTLE
               : "=&v"(x), "+{v[20:35]}"(d), "+&v"(e), "+&v"(f), "+&v"(g)
               : "v"(Pair{1, 2}));
  b.out[place()] = int(x + d.x + e.x + f.x + g.x);
}

// A carry and a mask are waited for, a scalar instruction reads at once, a short store has its data.
template <bool right>
__global__ void clean_waited_for(Buffers b) {
  int x, y, s;
  asm volatile(
      "v_add_co_u32 %0, vcc, %3, %3\n v_addc_co_u32 %1, vcc, %3, %3, vcc\n v_readfirstlane_b32 %2, %3\n"
      "s_add_u32 %2, %2, 1\n global_store_dwordx2 %4, %5, off\n v_mov_b32 %0, 3\n s_waitcnt vmcnt(0)"
      : "=&v"(x), "=&v"(y), "=&s"(s)
      : "v"(place()), "v"(b.more + 2 * place()), "v"(Pair{1, 2})
      : "vcc", "scc", "memory");
  b.out[place()] = x + y + s;
}

template <bool right>
__global__ void clean_dots(Buffers b) {
  int x = 1;
  asm volatile("s_nop 1\n v_dot4_i32_i8 %0, %1, %1, %0\n v_dot4_i32_i8 %0, %1, %1, %0\n s_nop 2"
               : "+&v"(x)
               : "v"(place()));
  b.out[place()] = x;
}

template <bool right>
void run() {
  Memory memory;
  memory.run({scalar_to_address<right>, scalar_to_base<right>, scalar_to_lane<right>, mask_to_division<right>,
              mask_is_zero<right>, scalar_to_vector<right>, exec_to_lane<right>, exec_to_dpp<right>,
              exec_to_matrix<right>, m0_to_lds<right>, m0_to_message<right>, mode_read<right>, mode_written<right>,
              vector_to_dpp<right>, data_overwritten<right>, vector_to_lane<right>, transcendental<right>,
              moved_half<right>, dot_read<right>, dot_multiplied<right>, vector_to_matrix<right>, matrix_read_2<right>,
              matrix_read_4<right>, matrix_read_16<right>, matrix_f32_read<right>, matrix_stored<right>,
              matrix_to_lds<right>, matrix_overwritten<right>, matrix_multiplied<right>,
              matrix_other_accumulator<right>, accumulator_overwritten<right>, matrix_short_chain<right>,
              doubles_read<right>, doubles_stored<right>, small_doubles_read<right>, small_doubles_chained<right>,
              doubles_then_fma<right>, clean_chain<right>, clean_between<right>, clean_waited_for<right>,
              clean_dots<right>});
}

int main() {
  run<false>();
  run<true>();
  std::puts("done");
}
