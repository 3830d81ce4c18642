// Kernels whose bottleneck is known by construction; each is launched once, results checked.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    if (hipError_t status = (call)) {                                            \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status));        \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

__global__ void vcopy(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// Each load's address is the value of the load before.
__global__ void chase(const int* next, int* out, int steps) {
  int at = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
  for (int i = 0; i < steps; ++i) at = next[at];
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

__global__ void fma_chain(float* out, int steps, float by) {
  float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
  for (int i = 0; i < steps; ++i) {
    a = a * by + 1.0f; b = b * by + 1.0f; c = c * by + 1.0f; d = d * by + 1.0f;
    e = e * by + 1.0f; f = f * by + 1.0f; g = g * by + 1.0f; h = h * by + 1.0f;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + d + e + f + g + h;
}

// 64 KiB of LDS: one workgroup of one wave per compute unit, with nothing to run while it waits.
__global__ void __launch_bounds__(64) big_lds(const float* in, float* out, int steps) {
  __shared__ float all[16384];
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    all[(threadIdx.x + 64 * i) & 16383] = in[(blockIdx.x * steps + i) * 64 + threadIdx.x];
    __syncthreads();
    sum += all[(threadIdx.x + 64 * i + 1) & 16383];
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// One lane in eight works; the others wait for it, eight times.
__global__ void divergent(float* out, int steps) {
  float x = threadIdx.x, y = x + 1, z = x + 2, w = x + 3;
  for (unsigned turn = 0; turn < 8; ++turn)
    if (threadIdx.x % 8 == turn)
      for (int i = 0; i < steps; ++i) {
        x = x * 1.0001f + turn; y = y * 1.0002f + turn; z = z * 1.0003f + turn; w = w * 1.0004f + turn;
      }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z + w;
}

// All lanes of a phase in one bank.
__global__ void lds_stride(float* out, int steps) {
  __shared__ float all[8192];
  for (int i = threadIdx.x; i < 8192; i += 256) all[i] = i;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < steps; ++i) sum += all[(threadIdx.x * 32 + i * 37) & 8191];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

template <class T> struct Buffer {
  T* at = nullptr;
  explicit Buffer(size_t n) { CHECK(hipMalloc(&at, n * sizeof(T))); CHECK(hipMemset(at, 0, n * sizeof(T))); }
  ~Buffer() { (void)hipFree(at); }
  operator T*() { return at; }
};

int main() {
  const int n = 2 << 20;
  Buffer<double> in(n), out(n);
  Buffer<float> values(1 << 20);
  std::vector<int> next(64 * 64 * 64);
  for (size_t i = 0; i < next.size(); ++i) next[i] = int((i + 64 * 997) % next.size());
  Buffer<int> chain(next.size()), ends(4096);
  CHECK(hipMemcpy(chain, next.data(), next.size() * sizeof(int), hipMemcpyHostToDevice));
  vcopy<<<n / 256, 256>>>(in, out, n);
  chase<<<16, 64>>>(chain, ends, 200);
  fma_chain<<<304, 1024>>>(values, 200, 0.5f);
  big_lds<<<608, 64>>>(values, values + (1 << 19), 12);
  divergent<<<304, 1024>>>(values, 24);
  lds_stride<<<304, 256>>>(values, 50);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  return 0;
}
