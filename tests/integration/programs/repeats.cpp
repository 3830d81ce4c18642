// Launches that look like one before them. Whether the device runs them again or not, memory must
// be as if it had.
#include <hip/hip_runtime.h>

#include <cstdio>

int failures = 0;
#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition) && ++failures < 20) std::printf("line %d: %s\n", __LINE__, #condition); \
  } while (0)
#define CHECK(call) EXPECT((call) == hipSuccess)

constexpr int kCount = 1000, kTimes = 6;

__device__ int factor = 2;
__global__ void scale(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}
__global__ void increment(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}
__global__ void count(const int* in, int* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] % 3 == 0) atomicAdd(total, 1);
}
__global__ void indirect(int* const* where, int value) { **where = value; }
__global__ void now(long long* out) { *out = clock64(); }
__global__ void spin(const float* in, float* out, int rounds) {
  float x = in[threadIdx.x];
  for (int i = 0; i < rounds; ++i) x = x * 0.5f + 1;
  out[threadIdx.x] = x;
}

template <typename T> T value_at(const T* device) {
  T value{};
  CHECK(hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost));
  return value;
}

struct Buffers {
  int *in = nullptr, *out = nullptr;
  Buffers() {
    int host[kCount];
    for (int i = 0; i < kCount; ++i) host[i] = i;
    CHECK(hipMalloc(&in, sizeof host));
    CHECK(hipMalloc(&out, sizeof host));
    CHECK(hipMemcpy(in, host, sizeof host, hipMemcpyHostToDevice));
  }
  ~Buffers() {
    CHECK(hipFree(in));
    CHECK(hipFree(out));
  }
};

void scale_often(const Buffers& b) {
  for (int i = 0; i < kTimes; ++i) scale<<<4, 256>>>(b.in, b.out, kCount);
}

// Every way in which what a kernel reads or writes can change between two launches.
void changes_are_seen() {
  Buffers b;
  scale_often(b);
  EXPECT(value_at(b.out + 10) == 20 && value_at(b.out + 999) == 1998);
  const int seven = 7;
  CHECK(hipMemcpy(b.in + 10, &seven, sizeof seven, hipMemcpyHostToDevice));
  scale_often(b);
  EXPECT(value_at(b.out + 10) == 14);
  CHECK(hipMemset(b.in, 0, sizeof(int) * 20));
  scale_often(b);
  EXPECT(value_at(b.out + 10) == 0 && value_at(b.out + 20) == 40);
  CHECK(hipMemset(b.out, 0xff, sizeof(int) * kCount));
  scale_often(b);
  EXPECT(value_at(b.out + 20) == 40);
  increment<<<4, 256>>>(b.in, kCount);
  scale_often(b);
  EXPECT(value_at(b.out + 20) == 42);
  const int three = 3;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &three, sizeof three));
  scale_often(b);
  EXPECT(value_at(b.out + 20) == 63);
  const int two = 2;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &two, sizeof two));
  for (int n = 1; n <= kTimes; ++n) scale<<<4, 256>>>(b.in, b.out + 500, n);
  EXPECT(value_at(b.out + 500 + kTimes - 1) == 2 && value_at(b.out + 500 + kTimes) == 3 * (506 + 1));
}

void host_writes_are_seen() {
  int *pinned, *managed;
  CHECK(hipHostMalloc(&pinned, sizeof(int) * kCount));
  CHECK(hipMallocManaged(&managed, sizeof(int) * kCount));
  for (int i = 0; i < kTimes; ++i) {
    for (int times = 0; times < 3; ++times) {
      pinned[5] = i;
      scale<<<4, 256>>>(pinned, managed, kCount);
      CHECK(hipDeviceSynchronize());
      EXPECT(managed[5] == 2 * i);
      managed[5] = -1;
    }
  }
  CHECK(hipHostFree(pinned));
  CHECK(hipFree(managed));
}

