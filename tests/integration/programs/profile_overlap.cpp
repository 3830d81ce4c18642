// Two streams: with "apart" nothing orders them, with "event" the second waits for the first.
#include <hip/hip_runtime.h>

#include <cstring>

__global__ void first(float* out, int steps) {
  float x = threadIdx.x;
  for (int i = 0; i < steps; ++i) x = x * 0.5f + 1.0f;
  out[blockIdx.x * 64 + threadIdx.x] = x;
}

__global__ void second(float* out, int steps) {
  float x = threadIdx.x;
  for (int i = 0; i < steps; ++i) x = x * 0.25f + 1.0f;
  out[blockIdx.x * 64 + threadIdx.x] = x;
}

int main(int, char** argv) {
  const bool ordered = std::strcmp(argv[1], "event") == 0;
  float* out;
  if (hipMalloc(&out, 1 << 20)) return 1;
  hipStream_t a, b;
  hipEvent_t done;
  if (hipStreamCreate(&a) || hipStreamCreate(&b) || hipEventCreate(&done)) return 1;
  first<<<32, 64, 0, a>>>(out, 4000);
  if (ordered && (hipEventRecord(done, a) || hipStreamWaitEvent(b, done, 0))) return 1;
  second<<<32, 64, 0, b>>>(out + 4096, 4000);
  return hipDeviceSynchronize();
}
