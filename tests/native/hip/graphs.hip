#include "check.h"

#include <atomic>
#include <unistd.h>

__global__ void add(int* value, int by) { *value += by; }
__global__ void twice(int* value) { *value *= 2; }
__global__ void sum(int* to, const int* a, const int* b) { *to = *a + *b; }

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

struct Streams {
  hipStream_t a, b;
  Streams() {
    OK(hipStreamCreate(&a));
    OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
  }
  ~Streams() {
    (void)hipStreamDestroy(a);
    (void)hipStreamDestroy(b);
  }
};

CASE(a_captured_stream_replays) {
  Ints d(1);
  Streams s;
  int* pinned;
  OK(hipHostMalloc(&pinned, 4));
  OK(hipStreamBeginCapture(s.a, hipStreamCaptureModeGlobal));
  OK(hipMemsetAsync(d.p, 0, 4, s.a));
  add<<<1, 1, 0, s.a>>>(d.p, 20);
  twice<<<1, 1, 0, s.a>>>(d.p);
  OK(hipMemcpyAsync(pinned, d.p, 4, hipMemcpyDeviceToHost, s.a));
  OK(hipLaunchHostFunc(s.a, [](void* p) { *static_cast<int*>(p) += 2; }, pinned));
  hipStreamCaptureStatus status;
  OK(hipStreamIsCapturing(s.a, &status));
  CHECK(status == hipStreamCaptureStatusActive);
  hipGraph_t graph;
  OK(hipStreamEndCapture(s.a, &graph));
  CHECK(d.at(0) == 0);  // nothing ran
  size_t nodes;
  OK(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 5);
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; ++i) {
    *pinned = 0;
    OK(hipGraphLaunch(exec, s.a));
    OK(hipStreamSynchronize(s.a));
    CHECK(*pinned == 42);
  }
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  OK(hipHostFree(pinned));
}

CASE(events_carry_a_capture_to_another_stream) {
  Ints d(3);
  Streams s;
  hipEvent_t fork, join;
  OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
  OK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
  OK(hipStreamBeginCapture(s.a, hipStreamCaptureModeGlobal));
  OK(hipMemsetAsync(d.p, 0, 12, s.a));
  OK(hipEventRecord(fork, s.a));
  OK(hipStreamWaitEvent(s.b, fork, 0));
  add<<<1, 1, 0, s.a>>>(d.p, 1);
  add<<<1, 1, 0, s.b>>>(d.p + 1, 2);
  OK(hipEventRecord(join, s.b));
  OK(hipStreamWaitEvent(s.a, join, 0));
  sum<<<1, 1, 0, s.a>>>(d.p + 2, d.p, d.p + 1);
  hipGraph_t graph;
  OK(hipStreamEndCapture(s.a, &graph));
  size_t nodes, edges, roots;
  OK(hipGraphGetNodes(graph, nullptr, &nodes));
  OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  OK(hipGraphGetRootNodes(graph, nullptr, &roots));
  CHECK(nodes == 4 && edges == 4 && roots == 1);
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, s.b));
  OK(hipStreamSynchronize(s.b));
  CHECK(d.at(2) == 3);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  OK(hipEventDestroy(fork));
  OK(hipEventDestroy(join));
}

