// Work that nothing orders: `name<false>` has the mistake, `name<true>` has not. Each function has buffers of
// its own and ends when the devices are idle.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

#define OK(call)                                                                      \
  do {                                                                                \
    if (hipError_t status = (call)) {                                                 \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, hipGetErrorName(status)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

constexpr int kItems = 1024;
constexpr size_t kBytes = kItems * sizeof(int);

static __global__ void put(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }
static __global__ void add(int* data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] += value; }
static __global__ void take(const int* data, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = data[i] + 1;
}
static __global__ void part(int* data, int begin, int end) {
  const int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < end) data[i] = i;
}
__device__ int table[kItems];
static __global__ void look_up(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = table[i];
}
static __global__ void count(int* counter) { atomicAdd(counter, 1); }
static __global__ void produce(int* data, int* flag) {
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
static __global__ void consume(const int* data, int* flag, int* out) {
  if (threadIdx.x == 0)
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
  __syncthreads();
  out[threadIdx.x] = data[threadIdx.x];
}

#define GRID dim3(kItems / 256), dim3(256), 0

// What a function works with; waits for everything at its end.
struct Room {
  int *a, *b, *pinned;
  hipStream_t one, two, free_one, free_two;  // the last two do not follow the null stream
  hipEvent_t event, other;
  Room() {
    OK(hipMalloc(&a, kBytes));
    OK(hipMalloc(&b, kBytes));
    OK(hipHostMalloc(&pinned, kBytes));
    OK(hipMemset(a, 0, kBytes));
    OK(hipMemset(b, 0, kBytes));
    OK(hipStreamCreate(&one));
    OK(hipStreamCreate(&two));
    OK(hipStreamCreateWithFlags(&free_one, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&free_two, hipStreamNonBlocking));
    OK(hipEventCreate(&event));
    OK(hipEventCreate(&other));
    for (int i = 0; i < kItems; ++i) pinned[i] = i;
    OK(hipDeviceSynchronize());
  }
  ~Room() {
    OK(hipDeviceSynchronize());
    for (hipStream_t stream : {one, two, free_one, free_two}) OK(hipStreamDestroy(stream));
    OK(hipEventDestroy(event));
    OK(hipEventDestroy(other));
    OK(hipFree(a));
    OK(hipFree(b));
    OK(hipHostFree(pinned));
  }
  void then(hipStream_t before, hipStream_t after) {
    OK(hipEventRecord(event, before));
    OK(hipStreamWaitEvent(after, event, 0));
  }
};

// ---- kernels ------------------------------------------------------------------------------------------

template <bool kRight>
__attribute__((noinline)) void two_streams() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  if (kRight) room.then(room.one, room.two);
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void overlapping_parts() {
  Room room;
  part<<<GRID, room.one>>>(room.a, 0, kItems / 2 + (kRight ? 0 : 1));
  part<<<GRID, room.two>>>(room.a, kItems / 2, kItems);
}

template <bool kRight>
__attribute__((noinline)) void writer_after_one_of_two_readers() {
  Room room;
  int* c;
  OK(hipMalloc(&c, kBytes));
  take<<<GRID, room.one>>>(room.a, room.b);
  take<<<GRID, room.two>>>(room.a, c);
  room.then(room.one, room.free_one);
  if (kRight) {
    OK(hipEventRecord(room.other, room.two));
    OK(hipStreamWaitEvent(room.free_one, room.other, 0));
  }
  put<<<GRID, room.free_one>>>(room.a, 3);
  OK(hipFree(c));
}

template <bool kRight>
__attribute__((noinline)) void null_stream_and_one_that_does_not_follow() {
  Room room;
  put<<<GRID, kRight ? room.one : room.free_one>>>(room.a, 1);
  add<<<GRID, 0>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void after_the_null_stream() {
  Room room;
  put<<<GRID, 0>>>(room.a, 1);
  add<<<GRID, kRight ? room.two : room.free_two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void stream_of_the_thread() {
  Room room;
  put<<<GRID, hipStreamPerThread>>>(room.a, 1);
  if (kRight) OK(hipStreamSynchronize(hipStreamPerThread));
  add<<<GRID, room.one>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void streams_of_two_threads() {
  Room room;
  std::thread([&] {
    put<<<GRID, hipStreamPerThread>>>(room.a, 1);
    if (kRight) OK(hipStreamSynchronize(hipStreamPerThread));
  }).join();
  add<<<GRID, hipStreamPerThread>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void asked_until_it_is_over() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  while (kRight && hipStreamQuery(room.one) == hipErrorNotReady) std::this_thread::yield();
  add<<<GRID, room.two>>>(room.a, 2);
}

// ---- events -------------------------------------------------------------------------------------------

template <bool kRight>
__attribute__((noinline)) void event_before_the_kernel() {
  Room room;
  if (!kRight) OK(hipEventRecord(room.event, room.one));
  put<<<GRID, room.one>>>(room.a, 1);
  if (kRight) OK(hipEventRecord(room.event, room.one));
  OK(hipStreamWaitEvent(room.two, room.event, 0));
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void event_recorded_elsewhere_since() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipEventRecord(room.event, room.one));
  if (!kRight) OK(hipEventRecord(room.event, room.free_one));
  OK(hipStreamWaitEvent(room.two, room.event, 0));
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void the_other_event() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipEventRecord(room.event, room.one));
  OK(hipEventRecord(room.other, room.free_two));
  OK(hipStreamWaitEvent(room.two, kRight ? room.event : room.other, 0));
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void the_host_waits_for_an_event() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipEventRecord(room.event, room.one));
  if (kRight) OK(hipEventSynchronize(room.event));
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void a_link_of_the_chain_is_missing() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  room.then(room.one, room.two);
  take<<<GRID, room.two>>>(room.a, room.b);
  if (kRight) {
    OK(hipEventRecord(room.other, room.two));
    OK(hipStreamWaitEvent(room.free_one, room.other, 0));
  }
  add<<<GRID, room.free_one>>>(room.b, 1);
}

// ---- copies and fills -----------------------------------------------------------------------------------

template <bool kRight>
__attribute__((noinline)) void result_copied_too_early() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipMemcpyAsync(room.pinned, room.a, kBytes, hipMemcpyDeviceToHost, kRight ? room.one : room.two));
}

