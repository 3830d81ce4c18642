// Prints what events say where the order of streams decides: full and small kernels at once, the null
// stream between others, work that waits for another stream, graphs, host functions, memsets and copies.
#include "check.h"

__global__ void spin(float* out, int turns) {
  float x = float(threadIdx.x);
  for (int i = 0; i < turns; ++i) x = x * 1.000001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

constexpr int kFull = 304 * 8, kSmall = 16, kThreads = 256, kTurns = 400;

int main() {
  float* out;
  const size_t bytes = size_t{kFull} * kThreads * sizeof(float);
  OK(hipMalloc(&out, 2 * bytes));
  float* other = out + bytes / sizeof(float);
  hipEvent_t begin, end, between;
  for (hipEvent_t* event : {&begin, &end, &between}) OK(hipEventCreate(event));
  hipStream_t a, b;
  OK(hipStreamCreate(&a));
  OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
  auto told = [&](const char* what) {
    float us = 0;
    OK(hipEventSynchronize(end));
    OK(hipEventElapsedTime(&us, begin, end));
    std::printf("%s %.3f\n", what, us * 1000);
  };
  auto timed = [&](const char* what, auto work) {
    OK(hipDeviceSynchronize());
    OK(hipEventRecord(begin, a));
    work();
    OK(hipEventRecord(end, a));
    told(what);
  };
  auto join = [&] {  // a after b
    OK(hipEventRecord(between, b));
    OK(hipStreamWaitEvent(a, between, 0));
  };
  spin<<<kFull, kThreads, 0, a>>>(out, kTurns);
  timed("full", [&] { spin<<<kFull, kThreads, 0, a>>>(out, kTurns); });
  timed("small", [&] { spin<<<kSmall, kThreads, 0, a>>>(out, kTurns); });
  timed("two_full", [&] {
    spin<<<kFull, kThreads, 0, a>>>(out, kTurns);
    spin<<<kFull, kThreads, 0, b>>>(other, kTurns);
    join();
  });
  timed("two_small", [&] {
    spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
    spin<<<kSmall, kThreads, 0, b>>>(other, kTurns);
    join();
  });
  timed("null_between", [&] {  // a waits for the null stream, which waits for a
    spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
    spin<<<kSmall, kThreads>>>(other, kTurns);
    spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
  });
  timed("nothing", [] {});

  hipGraph_t graph;
  hipGraphExec_t made;
  OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
  OK(hipStreamEndCapture(a, &graph));
  OK(hipGraphInstantiate(&made, graph, nullptr, nullptr, 0));
  timed("graph", [&] { OK(hipGraphLaunch(made, a)); });
  timed("three", [&] {
    for (int i = 0; i < 3; ++i) spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
  });

  OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));  // twelve kernels in two branches
  OK(hipEventRecord(between, a));
  OK(hipStreamWaitEvent(b, between, 0));
  for (int i = 0; i < 6; ++i) {
    spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
    spin<<<kSmall, kThreads, 0, b>>>(other, kTurns);
  }
  join();
  OK(hipStreamEndCapture(a, &graph));
  OK(hipGraphInstantiate(&made, graph, nullptr, nullptr, 0));
  timed("branches", [&] { OK(hipGraphLaunch(made, a)); });

  auto nothing = [](void*) {};
  for (int i = 0; i < 3; ++i) {  // the host goes on at once: what it does later is no part of it
    OK(hipDeviceSynchronize());
    OK(hipEventRecord(begin, a));
    OK(hipLaunchHostFunc(a, nothing, nullptr));
    OK(hipEventRecord(end, a));
    for (int k = 0; k < 20 * i; ++k) spin<<<1, 64, 0, b>>>(other, 1);
    told(i == 0 ? "function" : i == 1 ? "function_then" : "function_much_then");
  }
  OK(hipDeviceSynchronize());
  for (int i = 0; i < 3; ++i) spin<<<kSmall, kThreads, 0, a>>>(out, kTurns);
  OK(hipEventRecord(begin, a));  // behind work, where the host has gone on
  spin<<<1, 64, 0, a>>>(out, 1);
  OK(hipEventRecord(end, a));
  told("tiny_behind");

  const size_t large = size_t{64} << 20;
  void *device, *pinned;
  OK(hipMalloc(&device, large));
  OK(hipHostMalloc(&pinned, large, 0));
  timed("memset", [&] { OK(hipMemsetAsync(device, 1, large, a)); });
  timed("to_device", [&] { OK(hipMemcpyAsync(device, pinned, large, hipMemcpyHostToDevice, a)); });
  timed("on_device", [&] { OK(hipMemcpyAsync(device, static_cast<char*>(device) + large / 2, large / 2, hipMemcpyDeviceToDevice, a)); });
  void* pinned_too;
  OK(hipHostMalloc(&pinned_too, large, 0));
  timed("on_host", [&] { OK(hipMemcpyAsync(pinned_too, pinned, large, hipMemcpyDefault, a)); });
}
