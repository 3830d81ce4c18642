// One fault per run: what the API says afterwards, and what the process's exit code is.
#include <hip/hip_runtime.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void store(int* p, int value) { p[threadIdx.x] = value; }
__global__ void trap() { __builtin_trap(); }
__global__ void slow(int* p) {
  for (volatile int i = 0; i < 100000; ++i) *p = i;
}
__global__ void fine(int* p) { *p = 1; }

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int *data, *other;
  if (hipMalloc(&data, 4096) != hipSuccess || hipMalloc(&other, 4096) != hipSuccess) return 2;
  if (!std::strcmp(what, "out_of_bounds")) store<<<1, 64>>>(data + (1 << 24), 1);
  if (!std::strcmp(what, "null")) store<<<1, 64>>>(nullptr, 1);
  if (!std::strcmp(what, "freed")) {
    (void)hipFree(data);
    store<<<1, 64>>>(data, 1);
  }
  if (!std::strcmp(what, "pageable")) store<<<1, 64>>>(static_cast<int*>(std::malloc(4096)), 1);
  if (!std::strcmp(what, "trap")) trap<<<1, 64>>>();
  if (!std::strcmp(what, "forked")) {
    hipStream_t stream;
    hipEvent_t event;
    if (hipStreamCreate(&stream) || hipEventCreate(&event) || hipEventRecord(event, stream)) return 2;
    slow<<<1, 64, 0, stream>>>(data);  // the child waits for work that only the parent does
    if (fork() == 0) {
      int* mine;
      fine<<<1, 1, 0, stream>>>(data);
      const hipError_t all[] = {
          hipGetLastError(),          hipMalloc(&mine, 64),           hipStreamSynchronize(stream),
          hipStreamQuery(stream),     hipEventRecord(event, stream),  hipEventSynchronize(event),
          hipEventQuery(event),       hipStreamDestroy(stream),       hipEventDestroy(event),
          hipDeviceSynchronize(),     hipStreamWaitEvent(stream, event, 0),
          hipMemcpyAsync(data, other, 64, hipMemcpyDeviceToDevice, stream)};
      for (hipError_t one : all) std::printf("%s\n", hipGetErrorName(one));
      std::exit(0);
    }
    int status = 0;
    wait(&status);
    return status;
  }
  if (!std::strcmp(what, "unwaited")) {
    slow<<<1, 64>>>(data);
    store<<<1, 64>>>(nullptr, 1);
    return 0;
  }
  std::printf("launch: %s\n", hipGetErrorName(hipGetLastError()));
  std::printf("sync: %s\n", hipGetErrorName(hipDeviceSynchronize()));
  fine<<<1, 1>>>(other);  // the device stays lost
  std::printf("next: %s\n", hipGetErrorName(hipGetLastError()));
  int value;
  std::printf("copy: %s\n", hipGetErrorName(hipMemcpy(&value, other, 4, hipMemcpyDeviceToHost)));
  std::printf("malloc: %s\n", hipGetErrorName(hipMalloc(&data, 64)));
  return 0;
}
