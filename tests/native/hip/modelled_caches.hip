// What the Infinity Cache still holds of an array: each line is a name and the GB/s of reading it.
#include "check.h"

__global__ void reads(const float4* in, float4* out, size_t n) {
  float4 sum{0, 0, 0, 0};
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    float4 v = in[i];
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  if (sum.x == 12345.0f) out[0] = sum;
}

struct Array {
  float4* at = nullptr;
  size_t bytes;
  explicit Array(size_t megabytes) : bytes(megabytes << 20) { OK(hipMalloc(&at, bytes)); }
};

static float4* nothing;

double rate(const Array& array) {
  hipEvent_t before, after;
  OK(hipEventCreate(&before));
  OK(hipEventCreate(&after));
  OK(hipEventRecord(before));
  reads<<<2432, 256>>>(array.at, nothing, array.bytes / sizeof(float4));
  OK(hipEventRecord(after));
  OK(hipEventSynchronize(after));
  float ms = 0;
  OK(hipEventElapsedTime(&ms, before, after));
  OK(hipEventDestroy(before));
  OK(hipEventDestroy(after));
  return double(array.bytes) / (1e6 * ms);
}

int main() {
  OK(hipMalloc(&nothing, 4096));
  // Of the larger ones only a part is simulated, of the small one everything.
  const Array small(8), quarter(64), half(128), most(192), all(320);
  auto show = [](const char* name, const Array& array) { std::printf("%s %.1f\n", name, rate(array)); };
  show("half_first", half);
  show("small_first", small);
  show("half_after_small", half);
  for (int i = 0; i < 40; ++i) rate(small);
  show("half_after_small_many_times", half);
  show("quarter_first", quarter);
  show("half_after_quarter", half);
  show("quarter_after_half", quarter);
  show("most_first", most);
  show("half_after_most", half);
  show("small_after_most_and_half", small);
  show("all_first", all);
  show("all_again", all);
  return 0;
}
