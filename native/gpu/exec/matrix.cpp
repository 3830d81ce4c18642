// MFMA and SMFMAC. The shape and types come from the table; operands are unpacked into plain
// matrices, multiplied, and laid back over lanes and registers. MFMA ignores EXEC.
#include "lds.h"

namespace gpu::GPU_EXEC_NS {

namespace {

constexpr int kMaxA = 32 * 32 * 2 * 4, kMaxD = 32 * 32 * 2;

// The values of all fp8 and all bf8 codes.
const float (*eight_bits())[256] {
  struct Table {
    float value[2][256];
    Table() {
      for (u32 n = 0; n < 256; ++n) value[0][n] = fp8_to_f32(n), value[1][n] = bf8_to_f32(n);
    }
  };
  static const Table table;
  return table.value;
}

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
#if defined(__AVX2__)
      for (int n = 0; n < 64; n += 8) {
        const __m256i v = _mm256_srli_epi32(
            _mm256_slli_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + n)), 16 - shift), 16);
        const __m128i halves = _mm_packus_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
        _mm256_storeu_ps(out + n, _mm256_cvtph_ps(halves));
      }
#else
      GPU_LANES out[l] = f16_to_f32((p[l] >> shift) & 0xffffu);
#endif
      break;
    }
    case MatrixType::BF16: {
      p += 64 * (e / 2);
      const int shift = 16 * (1 - (e & 1));
      GPU_LANES out[l] = as_f32((p[l] << shift) & 0xffff0000u);
      break;
    }
    case MatrixType::FP8:
    case MatrixType::BF8: {
      p += 64 * (e / 4);
      const int shift = 8 * (e & 3);
      const float* value = eight_bits()[t == MatrixType::BF8];
      for (int l = 0; l < 64; ++l) out[l] = value[(p[l] >> shift) & 255];
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
    case 4:
    case 5:
    case 6:
    case 7: return (l & 15) | int((blgp - 4) << 4);
    default: return l;
  }
}

