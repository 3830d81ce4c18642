// Small floating-point types, directed rounding, conversions and integer intrinsics: the device
// against the host, every 16-bit pattern and every 8-bit one.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <cfenv>
#include <cstdio>
#include <cstring>
#include <vector>

__host__ __device__ unsigned bits(float f) {
  unsigned u;
  __builtin_memcpy(&u, &f, 4);
  return f != f ? 0x7fc00000u : u;
}
__host__ __device__ unsigned short quiet(__half h) { return __hisnan(h) ? 0x7e00 : __half_as_ushort(h); }
__host__ __device__ unsigned short quiet(__hip_bfloat16 h) { return __hisnan(h) ? 0x7fc0 : __bfloat16_as_ushort(h); }

constexpr int kWords = 15;
// Everything derived from one 16-bit pattern and a neighbour.
__host__ __device__ void derive(unsigned i, unsigned* out) {
  unsigned j = (i * 40503u + 12345u) & 0xffff;
  __half a = __ushort_as_half((unsigned short)i), b = __ushort_as_half((unsigned short)j);
  __hip_bfloat16 c = __ushort_as_bfloat16((unsigned short)i), d = __ushort_as_bfloat16((unsigned short)j);
  float f;
  unsigned word = i << 16 | j;
  __builtin_memcpy(&f, &word, 4);
  out[0] = bits(__half2float(a));
  out[1] = quiet(__float2half(f));
  out[2] = quiet(__hadd(a, b)) | quiet(__hmul(a, b)) << 16;
  out[3] = quiet(__hsub(a, b)) | quiet(__hdiv(a, b)) << 16;
  out[4] = quiet(__float2half_rz(f)) | quiet(__float2half_ru(f)) << 16;
  out[5] = quiet(__float2half_rd(f)) | (unsigned)__hlt(a, b) << 16 | (unsigned)__heq(a, a) << 17 | (unsigned)__hgeu(a, b) << 18;
  out[6] = bits(__bfloat162float(c));
  out[7] = quiet(__float2bfloat16(f)) | quiet(__hadd(c, d)) << 16;
  out[8] = quiet(__hmul(c, d)) | quiet(__hfma(c, d, c)) << 16;
  out[9] = quiet(__hmax(a, b)) | quiet(__hmin(c, d)) << 16;
  __hip_fp8_e4m3_fnuz x;
  x.__x = (unsigned char)i;
  __hip_fp8_e5m2_fnuz y;
  y.__x = (unsigned char)i;
  out[10] = bits((float)x);
  out[11] = bits((float)y);
  out[12] = __hip_fp8_e4m3_fnuz(f).__x | __hip_fp8_e5m2_fnuz(f).__x << 8 | __hip_fp8_e4m3(f).__x << 16 | __hip_fp8_e5m2(f).__x << 24;
  float2 pair = __half22float2(__hadd2(__half2(a, b), __half2(b, b)));
  out[13] = bits(pair.x) ^ bits(pair.y) * 3;
  out[14] = quiet(a + b * a) | quiet(c - d) << 16;
}
__global__ void patterns(unsigned* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  derive(i, out + i * kWords);
}

constexpr int kRounded = 14;
__global__ void rounded(const float* x, const double* y, float* f, double* d, int n) {
  int i = threadIdx.x;
  float a = x[i], b = x[(i + 1) % n], c = x[(i + 2) % n];
  double p = y[i], q = y[(i + 1) % n], r = y[(i + 2) % n];
  f += i * kRounded;
  d += i * kRounded;
  f[0] = __fadd_ru(a, b); f[1] = __fadd_rd(a, b); f[2] = __fadd_rz(a, b); f[3] = __fmul_ru(a, b);
  f[4] = __fmul_rd(a, b); f[5] = __fmul_rz(a, b); f[6] = __fdiv_ru(a, b); f[7] = __fdiv_rd(a, b);
  f[8] = __fdiv_rz(a, b); f[9] = __fsqrt_ru(fabsf(a)); f[10] = __fsqrt_rd(fabsf(a)); f[11] = __fmaf_ru(a, b, c);
  f[12] = __fmaf_rd(a, b, c); f[13] = __fsub_rz(a, b);
  d[0] = __dadd_ru(p, q); d[1] = __dadd_rd(p, q); d[2] = __dadd_rz(p, q); d[3] = __dmul_ru(p, q);
  d[4] = __dmul_rd(p, q); d[5] = __dmul_rz(p, q); d[6] = __ddiv_ru(p, q); d[7] = __ddiv_rd(p, q);
  d[8] = __ddiv_rz(p, q); d[9] = __dsqrt_ru(fabs(p)); d[10] = __dsqrt_rd(fabs(p)); d[11] = __fma_ru(p, q, r);
  d[12] = __fma_rd(p, q, r); d[13] = __dsub_rz(p, q);
}
template <typename T> T in_mode(int mode, char op, volatile T a, volatile T b, volatile T c = 0) {
  std::fesetround(mode);
  volatile T r = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : op == '/' ? a / b : op == 's' ? std::sqrt(a) : std::fma(a, b, c);
  std::fesetround(FE_TONEAREST);
  return r;
}
template <typename T> void expected(T a, T b, T c, T* f) {
  const int up = FE_UPWARD, down = FE_DOWNWARD, zero = FE_TOWARDZERO;
  T root = a < 0 ? -a : a;
  T all[kRounded] = {in_mode(up, '+', a, b), in_mode(down, '+', a, b), in_mode(zero, '+', a, b), in_mode(up, '*', a, b),
                     in_mode(down, '*', a, b), in_mode(zero, '*', a, b), in_mode(up, '/', a, b), in_mode(down, '/', a, b),
                     in_mode(zero, '/', a, b), in_mode(up, 's', root, b), in_mode(down, 's', root, b), in_mode(up, 'f', a, b, c),
                     in_mode(down, 'f', a, b, c), in_mode(zero, '-', a, b)};
  std::memcpy(f, all, sizeof all);
}

