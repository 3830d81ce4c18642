// Forces between bodies: structures in memory, and pointers inside a structure.
#include "buffers.h"

struct Body {
  float x, y, mass;
  int kind;
};
struct View {
  const Body* in;
  float* force;
  int n;
  float soft;
};

__global__ void bodies(View v, float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= v.n) return;
  v.force[2 * i] = v.force[2 * i + 1] = 0.0f;
  for (int j = 0; j < v.n; ++j) {
    float dx = v.in[j].x - v.in[i].x, dy = v.in[j].y - v.in[i].y;
    float w = v.in[j].mass * scale / (dx * dx + dy * dy + v.soft);
    v.force[2 * i] += w * dx;
    v.force[2 * i + 1] += w * dy * (float)v.in[j].kind;
  }
}

int main() {
  const int n = 120;
  std::vector<Body> b(n);
  for (int i = 0; i < n; ++i) b[i] = {(i * 37 % 101) * 0.25f, (i * 53 % 97) * 0.125f, 1.0f + i % 5, 1 + i % 3};
  Body* in = upload(b);
  float* force = upload(std::vector<float>(2 * n, 0.0f));
  bodies<<<2, 64>>>(View{in, force, n, 0.5f}, 2.0f);
  print_sum("bodies", download(force, 2 * n));
  bodies<<<1, 128>>>(View{in, force, n - 20, 1.5f}, 0.25f);
  must(hipDeviceSynchronize());
  print_sum("bodies", download(force, 2 * n));
}
