#include "check.h"

#include <hip/hip_cooperative_groups.h>
#include <hip/hip_ext.h>

#include <fstream>
#include <iterator>
#include <string>

namespace cg = cooperative_groups;

extern __shared__ int dynamic_words[];

__global__ void where(int* out) {
  int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
struct Mixed {
  char c;
  double d;
  short s[3];
};
__global__ void arguments(char a, short b, int c, long long d, float e, double f, Mixed m, int* out,
                          double* sum) {
  out[0] = a;
  out[1] = b;
  out[2] = c;
  out[3] = int(d >> 32);
  out[4] = m.c + m.s[2];
  *sum = e + f + m.d;
}
__global__ void use_dynamic(int* out, int n) {
  dynamic_words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int i = 0; i < n; ++i) total += dynamic_words[i];
    *out = total;
  }
}
__global__ void __launch_bounds__(64) bounded(int* out) { *out = 1; }
__global__ void static_lds(int* out) {
  __shared__ int words[8192];  // 32 KiB: two blocks fit
  words[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}
__global__ void grid_sum(int* data, int n) {
  cg::grid_group grid = cg::this_grid();
  for (int width = n / 2; width > 0; width /= 2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width) data[i] += data[i + width];
    grid.sync();
  }
}
template <class T> __global__ void fill(T* out, T value) { out[threadIdx.x] = value; }

CASE(grids_and_blocks_of_three_dimensions) {
  const int blocks = 3 * 2 * 2, threads = 4 * 3 * 2;
  int* out;
  OK(hipMalloc(&out, blocks * threads * 4));
  where<<<dim3(3, 2, 2), dim3(4, 3, 2)>>>(out);
  std::vector<int> host(blocks * threads);
  OK(hipMemcpy(host.data(), out, host.size() * 4, hipMemcpyDeviceToHost));
  bool right = true;
  for (int b = 0; b < blocks; ++b)
    for (int t = 0; t < threads; ++t) right = right && host[b * threads + t] == b * 1000 + t;
  CHECK(right);
  OK(hipFree(out));
}

static void check_arguments(const int* out, double sum) {
  CHECK(out[0] == 'x' && out[1] == -7 && out[2] == 100000 && out[3] == 2 && out[4] == 'm' + 3);
  CHECK(sum == 0.5 + 0.25 + 8.0);
}

CASE(arguments_of_all_sizes_through_every_door) {
  int* out;
  double* sum;
  OK(hipHostMalloc(&out, 64));
  OK(hipHostMalloc(&sum, 8));
  char a = 'x';
  short b = -7;
  int c = 100000;
  long long d = 2ll << 32;
  float e = 0.5f;
  double f = 0.25;
  Mixed m{'m', 8.0, {1, 2, 3}};
  auto clear = [&] { std::memset(out, 0, 64), *sum = 0; };

  arguments<<<1, 1>>>(a, b, c, d, e, f, m, out, sum);
  OK(hipDeviceSynchronize());
  check_arguments(out, *sum);

  clear();
  void* pointers[] = {&a, &b, &c, &d, &e, &f, &m, &out, &sum};
  OK(hipLaunchKernel((void*)arguments, dim3(1), dim3(1), pointers, 0, nullptr));
  OK(hipDeviceSynchronize());
  check_arguments(out, *sum);

  clear();
  hipFunction_t function;
  OK(hipGetFuncBySymbol(&function, (void*)arguments));
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, nullptr));
  OK(hipDeviceSynchronize());
  check_arguments(out, *sum);

  clear();
  struct Packed {
    char a;
    short b;
    int c;
    long long d;
    float e;
    double f;
    Mixed m;
    int* out;
    double* sum;
  } packed{a, b, c, d, e, f, m, out, sum};
  size_t size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  OK(hipDeviceSynchronize());
  check_arguments(out, *sum);

  clear();
  hipLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  OK(hipLaunchKernelExC(&config, (void*)arguments, pointers));
  OK(hipDeviceSynchronize());
  check_arguments(out, *sum);

  clear();
  hipEvent_t start, stop;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));
  OK(hipExtLaunchKernel((void*)arguments, dim3(1), dim3(1), pointers, 0, nullptr, start, stop, 0));
  OK(hipEventSynchronize(stop));
  check_arguments(out, *sum);
  float ms = -1;
  OK(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0);

  clear();
  OK(hipExtModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, nullptr, start, stop, 0));
  OK(hipDeviceSynchronize());
  check_arguments(out, *sum);
  OK(hipEventDestroy(start));
  OK(hipEventDestroy(stop));
  OK(hipHostFree(out));
  OK(hipHostFree(sum));
}

