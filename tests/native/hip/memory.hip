#include "check.h"

#include <algorithm>
#include <numeric>

__device__ int device_table[64];
__constant__ int constant_table[16];
__managed__ int managed_value = 7;
static __device__ int hidden_counter;

__global__ void read_tables(int* out) {
  out[threadIdx.x] = device_table[threadIdx.x] + constant_table[threadIdx.x % 16];
}
__global__ void bump_managed(int by) { managed_value += by; }
__global__ void bump_hidden(int* out) { *out = ++hidden_counter; }
__global__ void add_one(int* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}

static std::vector<int> numbers(int n, int from = 0) {
  std::vector<int> list(n);
  std::iota(list.begin(), list.end(), from);
  return list;
}

CASE(copies_in_every_direction) {
  const size_t bytes = 1000 * sizeof(int);
  auto source = numbers(1000);
  std::vector<int> result(1000);
  int *a, *b;
  OK(hipMalloc(&a, bytes));
  OK(hipMalloc(&b, bytes));
  OK(hipMemcpy(a, source.data(), bytes, hipMemcpyHostToDevice));
  OK(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice));
  OK(hipMemcpy(result.data(), b, bytes, hipMemcpyDeviceToHost));
  CHECK(result == source);
  std::vector<int> again(1000);
  OK(hipMemcpy(again.data(), result.data(), bytes, hipMemcpyHostToHost));
  CHECK(again == source);
  // The direction is inferred from the addresses.
  OK(hipMemset(b, 0, bytes));
  OK(hipMemcpy(b, source.data(), bytes, hipMemcpyDefault));
  OK(hipMemcpy(result.data(), b, bytes, hipMemcpyDefault));
  CHECK(result == source);
  OK(hipMemcpyHtoD(a, source.data(), bytes));
  OK(hipMemcpyDtoD(b, a, bytes));
  OK(hipMemcpyDtoH(result.data(), b, bytes));
  CHECK(result == source);
  OK(hipFree(a));
  OK(hipFree(b));
}

CASE(a_plain_copy_goes_where_the_pointers_say) {
  int *device, host[4] = {1, 2, 3, 4}, back[4] = {};
  OK(hipMalloc(&device, sizeof host));
  OK(hipMemcpy(device, host, sizeof host, hipMemcpyDeviceToHost));
  OK(hipMemcpy(back, device, sizeof host, hipMemcpyHostToDevice));
  CHECK(std::equal(host, host + 4, back));
  OK(hipFree(device));
}

