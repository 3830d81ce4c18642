// Accesses out of bounds, one kind per run: what is read, and what of the memory that is the program's own
// is left as it should be. Prints what it found; exits with 0 where every call succeeded.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define OK(call)                                                                       \
  do {                                                                                 \
    if (const hipError_t e = (call); e != hipSuccess) {                                \
      std::printf("%s: %s\n", #call, hipGetErrorName(e));                              \
      std::exit(3);                                                                    \
    }                                                                                  \
  } while (0)

__global__ void fill(int* p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n) return;  // should be >=
  p[i] = value;       // off by one
}
__global__ void sum_past(const int* p, int* out) { out[threadIdx.x] = p[blockDim.x + threadIdx.x]; }  // a block past the end
__global__ void no_mask(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }  // no end at all
__global__ void keep(int* p, int n) { p[n + threadIdx.x] = 3; }  // padding is memory
__global__ void before(int* p, int* out) { out[0] = p[-1]; p[-2] = 7; }
__global__ void count(int* p, int n) { atomicAdd(p + n, 1); }  // an atomic past the end
__global__ void shared_past(int* out, int at) {
  __shared__ int values[64];
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  volatile int* p = values;
  p[at + threadIdx.x] = 5;           // LDS written past the end
  __syncthreads();
  out[threadIdx.x] = p[at + threadIdx.x];  // and read
  out[64 + threadIdx.x] = atomicAdd(values + at + threadIdx.x, 3);  // LDS atomic past the end
  out[128 + threadIdx.x] = values[threadIdx.x];
}
__global__ void shared_direct(int* out, int at) {
  __shared__ int values[64];
  __shared__ double pairs[64];
  values[threadIdx.x] = 1;
  pairs[threadIdx.x] = 2;
  __syncthreads();
  pairs[at + threadIdx.x] = 4;             // two words
  atomicMax(values + at + threadIdx.x, 9);
  __syncthreads();
  out[threadIdx.x] = values[at + 64 - threadIdx.x] + int(pairs[at - threadIdx.x]) + values[threadIdx.x];
}
__global__ void private_past(int* out, int at) {
  volatile int values[4] = {1, 2, 3, 4};
  values[at + 4000] = 9;            // private memory past the end
  out[0] = values[at & 3] + values[at + 4000];
}

static void show(const char* what, const int* device, int n) {
  std::vector<int> host(n);
  OK(hipMemcpy(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost));
  long total = 0;
  for (int value : host) total += value;
  std::printf("%s %ld\n", what, total);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !std::strcmp(what, name); };
  const int n = argc > 2 ? std::atoi(argv[2]) : 1000;
  int *data, *out;
  OK(hipMalloc(&data, n * sizeof(int)));
  OK(hipMalloc(&out, 1024 * sizeof(int)));
  OK(hipMemset(out, 0, 1024 * sizeof(int)));
  const int blocks = (n + 255) / 256 + 1;
  if (is("store")) for (int i = 0; i < 3; ++i) fill<<<blocks, 256>>>(data, n, 2);
  if (is("fine")) fill<<<blocks, 256>>>(data, n - 1, 2);
  if (is("again")) for (int i = 0; i < 5; ++i) fill<<<blocks, 256>>>(data, n - 1, 2);
  if (is("load")) sum_past<<<1, n>>>(data, out);
  if (is("far")) no_mask<<<256, 256>>>(data);  // a quarter of a megabyte
  if (is("kept")) {
    keep<<<1, 64>>>(data, n);
    sum_past<<<1, 64>>>(data + n - 64, out);
  }
  if (is("direct")) shared_direct<<<1, 64>>>(out, n);
  if (is("negative")) before<<<1, 1>>>(data, out);
  if (is("atomic")) count<<<4, 64>>>(data, n);
  if (is("lds")) shared_past<<<2, 64>>>(out, n);
  if (is("private")) private_past<<<1, 1>>>(out, n);
  if (is("wild")) fill<<<1, 64>>>(data + (1 << 28), 64, 1);
  if (is("freed")) { OK(hipFree(data)); fill<<<1, 64>>>(data, 64, 1); }
  if (is("several")) {
    fill<<<blocks, 256>>>(data, n, 2);
    count<<<1, 64>>>(data, n);
    sum_past<<<1, 64>>>(out + 1024 - 64, out);
  }
  if (is("streams")) {
    hipStream_t streams[4];
    for (hipStream_t& stream : streams) {
      OK(hipStreamCreate(&stream));
      for (int i = 0; i < 8; ++i) fill<<<blocks, 256, 0, stream>>>(data, n, 2);
    }
    for (hipStream_t stream : streams) OK(hipStreamSynchronize(stream));
  }
  if (is("graph")) {
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    OK(hipStreamCreate(&stream));
    OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    fill<<<blocks, 256, 0, stream>>>(data, n, 2);
    OK(hipStreamEndCapture(stream, &graph));
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 5; ++i) OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
  }
  if (is("later")) {  // what was written between allocations is not in the next one
    fill<<<blocks, 256>>>(data, n, 2);
    OK(hipDeviceSynchronize());
    int total = 0;
    for (int i = 0; i < 64; ++i) {
      int *next, values[1024];
      OK(hipMalloc(&next, sizeof values));
      OK(hipMemcpy(values, next, sizeof values, hipMemcpyDeviceToHost));
      for (int value : values) total += value;
    }
    std::printf("fresh %d\n", total);
  }
  OK(hipDeviceSynchronize());
  if (!is("freed")) show("data", data, n);
  show("out", out, 1024);
  return 7;
}
