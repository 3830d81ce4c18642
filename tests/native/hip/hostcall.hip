#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void say(int n, const char* text) {
  if (threadIdx.x < unsigned(n))
    printf("lane %d: %s %5.2f %llx %c%% [%-6s] [%*d]\n", int(threadIdx.x), text,
           threadIdx.x * 0.5, 0x123456789abcull, 'c', "ab", 4, 7);
}
__global__ void long_line() {
  printf("0123456789012345678901234567890123456789012345678901234567890123456789 %s\n",
         "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz");
}
__global__ void many() { printf("b%d t%d\n", int(blockIdx.x), int(threadIdx.x)); }
__global__ void check_value(int* value) { assert(*value == 3); }
__global__ void heap(int* out) {
  int* list = static_cast<int*>(malloc(64 * sizeof(int)));
  if (!list) {
    out[threadIdx.x] = -1;
    return;
  }
  for (int i = 0; i < 64; ++i) list[i] = i * int(threadIdx.x);
  int sum = 0;
  for (int i = 0; i < 64; ++i) sum += list[i];
  out[threadIdx.x] = sum;
  free(list);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "say";
  int* data;
  hipError_t status = hipHostMalloc(&data, 4096);
  if (status != hipSuccess) return 2;
  char* text;
  status = hipHostMalloc(&text, 16);
  std::strcpy(text, "hello");
  if (!std::strcmp(what, "say")) say<<<1, 64>>>(3, text);
  if (!std::strcmp(what, "long")) long_line<<<1, 1>>>();
  if (!std::strcmp(what, "many")) many<<<50, 128>>>();
  if (!std::strcmp(what, "heap")) heap<<<1, 64>>>(data);
  if (!std::strcmp(what, "assert")) {
    data[0] = 4;
    check_value<<<1, 1>>>(data);
  }
  status = hipDeviceSynchronize();
  std::printf("sync: %s\n", hipGetErrorName(status));
  if (!std::strcmp(what, "heap"))
    std::printf("sums: %d %d %d\n", data[0], data[1], data[63]);
  return 0;
}
