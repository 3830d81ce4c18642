// C = A B for row-major n x n matrices, three ways: naive, tiled through LDS, and with the matrix
// cores on half-precision inputs. -n size (a multiple of 64), -k naive|tiled|mfma for one alone.
#include <hip/hip_fp16.h>

#include "check.h"

__global__ void gemm_naive(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// A block of 16 x 16 threads computes 64 x 64 elements, 4 x 4 per thread; -D tunes both.
#ifndef TILE_EACH
#define TILE_EACH 4
#endif
#ifndef TILE_DEPTH
#define TILE_DEPTH 16
#endif
constexpr int kEach = TILE_EACH, kTile = 16 * kEach, kDepth = TILE_DEPTH;
__global__ void __launch_bounds__(256) gemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float ta[kDepth][kTile + 4], tb[kDepth][kTile];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = blockIdx.y * kTile, column = blockIdx.x * kTile;
  float sum[kEach][kEach] = {};
  for (int k = 0; k < n; k += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += 256) {
      ta[i % kDepth][i / kDepth] = a[(row + i / kDepth) * n + k + i % kDepth];
      tb[i / kTile][i % kTile] = b[(k + i / kTile) * n + column + i % kTile];
    }
    __syncthreads();
    for (int d = 0; d < kDepth; ++d) {
      float x[kEach], y[kEach];
      for (int i = 0; i < kEach; ++i) {
        x[i] = ta[d][ty * kEach + i];
        y[i] = tb[d][tx * kEach + i];
      }
      for (int i = 0; i < kEach; ++i)
        for (int j = 0; j < kEach; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < kEach; ++i)
    for (int j = 0; j < kEach; ++j) c[(row + ty * kEach + i) * n + column + tx * kEach + j] = sum[i][j];
}

// One wave computes 16 x 16 elements with v_mfma_f32_16x16x16_f16: lane l holds row (or column)
// l % 16 and four consecutive k starting at 4 (l / 16); of the result, column l % 16 and four rows.
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void __launch_bounds__(256) gemm_mfma(const _Float16* a, const _Float16* b, float* c, int n) {
  int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
  int row = blockIdx.y * 32 + (wave / 2) * 16, column = blockIdx.x * 32 + (wave % 2) * 16;
  int at = lane % 16, group = lane / 16;
  floatx4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int k = 0; k < n; k += 16) {
    half4 x, y;
    for (int i = 0; i < 4; ++i) {
      x[i] = a[(row + at) * n + k + group * 4 + i];
      y[i] = b[(k + group * 4 + i) * n + column + at];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i) c[(row + group * 4 + i) * n + column + at] = sum[i];
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 256);
  const char* only = "";
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "-k") == 0) only = argv[i + 1];
  if (n <= 0 || n % kTile) {
    std::fprintf(stderr, "gemm: -n must be a multiple of %d\n", kTile);
    return 2;
  }
  const size_t count = static_cast<size_t>(n) * n;
  Random random;
  std::vector<float> a = random.values(count), b = random.values(count);
  std::vector<_Float16> ha(count), hb(count);
  for (size_t i = 0; i < count; ++i) {
    // Values a half holds exactly, so that one reference serves all three.
    a[i] = std::round(a[i] * 512.0f) / 512.0f;
    b[i] = std::round(b[i] * 512.0f) / 512.0f;
    ha[i] = static_cast<_Float16>(a[i]);
    hb[i] = static_cast<_Float16>(b[i]);
  }
  // A reference of n^3 in double takes long: rows spread over the matrix are checked.
  std::vector<int> rows;
  for (int r = 0; r < n; r += n > 512 ? 37 : 1) rows.push_back(r);
  std::vector<double> want;
  for (int r : rows) {
    std::vector<double> line(n);
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) line[j] += static_cast<double>(a[r * n + k]) * b[k * n + j];
    want.insert(want.end(), line.begin(), line.end());
  }
  auto checked = [&](const char* name, const Buffer<float>& c) {
    HIP_CHECK(hipGetLastError());
    std::vector<float> all = c.download(), got;
    for (int r : rows) got.insert(got.end(), all.begin() + static_cast<size_t>(r) * n, all.begin() + static_cast<size_t>(r + 1) * n);
    return verdict(name, max_error(got, want), 1e-5 * n);
  };
  auto wanted = [&](const char* name) { return !*only || std::strcmp(only, name) == 0; };

  int failures = 0;
  Buffer<float> da(a), db(b), c(count);
  if (wanted("naive")) {
    c.clear();
    gemm_naive<<<dim3(divide_up(n, 16), divide_up(n, 16)), dim3(16, 16)>>>(da, db, c, n);
    failures += checked("gemm naive", c);
  }
  if (wanted("tiled")) {
    c.clear();
    gemm_tiled<<<dim3(n / kTile, n / kTile), 256>>>(da, db, c, n);
    failures += checked("gemm tiled", c);
  }
  if (wanted("mfma")) {
    Buffer<_Float16> xa(ha), xb(hb);
    c.clear();
    gemm_mfma<<<dim3(n / 32, n / 32), 256>>>(xa, xb, c, n);
    failures += checked("gemm mfma f16", c);
  }
  return failures;
}