// One result register of 32-bit numbers. Its lanes are 64 / N rows of N columns: row[g] of A, held by
// columns (k x m), times B, held by rows (k x N). Products are added in the order of k, each rounded.
#if defined(__AVX2__)
inline __m256 product(__m256 x, __m256 y, __m256 sum) { return _mm256_fmadd_ps(x, y, sum); }
inline __m256i product(__m256i x, __m256i y, __m256i sum) { return _mm256_add_epi32(sum, _mm256_mullo_epi32(x, y)); }
inline __m256 eight(const float* p) { return _mm256_loadu_ps(p); }
inline __m256i eight(const i32* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline __m256 eight_of(float x) { return _mm256_set1_ps(x); }
inline __m256i eight_of(i32 x) { return _mm256_set1_epi32(x); }
inline void put_eight(float* p, __m256 v) { _mm256_storeu_ps(p, v); }
inline void put_eight(i32* p, __m256i v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }

template <int N, class T>
void register_of(T* out, const T* c, const T* a, const T* b, int k, int m, const int* row) {
  constexpr int groups = 64 / N, parts = N / 8;
  decltype(eight(c)) sum[groups][parts];
  for (int g = 0; g < groups; ++g)
    for (int p = 0; p < parts; ++p) sum[g][p] = eight(c + g * N + 8 * p);
  for (int e = 0; e < k; ++e) {
    decltype(eight(c)) y[parts];
    for (int p = 0; p < parts; ++p) y[p] = eight(b + e * N + 8 * p);
    for (int g = 0; g < groups; ++g) {
      const auto x = eight_of(a[e * m + row[g]]);
      for (int p = 0; p < parts; ++p) sum[g][p] = product(x, y[p], sum[g][p]);
    }
  }
  for (int g = 0; g < groups; ++g)
    for (int p = 0; p < parts; ++p) put_eight(out + g * N + 8 * p, sum[g][p]);
}
#else
inline float product(float x, float y, float sum) { return __builtin_fmaf(x, y, sum); }
inline i32 product(i32 x, i32 y, i32 sum) { return i32(u32(sum) + u32(x) * u32(y)); }

template <int N, class T>
void register_of(T* out, const T* c, const T* a, const T* b, int k, int m, const int* row) {
  T sum[64];
  memcpy(sum, c, sizeof sum);
  for (int e = 0; e < k; ++e)
    for (int l = 0; l < 64; ++l) sum[l] = product(a[e * m + row[l / N]], b[e * N + l % N], sum[l]);
  memcpy(out, sum, sizeof sum);
}
#endif

// 4x4 blocks: block l / 4 and column l % 4 in lane l, the row in the register.
template <class T>
void register_of_fours(T* out, const T* c, const T* a, const T* b, int k, const int* block) {
  for (int l = 0; l < 64; ++l) {
    T sum = c[l];
    for (int e = 0; e < k; ++e) {
      const T x = a[(block[l / 4] * k + e) * 4], y = b[(l / 4 * k + e) * 4 + l % 4];
      if constexpr (T(0.5) != T(0)) sum = __builtin_fmaf(x, y, sum);
      else sum = T(u32(sum) + u32(x) * u32(y));
    }
    out[l] = sum;
  }
}

// d += a b with a held by columns (k x m), b by rows (k x N).
template <int N>
void multiply(int m, int k, const double* a, const double* b, double* d) {
  for (int i = 0; i < m; ++i) {
    double acc[N];
    memcpy(acc, d + i * N, sizeof acc);
    for (int e = 0; e < k; ++e) {
      const double x = a[e * m + i];
      const double* y = b + e * N;
      for (int j = 0; j < N; ++j) acc[j] = __builtin_fma(x, y[j], acc[j]);
    }
    memcpy(d + i * N, acc, sizeof acc);
  }
}

// Double precision: where the run of lanes that starts at `lane` (one per column) of result r lies in D.
int offset(const MatrixInfo& s, int lane, int r) {
  const int block = s.n == 4 ? (lane / 4) % 4 : 0, i = lane / 16 + (s.n == 4 ? 0 : 4 * r);
  return (block * s.m + i) * s.n;
}

// Lane i + m (block + blocks group) holds items k = group * per + e of row i of A, or column i of B.
struct Place {
  int block, group;
};
Place place_of(const MatrixInfo& s, int lane, int side) { return {lane / side % s.blocks, lane / side / s.blocks}; }
int items_per_lane(const MatrixInfo& s) { return s.k / (64 / s.m / s.blocks); }

// In double precision the bits of blgp negate A, B and C.
template <class T>
T sign(const Inst* i, const MatrixInfo& s, int operand) {
  return s.d == MatrixType::F64 && ((i->blgp >> operand) & 1) ? T(-1) : T(1);
}

// Items of a run of lanes, to where they belong.
template <class T>
void lay(T* to, const T* from, int count, T sign) {
  if constexpr (sizeof(T) == 4) memcpy(to, from, 4 * size_t(count));
  else
    for (int n = 0; n < count; ++n) to[n] = from[n] * sign;
}

template <class T>
void unpack_a(Wave& w, const Inst* i, const MatrixInfo& s, T* a) {
  const u32* registers = at(w, i->src[0]);
  const int per = items_per_lane(s);
  alignas(64) T item[64];
  for (int e = 0; e < per; ++e) {
    items(s.a, registers, e, item);
    for (int lane = 0; lane < 64; lane += s.m) {
      const auto [block, group] = place_of(s, lane, s.m);
      lay(a + (block * s.k + group * per + e) * s.m, item + lane, s.m, sign<T>(i, s, 0));
    }
  }
}

// Half of A's items are there; two bits for each say which of four positions it has.
template <class T>
void unpack_sparse_a(Wave& w, const Inst* i, const MatrixInfo& s, T* a) {
  const u32 *registers = at(w, i->src[0]), *index = row(w, i->src[2].code);
  const int per_b = items_per_lane(s), per_a = per_b / 2;
  memset(a, 0, sizeof(T) * size_t(s.m * s.k));
  alignas(64) T item[64];
  for (int e = 0; e < per_a; ++e) {
    items(s.a, registers, e, item);
    const u32 shift = (i->cbsz ? 0 : u32(i->abid) * 2 * u32(per_a)) + 2 * u32(e);
    for (int lane = 0; lane < 64; ++lane) {
      const int position = int((index[lane] >> (shift & 31)) & 3), group = place_of(s, lane, s.m).group;
      a[(group * per_b + 4 * (e / 2) + position) * s.m + lane % s.m] += item[lane];
    }
  }
}

template <class T>
void unpack_b(Wave& w, const Inst* i, const MatrixInfo& s, T* b) {
  const u32* registers = at(w, i->src[1]);
  const int per = items_per_lane(s);
  const bool exchanged = i->blgp && s.d != MatrixType::F64 && !s.sparse;
  alignas(64) T item[64], moved[64];
  for (int e = 0; e < per; ++e) {
    items(s.b, registers, e, item);
    if (exchanged)
      for (int l = 0; l < 64; ++l) moved[l] = item[lane_group(i->blgp, l)];
    for (int lane = 0; lane < 64; lane += s.n) {
      const auto [block, group] = place_of(s, lane, s.n);
      lay(b + (block * s.k + group * per + e) * s.n, (exchanged ? moved : item) + lane, s.n, sign<T>(i, s, 1));
    }
  }
}

// cbsz: groups of 2^cbsz blocks share the A block that abid names.
int source_block(const Inst* i, const MatrixInfo& s, int block) {
  const u32 share = s.d == MatrixType::F64 || s.sparse ? 0 : i->cbsz;
  return (share ? (block & ~((1 << share) - 1)) + i->abid : block) % s.blocks;
}

// C's registers; a constant is one row for all of them.
struct Addend {
  const u32* registers;
  bool uniform;
};
Addend addend(Wave& w, const Inst* i, const MatrixInfo& s) {
  if (s.sparse) return {row(w, i->dst), false};
  return {at(w, i->src[2]), i->src[2].kind != Source::Vector};
}

// Results of 32 bits, register by register. `kept` is room for C.
template <class T>
void multiply_add(Wave& w, const Inst* i, const MatrixInfo& s, const T* a, const T* b, T* kept) {
  typedef T __attribute__((may_alias)) A;
  auto [c, uniform] = addend(w, i, s);
  u32* out = row(w, i->dst);
  const int results = s.m * s.n * s.blocks / 64, k = s.k;
  if (!uniform && c != out && c < out + 64 * results && out < c + 64 * results) {
    // D begins inside C: it must not overwrite what is still to be read.
    memcpy(kept, c, 256 * size_t(results));
    c = reinterpret_cast<const u32*>(kept);
  }
  for (int r = 0; r < results; ++r) {
    auto* to = reinterpret_cast<A*>(out + 64 * r);
    const auto* from = reinterpret_cast<const A*>(uniform ? c : c + 64 * r);
    if (s.n == 4) {
      int block[16];
      for (int n = 0; n < 16; ++n) block[n] = source_block(i, s, n);
      register_of_fours<T>(to, from, a + r, b, k, block);
      continue;
    }
    const int per_block = s.m * s.n / 64, block = r / per_block, q = r % per_block, groups_of_rows = 64 / s.n;
    int rows[4];
    for (int g = 0; g < groups_of_rows; ++g) rows[g] = q % 4 + 4 * g + 4 * groups_of_rows * (q / 4);
    const T *pa = a + source_block(i, s, block) * s.m * k, *pb = b + block * k * s.n;
    if (s.n == 32) register_of<32, T>(to, from, pa, pb, k, s.m, rows);
    else register_of<16, T>(to, from, pa, pb, k, s.m, rows);
  }
}

// Double precision: all of C is unpacked to d first.
void multiply_add(Wave& w, const Inst* i, const MatrixInfo& s, const double* a, const double* b, double* d) {
  const auto [c, uniform] = addend(w, i, s);
  u32* out = row(w, i->dst);
  const int results = s.m * s.n * s.blocks / 64;
  for (int r = 0; r < results; ++r) {
    const u32* from = uniform ? c : c + 128 * r;
    for (int lane = 0; lane < 64; lane += s.n)
      for (int n = 0; n < s.n; ++n) d[offset(s, lane, r) + n] = t_f64::get(from, lane + n) * sign<double>(i, s, 2);
  }
  for (int block = 0; block < s.blocks; ++block) {
    const double *pa = a + source_block(i, s, block) * s.m * s.k, *pb = b + block * s.k * s.n;
    double* pd = d + block * s.m * s.n;
    if (s.n == 16) multiply<16>(s.m, s.k, pa, pb, pd);
    else multiply<4>(s.m, s.k, pa, pb, pd);
  }
  for (int r = 0; r < results; ++r)
    for (int lane = 0; lane < 64; lane += s.n)
      for (int n = 0; n < s.n; ++n) t_f64::put(out + 128 * r, lane + n, d[offset(s, lane, r) + n]);
}

// A by columns (k x m) and B by rows (k x n), block by block.
template <class T>
void run(Wave& w, const Inst* i, const MatrixInfo& s) {
  static thread_local T a[kMaxA], b[kMaxA], d[kMaxD];
  if (s.sparse) unpack_sparse_a(w, i, s, a);
  else unpack_a(w, i, s, a);
  unpack_b(w, i, s, b);
  multiply_add(w, i, s, a, b, d);
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
