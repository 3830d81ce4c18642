#include "check.h"

#include <atomic>
#include <thread>
#include <unistd.h>

__global__ void double_it(int* value) { *value *= 2; }
__global__ void add_at_once(int* value, int by) { atomicAdd(value, by); }
__global__ void add(int* value, int by) { *value += by; }
__global__ void copy_value(int* to, const int* from) { *to = *from; }

constexpr int kLong = 200000;  // turns of slow_store: long against a launch

// Holds a stream until it is opened: no test depends on how long a kernel takes.
struct Gate {
  uint32_t* flag;
  Gate() {
    OK(hipHostMalloc(&flag, 4));
    *flag = 0;
  }
  ~Gate() { (void)hipHostFree(flag); }
  void hold(hipStream_t s) { OK(hipStreamWaitValue32(s, flag, 1, hipStreamWaitValueGte, ~0u)); }
  void open() { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }
};

struct Ints {
  int* p;
  explicit Ints(int n) {
    OK(hipMalloc(&p, n * sizeof(int)));
    OK(hipMemset(p, 0, n * sizeof(int)));
  }
  ~Ints() { (void)hipFree(p); }
  int at(int i) const {
    int value;
    OK(hipMemcpy(&value, p + i, 4, hipMemcpyDeviceToHost));
    return value;
  }
};

CASE(a_stream_keeps_its_order) {
  Ints d(1);
  hipStream_t s;
  OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
  int one = 1, *pinned;
  OK(hipHostMalloc(&pinned, 8));
  OK(hipMemcpyAsync(d.p, &one, 4, hipMemcpyHostToDevice, s));
  for (int i = 0; i < 10; ++i) {
    double_it<<<1, 1, 0, s>>>(d.p);
    add<<<1, 1, 0, s>>>(d.p, 1);
  }
  OK(hipMemcpyAsync(pinned, d.p, 4, hipMemcpyDeviceToHost, s));
  OK(hipMemsetAsync(d.p, 0, 4, s));
  OK(hipMemcpyAsync(pinned + 1, d.p, 4, hipMemcpyDeviceToHost, s));
  OK(hipStreamSynchronize(s));
  CHECK(pinned[0] == 2047 && pinned[1] == 0);
  OK(hipHostFree(pinned));
  OK(hipStreamDestroy(s));
}

CASE(a_pageable_source_may_change_after_the_call) {
  Ints d(2);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  Gate gate;
  gate.hold(s);
  int value = 41;
  OK(hipMemcpyAsync(d.p + 1, &value, 4, hipMemcpyHostToDevice, s));
  value = 0;
  gate.open();
  OK(hipStreamSynchronize(s));
  CHECK(d.at(1) == 41);
  OK(hipStreamDestroy(s));
}

CASE(an_event_orders_two_streams) {
  Ints d(2);
  hipStream_t a, b;
  hipEvent_t ready;
  OK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
  OK(hipEventCreateWithFlags(&ready, hipEventDisableTiming));
  Gate gate;
  gate.hold(a);
  slow_store<<<1, 1, 0, a>>>(d.p, 9, kLong);
  OK(hipEventRecord(ready, a));
  STATUS(hipEventQuery(ready), hipErrorNotReady);
  STATUS(hipStreamQuery(a), hipErrorNotReady);
  OK(hipStreamQuery(b));
  OK(hipStreamWaitEvent(b, ready, 0));
  copy_value<<<1, 1, 0, b>>>(d.p + 1, d.p);
  STATUS(hipStreamQuery(b), hipErrorNotReady);
  gate.open();
  OK(hipStreamSynchronize(b));
  OK(hipEventQuery(ready));
  CHECK(d.at(1) == 9);
  float ms;
  STATUS(hipEventElapsedTime(&ms, ready, ready), hipErrorInvalidHandle);
  OK(hipEventDestroy(ready));
  STATUS(hipEventDestroy(ready), hipErrorInvalidHandle);
  OK(hipStreamDestroy(a));
  OK(hipStreamDestroy(b));
  STATUS(hipStreamSynchronize(a), hipErrorContextIsDestroyed);
}

CASE(the_null_stream_waits_and_is_waited_for) {
  Ints d(4);
  Gate gate;
  hipStream_t a, b;
  OK(hipStreamCreate(&a));
  OK(hipStreamCreate(&b));
  gate.hold(a);
  slow_store<<<1, 1, 0, a>>>(d.p, 5, kLong);
  copy_value<<<1, 1>>>(d.p + 1, d.p);               // after a's work
  slow_store<<<1, 1>>>(d.p + 2, 6, kLong);
  copy_value<<<1, 1, 0, b>>>(d.p + 3, d.p + 2);     // after the null stream's
  STATUS(hipStreamQuery(b), hipErrorNotReady);
  gate.open();
  OK(hipDeviceSynchronize());
  CHECK(d.at(1) == 5 && d.at(3) == 6);
  OK(hipStreamDestroy(a));
  OK(hipStreamDestroy(b));
}