template <bool kRight>
__attribute__((noinline)) void input_still_on_its_way() {
  Room room;
  OK(hipMemcpyAsync(room.a, room.pinned, kBytes, hipMemcpyHostToDevice, room.one));
  if (kRight) room.then(room.one, room.two);
  take<<<GRID, room.two>>>(room.a, room.b);
}

template <bool kRight>
__attribute__((noinline)) void two_copies() {
  Room room;
  OK(hipMemcpyAsync(room.a, room.b, kBytes, hipMemcpyDeviceToDevice, room.one));
  if (kRight) OK(hipStreamSynchronize(room.one));
  OK(hipMemcpyAsync(room.pinned, room.a, kBytes, hipMemcpyDeviceToHost, room.two));
}

template <bool kRight>
__attribute__((noinline)) void fill_and_kernel() {
  Room room;
  OK(hipMemsetAsync(room.a, 0, kBytes, room.one));
  if (kRight) room.then(room.one, room.two);
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void cleared_while_a_kernel_counts() {
  Room room;
  count<<<GRID, room.one>>>(room.a);
  OK(hipMemsetAsync(room.a, 0, sizeof(int), kRight ? room.one : room.two));
}

template <bool kRight>
__attribute__((noinline)) void copy_within_the_device_does_not_wait() {
  Room room;
  OK(hipMemcpy(room.a, room.b, kBytes, hipMemcpyDeviceToDevice));
  if (kRight) OK(hipDeviceSynchronize());
  add<<<GRID, room.free_one>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void new_input_while_the_old_is_read() {
  Room room;
  std::vector<int> next(kItems);
  take<<<GRID, room.free_one>>>(room.a, room.b);
  if (kRight) OK(hipStreamSynchronize(room.free_one));
  OK(hipMemcpy(room.a, next.data(), kBytes, hipMemcpyHostToDevice));
}

template <bool kRight>
__attribute__((noinline)) void filled_while_a_kernel_uses_it() {
  Room room;
  add<<<GRID, room.free_one>>>(room.a, 1);
  if (kRight) OK(hipStreamSynchronize(room.free_one));
  OK(hipMemset(room.a, 0, kBytes));
}

template <bool kRight>
__attribute__((noinline)) void the_host_passes_on_what_has_not_come() {
  Room room;
  put<<<GRID, room.free_one>>>(room.a, 1);
  OK(hipMemcpyAsync(room.pinned, room.a, kBytes, hipMemcpyDeviceToHost, room.free_one));
  if (kRight) OK(hipStreamSynchronize(room.free_one));
  OK(hipMemcpy(room.b, room.pinned, kBytes, hipMemcpyHostToDevice));
}

template <bool kRight>
__attribute__((noinline)) void columns_that_overlap() {
  Room room;
  const size_t row = 32 * sizeof(int);
  OK(hipMemcpy2DAsync(room.a, row, room.pinned, row, row / 2, kItems / 32, hipMemcpyHostToDevice, room.one));
  OK(hipMemcpy2DAsync(room.a + (kRight ? 16 : 15), row, room.b, row, row / 2, kItems / 32, hipMemcpyDeviceToDevice,
                      room.two));
}

template <bool kRight>
__attribute__((noinline)) void variable_set_while_it_is_read() {
  Room room;
  look_up<<<GRID, room.one>>>(room.a);
  OK(hipMemcpyToSymbolAsync(HIP_SYMBOL(table), room.pinned, kBytes, 0, hipMemcpyHostToDevice,
                            kRight ? room.one : room.two));
}

template <bool kRight>
__attribute__((noinline)) void managed_memory() {
  Room room;
  int* shared;
  OK(hipMallocManaged(&shared, kBytes));
  put<<<GRID, room.one>>>(shared, 1);
  if (kRight) OK(hipDeviceSynchronize());
  add<<<GRID, room.two>>>(shared, 1);
  OK(hipFree(shared));
}

// ---- host functions -----------------------------------------------------------------------------------

template <bool kRight>
__attribute__((noinline)) void told_by_a_host_function() {
  Room room;
  std::promise<void> told;
  const auto tell = [](void* to) { static_cast<std::promise<void>*>(to)->set_value(); };
  if (!kRight) OK(hipLaunchHostFunc(room.one, tell, &told));
  if (!kRight) told.get_future().wait();
  put<<<GRID, room.one>>>(room.a, 1);
  if (kRight) OK(hipLaunchHostFunc(room.one, tell, &told));
  if (kRight) told.get_future().wait();
  add<<<GRID, room.two>>>(room.a, 2);
}

// ---- graphs -------------------------------------------------------------------------------------------

hipGraphNode_t kernel_node(hipGraph_t graph, std::vector<hipGraphNode_t> after, void* kernel, int* data, int value) {
  void* arguments[] = {&data, &value};
  hipKernelNodeParams params{};
  params.func = kernel;
  params.gridDim = dim3(kItems / 256);
  params.blockDim = dim3(256);
  params.kernelParams = arguments;
  hipGraphNode_t node;
  OK(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
  return node;
}

struct Graph {
  hipGraph_t graph;
  hipGraphExec_t exec = nullptr;
  Graph() { OK(hipGraphCreate(&graph, 0)); }
  ~Graph() {
    OK(hipDeviceSynchronize());
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(graph));
  }
  __attribute__((always_inline)) void launch(hipStream_t stream) {
    if (!exec) OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    OK(hipGraphLaunch(exec, stream));
  }
};

template <bool kRight>
__attribute__((noinline)) void branches_of_a_graph() {
  Room room;
  Graph graph;
  const hipGraphNode_t first = kernel_node(graph.graph, {}, reinterpret_cast<void*>(put), room.a, 1);
  kernel_node(graph.graph, kRight ? std::vector{first} : std::vector<hipGraphNode_t>{}, reinterpret_cast<void*>(add),
              room.a, 2);
  graph.launch(room.one);
}

template <bool kRight>
__attribute__((noinline)) void fill_in_a_graph() {
  Room room;
  Graph graph;
  const hipGraphNode_t first = kernel_node(graph.graph, {}, reinterpret_cast<void*>(add), room.a, 1);
  hipMemsetParams fill{};
  fill.dst = room.a;
  fill.elementSize = 4;
  fill.width = kItems;
  fill.height = 1;
  hipGraphNode_t node;
  OK(hipGraphAddMemsetNode(&node, graph.graph, &first, kRight ? 1 : 0, &fill));
  graph.launch(room.one);
}

template <bool kRight>
__attribute__((noinline)) void captured_and_not_joined() {
  Room room;
  Graph graph;
  OK(hipStreamBeginCapture(room.one, hipStreamCaptureModeThreadLocal));
  room.then(room.one, room.two);
  put<<<GRID, room.one>>>(room.a, 1);
  if (kRight) room.then(room.one, room.two);
  add<<<GRID, room.two>>>(room.a, 1);
  OK(hipEventRecord(room.other, room.two));
  OK(hipStreamWaitEvent(room.one, room.other, 0));
  OK(hipGraphDestroy(graph.graph));
  OK(hipStreamEndCapture(room.one, &graph.graph));
  graph.launch(room.one);
}

template <bool kRight>
__attribute__((noinline)) void beside_a_graph() {
  Room room;
  Graph graph;
  kernel_node(graph.graph, {}, reinterpret_cast<void*>(put), room.a, 1);
  graph.launch(room.one);
  if (kRight) room.then(room.one, room.two);
  add<<<GRID, room.two>>>(room.a, 2);
}

template <bool kRight>
__attribute__((noinline)) void two_graphs() {
  Room room;
  Graph first, second;
  kernel_node(first.graph, {}, reinterpret_cast<void*>(put), room.a, 1);
  kernel_node(second.graph, {}, reinterpret_cast<void*>(add), room.a, 1);
  first.launch(room.one);
  second.launch(kRight ? room.one : room.two);
}

// ---- several devices ------------------------------------------------------------------------------------

template <bool kRight>
__attribute__((noinline)) void kernels_of_two_devices() {
  Room room;
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipEventRecord(room.event, room.one));
  OK(hipSetDevice(1));
  hipStream_t there;
  OK(hipStreamCreate(&there));
  if (kRight) OK(hipStreamWaitEvent(there, room.event, 0));
  add<<<GRID, there>>>(room.a, 2);
  OK(hipDeviceSynchronize());
  OK(hipStreamDestroy(there));
  OK(hipSetDevice(0));
}

template <bool kRight>
__attribute__((noinline)) void copied_to_another_device() {
  Room room;
  OK(hipSetDevice(1));
  int* there;
  OK(hipMalloc(&there, kBytes));
  OK(hipSetDevice(0));
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipMemcpyPeerAsync(there, 1, room.a, 0, kBytes, kRight ? room.one : room.two));
  OK(hipDeviceSynchronize());
  OK(hipFree(there));
}