CASE(bad_copies_are_refused) {
  int* a;
  std::vector<char> host(256);
  OK(hipMalloc(&a, 256));
  STATUS(hipMemcpy(a, host.data(), 257, hipMemcpyHostToDevice), hipErrorInvalidValue);
  STATUS(hipMemcpy(host.data(), a + 32, 200, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  STATUS(hipMemcpy(nullptr, host.data(), 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
  STATUS(hipMemcpy(host.data(), host.data(), 16, hipMemcpyHostToDevice), hipErrorInvalidValue);
  STATUS(hipMemcpy(a, host.data(), 16, (hipMemcpyKind)77), hipErrorInvalidMemcpyDirection);
  OK(hipMemcpy(a, host.data(), 0, hipMemcpyHostToDevice));
  STATUS(hipMemset(a, 0, 257), hipErrorInvalidValue);
  STATUS(hipFree(a + 1), hipErrorInvalidValue);
  OK(hipFree(a));
  STATUS(hipFree(a), hipErrorInvalidValue);
  OK(hipFree(nullptr));
  int stack_value;
  STATUS(hipFree(&stack_value), hipErrorInvalidValue);
}

CASE(more_than_the_device_has) {
  size_t free_bytes, total;
  OK(hipMemGetInfo(&free_bytes, &total));
  CHECK(total > (size_t{1} << 34) && free_bytes <= total);
  void* p = &free_bytes;
  STATUS(hipMalloc(&p, total + 1), hipErrorOutOfMemory);
  CHECK(p == nullptr);
  OK(hipMalloc(&p, 0));
  CHECK(p == nullptr);
  STATUS(hipMalloc((void**)nullptr, 16), hipErrorInvalidValue);
  size_t before, after;
  OK(hipMemGetInfo(&before, &total));
  OK(hipMalloc(&p, 64 << 20));
  OK(hipMemGetInfo(&after, &total));
  CHECK(before - after >= (64u << 20));
  OK(hipFree(p));
  OK(hipMemGetInfo(&after, &total));
  CHECK(after == before);
}

template <class T> static bool all_equal(const void* device, size_t count, T value) {
  std::vector<T> host(count);
  OK(hipMemcpy(host.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
  for (T item : host)
    if (item != value) return false;
  return true;
}

CASE(fills) {
  void* p;
  OK(hipMalloc(&p, 4096));
  OK(hipMemset(p, 0x5a, 4096));
  CHECK(all_equal<uint8_t>(p, 4096, 0x5a));
  OK(hipMemsetD8(p, 0x11, 4096));
  CHECK(all_equal<uint8_t>(p, 4096, 0x11));
  OK(hipMemsetD16(p, 0x1234, 2048));
  CHECK(all_equal<uint16_t>(p, 2048, 0x1234));
  OK(hipMemsetD32(p, 0x12345678, 1024));
  CHECK(all_equal<uint32_t>(p, 1024, 0x12345678));
  OK(hipMemset2D(p, 64, 0, 32, 64));
  std::vector<uint8_t> rows(4096);
  OK(hipMemcpy(rows.data(), p, 4096, hipMemcpyDeviceToHost));
  for (int i = 0; i < 4096; ++i)
    if (i % 64 < 32) CHECK(rows[i] == 0);
  CHECK(rows[32] == 0x78 && rows[33] == 0x56);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  OK(hipMemsetAsync(p, 0x77, 4096, s));
  OK(hipMemsetD32Async(p, -1, 16, s));
  OK(hipStreamSynchronize(s));
  CHECK(all_equal<uint32_t>(p, 16, 0xffffffffu));
  CHECK(all_equal<uint8_t>((char*)p + 64, 4032, 0x77));
  STATUS(hipMemset2D(p, 16, 0, 32, 64), hipErrorInvalidPitchValue);
  OK(hipStreamDestroy(s));
  OK(hipFree(p));
}

CASE(pitched_and_cubic_copies) {
  const size_t width = 100, height = 7, depth = 3;
  std::vector<uint8_t> source(width * height * depth), result(source.size());
  for (size_t i = 0; i < source.size(); ++i) source[i] = uint8_t(i * 7);
  void* rows;
  size_t pitch;
  OK(hipMallocPitch(&rows, &pitch, width, height));
  CHECK(pitch >= width && pitch % 256 == 0);
  OK(hipMemcpy2D(rows, pitch, source.data(), width, width, height, hipMemcpyHostToDevice));
  OK(hipMemcpy2D(result.data(), width, rows, pitch, width, height, hipMemcpyDeviceToHost));
  CHECK(std::memcmp(result.data(), source.data(), width * height) == 0);
  STATUS(hipMemcpy2D(rows, 50, source.data(), width, width, height, hipMemcpyHostToDevice),
         hipErrorInvalidPitchValue);
  OK(hipFree(rows));

  hipPitchedPtr cube;
  OK(hipMalloc3D(&cube, make_hipExtent(width, height, depth)));
  hipMemcpy3DParms p{};
  p.srcPtr = make_hipPitchedPtr(source.data(), width, width, height);
  p.dstPtr = cube;
  p.extent = make_hipExtent(width, height, depth);
  p.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&p));
  std::fill(result.begin(), result.end(), 0);
  p.srcPtr = cube;
  p.dstPtr = make_hipPitchedPtr(result.data(), width, width, height);
  p.kind = hipMemcpyDeviceToHost;
  OK(hipMemcpy3D(&p));
  CHECK(result == source);
  // A box inside the cube.
  OK(hipMemset3D(cube, 0, make_hipExtent(width, height, depth)));
  p.srcPtr = make_hipPitchedPtr(source.data(), width, width, height);
  p.dstPtr = cube;
  p.srcPos = make_hipPos(10, 2, 1);
  p.dstPos = make_hipPos(20, 1, 2);
  p.extent = make_hipExtent(30, 4, 1);
  p.kind = hipMemcpyHostToDevice;
  OK(hipMemcpy3D(&p));
  uint8_t one = 0;
  OK(hipMemcpy(&one, (char*)cube.ptr + 2 * cube.pitch * height + 3 * cube.pitch + 25, 1,
               hipMemcpyDeviceToHost));
  CHECK(one == source[1 * width * height + 4 * width + 15]);
  OK(hipFree(cube.ptr));
}

CASE(arrays) {
  hipChannelFormatDesc desc = hipCreateChannelDesc<float>();
  CHECK(desc.x == 32 && desc.f == hipChannelFormatKindFloat);
  hipArray_t array;
  OK(hipMallocArray(&array, &desc, 16, 8));
  std::vector<float> source(128), result(128);
  std::iota(source.begin(), source.end(), 0.f);
  OK(hipMemcpy2DToArray(array, 0, 0, source.data(), 64, 64, 8, hipMemcpyHostToDevice));
  OK(hipMemcpy2DFromArray(result.data(), 64, array, 0, 0, 64, 8, hipMemcpyDeviceToHost));
  CHECK(result == source);
  float two[2];
  OK(hipMemcpy2DFromArray(two, 8, array, 8, 3, 8, 1, hipMemcpyDeviceToHost));
  CHECK(two[0] == 50.f && two[1] == 51.f);
  hipExtent extent;
  OK(hipArrayGetInfo(&desc, &extent, nullptr, array));
  CHECK(extent.width == 16 && extent.height == 8);
  STATUS(hipMemcpy2DToArray(array, 4, 0, source.data(), 64, 64, 8, hipMemcpyHostToDevice),
         hipErrorInvalidValue);
  OK(hipFreeArray(array));
}

CASE(symbols) {
  auto table = numbers(64, 100), small = numbers(16, 1);
  OK(hipMemcpyToSymbol(HIP_SYMBOL(device_table), table.data(), 256));
  OK(hipMemcpyToSymbol(HIP_SYMBOL(constant_table), small.data(), 64));
  int *out, host[64];
  OK(hipMalloc(&out, 256));
  read_tables<<<1, 64>>>(out);
  OK(hipMemcpy(host, out, 256, hipMemcpyDeviceToHost));
  CHECK(host[0] == 101 && host[17] == 117 + 2);
  int part[4];
  OK(hipMemcpyFromSymbol(part, HIP_SYMBOL(device_table), 16, 32));
  CHECK(part[0] == 108 && part[3] == 111);
  void* address;
  size_t size;
  OK(hipGetSymbolAddress(&address, HIP_SYMBOL(device_table)));
  OK(hipGetSymbolSize(&size, HIP_SYMBOL(device_table)));
  CHECK(size == 256);
  OK(hipMemset(address, 0, 256));
  OK(hipMemcpyFromSymbol(part, HIP_SYMBOL(device_table), 16));
  CHECK(part[1] == 0);
  STATUS(hipMemcpyToSymbol(HIP_SYMBOL(device_table), table.data(), 260), hipErrorInvalidValue);
  int not_a_symbol;
  STATUS(hipGetSymbolSize(&size, &not_a_symbol), hipErrorInvalidSymbol);
  // A static variable keeps its value from kernel to kernel.
  for (int i = 1; i <= 3; ++i) {
    bump_hidden<<<1, 1>>>(out);
    OK(hipMemcpy(host, out, 4, hipMemcpyDeviceToHost));
    CHECK(host[0] == i);
  }
  OK(hipFree(out));
}

CASE(managed_memory) {
  CHECK(managed_value == 7);
  managed_value = 10;
  bump_managed<<<1, 1>>>(5);
  OK(hipDeviceSynchronize());
  CHECK(managed_value == 15);
  int* shared;
  OK(hipMallocManaged(&shared, 1024 * sizeof(int)));
  for (int i = 0; i < 1024; ++i) shared[i] = i;
  add_one<<<4, 256>>>(shared, 1024);
  OK(hipDeviceSynchronize());
  bool right = true;
  for (int i = 0; i < 1024; ++i) right = right && shared[i] == i + 1;
  CHECK(right);
  OK(hipMemPrefetchAsync(shared, 4096, 0, nullptr));
  OK(hipMemAdvise(shared, 4096, hipMemAdviseSetReadMostly, 0));
  int advice = -1;
  OK(hipMemRangeGetAttribute(&advice, 4, hipMemRangeAttributeReadMostly, shared, 4096));
  CHECK(advice == 1);
  OK(hipMemAdvise(shared, 4096, hipMemAdviseUnsetReadMostly, 0));
  OK(hipMemRangeGetAttribute(&advice, 4, hipMemRangeAttributeReadMostly, shared, 4096));
  CHECK(advice == 0);
  OK(hipMemRangeGetAttribute(&advice, 4, hipMemRangeAttributeLastPrefetchLocation, shared, 4096));
  CHECK(advice == 0);
  int users[2] = {7, 7};
  OK(hipMemAdvise(shared, 4096, hipMemAdviseSetAccessedBy, 0));
  OK(hipMemRangeGetAttribute(users, 8, hipMemRangeAttributeAccessedBy, shared, 4096));
  CHECK(users[0] == 0 && users[1] == hipInvalidDeviceId);
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, shared));
  CHECK(attributes.type == hipMemoryTypeManaged && attributes.isManaged);
  OK(hipFree(shared));
}

CASE(pinned_and_registered_host_memory) {
  int* pinned;
  OK(hipHostMalloc(&pinned, 4096, hipHostMallocDefault));
  for (int i = 0; i < 1024; ++i) pinned[i] = i;
  void* device_view;
  OK(hipHostGetDevicePointer(&device_view, pinned, 0));
  add_one<<<4, 256>>>((int*)device_view, 1024);
  OK(hipDeviceSynchronize());
  CHECK(pinned[0] == 1 && pinned[1023] == 1024);
  unsigned flags = 99;
  OK(hipHostGetFlags(&flags, pinned));
  CHECK(flags == hipHostMallocDefault);
  STATUS(hipHostMalloc(&pinned, 16, 0x800), hipErrorInvalidValue);
  OK(hipHostFree(pinned));

  std::vector<int> plain(1024, 3);
  OK(hipHostRegister(plain.data(), 4096, hipHostRegisterDefault));
  STATUS(hipHostRegister(plain.data(), 4096, 0), hipErrorHostMemoryAlreadyRegistered);
  OK(hipHostGetDevicePointer(&device_view, plain.data(), 0));
  add_one<<<4, 256>>>((int*)device_view, 1024);
  OK(hipDeviceSynchronize());
  CHECK(plain[0] == 4 && plain[1023] == 4);
  OK(hipHostUnregister(plain.data()));
  STATUS(hipHostUnregister(plain.data()), hipErrorHostMemoryNotRegistered);
}

CASE(what_a_pointer_is) {
  int *device, host;
  OK(hipMalloc(&device, 1024));
  hipPointerAttribute_t a;
  OK(hipPointerGetAttributes(&a, device + 10));
  CHECK(a.type == hipMemoryTypeDevice && a.device == 0 && a.hostPointer == nullptr);
  OK(hipPointerGetAttributes(&a, &host));
  CHECK(a.type == hipMemoryTypeUnregistered);
  hipDeviceptr_t base;
  size_t size;
  OK(hipMemGetAddressRange(&base, &size, device + 10));
  CHECK(base == device && size == 1024);
  void* start;
  OK(hipPointerGetAttribute(&start, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 3));
  CHECK(start == device);
  OK(hipFree(device));
}

CASE(stream_ordered_allocation) {
  hipStream_t s;
  OK(hipStreamCreate(&s));
  int *a, *b, host = 0, *slow;
  OK(hipMalloc(&slow, 4));
  OK(hipMallocAsync(&a, 4096, s));
  OK(hipMemsetAsync(a, 0, 4096, s));
  slow_store<<<1, 1, 0, s>>>(slow, 5, 20000);
  add_one<<<4, 256, 0, s>>>(a, 1024);
  OK(hipMemcpyAsync(&host, a + 1000, 4, hipMemcpyDeviceToHost, s));
  OK(hipFreeAsync(a, s));
  OK(hipStreamSynchronize(s));
  CHECK(host == 1);
  hipMemPool_t pool;
  OK(hipDeviceGetDefaultMemPool(&pool, 0));
  uint64_t keep = UINT64_MAX, used = 1;
  OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
  OK(hipMallocAsync(&a, 8192, s));
  OK(hipFreeAsync(a, s));
  OK(hipStreamSynchronize(s));
  OK(hipMallocAsync(&b, 8192, s));
  CHECK(a == b);  // kept by the pool and given out again
  OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == 8192);
  OK(hipFreeAsync(b, s));
  OK(hipMemPoolTrimTo(pool, 0));
  hipMemPoolProps props{};
  props.allocType = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  hipMemPool_t own;
  OK(hipMemPoolCreate(&own, &props));
  OK(hipMallocFromPoolAsync(&a, 256, own, s));
  OK(hipFree(a));
  OK(hipMemPoolDestroy(own));
  STATUS(hipFreeAsync(nullptr, s), hipErrorInvalidValue);
  OK(hipFree(slow));
  OK(hipStreamDestroy(s));
}

CASE(what_a_stream_freed_is_back_after_the_wait) {
  hipStream_t s;
  OK(hipStreamCreate(&s));
  int *data, *slow;
  OK(hipMalloc(&slow, 4));
  hipMemPool_t pool;
  OK(hipDeviceGetDefaultMemPool(&pool, 0));
  uint64_t keep = 0;
  OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &keep));
  size_t before, after, total;
  OK(hipMemGetInfo(&before, &total));
  OK(hipMallocAsync(&data, 64 << 20, s));
  slow_store<<<1, 1, 0, s>>>(slow, 5, 20000);
  OK(hipFreeAsync(data, s));
  OK(hipStreamSynchronize(s));
  OK(hipMemGetInfo(&after, &total));
  CHECK(after + (1 << 20) > before);
  OK(hipFree(slow));
  OK(hipStreamDestroy(s));
}

