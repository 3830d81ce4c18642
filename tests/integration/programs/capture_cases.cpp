// One kernel per case, chosen by the first argument, each with memory of another kind. Inputs are
// simple functions of the index, so that a test can tell what must be in memory before and after.
#include <hip/hip_runtime.h>
#include <hip/hip_cooperative_groups.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    const hipError_t status = (call);                                                 \
    if (status != hipSuccess) {                                                       \
      std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status));             \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

constexpr int kCount = 10000;

static void expect(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  std::exit(1);
}

template <class T> static std::vector<T> ramp(int count = kCount) {
  std::vector<T> values(count);
  for (int i = 0; i < count; ++i) values[i] = T(i);
  return values;
}

template <class T> static T* on_device(const std::vector<T>& values) {
  T* at = nullptr;
  CHECK(hipMalloc(&at, values.size() * sizeof(T)));
  CHECK(hipMemcpy(at, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return at;
}

template <class T> static std::vector<T> from_device(const T* at, int count = kCount) {
  std::vector<T> values(count);
  CHECK(hipMemcpy(values.data(), at, count * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}

static unsigned blocks(int count = kCount, int threads = 256) { return unsigned((count + threads - 1) / threads); }

__global__ void in_place(int* data, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] = data[i] * 3 + 1;
}

static void run_in_place() {
  int* data = on_device(ramp<int>());
  for (int launch = 0; launch < 3; ++launch) in_place<<<blocks(), 256>>>(data, kCount);
  expect(from_device(data)[5] == 5 * 27 + 13, "in place");
}

__global__ void count_even(const int* data, int count, unsigned* counters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&counters[data[i] & 1], 1u);
}

static void run_atomic() {
  int* data = on_device(ramp<int>());
  unsigned* counters = on_device(std::vector<unsigned>{7, 9});
  count_even<<<blocks(), 256>>>(data, kCount, counters);
  expect(from_device(counters, 2)[1] == 9 + kCount / 2, "atomic");
}

__global__ void reverse_in_lds(int* data) {
  extern __shared__ int buffer[];
  buffer[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

static void run_dynamic_lds() {
  int* data = on_device(ramp<int>(1024));
  reverse_in_lds<<<4, 256, 256 * sizeof(int)>>>(data);
  expect(from_device(data, 1024)[0] == 255, "dynamic LDS");
}

static __device__ int hidden_counter = 40;
namespace {
__device__ int anonymous_table[64];
}
__device__ float shown_sum;
__constant__ int factors[16];
__device__ int* pointer_to_global = &hidden_counter;

__global__ void use_globals(int* out) {
  const int i = threadIdx.x;
  anonymous_table[i] += factors[i % 16] * i;
  out[i] = anonymous_table[i] + *pointer_to_global;
  if (i == 0) {
    atomicAdd(&hidden_counter, 2);
    shown_sum += 0.5f;
  }
}

static void run_globals() {
  int* out = on_device(std::vector<int>(64, -1));
  const auto values = ramp<int>(16);
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factors), values.data(), 16 * sizeof(int)));
  use_globals<<<1, 64>>>(out);
  use_globals<<<1, 64>>>(out);
  float sum = 0;
  CHECK(hipMemcpyFromSymbol(&sum, HIP_SYMBOL(shown_sum), sizeof sum));
  expect(sum == 1.0f && from_device(out, 64)[3] == 2 * 9 + 42, "globals");
}

struct Inner { float* values; int count; };
struct Outer { Inner* inner; double scale; };

__global__ void through_structs(Outer outer, const Outer* also) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < outer.inner->count) outer.inner->values[i] = float(outer.inner->values[i] * outer.scale + also->scale);
}

static void run_structs() {
  float* values = on_device(ramp<float>());
  Inner* inner = on_device(std::vector<Inner>{{values, kCount}});
  const Outer outer{inner, 2.0};
  Outer* also = on_device(std::vector<Outer>{{inner, 0.5}});
  through_structs<<<blocks(), 256>>>(outer, also);
  expect(from_device(values)[7] == 14.5f, "structs");
}

__global__ void scale_by(float* data, int count, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}
__global__ void sum_of(const float* a, const float* b, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = a[i] + b[i];
}