// ---- memory of streams ----------------------------------------------------------------------------------

template <bool kRight>
__attribute__((noinline)) void used_before_it_is_there() {
  Room room;
  int* memory;
  OK(hipMallocAsync(reinterpret_cast<void**>(&memory), kBytes, room.one));
  if (kRight) room.then(room.one, room.two);
  put<<<GRID, room.two>>>(memory, 1);
  OK(hipFreeAsync(memory, room.two));
}

template <bool kRight>
__attribute__((noinline)) void freed_while_it_is_used() {
  Room room;
  int* memory;
  OK(hipMallocAsync(reinterpret_cast<void**>(&memory), kBytes, room.one));
  put<<<GRID, room.one>>>(memory, 1);
  if (kRight) room.then(room.one, room.two);
  OK(hipFreeAsync(memory, room.two));
}

template <bool kRight>
__attribute__((noinline)) void used_after_it_was_freed() {
  Room room;
  int* memory;
  OK(hipMallocAsync(reinterpret_cast<void**>(&memory), kBytes, room.one));
  if (kRight) put<<<GRID, room.one>>>(memory, 1);
  OK(hipFreeAsync(memory, room.one));
  if (!kRight) put<<<GRID, room.one>>>(memory, 1);
}

template <bool kRight>
__attribute__((noinline)) void freed_before_another_stream_is_done() {
  Room room;
  int* memory;
  OK(hipMallocAsync(reinterpret_cast<void**>(&memory), kBytes, room.one));
  room.then(room.one, room.two);
  put<<<GRID, room.two>>>(memory, 1);
  if (kRight) OK(hipStreamSynchronize(room.two));
  OK(hipFreeAsync(memory, room.one));
}

