// Forty steps of a simulation, the number of the step among the arguments; eight times over each.
#include "buffers.h"

__global__ void steps(const float* force, float* x, int n, int step, float dt) {
  const volatile float* from = force;
  volatile float* to = x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float old = to[i];
  for (int again = 0; again < 8; ++again) to[i] = old + dt * from[(i + step) % n];
}

int main() {
  const int n = 1000;
  float* force = upload(pattern<float>(n, 211, 0.125f, -8.0f));
  float* x = upload(pattern<float>(n, 97, 0.5f, 1.0f));
  for (int step = 0; step < 40; ++step) steps<<<8, 128>>>(force, x, n, step, 0.125f + 0.25f * (step % 3));
  must(hipDeviceSynchronize());
  print_sum("steps", download(x, n));
}
