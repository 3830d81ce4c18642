// Clocks inside kernels: the latency of a pointer chase, the clocks' rates, time from launch to
// launch, and a kernel that waits for a time to come.
#include "check.h"

__global__ void chase(const unsigned* next, int loads, int warm, long long* cycles, unsigned* last) {
  unsigned at = next[threadIdx.x];  // known to no scalar unit
  for (int i = 0; i < warm; ++i) at = next[at];
  const long long begin = clock64();
  for (int i = 0; i < loads; ++i) at = next[at];
  *last = at;
  __threadfence();
  *cycles = clock64() - begin;
}
__global__ void clocks(long long* out, int turns) {
  const long long c = clock64(), w = wall_clock64();
  float x = float(threadIdx.x);
  for (int i = 0; i < turns; ++i) x = x * 1.000001f + 0.5f;
  out[2] = (long long)x;
  __threadfence();
  out[0] = clock64() - c;
  out[1] = wall_clock64() - w;
}
__global__ void stamp(long long* at) { *at = wall_clock64(); }
__global__ void wait_for(long long cycles, int* turns) {
  const long long begin = clock64();
  int n = 0;
  while (clock64() - begin < cycles) ++n;
  *turns = n;
}
__global__ void count(int* counter, long long* cycles) {  // works in place: must count once
  const long long begin = clock64();
  atomicAdd(counter, 1);
  *cycles = clock64() - begin;
}

int main() {
  struct Result { long long cycles[3], at[2]; unsigned last; int turns, counter; } *result;
  OK(hipMalloc(&result, sizeof *result));
  OK(hipMemset(result, 0, sizeof *result));
  Result host;
  auto fetch = [&] { OK(hipMemcpy(&host, result, sizeof host, hipMemcpyDeviceToHost)); };
  auto latency = [&](const char* name, unsigned bytes, unsigned stride) {
    const unsigned n = bytes / 4, step = stride / 4;
    std::vector<unsigned> next(n, 0);
    for (unsigned i = 0; i < n; i += step) next[i] = (i + step) % n;
    unsigned* device;
    OK(hipMalloc(&device, bytes));
    OK(hipMemcpy(device, next.data(), bytes, hipMemcpyHostToDevice));
    chase<<<1, 1>>>(device, 256, int(bytes / stride), result->cycles, &result->last);
    fetch();
    std::printf("%s %.1f\n", name, double(host.cycles[0]) / 256);
    OK(hipFree(device));
  };
  latency("l1", 4096, 128);
  latency("l2", 256 << 10, 128);
  // Longer than what of 64 waves is simulated.
  hipEvent_t begin, end;
  OK(hipEventCreate(&begin));
  OK(hipEventCreate(&end));
  OK(hipEventRecord(begin));
  clocks<<<64, 64>>>(result->cycles, 40000);
  OK(hipEventRecord(end));
  fetch();
  float ms = 0;
  OK(hipEventElapsedTime(&ms, begin, end));
  std::printf("long %.3f %.3f\n", double(host.cycles[1]) / 100, ms * 1000);
  clocks<<<1, 64>>>(result->cycles, 2000);
  fetch();
  std::printf("rate %.2f\n", double(host.cycles[0]) / double(host.cycles[1]));
  stamp<<<1, 1>>>(&result->at[0]);
  stamp<<<1, 1>>>(&result->at[1]);
  fetch();
  std::printf("apart %lld at %lld\n", host.at[1] - host.at[0], host.at[0]);
  OK(hipEventRecord(begin));
  wait_for<<<1, 64>>>(210000, &result->turns);
  OK(hipEventRecord(end));
  OK(hipEventSynchronize(end));
  OK(hipEventElapsedTime(&ms, begin, end));
  std::printf("waited %.3f\n", ms * 1000);
  for (int i = 0; i < 3; ++i) count<<<1, 1>>>(&result->counter, result->cycles);
  fetch();
  std::printf("counted %d\n", host.counter);
}
