// Two devices: ROCM_PERF_DEVICE=virtual:mi300x*2.
#include "check.h"

__device__ int own_value;
__global__ void add(int* value, int by) { *value += by; }
__global__ void set_own(int value) { own_value = value; }
__global__ void read_own(int* out) { *out = own_value; }

static int on(int device, const int* p) {
  int value;
  OK(hipSetDevice(device));
  OK(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
  return value;
}

CASE(each_device_has_its_own_memory_and_variables) {
  int count;
  OK(hipGetDeviceCount(&count));
  CHECK(count == 2);
  int* out[2];
  for (int d = 0; d < 2; ++d) {
    OK(hipSetDevice(d));
    OK(hipMalloc(&out[d], 4));
    set_own<<<1, 1>>>(10 + d);
  }
  for (int d = 0; d < 2; ++d) {
    OK(hipSetDevice(d));
    read_own<<<1, 1>>>(out[d]);
    CHECK(on(d, out[d]) == 10 + d);
  }
  hipPointerAttribute_t a;
  OK(hipPointerGetAttributes(&a, out[1]));
  CHECK(a.device == 1);
  for (int* p : out) OK(hipFree(p));
}

CASE(copies_between_devices) {
  int can;
  OK(hipDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  int *a, *b;
  OK(hipSetDevice(0));
  OK(hipMalloc(&a, 4));
  OK(hipMemset(a, 1, 4));
  OK(hipDeviceEnablePeerAccess(1, 0));
  STATUS(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  STATUS(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
  OK(hipSetDevice(1));
  OK(hipMalloc(&b, 4));
  OK(hipMemcpyPeer(b, 1, a, 0, 4));
  CHECK(on(1, b) == 0x01010101);
  OK(hipSetDevice(0));
  add<<<1, 1>>>(b, 1);  // reaches over
  OK(hipDeviceSynchronize());
  CHECK(on(1, b) == 0x01010102);
  OK(hipSetDevice(0));
  OK(hipDeviceDisablePeerAccess(1));
  STATUS(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  OK(hipFree(a));
  OK(hipFree(b));
}

CASE(an_event_of_one_device_orders_the_other) {
  int* shared;
  hipStream_t s[2];
  hipEvent_t ready;
  OK(hipHostMalloc(&shared, 4));
  *shared = 0;
  for (int d = 0; d < 2; ++d) {
    OK(hipSetDevice(d));
    OK(hipStreamCreateWithFlags(&s[d], hipStreamNonBlocking));
  }
  OK(hipSetDevice(0));
  OK(hipEventCreate(&ready));
  slow_store<<<1, 1, 0, s[0]>>>(shared, 5, 100000);
  OK(hipEventRecord(ready, s[0]));
  OK(hipSetDevice(1));
  OK(hipStreamWaitEvent(s[1], ready, 0));
  add<<<1, 1, 0, s[1]>>>(shared, 2);
  OK(hipStreamSynchronize(s[1]));
  CHECK(*shared == 7);
  OK(hipEventDestroy(ready));
  for (hipStream_t stream : s) OK(hipStreamDestroy(stream));
  OK(hipHostFree(shared));
}

CASE(one_call_launches_on_both) {
  int* data[2];
  hipStream_t s[2];
  hipLaunchParams list[2];
  int by = 3;
  void* args[2][2] = {{&data[0], &by}, {&data[1], &by}};
  for (int d = 0; d < 2; ++d) {
    OK(hipSetDevice(d));
    OK(hipMalloc(&data[d], 4));
    OK(hipMemset(data[d], 0, 4));
    OK(hipStreamCreate(&s[d]));
    list[d] = {(void*)add, dim3(1), dim3(1), args[d], 0, s[d]};
  }
  OK(hipLaunchCooperativeKernelMultiDevice(list, 2, 0));
  for (int d = 0; d < 2; ++d) {
    OK(hipStreamSynchronize(s[d]));
    CHECK(on(d, data[d]) == 3);
  }
  list[1].stream = s[0];
  STATUS(hipLaunchCooperativeKernelMultiDevice(list, 2, 0), hipErrorInvalidDevice);
  for (int d = 0; d < 2; ++d) {
    OK(hipStreamDestroy(s[d]));
    OK(hipFree(data[d]));
  }
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
