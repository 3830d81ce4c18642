// Work of every kind on streams, in a graph and on two devices. Prints what the program's own events say of it,
// in nanoseconds from the end of the first kernel: "kernel N START END", or of what is known by its size "after
// KIND SIZE TIME", the time of an event behind it. A recording of the run has to say the same.
#include <hip/hip_ext.h>

#include <cmath>

#include "check.h"

constexpr int kSmall = 16, kFull = 304 * 8, kThreads = 256;

template <int N>
__global__ void work(float* out, int turns) {
  float x = float(threadIdx.x + N);
  for (int i = 0; i < turns; ++i) x = x * 1.000001f + 0.5f;
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

hipEvent_t reference;
float* out[2];

struct Told {
  const char* what;
  size_t number;
  hipEvent_t start, end;
};
std::vector<Told> all;

hipEvent_t made() {
  hipEvent_t event;
  OK(hipEventCreate(&event));
  return event;
}

template <int N>
hipEvent_t launch(hipStream_t stream, int blocks = kSmall, int device = 0) {
  int turns = 2000;
  void* arguments[] = {&out[device], &turns};
  const Told told{"kernel", N, made(), made()};
  OK(hipExtLaunchKernel(reinterpret_cast<const void*>(work<N>), dim3(blocks), dim3(kThreads), arguments, 0, stream,
                        told.start, told.end, 0));
  all.push_back(told);
  return told.end;
}

void after(const char* what, size_t number, hipStream_t stream) {
  all.push_back({what, number, nullptr, made()});
  OK(hipEventRecord(all.back().end, stream));
}

long long at(hipEvent_t event) {
  float ms = 0;
  OK(hipEventElapsedTime(&ms, reference, event));
  return std::llround(double(ms) * 1e6);
}

int main() {
  constexpr size_t kBytes = 1 << 20;
  int devices = 0;
  OK(hipGetDeviceCount(&devices));
  char *there[2] = {}, *pinned, *other;
  for (int i = 0; i < devices && i < 2; ++i) {
    OK(hipSetDevice(i));
    OK(hipMalloc(&out[i], size_t{kFull} * kThreads * sizeof(float)));
    OK(hipMalloc(&there[i], 2 * kBytes));
  }
  OK(hipSetDevice(0));
  OK(hipHostMalloc(&pinned, 2 * kBytes, 0));
  OK(hipHostMalloc(&other, 2 * kBytes, 0));
  std::vector<char> pageable(kBytes);
  hipStream_t a, b, c;
  OK(hipStreamCreate(&a));
  OK(hipStreamCreate(&b));
  OK(hipStreamCreateWithFlags(&c, hipStreamNonBlocking));

  // Before events are compared, memory and code are where they will be.
  reference = launch<0>(a);
  launch<1>(a);           // in order
  launch<2>(b);           // beside it
  launch<3>(c, kFull);    // no room beside it
  OK(hipStreamWaitEvent(b, launch<4>(c, kFull), 0));
  launch<5>(b);
  launch<6>(nullptr);     // after a and b, and they after it
  launch<7>(a);
  after("kernel", 7, a);

  // Copies of every kind, each of its own size.
  size_t size = kBytes;
  OK(hipMemcpyAsync(there[0], pinned, --size, hipMemcpyHostToDevice, a));
  after("copy", size, a);
  OK(hipMemcpyAsync(pinned, there[0], --size, hipMemcpyDeviceToHost, a));
  after("copy", size, a);
  OK(hipMemcpyAsync(there[0] + kBytes, there[0], --size, hipMemcpyDeviceToDevice, b));
  after("copy", size, b);
  OK(hipMemcpyAsync(there[0], pinned, --size, hipMemcpyHostToDevice, c));  // the engine is a's
  after("copy", size, c);
  OK(hipMemcpy2DAsync(there[0], 2048, pinned, 2048, 1000, 100, hipMemcpyHostToDevice, a));
  after("copy", 100000, a);
  launch<8>(a);  // it hears of the copy by a signal
  OK(hipMemsetAsync(there[0], 1, 7 * 4096, a));
  after("fill", 7, a);
  OK(hipMemcpy(there[0], pageable.data(), --size, hipMemcpyHostToDevice));
  OK(hipMemcpy(pageable.data(), there[0], --size, hipMemcpyDeviceToHost));
  OK(hipMemset(there[0], 2, 3 * 4096));

  // A graph of two branches with a fill and a copy.
  hipGraph_t graph;
  hipGraphExec_t made_graph;
  hipEvent_t fork = made(), join = made(), inside = made(), beside = made();
  OK(hipDeviceSynchronize());
  OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
  OK(hipEventRecord(fork, a));
  OK(hipStreamWaitEvent(b, fork, 0));
  int turns = 2000;
  work<9><<<kSmall, kThreads, 0, a>>>(out[0], turns);
  OK(hipEventRecordWithFlags(inside, a, hipEventRecordExternal));
  work<10><<<kSmall, kThreads, 0, b>>>(out[0], 2 * turns);
  OK(hipEventRecordWithFlags(beside, b, hipEventRecordExternal));
  OK(hipMemsetAsync(there[0], 3, 5 * 4096, a));
  OK(hipMemcpyAsync(there[0] + kBytes, pinned, 54321, hipMemcpyHostToDevice, b));
  OK(hipEventRecord(join, b));
  OK(hipStreamWaitEvent(a, join, 0));
  work<11><<<kSmall, kThreads, 0, a>>>(out[0], turns);
  OK(hipStreamEndCapture(a, &graph));
  OK(hipGraphInstantiate(&made_graph, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(made_graph, a));
  all.push_back({"kernel", 9, nullptr, inside});
  all.push_back({"kernel", 10, nullptr, beside});
  after("kernel", 11, a);

  if (devices > 1) {
    OK(hipSetDevice(1));
    hipStream_t far;
    OK(hipStreamCreate(&far));
    launch<12>(nullptr, kFull, 1);  // no room taken on the first device
    launch<13>(far, kSmall, 1);
    OK(hipMemcpyPeerAsync(there[1], 1, there[0], 0, 77777, far));
    after("copy", 77777, far);
    OK(hipMemcpyAsync(other, there[1], 66666, hipMemcpyDeviceToHost, far));
    after("copy", 66666, far);
    OK(hipDeviceSynchronize());
    OK(hipSetDevice(0));
  }
  OK(hipDeviceSynchronize());
  for (const Told& told : all) {
    if (told.start) std::printf("%s %zu %lld %lld\n", told.what, told.number, at(told.start), at(told.end));
    else std::printf("after %s %zu %lld\n", told.what, told.number, at(told.end));
  }
  return failed();
}
