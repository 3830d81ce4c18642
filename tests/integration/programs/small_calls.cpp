// Calls that public programs make and that once did not compile: min and max of mixed and short
// types, conversions and constructors of bfloat16 and 8-bit floats. One list, evaluated on the
// host and on the device, and against values known from the formats.
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <type_traits>

struct Given { short s; unsigned char c; char k; uint16_t h; int i; unsigned u; size_t n; long long l; float x; double d; };
constexpr int kMost = 128;
struct Seen { double value[kMost]; int count; };

__host__ __device__ void calls(const Given& g, Seen& seen) {
  seen.count = 0;
  auto put = [&](double v) { seen.value[seen.count++] = v; };
  put(max(g.s, g.c)); put(min(g.s, g.s)); put(max(g.c, g.c)); put(min(g.k, g.k)); put(max(g.h, g.s));
  put(min((double)g.n, (double)g.i)); put(min(g.n, g.i)); put(max(g.i, g.u)); put(max(0, g.n)); put(max(g.l, g.i));
  put(max((int64_t)g.i, g.l)); put(min(g.u, 1024)); put(max(g.x, g.d)); put(min(g.i, g.x)); put(min(g.x, 0));
  put(max(0.0, g.x)); put(max(true, false)); put(::max(g.i, g.s)); put(std::max(g.i, 3)); put(std::min<size_t>(g.n, 2));
  put(max(NAN, 1.0)); put(min(2, NAN));
  // As AMD's compiler types them: of one kind what they are, of two kinds double.
  static_assert(sizeof(max(g.s, g.s)) == sizeof(short) && sizeof(max(g.x, g.i)) == sizeof(double));
  static_assert(std::is_same<decltype(max(g.n, g.i)), double>::value);

  auto pair = [&](__hip_bfloat162 v) { put(__low2float(v)); put(__high2float(v)); };
  __hip_bfloat16 a(g.x), b = g.d, c(g.i), d(g.u), e(g.s), f(g.l), z{};
  __hip_bfloat16_raw raw = a;
  z = raw;
  for (__hip_bfloat16 v : {a, b, c, d, e, f, z}) put(v);
  pair(__float2bfloat162_rn(g.x)); pair(__floats2bfloat162_rn(g.x, 2)); pair(__float22bfloat162_rn(float2(1, g.x)));
  pair(make_bfloat162(a, b)); pair(__bfloat162bfloat162(a)); pair(__halves2bfloat162(a, b)); pair(__hip_bfloat162{a, c});
  __hip_bfloat162 two(a, c), copy;
  __hip_bfloat162_raw raws = two;
  copy = raws;
  pair(copy);
  float2 floats = two, same = __bfloat1622float2(two), halves = __half22float2(__float2half2_rn(g.x));
  put(floats.x + floats.y); put(same.x - same.y); put(halves.x);
  put(__bfloat162int_rz(a)); put(__int2bfloat16_rn(g.i)); put(__double2bfloat16(g.d)); put(__double2half(g.d)); put(__half(g.d));
  put((float)__hip_bfloat16((__bf16)a)); put(HIPRT_ONE_BF16); put(HIPRT_MAX_NORMAL_BF16); put(HIPRT_INF_BF16);

  __hip_fp8_e4m3_fnuz p = g.x, q(g.d), r(g.i), t(a), v(__half(g.x));
  __hip_fp8_e5m2 w(g.l);
  put(p); put(q); put(r); put(t); put(v); put(w); put((unsigned)p); put((long)p); put((double)q); put((bool)p);
  put((float)(__half)p); put((float)(__hip_bfloat16)p);
  const auto sat = __HIP_SATFINITE;
  const auto kind = __HIP_E4M3;
  put(__hip_cvt_double_to_fp8(g.d, sat, kind)); put(__hip_cvt_double2_to_fp8x2(double2(g.d, 1), sat, kind));
  put(__hip_cvt_halfraw2_to_fp8x2(__floats2half2_rn(g.x, 2), sat, kind)); put(__hip_cvt_bfloat16raw2_to_fp8x2(two, sat, kind));
  __half2 wide(__hip_cvt_fp8x2_to_halfraw2(0x3840, kind));
  put(__low2float(wide)); put(__high2float(wide));
  put(__hip_fp8x2_e4m3(float2(1, 2)).__x); put(__hip_fp8x2_e4m3(double2(1, 2)).__x); put(__hip_fp8x2_e4m3(wide).__x);
  put(__hip_fp8x2_e4m3(two).__x); put(__hip_fp8x4_e5m2(double4(1, 2, 3, 4)).__x); put(__hip_fp8x4_e5m2(wide, wide).__x);
  put(__hip_fp8x4_e5m2(two, two).__x); put(((float4)__hip_fp8x4_e5m2(float4(1, 2, 3, 4))).w);
}
__global__ void on_device(Given g, Seen* seen) { calls(g, *seen); }
__global__ void add(__hip_bfloat16* sums, __half* halves) {
  unsafeAtomicAdd(sums + threadIdx.x % 2, __hip_bfloat16(1));
  unsafeAtomicAdd(halves + threadIdx.x % 2, __half(1));
}

