// Vectors, bytes, halves and bit fields.
#include "buffers.h"
#include <hip/hip_fp16.h>
struct Bits { unsigned a : 4, b : 12, c : 16; };
__global__ void packed(const float4* f, const int2* q, const uchar4* u, const Bits* s, const __half2* h, float4* out, int* more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile const float* v = &f[i].x;
  float x = 0;
  for (int r = 0; r < 16; ++r) x = v[0];
  float4 a = f[i];
  out[i] = make_float4(x + a.y, a.y, a.z * 2.0f, a.w);
  more[i] = q[i].x - q[i].y + u[i].w + (int)s[i].b * 3 + (int)s[i].a + (__high2float(h[i]) > 1.0f ? 1 : 0);
}
int main() {
  const int n = 500;
  std::vector<float4> f(n); std::vector<int2> q(n); std::vector<uchar4> u(n); std::vector<Bits> s(n); std::vector<__half2> h(n);
  for (int i = 0; i < n; ++i) {
    f[i] = make_float4(i % 7 * 0.5f, i % 5 + 1.0f, i % 3 + 2.0f, i % 11 + 0.25f);
    q[i] = make_int2(i % 50, i % 20); u[i] = make_uchar4(1, 2, 3, i % 9); s[i].a = i % 3; s[i].b = i % 17; s[i].c = i % 5;
    h[i] = __floats2half2_rn(i % 4 * 0.5f, i % 6 * 0.25f);
  }
  auto df = upload(f); auto dq = upload(q); auto du = upload(u); auto ds = upload(s); auto dh = upload(h);
  auto out = upload(std::vector<float4>(n)); auto more = upload(std::vector<int>(n));
  packed<<<4, 128>>>(df, dq, du, ds, dh, out, more, n);
  print_sum("packed", download(more, n));
  packed<<<3, 128>>>(df, dq, du, ds, dh, out, more, n - 140);
  must(hipDeviceSynchronize());
  print_sum("packed", download(more, n));
}
