// sampled_shapes SHAPE GROUPS: one launch whose workgroups differ from each other in a known way.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                       \
  do {                                                                    \
    hipError_t status = (call);                                           \
    if (status != hipSuccess) {                                           \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status)); \
      std::exit(1);                                                       \
    }                                                                     \
  } while (0)

enum Shape { Uniform, Growing, Shrinking, Rare, Late, Early, One, Spins, Phases = Spins, Gather, Stencil };
constexpr const char* kShapes[] = {"uniform", "growing", "shrinking", "rare",   "late",
                                   "early",   "one",     "phases",    "gather", "stencil"};

__device__ unsigned turns(int shape, unsigned group, unsigned groups) {
  switch (shape) {
    case Growing: return group * 64ull / groups;
    case Shrinking: return 64 - group * 64ull / groups;
    case Rare: return (group * 2654435761u >> 20) % 64 == 0 ? 512 : 4;
    case Late: return group >= groups - groups / 64 ? 512 : 4;
    case Early: return group < groups / 64 ? 512 : 4;
    case One: return group == groups - groups / 3 ? 20000 : 8;
    default: return 16;
  }
}

__global__ void spin(float* out, unsigned n, int shape) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % n, count = turns(shape, blockIdx.x, gridDim.x);
  float v = out[i];
  for (unsigned k = 0; k < count; ++k) v = v * 1.0001f + 0.5f;
  out[i] = v;
}

// Half of the grid computes, the other half reads.
__global__ void phases(float* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i % n];
  if (blockIdx.x > gridDim.x / 2) {
    for (unsigned k = 0; k < 8; ++k) v += in[(i + k * 1048583u) % n];
  } else {
    for (int k = 0; k < 48; ++k) v = v * 1.0001f + 0.5f;
  }
  out[i % n] = v;
}

__global__ void gather(float* out, const float* in, const unsigned* at, unsigned n) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  out[i] = in[at[i]];
}

__global__ void stencil(float* out, const float* in, unsigned side) {
  const unsigned x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  if (x == 0 || y == 0 || z == 0 || x >= side - 1 || y >= side - 1 || z >= gridDim.y - 1) return;
  const size_t row = side, plane = row * side, i = x + row * y + plane * z;
  out[i] = in[i - 1] + in[i + 1] + in[i - row] + in[i + row] + in[i - plane] + in[i + plane] - 6 * in[i];
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const unsigned groups = unsigned(std::strtoul(argv[2], nullptr, 10)), n = groups * 256;
  int shape = 0;
  while (shape < 10 && std::strcmp(argv[1], kShapes[shape])) ++shape;
  float *in = nullptr, *out = nullptr;
  unsigned* at = nullptr;
  CHECK(hipMalloc(&in, n * 4ull));
  CHECK(hipMalloc(&out, n * 4ull));
  CHECK(hipMalloc(&at, n * 4ull));
  if (shape < Spins) {
    spin<<<groups, 256>>>(out, n, shape);
  } else if (shape == Phases) {
    phases<<<groups, 256>>>(out, in, n);
  } else if (shape == Gather) {  // the second half from anywhere
    std::vector<unsigned> where(n);
    unsigned long long state = 1;
    for (unsigned i = 0; i < n; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      where[i] = i < n / 2 ? i : unsigned(state >> 33) % n;
    }
    CHECK(hipMemcpy(at, where.data(), n * 4ull, hipMemcpyHostToDevice));
    gather<<<groups, 256>>>(out, in, at, n);
  } else if (shape == Stencil) {
    stencil<<<dim3(256, groups / 256), 256>>>(out, in, 256);
  } else {
    return 2;
  }
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  return 0;
}
