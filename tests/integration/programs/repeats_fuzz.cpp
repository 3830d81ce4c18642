// Random work in which launches often repeat: kernels in place, with atomics and without, on two
// streams, in graphs, over device, managed, pinned and registered memory that the host writes too.
// Prints what all memory holds now and then; running every launch must print the same.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#define OK(call)                                                            \
  do {                                                                      \
    if (hipError_t e = (call); e != hipSuccess) {                           \
      std::printf("%s: %s\n", #call, hipGetErrorString(e));                 \
      std::exit(1);                                                         \
    }                                                                       \
  } while (0)

constexpr int kWords = 2048, kBuffers = 6;

__global__ void map(const uint32_t* in, uint32_t* out, uint32_t k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t x = in[i];
  for (int round = 0; round < 40; ++round) x = x * 1664525u + k;
  out[i] = x;
}
__global__ void in_place(uint32_t* data, uint32_t k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 40; ++round) data[i] = data[i] * 22695477u + k;
}
__global__ void tally(const uint32_t* in, uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 8; ++round) atomicAdd(&out[in[i] >> 24], 1u + round);
}
__global__ void some(const uint32_t* in, uint32_t* out, uint32_t k) {  // what it touches depends on data
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 40; ++round)
    if (((in[i] >> 3) & 7) == (k & 7)) out[(i * 7 + round) % kWords] = k + round % 1;
}

int main(int argc, char** argv) {
  std::mt19937 random(argc > 1 ? std::atoi(argv[1]) : 0);
  const auto pick = [&](uint32_t n) { return uint32_t(random() % n); };
  uint32_t* at[kBuffers];
  const size_t bytes = kWords * sizeof(uint32_t);
  std::vector<uint32_t> registered(kWords);
  OK(hipMalloc(&at[0], bytes));
  OK(hipMalloc(&at[1], bytes));
  OK(hipMalloc(&at[2], bytes));
  OK(hipMallocManaged(&at[3], bytes));
  OK(hipHostMalloc(&at[4], bytes));
  OK(hipHostRegister(registered.data(), bytes, 0));
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&at[5]), registered.data(), 0));
  for (uint32_t* buffer : at) OK(hipMemset(buffer, 7, bytes));
  OK(hipDeviceSynchronize());
  hipStream_t streams[2];
  for (hipStream_t& s : streams) OK(hipStreamCreate(&s));

  const auto launch = [&](hipStream_t stream, uint32_t a, uint32_t b, uint32_t k, uint32_t kind) {
    const dim3 grid(kWords / 256), block(256);
    if (a == b) b = (a + 1) % kBuffers;
    switch (kind) {
      case 0: map<<<grid, block, 0, stream>>>(at[a], at[b], k); break;
      case 1: in_place<<<grid, block, 0, stream>>>(at[a], k); break;
      case 2: tally<<<grid, block, 0, stream>>>(at[a], at[b]); break;
      default: some<<<grid, block, 0, stream>>>(at[a], at[b], k); break;
    }
  };
  std::vector<uint32_t> host(kWords);
  for (int step = 0; step < 120; ++step) {
    const uint32_t a = pick(kBuffers), b = pick(kBuffers), k = pick(2), kind = pick(4);
    hipStream_t stream = streams[pick(4) == 0];
    switch (pick(8)) {
      case 0: OK(hipMemsetAsync(at[a], int(k), bytes, stream)); break;
      case 1: OK(hipMemcpyAsync(at[a], at[(a + 1) % kBuffers], bytes, hipMemcpyDefault, stream)); break;
      case 2: {  // the host writes, between launches
        OK(hipDeviceSynchronize());
        const uint32_t word = pick(kWords), which = 3 + pick(3);
        (which == 5 ? registered.data() : at[which])[word] = k;
        break;
      }
      case 3: {
        hipGraph_t graph;
        hipGraphExec_t ready;
        OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        launch(stream, a, b, k, kind);
        launch(stream, b, a, k, kind);
        OK(hipStreamEndCapture(stream, &graph));
        OK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
        for (int again = 0; again < 3; ++again) OK(hipGraphLaunch(ready, stream));
        OK(hipStreamSynchronize(stream));
        OK(hipGraphExecDestroy(ready));
        OK(hipGraphDestroy(graph));
        break;
      }
      case 4: {  // freed and allocated anew, perhaps at the same place
        OK(hipDeviceSynchronize());
        OK(hipFree(at[2]));
        OK(hipMalloc(&at[2], bytes));
        OK(hipMemset(at[2], int(k), bytes));
        break;
      }
      default:
        for (uint32_t again = 0, n = 1 + pick(5); again < n; ++again) launch(stream, a, b, k, kind);
    }
    OK(hipDeviceSynchronize());  // streams in an order that both runs share
    uint64_t sum = 14695981039346656037ull;
    for (uint32_t* buffer : at) {
      OK(hipMemcpy(host.data(), buffer, bytes, hipMemcpyDefault));
      for (uint32_t word : host) sum = (sum ^ word) * 1099511628211ull;
    }
    std::printf("%d %016llx\n", step, static_cast<unsigned long long>(sum));
  }
}
