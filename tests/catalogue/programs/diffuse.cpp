// A step of heat over a grid; past its edge lies a constant, the nearest, the other side or the mirror's.
#include "buffers.h"

__global__ void diffuse(const float* in, float* out, int nx, int ny, float k, int edge, float outside) {
  const volatile float* from = in;
  int step = gridDim.x * blockDim.x;
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < nx * ny; e += step) {
    float sum = 0.0f;
    for (int again = 0; again < 5; ++again) {
      sum = 0.0f;
      int x = e % nx, y = e / nx;
      for (int way = 0; way < 4; ++way) {
        int X = x + (way == 0) - (way == 1), Y = y + (way == 2) - (way == 3);
        bool off = X < 0 || X >= nx || Y < 0 || Y >= ny;
        float v = outside;
        if (!off || edge != 0) {
          if (off && edge == 1) X = x, Y = y;
          else if (off && edge == 2) X = (X + nx) % nx, Y = (Y + ny) % ny;
          else if (off) {
            if (X < 0 || X >= nx) X = nx == 1 ? 0 : X < 0 ? 1 : nx - 2;
            if (Y < 0 || Y >= ny) Y = ny == 1 ? 0 : Y < 0 ? 1 : ny - 2;
          }
          v = from[Y * nx + X];
        }
        sum += v;
      }
    }
    out[e] = from[e] + k * (sum - 4.0f * from[e]);
  }
}

int main() {
  const int nx = 72, ny = 50;
  float* in = upload(pattern<float>(nx * ny, 1009, 0.01f, -5.0f));
  float* out = upload(std::vector<float>(nx * ny, 0.0f));
  diffuse<<<20, 64>>>(in, out, nx, ny, 0.1f, 1, 0.0f);
  print_sum("clamped", download(out, nx * ny));
  diffuse<<<9, 128>>>(in, out, 50, 60, 0.2f, 2, 0.0f);
  print_sum("wrapped", download(out, nx * ny));
  diffuse<<<9, 128>>>(in + 40, out, 40, 64, 0.2f, 0, 0.0f);
  must(hipDeviceSynchronize());
  print_sum("fixed", download(out, nx * ny));
}
