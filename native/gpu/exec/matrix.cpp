// MFMA and SMFMAC. The shape and types come from the table; operands are unpacked into plain
// matrices, multiplied, and laid back over lanes and registers. MFMA ignores EXEC.
#include "lds.h"

namespace gpu::GPU_EXEC_NS {

namespace {

constexpr int kMaxA = 32 * 32 * 2 * 4, kMaxD = 32 * 32 * 2;

float element_f32(MatrixType t, const u32* regs, int lane, int e) {
  switch (t) {
    case MatrixType::F32: return as_f32(regs[64 * e + lane]);
    case MatrixType::XF32: {  // 10 mantissa bits kept, rounded to nearest even
      const u32 x = regs[64 * e + lane];
      if ((x & 0x7f800000u) == 0x7f800000u) return as_f32(x);
      return as_f32((x + 0xfffu + ((x >> 13) & 1)) & ~0x1fffu);
    }
    case MatrixType::F16: return f16_to_f32((regs[64 * (e / 2) + lane] >> (16 * (e & 1))) & 0xffff);
    case MatrixType::BF16: return bf16_to_f32((regs[64 * (e / 2) + lane] >> (16 * (e & 1))) & 0xffff);
    case MatrixType::FP8: return fp8_to_f32((regs[64 * (e / 4) + lane] >> (8 * (e & 3))) & 255);
    case MatrixType::BF8: return bf8_to_f32((regs[64 * (e / 4) + lane] >> (8 * (e & 3))) & 255);
    default: return 0.0f;
  }
}

template <class T>
T element(MatrixType t, const u32* regs, int lane, int e);
template <>
float element<float>(MatrixType t, const u32* regs, int lane, int e) { return element_f32(t, regs, lane, e); }
template <>
i32 element<i32>(MatrixType, const u32* regs, int lane, int e) { return i8(regs[64 * (e / 4) + lane] >> (8 * (e & 3))); }
template <>
double element<double>(MatrixType, const u32* regs, int lane, int e) { return t_f64::get(regs + 128 * e, lane); }


// The lane whose register feeds lane l of B under a lane-group pattern.
int lane_group(u32 blgp, int l) {
  switch (blgp) {
    case 1: return l & 31;
    case 2: return (l & 31) | 32;
    case 3: return (l + 16) & 63;
    case 4: case 5: case 6: case 7: return (l & 15) | int((blgp - 4) << 4);
    default: return l;
  }
}

template <int N, class T>
void multiply(int m, int k, const T* a, const T* b, T* d) {
  for (int i = 0; i < m; ++i) {
    T acc[N];
    memcpy(acc, d + i * N, sizeof acc);
    for (int e = 0; e < k; ++e) {
      const T x = a[i * k + e];
      const T* y = b + e * N;
      for (int j = 0; j < N; ++j) {
        if constexpr (sizeof(T) == 8) acc[j] = __builtin_fma(x, y[j], acc[j]);
        else if constexpr (T(0.5) != T(0)) acc[j] = __builtin_fmaf(x, y[j], acc[j]);
        else acc[j] = T(u32(acc[j]) + u32(x) * u32(y[j]));
      }
    }
    memcpy(d + i * N, acc, sizeof acc);
  }
}

struct Place {
  int block, i, j;
};
// Which element of D register r of a lane holds (r counts 32-bit results, or doubles).
Place place(const MatrixInfo& s, int lane, int r) {
  if (s.d == MatrixType::F64) {
    if (s.n == 4) return {(lane / 4) % 4, lane / 16, lane % 4};
    return {0, lane / 16 + 4 * r, lane % 16};
  }
  if (s.n == 4) return {lane / 4, r, lane % 4};
  const int groups = 64 / s.n, per_block = s.m * s.n / 64, rb = r % per_block;
  return {r / per_block, rb % 4 + 4 * (lane / s.n) + 4 * groups * (rb / 4), lane % s.n};
}

template <class T>
void run(Wave& w, const Inst* i, const MatrixInfo& s) {
  static thread_local T a[kMaxA], b[kMaxA], d[kMaxD];
  constexpr int width = sizeof(T) / 4;
  u32 constant[2 * 64];
  const bool negative = s.d == MatrixType::F64;
  const auto sign = [&](int n) { return negative && ((i->blgp >> n) & 1) ? T(-1) : T(1); };

  const u32 *ra = at(w, i->src[0]), *rb = at(w, i->src[1]);
  const int kb = s.k, ka = s.sparse ? s.k / 2 : s.k;
  const int groups = s.n == 4 && s.d == MatrixType::F64 ? 4 : 64 / s.m / s.blocks;
  const int per_a = ka / groups, per_b = kb / groups;
  memset(a, 0, sizeof(T) * size_t(s.blocks * s.m * kb));
  const u32 share = s.d == MatrixType::F64 ? 0 : i->cbsz;
  for (int lane = 0; lane < 64; ++lane) {
    const int row_ = lane % s.m, group = lane / s.m / s.blocks, block = (lane / s.m) % s.blocks;
    for (int e = 0; e < per_a; ++e) {
      const T v = element<T>(s.a, ra, lane, e) * sign(0);
      int k = group * per_a + e;
      if (s.sparse) {
        const u32 index = row(w, i->src[2].code)[lane];
        const u32 set = i->cbsz ? 0 : u32(i->abid);
        const u32 two = (index >> ((set * 2 * unsigned(per_a) + 2 * unsigned(e)) & 31)) & 3;
        k = group * per_b + 4 * (e / 2) + int(two);
        a[(block * s.m + row_) * kb + k] += v;
      } else {
        a[(block * s.m + row_) * kb + k] = v;
      }
    }
    const int from = negative || s.sparse ? lane : lane_group(i->blgp, lane);
    const int column = lane % s.n;
    for (int e = 0; e < per_b; ++e)
      b[(block * kb + group * per_b + e) * s.n + column] = element<T>(s.b, rb, from, e) * sign(1);
  }

  const Source& sc = i->src[2];
  const u32* rc = s.sparse ? row(w, i->dst) : at(w, sc);
  const bool uniform = !s.sparse && sc.kind != Source::Vector;
  if (uniform && sc.kind == Source::Scalar) {
    splat(constant, rc[0]), splat(constant + 64, rc[1]);
    rc = constant;
  }
  const int results = s.m * s.n * s.blocks / 64;
  for (int r = 0; r < results; ++r) {
    for (int lane = 0; lane < 64; ++lane) {
      const Place p = place(s, lane, r);
      const u32* from = uniform ? rc : rc + 64 * width * r;
      T v;
      if constexpr (width == 2) v = t_f64::get(from, lane);
      else v = __builtin_bit_cast(T, from[lane]);
      d[(p.block * s.m + p.i) * s.n + p.j] = v * sign(2);
    }
  }
  for (int block = 0; block < s.blocks; ++block) {
    // cbsz: groups of 2^cbsz blocks share the A block that abid names.
    const int source = share ? (block & ~((1 << share) - 1)) + i->abid : block;
    const T *pa = a + (source % s.blocks) * s.m * kb, *pb = b + block * kb * s.n;
    T* pd = d + block * s.m * s.n;
    switch (s.n) {
      case 32: multiply<32>(s.m, kb, pa, pb, pd); break;
      case 16: multiply<16>(s.m, kb, pa, pb, pd); break;
      default: multiply<4>(s.m, kb, pa, pb, pd); break;
    }
  }
  u32* out = row(w, i->dst);
  for (int r = 0; r < results; ++r) {
    for (int lane = 0; lane < 64; ++lane) {
      const Place p = place(s, lane, r);
      const T v = d[(p.block * s.m + p.i) * s.n + p.j];
      if constexpr (width == 2) t_f64::put(out + 128 * r, lane, v);
      else out[64 * r + lane] = __builtin_bit_cast(u32, v);
    }
  }
}

}  // namespace

const Inst* mfma(Wave& w, const Inst* i) {
  const MatrixInfo& s = matrix_table[op_table[i->op].matrix];
  w.counts[s.mops_class] += s.mops;
  switch (s.d) {
    case MatrixType::F64: run<double>(w, i, s); break;
    case MatrixType::I32: run<i32>(w, i, s); break;
    default: run<float>(w, i, s); break;
  }
  return next(i);
}

}  // namespace gpu::GPU_EXEC_NS