static void run_streams() {
  float* a = on_device(ramp<float>());
  float* b = on_device(ramp<float>());
  float* out = on_device(std::vector<float>(kCount));
  hipStream_t first, second;
  hipEvent_t ready;
  CHECK(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  CHECK(hipEventCreate(&ready));
  for (int i = 0; i < 4; ++i) scale_by<<<blocks(), 256, 0, second>>>(b, kCount, 2.0f);
  CHECK(hipEventRecord(ready, second));
  scale_by<<<blocks(), 256, 0, first>>>(a, kCount, 3.0f);
  CHECK(hipStreamWaitEvent(first, ready, 0));
  sum_of<<<blocks(), 256, 0, first>>>(a, b, out, kCount);
  CHECK(hipStreamSynchronize(first));
  expect(from_device(out)[10] == 190.0f, "streams");
}

static void run_graph() {
  float* a = on_device(ramp<float>());
  float* b = on_device(ramp<float>());
  float* out = on_device(std::vector<float>(kCount));
  hipStream_t stream, side;
  hipEvent_t fork, join;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamCreate(&side));
  CHECK(hipEventCreate(&fork));
  CHECK(hipEventCreate(&join));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  CHECK(hipEventRecord(fork, stream));
  CHECK(hipStreamWaitEvent(side, fork, 0));
  scale_by<<<blocks(), 256, 0, stream>>>(a, kCount, 2.0f);
  scale_by<<<blocks(), 256, 0, side>>>(b, kCount, 5.0f);
  CHECK(hipEventRecord(join, side));
  CHECK(hipStreamWaitEvent(stream, join, 0));
  sum_of<<<blocks(), 256, 0, stream>>>(a, b, out, kCount);
  hipGraph_t graph;
  hipGraphExec_t ready;
  CHECK(hipStreamEndCapture(stream, &graph));
  CHECK(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  CHECK(hipGraphLaunch(ready, stream));
  CHECK(hipGraphLaunch(ready, stream));
  CHECK(hipStreamSynchronize(stream));
  expect(from_device(out)[2] == 2 * 4.0f + 2 * 25.0f, "graph");
}

__global__ void add_all(const int* managed, const int* pinned, int* registered, const int* pooled, const int* mapped, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) registered[i] += managed[i] + pinned[i] + pooled[i] + mapped[i];
}

static void run_memory_kinds() {
  const auto values = ramp<int>();
  const size_t bytes = values.size() * sizeof(int);
  int *managed, *pinned, *pooled;
  CHECK(hipMallocManaged(&managed, bytes));
  CHECK(hipHostMalloc(&pinned, bytes, 0));
  CHECK(hipMallocAsync(reinterpret_cast<void**>(&pooled), bytes, nullptr));
  std::memcpy(managed, values.data(), bytes);
  std::memcpy(pinned, values.data(), bytes);
  CHECK(hipMemcpyAsync(pooled, values.data(), bytes, hipMemcpyHostToDevice, nullptr));

  hipMemAllocationProp property{};
  property.type = hipMemAllocationTypePinned;
  property.location.type = hipMemLocationTypeDevice;
  size_t granularity = 0;
  CHECK(hipMemGetAllocationGranularity(&granularity, &property, hipMemAllocationGranularityMinimum));
  const size_t mapped_bytes = (bytes + granularity - 1) / granularity * granularity;
  hipMemGenericAllocationHandle_t handle;
  void* mapped = nullptr;
  CHECK(hipMemAddressReserve(&mapped, mapped_bytes, 0, nullptr, 0));
  CHECK(hipMemCreate(&handle, mapped_bytes, &property, 0));
  CHECK(hipMemMap(mapped, mapped_bytes, 0, handle, 0));
  hipMemAccessDesc access{};
  access.location = property.location;
  access.flags = hipMemAccessFlagsProtReadWrite;
  CHECK(hipMemSetAccess(mapped, mapped_bytes, &access, 1));
  CHECK(hipMemcpy(mapped, values.data(), bytes, hipMemcpyHostToDevice));

  // At an odd place in its page, as registered memory of programs is.
  static std::vector<int> registered(kCount + 8, 1000);
  int* inside = registered.data() + 3;
  CHECK(hipHostRegister(inside, bytes, 0));
  int* device_view = nullptr;
  CHECK(hipHostGetDevicePointer(reinterpret_cast<void**>(&device_view), inside, 0));
  add_all<<<blocks(), 256>>>(managed, pinned, device_view, pooled, static_cast<int*>(mapped), kCount);
  CHECK(hipDeviceSynchronize());
  expect(inside[9] == 1000 + 36, "memory kinds");
}

__global__ void grid_wide(int* data, int count) {
  const auto grid = cooperative_groups::this_grid();
  const int i = int(grid.thread_rank());
  if (i < count) data[i] += 1;
  grid.sync();
  int sum = 0;
  if (i == 0) {
    for (int j = 0; j < count; ++j) sum += data[j];
    data[0] = sum;
  }
}

static void run_cooperative() {
  int count = 1024;
  int* data = on_device(std::vector<int>(count, 1));
  void* arguments[] = {&data, &count};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(grid_wide), dim3(8), dim3(128), arguments, 0, nullptr));
  expect(from_device(data, count)[0] == 2 * count, "cooperative");
}