void what_adds_up_adds_up() {
  Buffers b;
  CHECK(hipMemset(b.out, 0, sizeof(int) * kCount));
  for (int i = 0; i < kTimes; ++i) increment<<<4, 256>>>(b.out, kCount);
  EXPECT(value_at(b.out + 77) == kTimes);
  CHECK(hipMemset(b.out, 0, sizeof(int)));
  for (int i = 0; i < kTimes; ++i) count<<<4, 256>>>(b.in, b.out, kCount);
  EXPECT(value_at(b.out) == kTimes * 334);
  for (int i = 0; i < kTimes; ++i) {  // from the same state every time
    CHECK(hipMemset(b.out, 0, sizeof(int)));
    count<<<4, 256>>>(b.in, b.out, kCount);
    EXPECT(value_at(b.out) == 334);
  }
  for (int i = 0; i < kTimes; ++i) {
    CHECK(hipMemcpy(b.out, b.in, sizeof(int) * kCount, hipMemcpyDeviceToDevice));
    increment<<<4, 256>>>(b.out, kCount);
    EXPECT(value_at(b.out + 5) == 6);
  }
  count<<<4, 256>>>(b.in, b.out, kCount);
  EXPECT(value_at(b.out) == 335);
}

// A stream that only copies works on one half of an allocation while a kernel works on the other.
void a_copy_beside_a_kernel_stays() {
  Buffers b;
  hipStream_t copies;
  int* pinned;
  CHECK(hipStreamCreateWithFlags(&copies, hipStreamNonBlocking));
  CHECK(hipHostMalloc(&pinned, sizeof(int) * kCount));
  for (int i = 0; i < 200; ++i) {
    CHECK(hipMemset(b.out, 0, sizeof(int) * kCount));
    CHECK(hipDeviceSynchronize());
    for (int k = 0; k < kCount; ++k) pinned[k] = i;
    increment<<<2, 250>>>(b.out, kCount / 2);
    CHECK(hipMemcpyAsync(b.out + kCount / 2, pinned, sizeof(int) * (kCount / 2), hipMemcpyHostToDevice, copies));
    CHECK(hipDeviceSynchronize());
    EXPECT(value_at(b.out) == 1 && value_at(b.out + kCount / 2) == i && value_at(b.out + kCount - 1) == i);
  }
  CHECK(hipHostFree(pinned));
  CHECK(hipStreamDestroy(copies));
}

void pointers_in_memory_are_followed() {
  Buffers b;
  int** where;
  CHECK(hipMalloc(&where, sizeof *where));
  for (int i = 0; i < kTimes; ++i) {
    int* target = i % 2 ? b.in : b.out;
    CHECK(hipMemcpy(where, &target, sizeof target, hipMemcpyHostToDevice));
    CHECK(hipMemset(target, 0, sizeof(int)));
    for (int times = 0; times < 3; ++times) indirect<<<1, 1>>>(where, 9);
    EXPECT(value_at(target) == 9);
  }
  CHECK(hipFree(where));
}

void memory_that_comes_back_is_other_memory() {
  for (int i = 0; i < kTimes; ++i) {
    Buffers b;
    CHECK(hipMemset(b.in, 0, sizeof(int) * (i + 1)));
    scale_often(b);
    EXPECT(value_at(b.out + i) == 0 && value_at(b.out + i + 1) == 2 * (i + 1));
  }
}

void clocks_go_on() {
  long long *out, last = 0;
  CHECK(hipMalloc(&out, sizeof *out));
  for (int i = 0; i < kTimes; ++i) {
    now<<<1, 1>>>(out);
    const long long time = value_at(out);
    EXPECT(time > last);
    last = time;
  }
  CHECK(hipFree(out));
}

// Far more work than any host could do, were it done every time.
void a_benchmark_loop_ends() {
  float *in, *out;
  CHECK(hipMalloc(&in, 256 * sizeof(float)));
  CHECK(hipMalloc(&out, 256 * sizeof(float)));
  CHECK(hipMemset(in, 0, 256 * sizeof(float)));
  for (int i = 0; i < 20000; ++i) spin<<<1, 256>>>(in, out, 500000);
  EXPECT(value_at(out + 255) == 2.0f);
  CHECK(hipFree(in));
  CHECK(hipFree(out));
}

void every_device_has_its_own() {
  int devices = 0;
  CHECK(hipGetDeviceCount(&devices));
  for (int device = 0; device < devices; ++device) {
    CHECK(hipSetDevice(device));
    Buffers b;
    scale_often(b);
    EXPECT(value_at(b.out + 7) == 14);
  }
  CHECK(hipSetDevice(0));
}

int main() {
  every_device_has_its_own();
  changes_are_seen();
  host_writes_are_seen();
  what_adds_up_adds_up();
  pointers_in_memory_are_followed();
  memory_that_comes_back_is_other_memory();
  clocks_go_on();
  a_copy_beside_a_kernel_stays();
  a_benchmark_loop_ends();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
