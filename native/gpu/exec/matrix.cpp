// MFMA and SMFMAC. The shape and types come from the table; operands are unpacked into plain
// matrices, multiplied, and laid back over lanes and registers. MFMA ignores EXEC.
#include "lds.h"

namespace gpu::GPU_EXEC_NS {

namespace {

constexpr int kMaxA = 32 * 32 * 2 * 4, kMaxD = 32 * 32 * 2;

// Item e of every lane's registers, as numbers.
void items(MatrixType t, const u32* regs, int e, float* out) {
  const u32* p = regs;
  switch (t) {
    case MatrixType::XF32:  // 10 mantissa bits kept, rounded to nearest even
      p += 64 * e;
      GPU_LANES {
        const u32 x = p[l], r = (x + 0xfffu + ((x >> 13) & 1)) & ~0x1fffu;
        out[l] = as_f32((x & 0x7f800000u) == 0x7f800000u ? x : r);
      }
      break;
    case MatrixType::F16: {
      p += 64 * (e / 2);
      const int shift = 16 * (e & 1);
      GPU_LANES out[l] = f16_to_f32((p[l] >> shift) & 0xffffu);
      break;
    }
    case MatrixType::BF16: {
      p += 64 * (e / 2);
      const int shift = 16 * (1 - (e & 1));
      GPU_LANES out[l] = as_f32((p[l] << shift) & 0xffff0000u);
      break;
    }
    case MatrixType::FP8: case MatrixType::BF8: {
      p += 64 * (e / 4);
      const int shift = 8 * (e & 3);
      const bool fp8 = t == MatrixType::FP8;
      for (int l = 0; l < 64; ++l) out[l] = fp8 ? fp8_to_f32((p[l] >> shift) & 255) : bf8_to_f32((p[l] >> shift) & 255);
      break;
    }
    default: memcpy(out, regs + 64 * e, 256); break;
  }
}
void items(MatrixType, const u32* regs, int e, i32* out) {
  const u32* p = regs + 64 * (e / 4);
  const int shift = 24 - 8 * (e & 3);
  GPU_LANES out[l] = i32(p[l] << shift) >> 24;
}
void items(MatrixType, const u32* regs, int e, double* out) {
  for (int l = 0; l < 64; ++l) out[l] = t_f64::get(regs + 128 * e, l);
}

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

// d += a b with a held by columns (k x m), b by rows (k x N).
template <int N, class T>
void multiply(int m, int k, const T* a, const T* b, T* d) {
  for (int i = 0; i < m; ++i) {
    T acc[N];
    memcpy(acc, d + i * N, sizeof acc);
    for (int e = 0; e < k; ++e) {
      const T x = a[e * m + i];
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

// Where the run of lanes that starts at `lane` (one per column) of result register r lies in D.
int offset(const MatrixInfo& s, int lane, int r) {
  int block, i;
  if (s.d == MatrixType::F64) {
    block = s.n == 4 ? (lane / 4) % 4 : 0;
    i = lane / 16 + (s.n == 4 ? 0 : 4 * r);
  } else if (s.n == 4) {
    block = lane / 4, i = r;
  } else {
    const int groups = 64 / s.n, per_block = s.m * s.n / 64, q = r % per_block;
    block = r / per_block, i = q % 4 + 4 * (lane / s.n) + 4 * groups * (q / 4);
  }
  return (block * s.m + i) * s.n;
}

template <class T>
void run(Wave& w, const Inst* i, const MatrixInfo& s) {
  static thread_local T a[kMaxA], b[kMaxA], d[kMaxD];
  constexpr int width = sizeof(T) / 4;
  const bool negative = s.d == MatrixType::F64;
  const auto sign = [&](int n) { return negative && ((i->blgp >> n) & 1) ? T(-1) : T(1); };

  // Lane i + m (block + blocks group) holds items k = group * per + e of row i (column for B).
  const u32 *ra = at(w, i->src[0]), *rb = at(w, i->src[1]);
  const int k = s.k, groups = 64 / s.m / s.blocks, per_b = k / groups, per_a = s.sparse ? per_b / 2 : per_b;
  alignas(64) T item[64], moved[64];
  if (s.sparse) memset(a, 0, sizeof(T) * size_t(s.m * k));
  for (int e = 0; e < per_a; ++e) {
    items(s.a, ra, e, item);
    for (int lane = 0; lane < 64; lane += s.m) {
      const int group = lane / s.m / s.blocks, block = (lane / s.m) % s.blocks;
      if (!s.sparse) {
        T* to = a + (block * k + group * per_a + e) * s.m;
        for (int n = 0; n < s.m; ++n) to[n] = item[lane + n] * sign(0);
        continue;
      }
      // Two bits per kept item say which of four positions it has.
      const u32* index = row(w, i->src[2].code);
      const u32 shift = (i->cbsz ? 0 : u32(i->abid) * 2 * u32(per_a)) + 2 * u32(e);
      for (int n = 0; n < s.m; ++n) {
        const int position = int((index[lane + n] >> (shift & 31)) & 3);
        a[(group * per_b + 4 * (e / 2) + position) * s.m + n] += item[lane + n];
      }
    }
  }
  for (int e = 0; e < per_b; ++e) {
    items(s.b, rb, e, item);
    const T* from = item;
    if (i->blgp && !negative && !s.sparse) {
      for (int l = 0; l < 64; ++l) moved[l] = item[lane_group(i->blgp, l)];
      from = moved;
    }
    for (int lane = 0; lane < 64; lane += s.n) {
      const int group = lane / s.n / s.blocks, block = (lane / s.n) % s.blocks;
      T* to = b + (block * k + group * per_b + e) * s.n;
      for (int n = 0; n < s.n; ++n) to[n] = from[lane + n] * sign(1);
    }
  }

  const Source& sc = i->src[2];
  const u32* rc = s.sparse ? row(w, i->dst) : at(w, sc);
  const bool uniform = !s.sparse && sc.kind != Source::Vector;  // a constant: one row for all
  const int results = s.m * s.n * s.blocks / 64;
  for (int r = 0; r < results; ++r) {
    const u32* from = uniform ? rc : rc + 64 * width * r;
    for (int lane = 0; lane < 64; lane += s.n) {
      T* to = d + offset(s, lane, r);
      if constexpr (width == 2) {
        for (int n = 0; n < s.n; ++n) to[n] = t_f64::get(from, lane + n) * sign(2);
      } else {
        memcpy(to, from + lane, 4 * size_t(s.n));
      }
    }
  }
  for (int block = 0; block < s.blocks; ++block) {
    // cbsz: groups of 2^cbsz blocks share the A block that abid names.
    const u32 share = negative || s.sparse ? 0 : i->cbsz;
    const int source = share ? (block & ~((1 << share) - 1)) + i->abid : block;
    const T *pa = a + (source % s.blocks) * s.m * k, *pb = b + block * k * s.n;
    T* pd = d + block * s.m * s.n;
    switch (s.n) {
      case 32: multiply<32>(s.m, k, pa, pb, pd); break;
      case 16: multiply<16>(s.m, k, pa, pb, pd); break;
      default: multiply<4>(s.m, k, pa, pb, pd); break;
    }
  }
  u32* out = row(w, i->dst);
  for (int r = 0; r < results; ++r) {
    for (int lane = 0; lane < 64; lane += s.n) {
      const T* from = d + offset(s, lane, r);
      if constexpr (width == 2) {
        for (int n = 0; n < s.n; ++n) t_f64::put(out + 128 * r, lane + n, from[n]);
      } else {
        memcpy(out + 64 * r + lane, from, 4 * size_t(s.n));
      }
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