CASE(non_blocking_streams_do_not_wait_for_the_null_stream) {
  Ints d(1);
  Gate gate;
  hipStream_t s;
  OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
  gate.hold(nullptr);
  add<<<1, 1, 0, s>>>(d.p, 3);
  OK(hipStreamSynchronize(s));
  STATUS(hipStreamQuery(nullptr), hipErrorNotReady);
  OK(hipStreamWriteValue32(s, gate.flag, 1, 0));
  OK(hipStreamSynchronize(nullptr));
  CHECK(d.at(0) == 3);
  OK(hipStreamDestroy(s));
}

CASE(events_measure_time) {
  Ints d(1);
  hipEvent_t start, stop, between;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));
  OK(hipEventCreate(&between));
  float ms = -1;
  STATUS(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
  Gate gate;
  gate.hold(nullptr);
  OK(hipEventRecord(start));
  slow_store<<<1, 1>>>(d.p, 1, kLong);
  OK(hipEventRecord(between));
  slow_store<<<1, 1>>>(d.p, 1, kLong);
  OK(hipEventRecord(stop));
  STATUS(hipEventElapsedTime(&ms, start, stop), hipErrorNotReady);
  gate.open();
  OK(hipEventSynchronize(stop));
  float first, all;
  OK(hipEventElapsedTime(&first, start, between));
  OK(hipEventElapsedTime(&all, start, stop));
  CHECK(first > 0 && all > first);
  OK(hipEventElapsedTime(&ms, stop, start));
  CHECK(ms < 0);
  for (hipEvent_t e : {start, stop, between}) OK(hipEventDestroy(e));
}

static void CHECK_order(void* data) {
  auto* list = static_cast<std::vector<int>*>(data);
  list->push_back(int(list->size()));
}
static void stream_callback(hipStream_t, hipError_t status, void* data) {
  *static_cast<int*>(data) = status == hipSuccess ? 1 : -1;
}

CASE(host_functions_run_in_order) {
  Ints d(1);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  std::vector<int> calls;
  int called = 0, *pinned;
  OK(hipHostMalloc(&pinned, 4));
  slow_store<<<1, 1, 0, s>>>(d.p, 8, kLong);
  OK(hipLaunchHostFunc(s, CHECK_order, &calls));
  OK(hipLaunchHostFunc(s, CHECK_order, &calls));
  OK(hipStreamAddCallback(s, stream_callback, &called, 0));
  add<<<1, 1, 0, s>>>(d.p, 1);
  OK(hipMemcpyAsync(pinned, d.p, 4, hipMemcpyDeviceToHost, s));
  OK(hipStreamSynchronize(s));
  CHECK(calls.size() == 2 && called == 1 && *pinned == 9);
  STATUS(hipStreamAddCallback(s, nullptr, nullptr, 0), hipErrorInvalidValue);
  OK(hipHostFree(pinned));
  OK(hipStreamDestroy(s));
}

CASE(a_host_function_holds_back_the_kernels_behind_it) {
  static std::atomic<bool> go;
  go = false;
  Ints d(1);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  OK(hipLaunchHostFunc(s, [](void*) { while (!go) usleep(100); }, nullptr));
  add<<<1, 1, 0, s>>>(d.p, 1);
  usleep(20000);
  STATUS(hipStreamQuery(s), hipErrorNotReady);
  go = true;
  OK(hipStreamSynchronize(s));
  CHECK(d.at(0) == 1);
  OK(hipStreamDestroy(s));
}

CASE(every_thread_has_a_default_stream) {
  Ints d(8);
  std::vector<std::thread> threads;
  std::atomic<int> errors{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) add<<<1, 1, 0, hipStreamPerThread>>>(d.p + t, t + 1);
      int value = 0;
      if (hipMemcpyAsync(&value, d.p + t, 4, hipMemcpyDeviceToHost, hipStreamPerThread) != hipSuccess) ++errors;
      if (hipStreamSynchronize(hipStreamPerThread) != hipSuccess || value != 5 * (t + 1)) ++errors;
    });
  for (auto& thread : threads) thread.join();
  CHECK(errors == 0);
}

