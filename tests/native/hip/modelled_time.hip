// Prints what events say of a short and a long kernel, and of two streams at once.
#include "check.h"

__global__ void spin(float* out, int turns) {
  float x = float(threadIdx.x);
  for (int i = 0; i < turns; ++i) x = x * 1.000001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

float elapsed(hipEvent_t a, hipEvent_t b) {
  float ms = 0;
  OK(hipEventSynchronize(b));
  OK(hipEventElapsedTime(&ms, a, b));
  return ms;
}

int main() {
  float* out;
  OK(hipMalloc(&out, 2 * 64 * 256 * sizeof(float)));
  hipEvent_t e[4];
  for (auto& event : e) OK(hipEventCreate(&event));
  auto time = [&](int turns) {
    OK(hipEventRecord(e[0]));
    spin<<<64, 256>>>(out, turns);
    OK(hipEventRecord(e[1]));
    return elapsed(e[0], e[1]);
  };
  const float shorter = time(100), longer = time(1000);
  hipStream_t s[2];
  for (auto& stream : s) OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  OK(hipDeviceSynchronize());
  OK(hipEventRecord(e[0], s[0]));
  spin<<<64, 256, 0, s[0]>>>(out, 1000);
  spin<<<64, 256, 0, s[1]>>>(out + 64 * 256, 1000);
  OK(hipEventRecord(e[1], s[1]));
  OK(hipStreamWaitEvent(s[0], e[1], 0));
  OK(hipEventRecord(e[2], s[0]));
  const float together = elapsed(e[0], e[2]);
  // A copy after a kernel takes its time on the bus.
  OK(hipEventRecord(e[0]));
  std::vector<float> host(2 * 64 * 256);
  OK(hipMemcpyAsync(host.data(), out, host.size() * 4, hipMemcpyDeviceToHost, nullptr));
  OK(hipEventRecord(e[1]));
  std::printf("%.6f %.6f %.6f %.6f\n", shorter, longer, together, elapsed(e[0], e[1]));
}
