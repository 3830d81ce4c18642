// Built with -fgpu-default-stream=per-thread: the plain names mean the calling thread's stream.
#include "check.h"

__device__ int table[4];
__global__ void add(int* value, int by) { *value += by; }

CASE(the_null_stream_does_not_hold_up_the_thread) {
  uint32_t* flag;
  int *data, host = 1;
  OK(hipHostMalloc(&flag, 4));
  *flag = 0;
  hipStream_t other;
  OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
  OK(hipStreamWaitValue32(other, flag, 1, hipStreamWaitValueGte, ~0u));
  OK(hipMalloc(&data, 4));
  OK(hipMemset(data, 0, 4));
  add<<<1, 1>>>(data, 5);
  OK(hipMemcpy(&host, data, 4, hipMemcpyDeviceToHost));
  CHECK(host == 5);
  int row[4] = {1, 2, 3, 4}, back[4] = {};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(table), row, sizeof row));
  OK(hipMemcpyFromSymbol(back, HIP_SYMBOL(table), sizeof back));
  CHECK(std::memcmp(row, back, sizeof row) == 0);
  hipEvent_t start, stop;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));
  OK(hipEventRecord(start));
  add<<<1, 1>>>(data, 1);
  OK(hipEventRecord(stop));
  OK(hipEventSynchronize(stop));
  float ms = 0;
  OK(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0);
  *flag = 1;
  OK(hipStreamSynchronize(other));
  OK(hipStreamDestroy(other));
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