int failures = 0;
void expect(bool good, const char* what, double got, double want) {
  if (good) return;
  ++failures;
  std::printf("%s: %.17g, not %.17g\n", what, got, want);
}
void is(double got, double want, const char* what) { expect(got == want || (got != got && want != want), what, got, want); }

int main() {
  // 1 + 2^-8 + 2^-40 lies just above the middle of two bfloat16: rounded once it goes up.
  const Given given[] = {{-3, 200, 5, 7, -9, 40, 6, 1ll << 40, 1.5f, 1 + 0x1p-8 + 0x1p-40},
                         {100, 3, -2, 60000, 0x1010001, 1, 100000, -5, -0.3f, 1 + 0x1p-4 + 0x1p-40},
                         {0, 0, 0, 0, 0, 0, 0, 0, 500.0f, -1e300},
                         {7, 7, 7, 7, 7, 7, 7, 7, 1e-3f, -1 - 0x1p-11 - 0x1p-40}};
  Seen *device, host;
  if (hipMallocManaged(&device, sizeof(Seen)) != hipSuccess) return 1;
  for (const Given& g : given) {
    calls(g, host);
    on_device<<<1, 1>>>(g, device);
    if (hipDeviceSynchronize() != hipSuccess) return 1;
    is(device->count, host.count, "calls");
    for (int i = 0; i < host.count; ++i) {
      char what[40];
      std::snprintf(what, sizeof what, "call %d on the device", i);
      is(device->value[i], host.value[i], what);
    }
  }
  auto* sums = reinterpret_cast<__hip_bfloat16*>(device);
  auto* halves = reinterpret_cast<__half*>(sums + 2);
  sums[0] = sums[1] = 0;
  halves[0] = halves[1] = 0;
  add<<<1, 64>>>(sums, halves);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  is(sums[1], 32, "atomic additions of bfloat16");
  is(halves[1], 32, "atomic additions of half");
  calls(given[0], host);
  is(host.value[0], 200, "max(short, unsigned char)");
  is(host.value[6], -9, "min(size_t, int) of a negative int");
  is(host.value[20], 1, "max(NaN, 1)");
  is(__hip_bfloat16(given[0].d), 1 + 0x1p-7, "a double to bfloat16, rounded once");
  is(__hip_bfloat16(0x1010001), 0x1020000, "an int to bfloat16, rounded once");
  is(__half(given[3].d), -1 - 0x1p-10, "a double to half, rounded once");
  is(__hip_fp8_e4m3(given[1].d), 1.125, "a double to E4M3, rounded once");
  is(__hip_fp8_e4m3_fnuz(-1e300), -240, "saturation");
  is(__hip_fp8x2_e4m3(float2(1, 2)).__x, 0x4038, "1 and 2 as E4M3");
  is(__hip_fp8x4_e5m2(float4(1, 2, 3, 4)).__x, 0x4442403c, "1 to 4 as E5M2");
  std::printf("%d failures\n", failures);
  return failures != 0;
}
