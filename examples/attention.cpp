// Scaled dot-product attention, O = softmax(Q K^T / sqrt(d)) V per head, two ways: three kernels
// with the score matrix in memory, and one fused kernel that keeps a running softmax.
// -h heads, -s sequence length.
#include "check.h"

constexpr int kWidth = 64;  // of a head

__global__ void scores(const float* q, const float* k, float* s, int length, float scale) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  size_t head = blockIdx.z;
  if (column >= length) return;
  const float* a = q + (head * length + row) * kWidth;
  const float* b = k + (head * length + column) * kWidth;
  float sum = 0.0f;
  for (int i = 0; i < kWidth; ++i) sum += a[i] * b[i];
  s[(head * length + row) * length + column] = sum * scale;
}

__global__ void normalise(float* s, int length) {
  float* row = s + static_cast<size_t>(blockIdx.x) * length;
  float top = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < length; c += warpSize) top = fmaxf(top, row[c]);
  for (int step = warpSize / 2; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
  for (int c = threadIdx.x; c < length; c += warpSize) sum += expf(row[c] - top);
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  for (int c = threadIdx.x; c < length; c += warpSize) row[c] = expf(row[c] - top) / sum;
}

__global__ void weigh(const float* s, const float* v, float* o, int length) {
  int i = threadIdx.x, row = blockIdx.x;
  size_t head = blockIdx.y;
  const float* weights = s + (head * length + row) * length;
  float sum = 0.0f;
  for (int c = 0; c < length; ++c) sum += weights[c] * v[(head * length + c) * kWidth + i];
  o[(head * length + row) * kWidth + i] = sum;
}

// One wave per query row; lane i owns element i of the head. Keys and values pass through LDS in
// tiles shared by the waves of a block.
constexpr int kTile = 32, kRows = 4;
__global__ void __launch_bounds__(kRows * kWidth)
    fused(const float* q, const float* k, const float* v, float* o, int length, float scale) {
  __shared__ float keys[kTile][kWidth], values[kTile][kWidth];
  int i = threadIdx.x, wave = threadIdx.y, row = blockIdx.x * kRows + wave;
  size_t head = blockIdx.y, base = head * length * kWidth;
  float query = row < length ? q[base + static_cast<size_t>(row) * kWidth + i] * scale : 0.0f;
  float top = -INFINITY, sum = 0.0f, result = 0.0f;
  for (int start = 0; start < length; start += kTile) {
    for (int t = wave; t < kTile; t += kRows) {
      int at = start + t;
      keys[t][i] = at < length ? k[base + static_cast<size_t>(at) * kWidth + i] : 0.0f;
      values[t][i] = at < length ? v[base + static_cast<size_t>(at) * kWidth + i] : 0.0f;
    }
    __syncthreads();
    int end = min(kTile, length - start);
    for (int t = 0; t < end; ++t) {
      float score = query * keys[t][i];
      for (int step = warpSize / 2; step > 0; step /= 2) score += __shfl_xor(score, step);
      float higher = fmaxf(top, score), keep = expf(top - higher), weight = expf(score - higher);
      sum = sum * keep + weight;
      result = result * keep + weight * values[t][i];
      top = higher;
    }
    __syncthreads();
  }
  if (row < length) o[base + static_cast<size_t>(row) * kWidth + i] = result / sum;
}

int main(int argc, char** argv) {
  const int heads = option(argc, argv, "-h", 2), length = option(argc, argv, "-s", 128);
  const size_t count = static_cast<size_t>(heads) * length * kWidth;
  const float scale = 1.0f / std::sqrt(static_cast<float>(kWidth));
  Random random;
  std::vector<float> q = random.values(count), k = random.values(count), v = random.values(count);
  std::vector<double> want(count);
  std::vector<double> weights(length);
  for (int h = 0; h < heads; ++h)
    for (int r = 0; r < length; ++r) {
      const float* a = &q[(static_cast<size_t>(h) * length + r) * kWidth];
      double top = -INFINITY, sum = 0.0;
      for (int c = 0; c < length; ++c) {
        const float* b = &k[(static_cast<size_t>(h) * length + c) * kWidth];
        double dot = 0.0;
        for (int i = 0; i < kWidth; ++i) dot += static_cast<double>(a[i]) * b[i];
        weights[c] = dot * scale;
        top = std::fmax(top, weights[c]);
      }
      for (double& w : weights) sum += w = std::exp(w - top);
      for (int i = 0; i < kWidth; ++i) {
        double total = 0.0;
        for (int c = 0; c < length; ++c) total += weights[c] * v[(static_cast<size_t>(h) * length + c) * kWidth + i];
        want[(static_cast<size_t>(h) * length + r) * kWidth + i] = total / sum;
      }
    }

  int failures = 0;
  Buffer<float> dq(q), dk(k), dv(v), out(count), s(static_cast<size_t>(heads) * length * length);
  out.clear();
  scores<<<dim3(divide_up(length, 64), length, heads), 64>>>(dq, dk, s, length, scale);
  normalise<<<heads * length, 64>>>(s, length);
  weigh<<<dim3(length, heads), kWidth>>>(s, dv, out, length);
  HIP_CHECK(hipGetLastError());
  failures += verdict("attention, three kernels", max_error(out.download(), want), 1e-5);

  out.clear();
  fused<<<dim3(divide_up(length, kRows), heads), dim3(kWidth, kRows)>>>(dq, dk, dv, out, length, scale);
  HIP_CHECK(hipGetLastError());
  failures += verdict("attention, fused", max_error(out.download(), want), 1e-5);
  return failures;
}
