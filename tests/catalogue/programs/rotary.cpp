// Rotary embedding of the first part of every row by its position; a negative position is padding and stays.
#include "buffers.h"

__global__ void rotary(const float* q, const int* pos, const float* cosines, const float* sines, float* out, int tokens, int dim, int turned, int paired) {
  const volatile float* from = q;
  volatile float* to = out;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < tokens * dim; e += step) {
    for (int again = 0; again < 6; ++again) {
      int t = e / dim, d = e % dim, half = turned / 2, p = pos[t];
      float v = from[e];
      if (p >= 0 && d < 2 * half) {
        int pair = paired ? d / 2 : d % half;
        int first = paired ? d - d % 2 : pair, second = paired ? first + 1 : pair + half;
        float c = cosines[p * half + pair], s = sines[p * half + pair];
        float a = from[t * dim + first], b = from[t * dim + second];
        v = d == first ? a * c - b * s : a * s + b * c;
      }
      to[e] = v;
    }
  }
}

int main() {
  const int tokens = 60, dim = 48, most = 64;
  std::vector<float> c(most * dim / 2), s(most * dim / 2);
  for (size_t i = 0; i < c.size(); ++i) c[i] = 1.0f - 0.001f * (i % 700), s[i] = 0.0013f * (i % 600);
  std::vector<int> places(tokens);
  for (int i = 0; i < tokens; ++i) places[i] = i;
  float* q = upload(pattern<float>(tokens * dim, 1009, 0.01f, -5.0f));
  int* pos = upload(places);
  float *cosines = upload(c), *sines = upload(s);
  float* out = upload(std::vector<float>(tokens * dim, 0.0f));
  rotary<<<20, 64>>>(q, pos, cosines, sines, out, tokens, dim, dim, 0);
  print_sum("rotary", download(out, tokens * dim));
  rotary<<<9, 128>>>(q, pos + 3, cosines, sines, out, 40, dim, 32, 1);
  must(hipDeviceSynchronize());
  print_sum("rotary", download(out, tokens * dim));
}