__global__ void integers(const unsigned* x, int* out) {
  unsigned a = x[threadIdx.x], b = x[(threadIdx.x + 1) % 64];
  unsigned long long w = (unsigned long long)a << 32 | b;
  int* o = out + threadIdx.x * 16;
  o[0] = __popc(a) + 100 * __popcll(w);
  o[1] = __clz((int)a) + 100 * __clzll((long long)w);
  o[2] = __ffs((int)a) + 100 * __ffsll((long long)w);
  o[3] = (int)__brev(a);
  o[4] = __mulhi((int)a, (int)b);
  o[5] = (int)__umulhi(a, b);
  o[6] = (int)(__umul64hi(w, w * 3) ^ (__umul64hi(w, w * 3) >> 32));
  o[7] = __mul24((int)a, (int)b) ^ __umul24(a, b);
  o[8] = (int)__funnelshift_l(a, b, a & 63) ^ (int)__funnelshift_rc(a, b, b & 63);
  o[9] = (int)__byte_perm(a, b, 0x7531) ^ (int)__byte_perm(a, b, a & 0x7777);
  o[10] = (int)__sad((int)a, (int)b, 7u);
  o[11] = __hadd((int)a, (int)b) ^ (int)__urhadd(a, b);
  o[12] = (int)__bitextract_u32(a, 5, 9) + (int)__bitinsert_u32(a, b, 8, 12);
  o[13] = __float2int_rn(__uint_as_float(a)) ^ __float2int_rd(__uint_as_float(b));
  o[14] = (int)__float2uint_ru(__uint_as_float(a)) + (int)__float2ll_rz(__uint_as_float(b));
  o[15] = __dp4a((int)a, (int)b, 9);
}
int saturated(double x) { return x != x ? 0 : x >= 2147483648.0 ? 2147483647 : x < -2147483648.0 ? -2147483647 - 1 : (int)x; }
unsigned saturated_u(double x) { return !(x > 0) ? 0u : x >= 4294967296.0 ? 4294967295u : (unsigned)x; }
long long saturated_l(double x) {
  return x != x ? 0 : x >= 9223372036854775808.0 ? 9223372036854775807ll : x < -9223372036854775808.0 ? -9223372036854775807ll - 1 : (long long)x;
}
unsigned permute(unsigned a, unsigned b, unsigned s) {
  unsigned char bytes[8];
  std::memcpy(bytes, &a, 4);
  std::memcpy(bytes + 4, &b, 4);
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= (unsigned)bytes[(s >> (4 * i)) & 7] << (8 * i);
  return r;
}
void integers_host(unsigned a, unsigned b, int* o) {
  unsigned long long w = (unsigned long long)a << 32 | b, d = (unsigned long long)b << 32 | a;
  float fa, fb;
  std::memcpy(&fa, &a, 4);
  std::memcpy(&fb, &b, 4);
  unsigned long long high = (unsigned long long)(((unsigned __int128)w * (w * 3)) >> 64);
  unsigned rev = 0;
  for (int i = 0; i < 32; ++i) rev |= (a >> i & 1) << (31 - i);
  o[0] = __builtin_popcount(a) + 100 * __builtin_popcountll(w);
  o[1] = (a ? __builtin_clz(a) : 32) + 100 * (w ? __builtin_clzll(w) : 64);
  o[2] = __builtin_ffs((int)a) + 100 * __builtin_ffsll((long long)w);
  o[3] = (int)rev;
  o[4] = (int)((long long)(int)a * (int)b >> 32);
  o[5] = (int)((unsigned long long)a * b >> 32);
  o[6] = (int)(high ^ (high >> 32));
  o[7] = (int)((unsigned)((int)(a << 8) >> 8) * (unsigned)((int)(b << 8) >> 8)) ^ (int)((a & 0xffffff) * (b & 0xffffff));
  o[8] = (int)((d << (a & 31)) >> 32) ^ (int)(unsigned)(d >> ((b & 63) > 32 ? 32 : (b & 63)));
  o[9] = (int)permute(a, b, 0x7531) ^ (int)permute(a, b, a & 0x7777);
  o[10] = (int)(7u + ((int)a > (int)b ? a - b : b - a));
  o[11] = (int)(((long long)(int)a + (int)b) >> 1) ^ (int)(((unsigned long long)a + b + 1) >> 1);
  o[12] = (int)((a >> 5) & 511) + (int)((a & ~(4095u << 8)) | (b & 4095u) << 8);
  o[13] = saturated(std::nearbyint(fa)) ^ saturated(std::floor(fb));
  o[14] = (int)saturated_u(std::ceil(fa)) + (int)saturated_l(std::trunc(fb));
  int dot = 9;
  for (int i = 0; i < 32; i += 8) dot += (int)(signed char)(a >> i) * (int)(signed char)(b >> i);
  o[15] = dot;
}

