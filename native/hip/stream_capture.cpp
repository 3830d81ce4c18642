// Stream capture: work that is noted in a graph instead of being done.
#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <thread>

#include "api_impl.h"
#include "graph_work.h"
#include "thread_state.h"

namespace hip {

namespace {

std::atomic<unsigned long long> g_next_id{1};
std::atomic<int> g_captures{0};  // how many are under way: the usual answer without a lock

uint64_t this_thread() { return std::hash<std::thread::id>{}(std::this_thread::get_id()); }

std::recursive_mutex& capture_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}
// Captures under way, in any thread.
std::set<StreamCapture*>& captures() {
  static auto* set = new std::set<StreamCapture*>;
  return *set;
}

hipGraphNode* add_node(Stream& stream, hipGraphNodeType type, NodeWork work) {
  hipGraphNode* node = stream.capture->graph->add(type, std::move(work), stream.capture_tips);
  stream.capture_tips = {node};
  return node;
}

hipError_t check(Stream& stream) { return stream.capture->invalid ? hipErrorStreamCaptureInvalidated : hipSuccess; }

template <class Work>
hipError_t note(Stream& stream, hipGraphNodeType type, Work work) {
  std::lock_guard lock(capture_mutex());
  if (hipError_t status = check(stream)) return status;
  add_node(stream, type, std::move(work));
  return hipSuccess;
}

// Detaches every stream and event; the graph stays with the caller.
void finish(StreamCapture* capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->capture_tips.clear();
  }
  for (Event* event : capture->events)
    if (event->capture == capture) {
      event->capture = nullptr;
      event->captured_nodes.clear();
    }
  captures().erase(capture);
  --g_captures;
  delete capture;
}

void add_unique(std::vector<hipGraphNode*>& list, const std::vector<hipGraphNode*>& more) {
  for (hipGraphNode* node : more)
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
}

bool reaches(hipGraphNode* from, hipGraphNode* target, std::set<hipGraphNode*>& seen) {
  if (from == target) return true;
  if (!seen.insert(from).second) return false;
  for (hipGraphNode* before : from->after)
    if (reaches(before, target, seen)) return true;
  return false;
}

// Every joined stream has to be joined back: its last nodes lie before the origin's.
bool all_joined(const StreamCapture& capture) {
  for (Stream* stream : capture.streams) {
    if (stream == capture.origin) continue;
    for (hipGraphNode* tip : stream->capture_tips) {
      bool found = false;
      for (hipGraphNode* end : capture.origin->capture_tips) {
        std::set<hipGraphNode*> seen;
        found = found || reaches(end, tip, seen);
      }
      if (!found) return false;
    }
  }
  return true;
}

hipError_t begin(hipStream_t handle, hipStreamCaptureMode mode, ihipGraph* graph, std::vector<hipGraphNode*> tips) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (stream->legacy) return hipErrorStreamCaptureUnsupported;
  std::lock_guard lock(capture_mutex());
  if (stream->capture) return hipErrorIllegalState;
  auto* capture = new StreamCapture;
  capture->owns_graph = graph == nullptr;
  capture->graph = graph ? graph : new ihipGraph;
  capture->graph->from_capture = true;
  capture->origin = stream;
  capture->streams.insert(stream);
  capture->mode = mode;
  capture->id = g_next_id++;
  capture->thread = this_thread();
  stream->capture = capture;
  stream->capture_tips = std::move(tips);
  captures().insert(capture);
  ++g_captures;
  return hipSuccess;
}

}  // namespace

bool legacy_stream_blocked(const Device& device) {
  if (g_captures.load() == 0) return false;
  std::lock_guard lock(capture_mutex());
  for (const StreamCapture* capture : captures()) {
    if (&capture->origin->device != &device || capture->mode == hipStreamCaptureModeRelaxed) continue;
    if (capture->mode == hipStreamCaptureModeThreadLocal && capture->thread != this_thread()) continue;
    for (Stream* stream : capture->streams)
      if (stream->blocking()) return true;
  }
  return false;
}

hipError_t capture_invalidate(Stream& stream) {
  std::lock_guard lock(capture_mutex());
  stream.capture->invalid = true;
  return hipErrorStreamCaptureUnsupported;
}