CASE(what_a_capture_does_not_allow) {
  Ints d(1);
  Streams s;
  hipGraph_t graph;
  OK(hipStreamBeginCapture(s.a, hipStreamCaptureModeGlobal));
  STATUS(hipMemset(d.p, 0, 4), hipErrorStreamCaptureImplicit);
  STATUS(hipStreamSynchronize(s.a), hipErrorStreamCaptureUnsupported);
  STATUS(hipStreamEndCapture(s.a, &graph), hipErrorStreamCaptureInvalidated);
  STATUS(hipStreamEndCapture(s.a, &graph), hipErrorIllegalState);
  STATUS(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
  // A stream that was joined and not joined back.
  hipEvent_t fork;
  OK(hipEventCreate(&fork));
  OK(hipStreamBeginCapture(s.a, hipStreamCaptureModeGlobal));
  add<<<1, 1, 0, s.a>>>(d.p, 1);
  OK(hipEventRecord(fork, s.a));
  STATUS(hipEventQuery(fork), hipErrorCapturedEvent);
  OK(hipStreamWaitEvent(s.b, fork, 0));
  add<<<1, 1, 0, s.b>>>(d.p, 1);
  STATUS(hipStreamEndCapture(s.b, &graph), hipErrorStreamCaptureUnmatched);
  STATUS(hipStreamEndCapture(s.a, &graph), hipErrorStreamCaptureUnjoined);
  OK(hipEventDestroy(fork));
  add<<<1, 1, 0, s.a>>>(d.p, 5);  // the stream works again
  OK(hipStreamSynchronize(s.a));
  CHECK(d.at(0) == 5);
}

static hipKernelNodeParams add_params(void** args) {
  hipKernelNodeParams p{};
  p.func = (void*)add;
  p.gridDim = dim3(1);
  p.blockDim = dim3(1);
  p.kernelParams = args;
  return p;
}

CASE(a_graph_by_hand) {
  Ints d(2);
  Streams s;
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  hipMemsetParams fill{};
  fill.dst = d.p;
  fill.elementSize = 4;
  fill.width = 2;
  fill.height = 1;
  fill.value = 3;
  hipGraphNode_t set, kernel, copy, empty;
  OK(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
  int* target = d.p;
  int by = 4;
  void* args[] = {&target, &by};
  hipKernelNodeParams params = add_params(args);
  OK(hipGraphAddKernelNode(&kernel, graph, &set, 1, &params));
  by = 99;  // arguments were taken when the node was made
  int result = 0;
  OK(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, &result, d.p, 4, hipMemcpyDeviceToHost));
  OK(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
  OK(hipGraphAddDependencies(graph, &copy, &empty, 1));
  hipGraphNodeType type;
  OK(hipGraphNodeGetType(kernel, &type));
  CHECK(type == hipGraphNodeTypeKernel);
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, s.a));
  OK(hipStreamSynchronize(s.a));
  CHECK(result == 7);
  // Other parameters for the instantiated graph only.
  by = 10;
  OK(hipGraphExecKernelNodeSetParams(exec, kernel, &params));
  OK(hipGraphLaunch(exec, s.a));
  OK(hipStreamSynchronize(s.a));
  CHECK(result == 13);
  OK(hipGraphNodeSetEnabled(exec, kernel, 0));
  OK(hipGraphLaunch(exec, s.a));
  OK(hipStreamSynchronize(s.a));
  CHECK(result == 3);
  hipKernelNodeParams got;
  OK(hipGraphKernelNodeGetParams(kernel, &got));
  CHECK(got.func == (void*)add && *(int*)got.kernelParams[1] == 4);
  // A cycle cannot be instantiated.
  OK(hipGraphAddDependencies(graph, &empty, &set, 1));
  hipGraphExec_t broken;
  STATUS(hipGraphInstantiate(&broken, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
}

static hipGraph_t adder(int* target, int by) {
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  void* args[] = {&target, &by};
  hipKernelNodeParams params = add_params(args);
  hipGraphNode_t node;
  OK(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  return graph;
}

CASE(updates_clones_and_children) {
  Ints d(1);
  Streams s;
  hipGraph_t five = adder(d.p, 5), seven = adder(d.p, 7), parent, clone;
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, five, nullptr, nullptr, 0));
  hipGraphNode_t error;
  hipGraphExecUpdateResult result;
  OK(hipGraphExecUpdate(exec, seven, &error, &result));
  OK(hipGraphLaunch(exec, s.a));
  OK(hipStreamSynchronize(s.a));
  CHECK(d.at(0) == 7);
  OK(hipGraphCreate(&parent, 0));
  STATUS(hipGraphExecUpdate(exec, parent, &error, &result), hipErrorGraphExecUpdateFailure);
  CHECK(result == hipGraphExecUpdateErrorTopologyChanged);
  OK(hipGraphExecDestroy(exec));

  hipGraphNode_t first, second;
  OK(hipGraphAddChildGraphNode(&first, parent, nullptr, 0, five));
  OK(hipGraphAddChildGraphNode(&second, parent, &first, 1, seven));
  OK(hipGraphClone(&clone, parent));
  hipGraphNode_t twin;
  OK(hipGraphNodeFindInClone(&twin, first, clone));
  CHECK(twin != first);
  OK(hipGraphDestroy(five));
  OK(hipGraphDestroy(seven));
  OK(hipGraphDestroy(parent));
  OK(hipGraphInstantiate(&exec, clone, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, s.a));
  OK(hipStreamSynchronize(s.a));
  CHECK(d.at(0) == 19);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(clone));
}

