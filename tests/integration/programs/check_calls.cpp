// Calls that do something else than they say, or nothing: `name<false>` has the mistake, `name<true>` has not.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

#define OK(call)                                                                      \
  do {                                                                                \
    if (hipError_t status = (call)) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorName(status)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

constexpr size_t kBytes = 1024;
int host[kBytes / 4];
int *device, *other, *pinned, *managed;

template <bool kRight>
__attribute__((noinline)) void to_the_device_by_name_only() {
  OK(hipMemcpy(device, other, kBytes, kRight ? hipMemcpyDeviceToDevice : hipMemcpyHostToDevice));
}

template <bool kRight>
__attribute__((noinline)) void the_wrong_way_round() {
  OK(hipMemcpy(device, host, kBytes, kRight ? hipMemcpyHostToDevice : hipMemcpyDeviceToHost));
}

template <bool kRight>
__attribute__((noinline)) void not_on_the_host() {
  OK(hipMemcpyAsync(pinned, device, kBytes, kRight ? hipMemcpyDefault : hipMemcpyHostToHost, nullptr));
  OK(hipDeviceSynchronize());
}

template <bool kRight>
__attribute__((noinline)) void timed_before_it_is_recorded() {
  hipEvent_t start, end;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&end));
  OK(hipEventRecord(start, nullptr));
  if (kRight) OK(hipEventRecord(end, nullptr));
  OK(hipDeviceSynchronize());
  float ms;
  if (kRight) OK(hipEventElapsedTime(&ms, start, end));
  else (void)hipEventElapsedTime(&ms, start, end);
  OK(hipEventDestroy(start));
  OK(hipEventDestroy(end));
}

template <bool kRight>
__attribute__((noinline)) void recorded_after_it_was_destroyed() {
  hipEvent_t event;
  OK(hipEventCreate(&event));
  if (kRight) OK(hipEventRecord(event, nullptr));
  OK(hipEventDestroy(event));
  if (!kRight) (void)hipEventRecord(event, nullptr);
}

template <bool kRight>
__attribute__((noinline)) void event_of_another_device() {
  hipEvent_t event;
  if (kRight) OK(hipSetDevice(1));
  OK(hipEventCreate(&event));
  OK(hipSetDevice(1));
  OK(hipEventRecord(event, nullptr));
  OK(hipEventDestroy(event));
  OK(hipSetDevice(0));
}

// Pinned and managed memory is the host's and the device's.
void either_way() {
  OK(hipMemcpy(pinned, host, kBytes, hipMemcpyHostToDevice));
  OK(hipMemcpy(managed, device, kBytes, hipMemcpyDeviceToHost));
  OK(hipMemcpy(managed, device, kBytes, hipMemcpyDeviceToDevice));
  OK(hipMemcpy(host, managed, kBytes, hipMemcpyDeviceToHost));
}

template <bool kRight>
void all() {
  to_the_device_by_name_only<kRight>();
  the_wrong_way_round<kRight>();
  not_on_the_host<kRight>();
  timed_before_it_is_recorded<kRight>();
  recorded_after_it_was_destroyed<kRight>();
  event_of_another_device<kRight>();
}

int main() {
  OK(hipMalloc(&device, kBytes));
  OK(hipMalloc(&other, kBytes));
  OK(hipHostMalloc(&pinned, kBytes));
  OK(hipMallocManaged(&managed, kBytes));
  all<false>();
  all<true>();
  either_way();
  for (int* memory : {device, other, managed}) OK(hipFree(memory));
  OK(hipHostFree(pinned));
}