__global__ void may_print(int* data, int limit) {
  const int i = threadIdx.x;
  if (data[i] > limit) printf("%d is above %d\n", data[i], limit);
  data[i] += 1;
}

static void run_prints() {
  int* data = on_device(ramp<int>(64));
  may_print<<<1, 64>>>(data, 62);
  CHECK(hipDeviceSynchronize());
}
static void run_may_print() {
  int* data = on_device(ramp<int>(64));
  may_print<<<1, 64>>>(data, 1000);
  CHECK(hipDeviceSynchronize());
}

struct Shape {
  __device__ virtual int area(int x) const = 0;
};
struct Square : Shape {
  __device__ int area(int x) const override { return x * x; }
};
__global__ void make_shape(Shape** slot, char* storage) { *slot = new (storage) Square; }
__global__ void call_shape(Shape** slot, int* out) { out[threadIdx.x] = (*slot)->area(int(threadIdx.x)); }

static void run_virtual_call() {
  Shape** slot;
  char* storage;
  int* out = on_device(std::vector<int>(64));
  CHECK(hipMalloc(&slot, sizeof *slot));
  CHECK(hipMalloc(&storage, sizeof(Square)));
  make_shape<<<1, 1>>>(slot, storage);
  call_shape<<<1, 64>>>(slot, out);
  expect(from_device(out, 64)[5] == 25, "virtual call");
}

__global__ void touch_far(unsigned char* data, size_t bytes) { data[bytes / 2] = 17; }

static void run_sparse() {
  const size_t bytes = size_t{3} << 30;
  unsigned char* data;
  CHECK(hipMalloc(&data, bytes));
  CHECK(hipMemset(data + bytes - 4096, 0x5a, 4096));
  touch_far<<<1, 1>>>(data, bytes);
  CHECK(hipDeviceSynchronize());
}

__global__ void pattern(int* data) { data[blockIdx.x * 256 + threadIdx.x] = int(blockIdx.x) - 1; }

static void run_duplicates() {
  int* data;
  CHECK(hipMalloc(&data, size_t{8} << 20));
  CHECK(hipMemset(data, 0x33, size_t{8} << 20));
  pattern<<<4, 256>>>(data);
  CHECK(hipDeviceSynchronize());
}

// Launches from several threads while a capture is under way.
static void run_threads() {
  std::vector<std::thread> threads;
  std::vector<int*> data;
  for (int t = 0; t < 4; ++t) data.push_back(on_device(ramp<int>()));
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([at = data[t]] {
      hipStream_t stream;
      CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
      for (int i = 0; i < 30; ++i) {
        in_place<<<blocks(), 256, 0, stream>>>(at, kCount);
        void* other;
        CHECK(hipMalloc(&other, 4096));
        CHECK(hipFree(other));
      }
      CHECK(hipStreamSynchronize(stream));
    });
  for (std::thread& thread : threads) thread.join();
  expect(from_device(data[0]) == from_device(data[3]), "threads");
}

// The queue waits for what the launching thread does only after the launch.
static void run_host_gate() {
  int* data = on_device(ramp<int>());
  unsigned* flag;
  CHECK(hipHostMalloc(&flag, sizeof *flag, 0));
  *flag = 0;
  hipStream_t stream;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamWaitValue32(stream, flag, 1, hipStreamWaitValueGte, 0xffffffff));
  in_place<<<blocks(), 256, 0, stream>>>(data, kCount);
  __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
  CHECK(hipStreamSynchronize(stream));
  expect(from_device(data)[5] == 16, "host gate");
}

// A scan in one pass, as libraries of primitives write it: templates over type and operator, state
// passed by value, one allocation cut into pieces, tiles in the order their workgroups start, and
// each tile waits for what those before it publish.
struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};

struct TileStates {
  enum : unsigned { kEmpty, kAggregate, kPrefix };
  unsigned long long* states;
  unsigned* next_tile;