void capture_abandon(Stream& stream) {
  std::lock_guard lock(capture_mutex());
  StreamCapture* capture = stream.capture;
  if (!capture) return;
  if (capture->origin != &stream) {
    capture->streams.erase(&stream);
    capture->invalid = true;
    stream.capture = nullptr;
    return;
  }
  if (capture->owns_graph) delete capture->graph;
  finish(capture);
}

void capture_forget(Event& event) {
  std::lock_guard lock(capture_mutex());
  if (event.capture) event.capture->events.erase(&event);
}

hipError_t capture_launch(Stream& stream, const LaunchRequest& request) {
  std::lock_guard lock(capture_mutex());
  if (hipError_t status = check(stream)) return status;
  KernelNode node;
  node.function = request.function;
  node.host = request.function;
  for (int i = 0; i < 3; ++i) node.items[i] = request.grid[i];
  node.block = dim3(request.block[0], request.block[1], request.block[2]);
  node.grid = dim3(uint32_t(request.grid[0] / request.block[0]), uint32_t(request.grid[1] / request.block[1]),
                   uint32_t(request.grid[2] / request.block[2]));
  node.dynamic_shared = request.dynamic_shared;
  node.arguments = pack_arguments(*request.function, request.arguments);
  node.cooperative = request.cooperative;
  point_at_arguments(std::get<KernelNode>(add_node(stream, hipGraphNodeTypeKernel, std::move(node))->work));
  return hipSuccess;
}

hipError_t capture_copy(Stream& stream, const CopyRequest& request) {
  MemcpyNode node;
  node.copy = request;
  node.params.srcPtr = {request.from.base, request.from.pitch, request.width, request.height};
  node.params.dstPtr = {request.to.base, request.to.pitch, request.width, request.height};
  node.params.extent = {request.width, request.height, request.depth};
  node.params.kind = request.kind;
  return note(stream, hipGraphNodeTypeMemcpy, node);
}

hipError_t capture_fill(Stream& stream, const FillRequest& request) {
  std::lock_guard lock(capture_mutex());
  if (hipError_t status = check(stream)) return status;
  for (size_t z = 0; z < request.depth; ++z) {
    MemsetNode node;
    node.params = {static_cast<char*>(request.to.base) + z * request.to.slice,
                   request.element,
                   request.height,
                   request.to.pitch,
                   request.value,
                   request.width};
    add_node(stream, hipGraphNodeTypeMemset, node);
  }
  return hipSuccess;
}

hipError_t capture_host(Stream& stream, const hipHostNodeParams& params) {
  return note(stream, hipGraphNodeTypeHost, params);
}

hipError_t capture_child(Stream& stream, const ihipGraph& graph) {
  return note(stream, hipGraphNodeTypeGraph, ChildNode{graph.clone()});
}

hipError_t capture_record(Stream& stream, Event& event, unsigned flags) {
  std::lock_guard lock(capture_mutex());
  if (hipError_t status = check(stream)) return status;
  if (flags == hipEventRecordExternal) {
    add_node(stream, hipGraphNodeTypeEventRecord, EventNode{&event});
    return hipSuccess;
  }
  event.capture = stream.capture;
  event.captured_nodes = stream.capture_tips;
  stream.capture->events.insert(&event);
  return hipSuccess;
}

hipError_t capture_wait(Stream& stream, Event& event, unsigned flags) {
  std::lock_guard lock(capture_mutex());
  if (stream.capture) {
    if (hipError_t status = check(stream)) return status;
    if (!event.capture) {
      if (flags == hipEventWaitExternal) {
        add_node(stream, hipGraphNodeTypeWaitEvent, EventNode{&event});
        return hipSuccess;
      }
      return hipErrorStreamCaptureIsolation;
    }
    if (event.capture != stream.capture) return hipErrorStreamCaptureMerge;
  } else {
    if (stream.legacy) return hipErrorStreamCaptureImplicit;
    // The stream joins the capture.
    stream.capture = event.capture;
    stream.capture->streams.insert(&stream);
    stream.capture_tips.clear();
  }
  add_unique(stream.capture_tips, event.captured_nodes);
  return hipSuccess;
}