CASE(branches_run_side_by_side) {
  static std::atomic<bool> met;
  met = false;
  Ints d(4);
  Streams s;
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  hipGraphNode_t root, waits, tells, left, right, last;
  OK(hipGraphAddEmptyNode(&root, graph, nullptr, 0));
  hipHostNodeParams wait{[](void*) { while (!met) usleep(100); }, nullptr};
  hipHostNodeParams tell{[](void*) { met = true; }, nullptr};
  OK(hipGraphAddHostNode(&waits, graph, &root, 1, &wait));
  OK(hipGraphAddHostNode(&tells, graph, &root, 1, &tell));
  int *a = d.p, *b = d.p + 1, *c = d.p + 2, by = 2;
  void* left_args[] = {&a, &by};
  void* right_args[] = {&b, &by};
  void* sum_args[] = {&c, &a, &b};
  hipKernelNodeParams params = add_params(left_args);
  OK(hipGraphAddKernelNode(&left, graph, &waits, 1, &params));
  params = add_params(right_args);
  OK(hipGraphAddKernelNode(&right, graph, &tells, 1, &params));
  params = add_params(sum_args);
  params.func = (void*)sum;
  hipGraphNode_t both[] = {left, right};
  OK(hipGraphAddKernelNode(&last, graph, both, 2, &params));
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int i = 1; i <= 3; ++i) {
    met = false;
    OK(hipGraphLaunch(exec, s.a));
    add<<<1, 1, 0, s.a>>>(d.p + 2, 100);  // after the whole graph
    OK(hipStreamSynchronize(s.a));
    CHECK(d.at(2) == 4 * i + 100);
  }
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
}

CASE(event_host_and_memory_nodes) {
  Streams s;
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  hipEvent_t start, stop;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&stop));
  hipMemAllocNodeParams memory{};
  memory.poolProps.allocType = hipMemAllocationTypePinned;
  memory.poolProps.location = {hipMemLocationTypeDevice, 0};
  memory.bytesize = 1024;
  hipGraphNode_t begin, allocate, set, copy, release, host, end;
  static int called;
  called = 0;
  int result = 0;
  OK(hipGraphAddEventRecordNode(&begin, graph, nullptr, 0, start));
  OK(hipGraphAddMemAllocNode(&allocate, graph, &begin, 1, &memory));
  hipMemsetParams fill{};
  fill.dst = memory.dptr;
  fill.elementSize = 1;
  fill.width = 1024;
  fill.height = 1;
  fill.value = 1;
  OK(hipGraphAddMemsetNode(&set, graph, &allocate, 1, &fill));
  OK(hipGraphAddMemcpyNode1D(&copy, graph, &set, 1, &result, memory.dptr, 4, hipMemcpyDeviceToHost));
  OK(hipGraphAddMemFreeNode(&release, graph, &copy, 1, memory.dptr));
  hipHostNodeParams call{[](void* p) { ++*static_cast<int*>(p); }, &called};
  OK(hipGraphAddHostNode(&host, graph, &release, 1, &call));
  OK(hipGraphAddEventRecordNode(&end, graph, &host, 1, stop));
  hipGraphExec_t exec;
  OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  OK(hipGraphLaunch(exec, s.a));
  OK(hipStreamSynchronize(s.a));
  CHECK(result == 0x01010101 && called == 1);
  float ms = -1;
  OK(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  OK(hipEventDestroy(start));
  OK(hipEventDestroy(stop));
}

CASE(user_objects_live_as_long_as_their_graphs) {
  static int destroyed;
  destroyed = 0;
  hipUserObject_t object;
  OK(hipUserObjectCreate(&object, &destroyed, [](void* p) { ++*static_cast<int*>(p); }, 1,
                         hipUserObjectNoDestructorSync));
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  OK(hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove));
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphDestroy(graph));
  CHECK(destroyed == 0);
  OK(hipGraphExecDestroy(exec));
  CHECK(destroyed == 1);
}

int main(int argc, char** argv) { return run_cases(argc, argv); }
