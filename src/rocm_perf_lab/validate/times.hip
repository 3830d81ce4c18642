// The programs of the published MI300A kernel times, written from their description: which elements
// a thread touches, the shape of its block, and how launches follow each other.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "hip_check.h"

__global__ void vectoradd(float* a, const float* b, const float* c, int width, int height) {
  int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  int i = y * width + x;
  if (i < width * height) a[i] = b[i] + c[i];
}

__global__ void relu(int n, const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] > 0 ? in[i] : 0;
}

__global__ void fir(float* out, const float* taps, const float* in, const float* history, unsigned count) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < count; ++k) {
    if (i >= k) sum += taps[k] * in[i - k];
    else sum += taps[k] * history[count - (k - i)];
  }
  out[i] = sum;
}

__global__ void floydwarshall(int* distance, int* path, unsigned nodes, unsigned pass) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int old = distance[y * nodes + x];
  int through = distance[y * nodes + pass] + distance[pass * nodes + x];
  if (through < old) {
    distance[y * nodes + x] = through;
    path[y * nodes + x] = int(pass);
  }
}

template <class T>
T* allocate(size_t count) {
  T* memory = nullptr;
  CHECK(hipMalloc(&memory, count * sizeof(T)));
  return memory;
}

// times PROGRAM SIZE LAUNCHES [TAPS]: that many launches, or that many passes of a sweep.
int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const char* what = argv[1];
  const size_t n = std::strtoull(argv[2], nullptr, 10);
  const int launches = std::atoi(argv[3]);
  auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  if (is("vectoradd")) {
    // As square as a power of two allows.
    size_t width = size_t(1) << (int(std::log2(double(n)) + 1) / 2), height = n / width;
    float *a = allocate<float>(n), *b = allocate<float>(n), *c = allocate<float>(n);
    dim3 block(16, 16), grid(unsigned((width + 15) / 16), unsigned((height + 15) / 16));
    for (int i = 0; i < launches; ++i) vectoradd<<<grid, block>>>(a, b, c, int(width), int(height));
  } else if (is("relu")) {
    float *in = allocate<float>(n), *out = allocate<float>(n);
    for (int i = 0; i < launches; ++i) relu<<<unsigned((n + 63) / 64), 64>>>(int(n), in, out);
  } else if (is("fir")) {
    const unsigned taps = argc > 4 ? unsigned(std::atoi(argv[4])) : 16;
    float *out = allocate<float>(n), *in = allocate<float>(n), *coefficients = allocate<float>(taps), *history = allocate<float>(taps);
    for (int i = 0; i < launches; ++i) fir<<<unsigned(n / 256), 256>>>(out, coefficients, in, history, taps);
  } else if (is("floydwarshall")) {
    int *distance = allocate<int>(n * n), *path = allocate<int>(n * n);
    // The published distances in a whole sweep; of a few launches one where none becomes shorter, as in most
    // of a large sweep.
    if (launches == int(n)) {
      std::vector<int> weights(n * n);
      std::srand(1);
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = i % (n + 1) ? std::rand() % 100 + 1 : 0;
      CHECK(hipMemcpy(distance, weights.data(), weights.size() * sizeof(int), hipMemcpyHostToDevice));
    }
    dim3 block(8, 8), grid(unsigned(n / 8), unsigned(n / 8));
    for (int i = 0; i < launches; ++i) floydwarshall<<<grid, block>>>(distance, path, unsigned(n), unsigned(i % int(n)));
  } else {
    std::fprintf(stderr, "no program %s\n", what);
    return 2;
  }
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  return 0;
}