hipError_t capture_alloc(Stream& stream, size_t size, void** address) {
  std::lock_guard lock(capture_mutex());
  if (hipError_t status = check(stream)) return status;
  hipMemAllocNodeParams params{};
  params.bytesize = size;
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, stream.device.index};
  hipGraphNode_t node = nullptr;
  hipError_t status = hip::hipGraphAddMemAllocNode(&node, stream.capture->graph, stream.capture_tips.data(),
                                                   stream.capture_tips.size(), &params);
  if (status != hipSuccess) return status;
  stream.capture_tips = {node};
  *address = params.dptr;
  return hipSuccess;
}

hipError_t capture_free(Stream& stream, void* address) {
  return note(stream, hipGraphNodeTypeMemFree, FreeNode{address});
}

// ---- exported ------------------------------------------------------------------------------------------

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return begin(stream, mode, nullptr, {});
}
hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                        const hipGraphEdgeData*, size_t numDependencies, hipStreamCaptureMode mode) {
  if (!graph || (numDependencies && !dependencies)) return hipErrorInvalidValue;
  return begin(stream, mode, graph, {dependencies, dependencies + numDependencies});
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* pGraph) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (!pGraph) return hipErrorInvalidValue;
  std::lock_guard lock(capture_mutex());
  StreamCapture* capture = stream->capture;
  *pGraph = nullptr;
  if (!capture) return hipErrorIllegalState;
  if (capture->origin != stream) return hipErrorStreamCaptureUnmatched;
  if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != this_thread())
    return hipErrorStreamCaptureWrongThread;
  hipError_t status = capture->invalid        ? hipErrorStreamCaptureInvalidated
                      : !all_joined(*capture) ? hipErrorStreamCaptureUnjoined
                                              : hipSuccess;
  ihipGraph* graph = capture->graph;
  const bool owned = capture->owns_graph;
  finish(capture);
  if (status != hipSuccess) {
    if (owned) delete graph;
    return status;
  }
  *pGraph = graph;
  return hipSuccess;
}

hipError_t hipStreamIsCapturing(hipStream_t handle, hipStreamCaptureStatus* pCaptureStatus) {
  return hip::hipStreamGetCaptureInfo(handle, pCaptureStatus, nullptr);
}
hipError_t hipStreamGetCaptureInfo(hipStream_t handle, hipStreamCaptureStatus* pCaptureStatus,
                                   unsigned long long* pId) {
  return hip::hipStreamGetCaptureInfo_v2(handle, pCaptureStatus, pId, nullptr, nullptr, nullptr);
}
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t handle, hipStreamCaptureStatus* captureStatus_out,
                                      unsigned long long* id_out, hipGraph_t* graph_out,
                                      const hipGraphNode_t** dependencies_out, size_t* numDependencies_out) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  if (!captureStatus_out) return hipErrorInvalidValue;
  std::lock_guard lock(capture_mutex());
  StreamCapture* capture = stream->capture;
  *captureStatus_out = !capture           ? hipStreamCaptureStatusNone
                       : capture->invalid ? hipStreamCaptureStatusInvalidated
                                          : hipStreamCaptureStatusActive;
  if (!capture) return hipSuccess;
  if (id_out) *id_out = capture->id;
  if (graph_out) *graph_out = capture->graph;
  if (dependencies_out) *dependencies_out = stream->capture_tips.data();
  if (numDependencies_out) *numDependencies_out = stream->capture_tips.size();
  return hipSuccess;
}
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t handle, hipGraphNode_t* dependencies, size_t numDependencies,
                                              unsigned int flags) {
  Stream* stream = resolve_stream(handle);
  if (!stream) return hipErrorContextIsDestroyed;
  std::lock_guard lock(capture_mutex());
  if (!stream->capture) return hipErrorIllegalState;
  if ((numDependencies && !dependencies) || flags > hipStreamSetCaptureDependencies) return hipErrorInvalidValue;
  std::vector<hipGraphNode*> nodes(dependencies, dependencies + numDependencies);
  for (hipGraphNode* node : nodes)
    if (!stream->capture->graph->contains(node)) return hipErrorInvalidValue;
  if (flags == hipStreamSetCaptureDependencies) stream->capture_tips.clear();
  add_unique(stream->capture_tips, nodes);
  return hipSuccess;
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  if (!mode || *mode < hipStreamCaptureModeGlobal || *mode > hipStreamCaptureModeRelaxed) return hipErrorInvalidValue;
  std::swap(*mode, thread_state().capture_mode);
  return hipSuccess;
}

}  // namespace hip