// ---- correct all the same ---------------------------------------------------------------------------------

template <bool kRight>
void orders_by_values_in_memory() {
  Room room;
  uint32_t* flag;
  OK(hipHostMalloc(&flag, 4));
  *flag = 0;
  put<<<GRID, room.one>>>(room.a, 1);
  OK(hipStreamWriteValue32(room.one, flag, 1, 0));
  OK(hipStreamWaitValue32(room.two, flag, 1, hipStreamWaitValueGte, ~0u));
  add<<<GRID, room.two>>>(room.a, 2);
  OK(hipDeviceSynchronize());
  OK(hipHostFree(flag));
}

template <bool kRight>
void memory_goes_from_stream_to_stream() {
  Room room;
  for (int i = 0; i < 4; ++i) {
    int* memory;
    const hipStream_t stream = i % 2 ? room.one : room.two;
    OK(hipMallocAsync(reinterpret_cast<void**>(&memory), kBytes, stream));
    put<<<GRID, stream>>>(memory, i);
    OK(hipFreeAsync(memory, stream));
  }
}

template <bool kRight>
void readers_need_no_order() {
  Room room;
  int* c;
  OK(hipMalloc(&c, kBytes));
  take<<<GRID, room.one>>>(room.a, room.b);
  take<<<GRID, room.two>>>(room.a, c);
  OK(hipMemcpyAsync(room.pinned, room.a, kBytes, hipMemcpyDeviceToHost, room.free_one));
  OK(hipDeviceSynchronize());
  OK(hipFree(c));
}

