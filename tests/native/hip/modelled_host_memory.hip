// What a copy of 8 MiB takes from memory of every kind, and where managed memory is moved.
#include "check.h"

__global__ void copy(const float4* from, float4* to, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = from[i];
}

int main() {
  const size_t bytes = size_t{8} << 20;
  const int n = int(bytes / sizeof(float4));
  float4 *device, *target, *pinned, *managed, *registered;
  OK(hipMalloc(&device, bytes));
  OK(hipMalloc(&target, bytes));
  OK(hipHostMalloc(&pinned, bytes, 0));
  OK(hipMallocManaged(&managed, bytes));
  std::vector<float4> plain(size_t(n), float4{1, 2, 3, 4});
  OK(hipHostRegister(plain.data(), bytes, 0));
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&registered), plain.data(), 0));
  hipEvent_t begin, end;
  OK(hipEventCreate(&begin));
  OK(hipEventCreate(&end));
  auto timed = [&](const char* what, auto work) {
    OK(hipEventRecord(begin));
    work();
    OK(hipEventRecord(end));
    OK(hipEventSynchronize(end));
    float ms = 0;
    OK(hipEventElapsedTime(&ms, begin, end));
    std::printf("%s %.3f\n", what, ms * 1000);
  };
  auto read = [&](const char* what, const float4* from) {
    timed(what, [&] { copy<<<n / 256, 256>>>(from, target, n); });
  };
  for (const char* what : {"device_first", "device", "device"}) read(what, device);
  read("pinned", pinned);
  read("registered", registered);
  for (const char* what : {"managed_first", "managed", "managed", "managed"}) read(what, managed);
  timed("prefetch", [&] { OK(hipMemPrefetchAsync(managed, bytes, 0, nullptr)); });
  for (const char* what : {"here_first", "here", "here"}) read(what, managed);
  timed("prefetch_back", [&] { OK(hipMemPrefetchAsync(managed, bytes, hipCpuDeviceId, nullptr)); });
  for (const char* what : {"gone_first", "gone"}) read(what, managed);
}