CASE(a_thread_that_ended_leaves_its_stream_to_another) {
  Ints d(2);
  static std::atomic<bool> go;
  go = false;
  std::thread([&] {
    OK(hipLaunchHostFunc(hipStreamPerThread, [](void*) { while (!go) usleep(100); }, nullptr));
    add<<<1, 1, 0, hipStreamPerThread>>>(d.p, 1);
  }).join();
  // Not while there is work in it.
  std::thread([&] {
    add<<<1, 1, 0, hipStreamPerThread>>>(d.p + 1, 1);
    OK(hipStreamSynchronize(hipStreamPerThread));
  }).join();
  go = true;
  OK(hipDeviceSynchronize());
  // A stream that is still busy goes to nobody, so some of these run at once.
  for (int i = 0; i < 100; ++i)
    std::thread([&] { add_at_once<<<1, 1, 0, hipStreamPerThread>>>(d.p, 1); }).join();
  OK(hipDeviceSynchronize());
  CHECK(d.at(0) == 101 && d.at(1) == 1);
}

CASE(many_threads_one_stream) {
  Ints d(1);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) add<<<1, 1, 0, s>>>(d.p, 1);
    });
  for (auto& thread : threads) thread.join();
  OK(hipStreamSynchronize(s));
  CHECK(d.at(0) == 400);
  OK(hipStreamDestroy(s));
}

CASE(more_launches_than_a_queue_holds) {
  Ints d(1);
  for (int i = 0; i < 5000; ++i) add<<<1, 1>>>(d.p, 1);
  OK(hipDeviceSynchronize());
  CHECK(d.at(0) == 5000);
}

CASE(many_streams) {
  constexpr int kStreams = 40;
  Ints d(kStreams);
  hipStream_t streams[kStreams];
  for (int round = 0; round < 2; ++round) {
    for (auto& s : streams) OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    for (int i = 0; i < kStreams; ++i) add<<<1, 1, 0, streams[i]>>>(d.p + i, i + 1);
    for (auto& s : streams) OK(hipStreamDestroy(s));
  }
  bool right = true;
  for (int i = 0; i < kStreams; ++i) right = right && d.at(i) == 2 * (i + 1);
  CHECK(right);
}

__global__ void step(unsigned* value, unsigned i) { *value = *value * 31 + i; }
static void host_step(void* data) {
  auto* value = static_cast<unsigned*>(data);
  *value = *value * 31 + 7;
}

// A value handed from stream to stream by events alone: any wait that is lost changes the result.
CASE(a_value_passed_around_by_events) {
  constexpr int kStreams = 6, kSteps = 3000;
  hipStream_t streams[kStreams];
  hipEvent_t events[kStreams];
  for (auto& s : streams) OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
  for (auto& e : events) OK(hipEventCreateWithFlags(&e, hipEventDisableTiming));
  unsigned *a, *b, expected = 1, seed = 12345;
  OK(hipHostMalloc(&a, 4));
  OK(hipHostMalloc(&b, 4));
  *a = 1;
  int previous = 0;
  for (int i = 0; i < kSteps; ++i) {
    seed = seed * 1664525u + 1013904223u;
    int s = int(seed >> 24) % kStreams, kind = int(seed >> 16) % 16;
    if (s != previous) {
      OK(hipEventRecord(events[previous], streams[previous]));
      OK(hipStreamWaitEvent(streams[s], events[previous], 0));
    }
    if (kind == 0) {
      OK(hipMemcpyAsync(b, a, 4, hipMemcpyDefault, streams[s]));
      OK(hipMemsetAsync(a, 0xff, 4, streams[s]));
      OK(hipMemcpyAsync(a, b, 4, hipMemcpyDefault, streams[s]));
    } else if (kind == 1) {
      OK(hipLaunchHostFunc(streams[s], host_step, a));
      expected = expected * 31 + 7;
    } else {
      step<<<1, 1, 0, streams[s]>>>(a, unsigned(i));
      expected = expected * 31 + unsigned(i);
    }
    previous = s;
  }
  OK(hipDeviceSynchronize());
  CHECK(*a == expected);
  for (auto& s : streams) OK(hipStreamDestroy(s));
  for (auto& e : events) OK(hipEventDestroy(e));
  OK(hipHostFree(a));
  OK(hipHostFree(b));
}

CASE(stream_attributes) {
  int least, greatest;
  OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least > greatest);
  hipStream_t s;
  OK(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, greatest));
  int priority, device;
  unsigned flags;
  OK(hipStreamGetPriority(s, &priority));
  OK(hipStreamGetFlags(s, &flags));
  OK(hipStreamGetDevice(s, &device));
  CHECK(priority == greatest && flags == hipStreamNonBlocking && device == 0);
  OK(hipStreamDestroy(s));
  STATUS(hipStreamCreateWithFlags(&s, 0x10), hipErrorInvalidValue);
  STATUS(hipStreamDestroy(nullptr), hipErrorInvalidResourceHandle);
  hipEvent_t e;
  STATUS(hipEventCreateWithFlags(&e, hipEventInterprocess | hipEventDisableTiming), hipErrorNotSupported);
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
