// Kernels of many kinds, one launch each: bytes and indices, offsets, structures, sums, work in place.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <vector>

struct Body {
  float x, y;
  int id;
  float m;
};
struct View {
  const Body* in;
  float* out;
  int n;
  float k;
};
__global__ void hist(const unsigned char* data, unsigned* bins, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[data[i]], 1u);
}
__global__ void copyi(const int* a, int* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
__global__ void gather(const int* idx, const int* table, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[idx[i]];
}
__global__ void spmv(const int* rowptr, const int* col, const float* val, const float* x, float* y, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int j = rowptr[r]; j < rowptr[r + 1]; ++j) s += val[j] * x[col[j]];
  y[r] = s;
}
__global__ void bodies(View v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= v.n) return;
  v.out[i] = v.in[i].x * v.in[i].y + v.k * v.in[i].m + (float)v.in[i].id;
}
__global__ void total(const float* x, float* sum, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void norm(const float* x, float* y, int rows, int cols, float eps) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float m = 0, v = 0;
  for (int c = 0; c < cols; ++c) m += x[r * cols + c];
  m /= cols;
  for (int c = 0; c < cols; ++c) {
    float d = x[r * cols + c] - m;
    v += d * d;
  }
  float s = 1.0f / sqrtf(v / cols + eps);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (x[r * cols + c] - m) * s;
}
template <class T>
T* up(const std::vector<T>& v) {
  T* p;
  (void)hipMalloc(&p, v.size() * sizeof(T));
  (void)hipMemcpy(p, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice);
  return p;
}
int main() {
  const int n = 4096;
  std::vector<unsigned char> bytes(n);
  std::vector<int> a(n), idx(n);
  std::vector<float> f(n), g(n);
  std::vector<Body> b(n);
  for (int i = 0; i < n; ++i) {
    bytes[i] = i * 7 % 64;
    a[i] = i * 13 % 1000;
    idx[i] = i * 5 % n;
    f[i] = (i % 17) * 0.25f - 1;
    g[i] = i % 5;
    b[i] = {f[i], g[i], i, 1.5f};
  }
  auto db = up(bytes);
  auto bins = up(std::vector<unsigned>(64, 0));
  auto da = up(a), di = up(idx), dout = up(a);
  auto df = up(f), dg = up(g), dy = up(std::vector<float>(n, 0)), ds = up(std::vector<float>(1, 0));
  auto dbod = up(b);
  std::vector<int> rp(257);
  for (int i = 0; i <= 256; ++i) rp[i] = i * 16;
  auto drp = up(rp);
  hist<<<8, 256>>>(db, bins, n);
  copyi<<<16, 256>>>(da, dout, n);  // already there
  gather<<<16, 256>>>(di, da, dout, n);
  spmv<<<1, 256>>>(drp, di, df, dg, dy, 256);
  bodies<<<16, 256>>>(View{dbod, dy, n, 0.5f});
  std::vector<float> big(1000000);
  for (int i = 0; i < 1000000; ++i) big[i] = (i % 101) * 0.01f;
  auto dbig = up(big);
  total<<<16, 256>>>(dbig, ds, 1000000);
  axpy<<<16, 256>>>(2.0f, df, dg, n);
  norm<<<1, 64>>>(df, dy, 64, 64, 1e-5f);
  if (hipDeviceSynchronize()) return 1;
  puts("ok");
}