template <typename T> std::vector<T> fetch(const T* from, size_t n) {
  std::vector<T> host(n);
  (void)hipMemcpy(host.data(), from, n * sizeof(T), hipMemcpyDeviceToHost);
  return host;
}
template <typename T> T* put(const std::vector<T>& from) {
  T* to = nullptr;
  (void)hipMalloc(&to, from.size() * sizeof(T));
  (void)hipMemcpy(to, from.data(), from.size() * sizeof(T), hipMemcpyHostToDevice);
  return to;
}

int main() {
  int failures = 0;
  auto report = [&](const char* what, long at, double got, double want) {
    if (failures++ < 20) std::printf("%s %ld: %.17g, not %.17g\n", what, at, got, want);
  };
  unsigned* patterns_out;
  (void)hipMalloc(&patterns_out, 65536 * kWords * 4);
  patterns<<<256, 256>>>(patterns_out);
  std::vector<unsigned> got = fetch(patterns_out, 65536 * kWords);
  for (unsigned i = 0; i < 65536; ++i) {
    unsigned want[kWords];
    derive(i, want);
    for (int k = 0; k < kWords; ++k)
      if (got[i * kWords + k] != want[k]) report("pattern", i * 100l + k, got[i * kWords + k], want[k]);
  }

  constexpr int n = 64;
  std::vector<float> x(n);
  std::vector<double> y(n);
  unsigned long long r = 88172645463325252ull;
  for (int i = 0; i < n; ++i) {
    r ^= r << 13; r ^= r >> 7; r ^= r << 17;
    x[i] = ((int)(r >> 40) - (1 << 23)) / 1000.0f * (i % 5 ? 1.0f : 1e-20f);
    y[i] = ((double)(long long)r) / 1e15 * (i % 7 ? 1.0 : 1e-150);
  }
  float* f;
  double* d;
  (void)hipMalloc(&f, n * kRounded * 4);
  (void)hipMalloc(&d, n * kRounded * 8);
  rounded<<<1, n>>>(put(x), put(y), f, d, n);
  std::vector<float> got_f = fetch(f, n * kRounded);
  std::vector<double> got_d = fetch(d, n * kRounded);
  for (int i = 0; i < n; ++i) {
    float want_f[kRounded];
    double want_d[kRounded];
    expected(x[i], x[(i + 1) % n], x[(i + 2) % n], want_f);
    expected(y[i], y[(i + 1) % n], y[(i + 2) % n], want_d);
    for (int k = 0; k < kRounded; ++k) {
      if (got_f[i * kRounded + k] != want_f[k]) report("rounded float", i * 100 + k, got_f[i * kRounded + k], want_f[k]);
      if (got_d[i * kRounded + k] != want_d[k]) report("rounded double", i * 100 + k, got_d[i * kRounded + k], want_d[k]);
    }
  }

  std::vector<unsigned> words(64);
  for (int i = 0; i < 64; ++i) {
    r ^= r << 13; r ^= r >> 7; r ^= r << 17;
    words[i] = i < 3 ? i - 1u : i < 40 ? (unsigned)r : 0x40000000u + (unsigned)(r >> 36);
  }
  int* o;
  (void)hipMalloc(&o, 64 * 16 * 4);
  integers<<<1, 64>>>(put(words), o);
  std::vector<int> got_i = fetch(o, 64 * 16);
  for (int i = 0; i < 64; ++i) {
    int want[16];
    integers_host(words[i], words[(i + 1) % 64], want);
    for (int k = 0; k < 16; ++k)
      if (got_i[i * 16 + k] != want[k]) report("integer", i * 100 + k, got_i[i * 16 + k], want[k]);
  }
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  std::printf("%d failures\n", failures);
  return failures != 0;
}
