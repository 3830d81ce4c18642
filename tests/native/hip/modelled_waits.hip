// A kernel that looks for a flag which a copy behind it writes, and the host waits for that copy first.
#include "check.h"

__global__ void look(volatile int* flag, int* out) {
  while (!*flag) __builtin_amdgcn_s_sleep(8);
  *out = 1;
}

int main() {
  int *flag, *out, *one, result = 0;
  OK(hipMalloc(&flag, sizeof(int)));
  OK(hipMalloc(&out, sizeof(int)));
  OK(hipHostMalloc(&one, sizeof(int), 0));
  *one = 1;
  OK(hipMemset(flag, 0, sizeof(int)));
  hipStream_t kernels, copies;
  OK(hipStreamCreateWithFlags(&kernels, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&copies, hipStreamNonBlocking));
  OK(hipDeviceSynchronize());
  look<<<1, 64, 0, kernels>>>(flag, out);
  OK(hipMemcpyAsync(flag, one, sizeof(int), hipMemcpyHostToDevice, copies));
  OK(hipStreamSynchronize(copies));
  OK(hipDeviceSynchronize());
  OK(hipMemcpy(&result, out, sizeof(int), hipMemcpyDeviceToHost));
  CHECK(result == 1);
  return failed();
}