template <bool kRight>
void looks_at_what_a_kernel_counts() {
  Room room;
  count<<<GRID, room.one>>>(room.a);
  OK(hipMemcpyAsync(room.pinned, room.a, sizeof(int), hipMemcpyDeviceToHost, room.two));
}

// Two kernels that run at the same time, and a kernel that waits for a copy: ordered, but not by streams.
void speaking() {
  Room room;
  int* flags;
  OK(hipMalloc(&flags, 2 * sizeof(int)));
  OK(hipMemset(flags, 0, 2 * sizeof(int)));
  consume<<<1, 256, 0, room.one>>>(room.a, &flags[0], room.b);
  produce<<<1, 256, 0, room.two>>>(room.a, &flags[0]);
  OK(hipDeviceSynchronize());
  consume<<<1, 256, 0, room.one>>>(room.a, &flags[1], room.b);
  OK(hipMemcpyAsync(room.a, room.pinned, kBytes, hipMemcpyHostToDevice, room.two));
  OK(hipMemsetAsync(&flags[1], 1, sizeof(int), room.two));
  OK(hipDeviceSynchronize());
  OK(hipFree(flags));
}

template <bool kRight>
void all() {
  two_streams<kRight>();
  overlapping_parts<kRight>();
  writer_after_one_of_two_readers<kRight>();
  null_stream_and_one_that_does_not_follow<kRight>();
  after_the_null_stream<kRight>();
  stream_of_the_thread<kRight>();
  streams_of_two_threads<kRight>();
  asked_until_it_is_over<kRight>();
  event_before_the_kernel<kRight>();
  event_recorded_elsewhere_since<kRight>();
  the_other_event<kRight>();
  the_host_waits_for_an_event<kRight>();
  a_link_of_the_chain_is_missing<kRight>();
  result_copied_too_early<kRight>();
  input_still_on_its_way<kRight>();
  two_copies<kRight>();
  fill_and_kernel<kRight>();
  cleared_while_a_kernel_counts<kRight>();
  copy_within_the_device_does_not_wait<kRight>();
  new_input_while_the_old_is_read<kRight>();
  filled_while_a_kernel_uses_it<kRight>();
  the_host_passes_on_what_has_not_come<kRight>();
  columns_that_overlap<kRight>();
  variable_set_while_it_is_read<kRight>();
  managed_memory<kRight>();
  told_by_a_host_function<kRight>();
  branches_of_a_graph<kRight>();
  fill_in_a_graph<kRight>();
  captured_and_not_joined<kRight>();
  beside_a_graph<kRight>();
  two_graphs<kRight>();
  kernels_of_two_devices<kRight>();
  copied_to_another_device<kRight>();
  used_before_it_is_there<kRight>();
  freed_while_it_is_used<kRight>();
  used_after_it_was_freed<kRight>();
  freed_before_another_stream_is_done<kRight>();
}

int main(int count, char**) {
  if (count > 1) {
    speaking();
    return 0;
  }
  all<false>();
  all<true>();
  orders_by_values_in_memory<true>();
  memory_goes_from_stream_to_stream<true>();
  readers_need_no_order<true>();
  looks_at_what_a_kernel_counts<true>();
}
