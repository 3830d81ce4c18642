// A benchmark as people write them: bandwidth of the four STREAM kernels and a dot product, by events
// around a loop of launches. Prints microseconds per launch and GB/s.
#include <cmath>

#include "check.h"

constexpr int kThreads = 256;

__global__ void copy(const double* a, double* c) { const int i = blockIdx.x * kThreads + threadIdx.x; c[i] = a[i]; }
__global__ void mul(double* b, const double* c) { const int i = blockIdx.x * kThreads + threadIdx.x; b[i] = 0.4 * c[i]; }
__global__ void add(const double* a, const double* b, double* c) { const int i = blockIdx.x * kThreads + threadIdx.x; c[i] = a[i] + b[i]; }
__global__ void triad(double* a, const double* b, const double* c) { const int i = blockIdx.x * kThreads + threadIdx.x; a[i] = b[i] + 0.4 * c[i]; }
__global__ void dot(const double* a, const double* b, double* sums, int n) {
  __shared__ double part[kThreads];
  double sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += a[i] * b[i];
  part[threadIdx.x] = sum;
  for (int half = kThreads / 2; half; half /= 2) {
    __syncthreads();
    if (int(threadIdx.x) < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

int main(int argc, char** argv) {
  const int n = 1 << 18, launches = argc > 1 ? std::atoi(argv[1]) : 200, groups = 1024;
  const size_t bytes = n * sizeof(double);
  double *a, *b, *c, *sums;
  for (double** at : {&a, &b, &c}) OK(hipMalloc(at, bytes));
  OK(hipMalloc(&sums, groups * sizeof(double)));
  std::vector<double> host(n, 0.1);
  OK(hipMemcpy(a, host.data(), bytes, hipMemcpyHostToDevice));
  OK(hipMemset(b, 0, bytes));
  OK(hipMemset(c, 0, bytes));
  hipEvent_t begin, end;
  OK(hipEventCreate(&begin));
  OK(hipEventCreate(&end));
  auto timed = [&](const char* name, int arrays, auto launch) {
    launch();
    OK(hipEventRecord(begin));
    for (int i = 0; i < launches; ++i) launch();
    OK(hipEventRecord(end));
    OK(hipEventSynchronize(end));
    float ms = 0;
    OK(hipEventElapsedTime(&ms, begin, end));
    const double us = ms * 1000 / launches;
    std::printf("%s %.3f %.1f\n", name, us, arrays * double(bytes) / us / 1000);
  };
  timed("copy", 2, [&] { copy<<<n / kThreads, kThreads>>>(a, c); });
  timed("mul", 2, [&] { mul<<<n / kThreads, kThreads>>>(b, c); });
  timed("add", 3, [&] { add<<<n / kThreads, kThreads>>>(a, b, c); });
  timed("triad", 3, [&] { triad<<<n / kThreads, kThreads>>>(a, b, c); });
  timed("dot", 2, [&] { dot<<<groups, kThreads>>>(a, b, sums, n); });
  std::vector<double> parts(groups);
  OK(hipMemcpy(parts.data(), sums, groups * sizeof(double), hipMemcpyDeviceToHost));
  double sum = 0;
  for (double part : parts) sum += part;
  // a = b + 0.4 c with b = 0.04 and c = 0.14, as of the first round: later rounds change nothing.
  const double expected = 0.096 * 0.04 * n;
  return std::abs(sum - expected) < 1e-6 * expected ? 0 : 1;
}