CASE(dynamic_shared_memory) {
  int *out, host;
  OK(hipMalloc(&out, 4));
  use_dynamic<<<1, 256, 1024>>>(out, 256);
  OK(hipMemcpy(&host, out, 4, hipMemcpyDeviceToHost));
  CHECK(host == 255 * 128);
  use_dynamic<<<1, 64, 65536>>>(out, 64);  // all there is
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  use_dynamic<<<1, 64, 65537>>>(out, 64);
  STATUS(hipGetLastError(), hipErrorInvalidValue);
  OK(hipFuncSetAttribute((void*)use_dynamic, hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
  STATUS(hipFuncSetAttribute((void*)use_dynamic, hipFuncAttributeMaxDynamicSharedMemorySize, 70000),
         hipErrorInvalidValue);
  OK(hipFree(out));
}

CASE(launches_that_cannot_be) {
  int* out;
  OK(hipMalloc(&out, 4));
  bounded<<<0, 64>>>(out);
  STATUS(hipGetLastError(), hipErrorInvalidConfiguration);
  OK(hipGetLastError());  // asked once, gone
  bounded<<<1, dim3(64, 64)>>>(out);
  STATUS(hipPeekAtLastError(), hipErrorInvalidConfiguration);
  STATUS(hipGetLastError(), hipErrorInvalidConfiguration);
  bounded<<<1, 65>>>(out);  // above its __launch_bounds__
  STATUS(hipGetLastError(), hipErrorLaunchFailure);
  void* args[] = {&out};
  STATUS(hipLaunchKernel(args, dim3(1), dim3(1), args, 0, nullptr), hipErrorInvalidDeviceFunction);
  STATUS(hipLaunchKernel((void*)bounded, dim3(1), dim3(1), nullptr, 0, nullptr), hipErrorInvalidValue);
  STATUS(hipLaunchKernel((void*)bounded, dim3(1), dim3(1), args, 0, (hipStream_t)0x1234),
         hipErrorContextIsDestroyed);
  (void)hipGetLastError();
  bounded<<<1, 64>>>(out);
  OK(hipGetLastError());
  OK(hipDeviceSynchronize());
  OK(hipFree(out));
}

CASE(cooperative_launch) {
  const int n = 4096;
  std::vector<int> host(n, 1);
  int* data;
  OK(hipMalloc(&data, n * 4));
  OK(hipMemcpy(data, host.data(), n * 4, hipMemcpyHostToDevice));
  int count = n;
  void* args[] = {&data, &count};
  OK(hipLaunchCooperativeKernel((void*)grid_sum, dim3(n / 256), dim3(256), args, 0, nullptr));
  int sum = 0;
  OK(hipMemcpy(&sum, data, 4, hipMemcpyDeviceToHost));
  CHECK(sum == n);
  STATUS(hipLaunchCooperativeKernel((void*)grid_sum, dim3(1 << 20), dim3(256), args, 0, nullptr),
         hipErrorCooperativeLaunchTooLarge);
  OK(hipFree(data));
}

CASE(occupancy) {
  int blocks, grid, block;
  hipDeviceProp_t device;
  OK(hipGetDeviceProperties(&device, 0));
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 64, 0));
  CHECK(blocks == 32);  // one wave each: 8 waves on 4 SIMDs
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, where, 256, 0));
  CHECK(blocks == 8);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, where, 1024, 0));
  CHECK(blocks == 2);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_lds, 128, 0));
  CHECK(blocks == 2);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_dynamic, 64, 20000));
  CHECK(blocks == 3);
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, where, 0, 0));
  CHECK(block == 1024 && grid == 2 * device.multiProcessorCount);
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, where, 0, 200));
  CHECK(block <= 200 && block % 64 == 0 ? true : block == 200);
  OK(hipOccupancyMaxPotentialBlockSizeVariableSMem(
      &grid, &block, use_dynamic, [](int threads) { return size_t(threads) * 64; }));
  CHECK(block > 0 && grid > 0);
  // The most with which so many blocks fit; one byte more is too much.
  size_t bytes = 0;
  OK(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, use_dynamic, 3, 64));
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_dynamic, 64, bytes));
  CHECK(bytes > 20000 && blocks == 3);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, use_dynamic, 64, bytes + 1));
  CHECK(blocks == 2);
  OK(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, static_lds, 1, 128));
  CHECK(bytes == 32768);
  STATUS(hipOccupancyAvailableDynamicSMemPerBlock(&bytes, static_lds, 3, 128), hipErrorInvalidValue);
}

