// Prints what events show around a launch, a sweep of launches after copies, and copies, in nanoseconds, and how
// long the kernel itself takes, which touches no memory and so always takes as long.
#include <hip/hip_ext.h>

#include <cmath>

#include "check.h"

__global__ void work(int turns) {
  for (int i = 0; i < turns; ++i) asm volatile("v_mov_b32 v0, v0" ::: "v0");
}

hipEvent_t before, after;

long long between() {
  float ms = 0;
  OK(hipEventSynchronize(after));
  OK(hipEventElapsedTime(&ms, before, after));
  return std::llround(double(ms) * 1e6);
}

template <class Work>
long long timed(Work work) {
  OK(hipDeviceSynchronize());
  OK(hipEventRecord(before));
  work();
  OK(hipEventRecord(after));
  return between();
}

int main() {
  OK(hipEventCreate(&before));
  OK(hipEventCreate(&after));
  int turns = 2000;
  for (int i = 0; i < 3; ++i) work<<<16, 64>>>(turns);
  void* arguments[] = {&turns};
  OK(hipExtLaunchKernel(reinterpret_cast<const void*>(work), dim3(16), dim3(64), arguments, 0, nullptr, before, after, 0));
  std::printf("kernel 0 %lld\n", between());
  std::printf("one 0 %lld\n", timed([&] { work<<<16, 64>>>(turns); }));
  char* device;
  std::vector<char> host(4 << 20);
  OK(hipMalloc(&device, 2 * host.size()));
  for (int nodes : {8, 64}) {
    const size_t bytes = size_t(nodes) * nodes * sizeof(int);
    std::printf("sweep %d %lld\n", nodes, timed([&] {
                  OK(hipMemcpy(device, host.data(), bytes, hipMemcpyHostToDevice));
                  OK(hipMemcpy(device + host.size(), host.data(), bytes, hipMemcpyHostToDevice));
                  for (int i = 0; i < nodes; ++i) work<<<16, 64>>>(turns);
                  OK(hipDeviceSynchronize());
                }));
  }
  for (size_t megabytes : {1, 4}) {
    auto copy = [&](const char* name, void* to, const void* from, hipMemcpyKind kind) {
      std::printf("%s %zu %lld\n", name, megabytes, timed([&] { OK(hipMemcpy(to, from, megabytes << 20, kind)); }));
    };
    copy("memcopy_h2d", device, host.data(), hipMemcpyHostToDevice);
    copy("memcopy_d2h", host.data(), device, hipMemcpyDeviceToHost);
    copy("memcopy_d2d", device + host.size(), device, hipMemcpyDeviceToDevice);
  }
  return failed();
}