CASE(virtual_memory) {
  hipMemAllocationProp props{};
  props.type = hipMemAllocationTypePinned;
  props.location = {hipMemLocationTypeDevice, 0};
  size_t granule;
  OK(hipMemGetAllocationGranularity(&granule, &props, hipMemAllocationGranularityMinimum));
  const size_t size = 4 * granule;
  void* range;
  hipMemGenericAllocationHandle_t first, second;
  OK(hipMemAddressReserve(&range, size, 0, nullptr, 0));
  OK(hipMemCreate(&first, 2 * granule, &props, 0));
  OK(hipMemCreate(&second, 2 * granule, &props, 0));
  OK(hipMemMap(range, 2 * granule, 0, first, 0));
  OK(hipMemMap((char*)range + 2 * granule, 2 * granule, 0, second, 0));
  hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  OK(hipMemSetAccess(range, size, &access, 1));
  unsigned long long flags = 0;
  OK(hipMemGetAccess(&flags, &access.location, range));
  CHECK(flags == hipMemAccessFlagsProtReadWrite);
  const int n = int(size / sizeof(int));
  OK(hipMemsetD32(range, 4, size_t(n) / 2));
  OK(hipMemsetD32((char*)range + 2 * granule, 4, size_t(n) / 2));
  add_one<<<(n + 255) / 256, 256>>>((int*)range, n);
  int ends[2];
  OK(hipMemcpy(&ends[0], range, 4, hipMemcpyDeviceToHost));
  OK(hipMemcpy(&ends[1], (int*)range + n - 1, 4, hipMemcpyDeviceToHost));
  CHECK(ends[0] == 5 && ends[1] == 5);
  STATUS(hipFree(range), hipErrorInvalidValue);
  OK(hipMemUnmap(range, size));
  OK(hipMemRelease(first));
  OK(hipMemRelease(second));
  OK(hipMemAddressFree(range, size));
  STATUS(hipMemCreate(&first, granule + 1, &props, 0), hipErrorInvalidValue);
}

// Kilobytes of this process in memory.
static long resident_kib() {
  long pages = 0, resident = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * 4;
}

CASE(freed_memory_goes_back_to_the_host) {
  long before = 0;
  for (int i = 0; i < 20000; ++i) {
    if (i == 2000) before = resident_kib();
    char *device = nullptr, *host = nullptr;
    OK(hipMalloc(&device, 256));
    OK(hipMemset(device, 1, 256));
    OK(hipFree(device));
    if (i % 16 == 0) {
      OK(hipHostMalloc(&host, 60000));
      std::memset(host, 1, 60000);
      OK(hipHostFree(host));
    }
  }
  CHECK(resident_kib() - before < 30000);
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
