// A pipeline over several streams: chunks are copied in, worked on and copied out, each stream on its
// own; events order a last kernel after all of them. -n elements, -s streams.
#include "check.h"

__global__ void polynomial(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = ((x[i] * 2.0f + 1.0f) * x[i] - 3.0f) * x[i] + 0.5f;
}

__global__ void count_positive(const float* x, int n, int* count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long vote = __ballot(i < n && x[i] > 0.0f);
  if (threadIdx.x % warpSize == 0) atomicAdd(count, __popcll(vote));
}

int main(int argc, char** argv) {
  const int n = option(argc, argv, "-n", 1 << 16), streams = option(argc, argv, "-s", 4), block = 256;
  const int chunk = divide_up(n, streams);
  float *in, *out;
  HIP_CHECK(hipHostMalloc(&in, n * sizeof(float), hipHostMallocDefault));
  HIP_CHECK(hipHostMalloc(&out, n * sizeof(float), hipHostMallocDefault));
  Random random;
  std::vector<float> want(n);
  int positive = 0;
  for (int i = 0; i < n; ++i) {
    float x = in[i] = random.uniform(-2, 2);
    want[i] = std::fma(std::fma(std::fma(x, 2.0f, 1.0f), x, -3.0f), x, 0.5f);
  }

  Buffer<float> data(n);
  Buffer<int> count(1);
  count.clear();
  std::vector<hipStream_t> stream(streams);
  std::vector<hipEvent_t> done(streams);
  hipEvent_t begin, end;
  HIP_CHECK(hipEventCreate(&begin));
  HIP_CHECK(hipEventCreate(&end));
  for (int s = 0; s < streams; ++s) {
    HIP_CHECK(hipStreamCreate(&stream[s]));
    HIP_CHECK(hipEventCreateWithFlags(&done[s], hipEventDisableTiming));
  }
  HIP_CHECK(hipEventRecord(begin, stream[0]));
  for (int s = 0; s < streams; ++s) {
    int first = s * chunk, length = std::min(chunk, n - first);
    if (length <= 0) continue;
    HIP_CHECK(hipMemcpyAsync(data + first, in + first, length * sizeof(float), hipMemcpyHostToDevice, stream[s]));
    polynomial<<<divide_up(length, block), block, 0, stream[s]>>>(data + first, length);
    HIP_CHECK(hipMemcpyAsync(out + first, data + first, length * sizeof(float), hipMemcpyDeviceToHost, stream[s]));
    HIP_CHECK(hipEventRecord(done[s], stream[s]));
    HIP_CHECK(hipStreamWaitEvent(stream[0], done[s], 0));
  }
  count_positive<<<divide_up(n, block), block, 0, stream[0]>>>(data, n, count);
  HIP_CHECK(hipEventRecord(end, stream[0]));
  HIP_CHECK(hipEventSynchronize(end));
  float milliseconds = -1.0f;
  HIP_CHECK(hipEventElapsedTime(&milliseconds, begin, end));
  for (int s = 0; s < streams; ++s) HIP_CHECK(hipStreamSynchronize(stream[s]));
  for (int i = 0; i < n; ++i) positive += out[i] > 0.0f;

  int failures = verdict("streams pipeline", max_error(std::vector<float>(out, out + n), want), 1e-6);
  failures += verdict("streams ordered by event", max_error(count.download(), std::vector<int>{positive}), 0.0);
  failures += verdict("streams elapsed time >= 0", milliseconds >= 0.0f ? 0.0 : 1.0, 0.0);
  for (int s = 0; s < streams; ++s) {
    HIP_CHECK(hipEventDestroy(done[s]));
    HIP_CHECK(hipStreamDestroy(stream[s]));
  }
  HIP_CHECK(hipEventDestroy(begin));
  HIP_CHECK(hipEventDestroy(end));
  HIP_CHECK(hipHostFree(in));
  HIP_CHECK(hipHostFree(out));
  return failures;
}