  __device__ void publish(unsigned tile, unsigned flag, unsigned value) const {
    const unsigned long long state = (unsigned long long)flag << 32 | value;
    __hip_atomic_store(&states[tile], state, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  // One wave: the sum of all tiles before `tile`, a window of 64 at a time.
  template <class Op> __device__ unsigned before(unsigned tile, Op op) const {
    unsigned sum = 0;
    for (int last = (int)tile - 1; last >= 0; last -= 64) {
      const int mine = last - (int)(threadIdx.x & 63);
      unsigned long long state = (unsigned long long)kPrefix << 32;  // before the first: nothing
      if (mine >= 0) do state = __hip_atomic_load(&states[mine], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        while (state >> 32 == kEmpty);
      const unsigned long long done = __ballot(state >> 32 == kPrefix);
      const int stop = done ? __ffsll(done) - 1 : 63;
      unsigned value = (int)(threadIdx.x & 63) <= stop ? (unsigned)state : 0;
      for (int step = 32; step; step /= 2) value = op(value, (unsigned)__shfl_xor((int)value, step));
      sum = op(sum, value);
      if (done) break;
    }
    return sum;
  }
};

template <class T, class Op, int kBlock, int kItems>
__global__ void __launch_bounds__(kBlock) look_back(const T* in, T* out, int count, Op op, TileStates tiles) {
  __shared__ T totals[kBlock / 64], exclusive;
  __shared__ unsigned shared_tile;
  if (threadIdx.x == 0) shared_tile = atomicAdd(tiles.next_tile, 1u);
  __syncthreads();
  const unsigned tile = shared_tile, lane = threadIdx.x & 63, wave = threadIdx.x / 64;
  const int first = (tile * kBlock + threadIdx.x) * kItems;
  T items[kItems];
  for (int i = 0; i < kItems; ++i) {
    items[i] = first + i < count ? in[first + i] : T();
    if (i) items[i] = op(items[i - 1], items[i]);
  }
  T scanned = items[kItems - 1];
  for (unsigned step = 1; step < 64; step *= 2) {
    const T other = __shfl_up(scanned, step);
    if (lane >= step) scanned = op(other, scanned);
  }
  if (lane == 63) totals[wave] = scanned;
  __syncthreads();
  T mine = scanned - items[kItems - 1], aggregate = T();
  for (unsigned w = 0; w < kBlock / 64; ++w) {
    if (w < wave) mine = op(mine, totals[w]);
    aggregate = op(aggregate, totals[w]);
  }
  if (wave == 0) {
    if (lane == 0) tiles.publish(tile, tile ? TileStates::kAggregate : TileStates::kPrefix, aggregate);
    const T sum = tiles.before(tile, op);
    if (lane == 0) {
      if (tile) tiles.publish(tile, TileStates::kPrefix, op(sum, aggregate));
      exclusive = sum;
    }
  }
  __syncthreads();
  for (int i = 0; i < kItems; ++i)
    if (first + i < count) out[first + i] = op(op(exclusive, mine), items[i]);
}

static void run_look_back() {
  constexpr int kLength = 5 * kCount;  // more tiles than one look back covers
  constexpr int kBlock = 128, kItems = 3, kTiles = (kLength + kBlock * kItems - 1) / (kBlock * kItems);
  unsigned* in = on_device(ramp<unsigned>(kLength));
  char* storage = nullptr;
  constexpr size_t kOut = (kTiles * 8 + 4 + 255) / 256 * 256;
  CHECK(hipMalloc(&storage, kOut + kLength * sizeof(unsigned)));
  CHECK(hipMemset(storage, 0, kOut));
  unsigned* out = reinterpret_cast<unsigned*>(storage + kOut);
  const TileStates tiles{reinterpret_cast<unsigned long long*>(storage), reinterpret_cast<unsigned*>(storage + kTiles * 8)};
  look_back<unsigned, Sum, kBlock, kItems><<<kTiles, kBlock>>>(in, out, kLength, Sum(), tiles);
  CHECK(hipDeviceSynchronize());
  const auto sums = from_device(out, kLength);
  unsigned sum = 0;
  for (int i = 0; i < kLength; ++i) expect(sums[i] == (sum += i), "look_back");
}

__global__ void nothing() {}
static void run_nothing() {
  nothing<<<1, 1>>>();
  CHECK(hipDeviceSynchronize());
}

__global__ void fails(int* data) { data[1 << 28] = 1; }
static void run_fault() {
  int* data = on_device(ramp<int>());
  fails<<<1, 1>>>(data);
  std::exit(hipDeviceSynchronize() == hipSuccess ? 0 : 9);
}

static void run_ends_badly() {
  run_in_place();
  std::exit(7);
}

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void()>> cases{
      {"in_place", run_in_place}, {"atomic", run_atomic}, {"dynamic_lds", run_dynamic_lds}, {"globals", run_globals},
      {"structs", run_structs}, {"streams", run_streams}, {"graph", run_graph}, {"memory_kinds", run_memory_kinds},
      {"cooperative", run_cooperative}, {"prints", run_prints}, {"may_print", run_may_print}, {"virtual_call", run_virtual_call},
      {"sparse", run_sparse}, {"duplicates", run_duplicates}, {"threads", run_threads}, {"nothing", run_nothing},
      {"look_back", run_look_back},
      {"host_gate", run_host_gate},
      {"fault", run_fault}, {"ends_badly", run_ends_badly}};
  const auto found = count > 1 ? cases.find(arguments[1]) : cases.end();
  if (found == cases.end()) return 2;
  found->second();
  return 0;
}