CASE(function_attributes) {
  hipFuncAttributes a;
  OK(hipFuncGetAttributes(&a, bounded));
  CHECK(a.maxThreadsPerBlock == 64 && a.numRegs > 0 && a.sharedSizeBytes == 0);
  OK(hipFuncGetAttributes(&a, static_lds));
  CHECK(a.sharedSizeBytes == 32768 && a.maxDynamicSharedSizeBytes == 32768);
  STATUS(hipFuncGetAttributes(&a, (void*)&a), hipErrorInvalidDeviceFunction);
}

CASE(modules) {
  const char* path = std::getenv("MODULE");
  if (!path) return;
  hipModule_t module, from_memory;
  hipFunction_t function;
  OK(hipModuleLoad(&module, path));
  if (failed()) return;
  OK(hipModuleGetFunction(&function, module, "triple"));
  STATUS(hipModuleGetFunction(&function, module, "no_such_kernel"), hipErrorNotFound);
  int *data, host[4] = {1, 2, 3, 4};
  OK(hipMalloc(&data, 16));
  OK(hipMemcpy(data, host, 16, hipMemcpyHostToDevice));
  OK(hipModuleGetFunction(&function, module, "triple"));
  int n = 4;
  void* args[] = {&data, &n};
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
  OK(hipMemcpy(host, data, 16, hipMemcpyDeviceToHost));
  CHECK(host[0] == 3 && host[3] == 12);
  hipDeviceptr_t factor;
  size_t size;
  OK(hipModuleGetGlobal(&factor, &size, module, "factor"));
  CHECK(size == 4);
  int five = 5;
  OK(hipMemcpyHtoD(factor, &five, 4));
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
  OK(hipMemcpy(host, data, 16, hipMemcpyDeviceToHost));
  CHECK(host[0] == 15);
  STATUS(hipModuleGetGlobal(&factor, &size, module, "nothing"), hipErrorNotFound);
  int blocks;
  OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
  CHECK(blocks == 8);
  // The image may go away after loading.
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  OK(hipModuleLoadData(&from_memory, bytes.data()));
  std::fill(bytes.begin(), bytes.end(), 0);
  OK(hipModuleGetFunction(&function, from_memory, "triple"));
  OK(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, args, nullptr));
  OK(hipMemcpy(host, data, 16, hipMemcpyDeviceToHost));
  CHECK(host[0] == 45);
  OK(hipModuleUnload(module));
  OK(hipModuleUnload(from_memory));
  STATUS(hipModuleUnload(module), hipErrorInvalidResourceHandle);
  STATUS(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
  char nonsense[64] = "not a code object";
  STATUS(hipModuleLoadData(&module, nonsense), hipErrorInvalidImage);
  OK(hipFree(data));
}

CASE(libraries) {
  const char* path = std::getenv("MODULE");
  if (!path) return;
  hipLibrary_t library, owner;
  OK(hipLibraryLoadFromFile(&library, path, nullptr, nullptr, 0, nullptr, nullptr, 0));
  unsigned count = 0;
  OK(hipLibraryGetKernelCount(&count, library));
  std::vector<hipKernel_t> kernels(count + 1);
  OK(hipLibraryEnumerateKernels(kernels.data(), count + 1, library));
  bool found = false;
  for (unsigned i = 0; i < count; ++i) {
    const char* name;
    OK(hipKernelGetName(&name, kernels[i]));
    OK(hipKernelGetLibrary(&owner, kernels[i]));
    CHECK(owner == library);
    found = found || std::string(name) == "triple";
  }
  CHECK(found && count > 0 && !kernels[count]);
  STATUS(hipLibraryEnumerateKernels(nullptr, 1, library), hipErrorInvalidValue);
  STATUS(hipKernelGetName(nullptr, kernels[0]), hipErrorInvalidValue);
  OK(hipLibraryUnload(library));
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  OK(hipStreamCopyAttributes(stream, nullptr));
  OK(hipStreamDestroy(stream));
}

CASE(templates) {
  float* f;
  OK(hipMalloc(&f, 256));
  hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<float>), dim3(1), dim3(64), 0, nullptr, f, 2.5f);
  float host[64];
  OK(hipMemcpy(host, f, 256, hipMemcpyDeviceToHost));
  CHECK(host[0] == 2.5f && host[63] == 2.5f);
  OK(hipFree(f));
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
