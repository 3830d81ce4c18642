// Graphs: nodes with what they follow, built by hand or by capturing streams.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "event.h"
#include "launch.h"
#include "memory.h"

namespace hip {

struct KernelNode {
  Function* function = nullptr;
  const void* host = nullptr;  // hipKernelNodeParams::func, to give back
  dim3 grid, block;            // blocks, threads
  uint64_t items[3] = {1, 1, 1};
  size_t dynamic_shared = 0;
  std::vector<char> arguments;
  std::vector<void*> argument_pointers;  // into `arguments`, for hipGraphKernelNodeGetParams
  bool cooperative = false;
  int priority = 0;
  hipAccessPolicyWindow window{};

  LaunchRequest request() const;
};
struct MemcpyNode {
  CopyRequest copy;
  hipMemcpy3DParms params{};  // as given, to give back
};
struct MemsetNode {
  hipMemsetParams params{};
  FillRequest request() const;
};
struct EventNode {
  Event* event = nullptr;
};
struct ChildNode {
  std::shared_ptr<ihipGraph> graph;
};
// The memory has one address for all launches, so it lives as long as the nodes that name it.
struct AllocNode {
  hipMemAllocNodeParams params{};
  std::shared_ptr<void> memory;
};
struct FreeNode {
  void* address = nullptr;
};
using HostNode = hipHostNodeParams;
using NodeWork = std::variant<std::monostate, KernelNode, MemcpyNode, MemsetNode, HostNode, EventNode, ChildNode,
                              AllocNode, FreeNode>;

}  // namespace hip

struct hipGraphNode {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  ihipGraph* graph = nullptr;
  std::vector<hipGraphNode*> after;  // what it follows
  hip::NodeWork work;
  bool enabled = true;
};

struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;
  const ihipGraph* original = nullptr;                       // of a clone
  std::map<const hipGraphNode*, hipGraphNode*> clone_of;     // original node -> node here
  std::map<hipUserObject_t, unsigned> user_objects;
  bool from_capture = false;

  hipGraphNode* add(hipGraphNodeType type, hip::NodeWork work, std::vector<hipGraphNode*> after = {});
  bool contains(const hipGraphNode* node) const;
  std::unique_ptr<ihipGraph> clone() const;
  // Each node after what it follows, otherwise in the order of creation; empty if there is a cycle.
  std::vector<hipGraphNode*> order() const;
  ~ihipGraph();
};

struct hipGraphExec {
  std::unique_ptr<ihipGraph> graph;
  std::vector<hipGraphNode*> order;
  unsigned long long flags = 0;
  hip::Device* device = nullptr;
};

namespace hip {

// A capture in HIP's sense: what is put into streams becomes a graph. Streams that were joined to it by
// events share it. (What `rocm-perf capture` makes, a launch with its memory, is in native/capture.)
struct StreamCapture {
  ihipGraph* graph = nullptr;
  bool owns_graph = true;
  Stream* origin = nullptr;
  std::set<Stream*> streams;
  std::set<Event*> events;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  unsigned long long id = 0;
  bool invalid = false;
  uint64_t thread = 0;
};

// Enqueuing calls on a stream under capture end here instead.
hipError_t capture_launch(Stream& stream, const LaunchRequest& request);
hipError_t capture_copy(Stream& stream, const CopyRequest& request);
hipError_t capture_fill(Stream& stream, const FillRequest& request);
hipError_t capture_host(Stream& stream, const hipHostNodeParams& params);
hipError_t capture_record(Stream& stream, Event& event, unsigned flags);
hipError_t capture_wait(Stream& stream, Event& event, unsigned flags);
hipError_t capture_alloc(Stream& stream, size_t size, void** address);
hipError_t capture_free(Stream& stream, void* address);
hipError_t capture_child(Stream& stream, const ihipGraph& graph);
// A call that a capture does not allow: the capture is lost.
hipError_t capture_invalidate(Stream& stream);
void capture_abandon(Stream& stream);
void capture_forget(Event& event);  // which is about to be destroyed
// Whether a capture forbids work on the device's null stream.
bool legacy_stream_blocked(const Device& device);

hipError_t run_graph(hipGraphExec& exec, Stream& stream);

}  // namespace hip
