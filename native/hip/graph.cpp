// What a graph is and how it runs.
#include "graph.h"

#include <algorithm>
#include <deque>

#include "user_object.h"

namespace hip {

LaunchRequest KernelNode::request() const {
  LaunchRequest launch;
  launch.function = function;
  for (int i = 0; i < 3; ++i) launch.grid[i] = items[i];
  launch.block[0] = block.x;
  launch.block[1] = block.y;
  launch.block[2] = block.z;
  launch.dynamic_shared = dynamic_shared;
  launch.arguments.packed = arguments.data();
  launch.arguments.packed_bytes = arguments.size();
  launch.cooperative = cooperative;
  return launch;
}

FillRequest MemsetNode::request() const {
  FillRequest fill;
  fill.to = {params.dst, params.pitch ? params.pitch : params.width * params.elementSize, params.pitch * params.height};
  fill.value = params.value;
  fill.element = params.elementSize;
  fill.width = params.width;
  fill.height = params.height ? params.height : 1;
  return fill;
}

namespace {

hipError_t run_order(const std::vector<hipGraphNode*>& order, Stream& stream);

struct Runner {
  Stream& stream;

  hipError_t operator()(const std::monostate&) { return hipSuccess; }
  hipError_t operator()(const KernelNode& node) { return submit_launch(stream, node.request()); }
  hipError_t operator()(const MemcpyNode& node) { return submit_copy(stream, node.copy, Blocking::No); }
  hipError_t operator()(const MemsetNode& node) { return submit_fill(stream, node.request(), Blocking::No); }
  hipError_t operator()(const HostNode& node) {
    std::lock_guard lock(stream.device.mutex);
    return stream.host([node](hipError_t status) {
      if (order_is_checked()) hsa_rocm_perf_host_learns();
      if (status == hipSuccess) node.fn(node.userData);
    });
  }
  hipError_t operator()(const ChildNode& node) { return run_order(node.graph->order(), stream); }
  hipError_t operator()(const AllocNode&) { return hipSuccess; }
  hipError_t operator()(const FreeNode&) { return hipSuccess; }
  hipError_t operator()(const EventNode& node) {
    return record ? record_event(*node.event, stream) : wait_event(stream, *node.event);
  }
  bool record = false;
};

// Streams for the branches of a graph. They do not wait for the null stream: the launching stream
// comes before and after them.
// Graphs of several streams share them, and so come in an order that is not the program's: where that is
// checked, each stream has its own.
Stream& branch_stream(Stream& launching, size_t index) {
  Device& device = launching.device;
  std::lock_guard lock(device.mutex);
  std::vector<Stream*>& branches = order_is_checked() ? launching.branches : device.branch_streams;
  while (branches.size() <= index) {
    auto* made = new Stream(device, hipStreamNonBlocking, 0);
    made->id = next_stream_id();
    branches.push_back(made);
    if (&branches != &device.branch_streams) device.branch_streams.push_back(made);
  }
  return *branches[index];
}

// A graph in flight: each chain of nodes in a stream of its own, the first one in the launching
// stream, which waits for the others at the end.
class Branches {
 public:
  explicit Branches(Stream& stream) : lanes_{{&stream, nullptr}} {
    std::lock_guard lock(stream.device.mutex);
    before_ = stream.pending();
  }

  hipError_t run(hipGraphNode* node) {
    Lane& lane = lane_for(node);
    std::vector<CompletionRef> after;
    for (hipGraphNode* earlier : node->after)
      if (earlier != lane.tail) after.push_back(done_[earlier]);
    if (node->after.empty() && &lane != &lanes_[0]) after = before_;
    std::erase_if(after, [](const CompletionRef& point) { return !point.orders(); });
    if (!after.empty()) {
      std::lock_guard lock(lane.stream->device.mutex);
      if (hipError_t status = lane.stream->marker(nullptr, after)) return status;
    }
    lane.tail = node;
    if (node->enabled) {
      Runner runner{*lane.stream};
      runner.record = node->type == hipGraphNodeTypeEventRecord;
      if (hipError_t status = std::visit(runner, node->work)) return status;
    }
    std::lock_guard lock(lane.stream->device.mutex);
    done_[node] = lane.stream->last;
    return hipSuccess;
  }

  hipError_t join() {
    std::vector<CompletionRef> ends;
    for (size_t i = 1; i < lanes_.size(); ++i) ends.push_back(done_[lanes_[i].tail]);
    std::erase_if(ends, [](const CompletionRef& point) { return !point.orders(); });
    if (ends.empty()) return hipSuccess;
    std::lock_guard lock(lanes_[0].stream->device.mutex);
    return lanes_[0].stream->marker(nullptr, ends);
  }

 private:
  struct Lane {
    Stream* stream;
    hipGraphNode* tail;  // its last node
  };

  // Behind a node it follows, where that is still the end of its lane; else in a new one.
  Lane& lane_for(hipGraphNode* node) {
    for (hipGraphNode* earlier : node->after)
      for (Lane& lane : lanes_)
        if (lane.tail == earlier) return lane;
    if (node->after.empty() && !lanes_[0].tail) return lanes_[0];
    const size_t most = order_is_checked() ? 256 : 8;
    if (lanes_.size() == most) return lanes_[1 + done_.size() % (most - 1)];
    lanes_.push_back({&branch_stream(*lanes_[0].stream, lanes_.size() - 1), nullptr});
    return lanes_.back();
  }

  std::deque<Lane> lanes_;
  std::vector<CompletionRef> before_;
  std::map<hipGraphNode*, CompletionRef> done_;
};

hipError_t run_order(const std::vector<hipGraphNode*>& order, Stream& stream) {
  Branches branches(stream);
  for (hipGraphNode* node : order)
    if (hipError_t status = branches.run(node)) return status;
  return branches.join();
}

}  // namespace

hipError_t run_graph(hipGraphExec& exec, Stream& stream) { return run_order(exec.order, stream); }

}  // namespace hip

hipGraphNode* ihipGraph::add(hipGraphNodeType type, hip::NodeWork work, std::vector<hipGraphNode*> after) {
  auto node = std::make_unique<hipGraphNode>();
  node->type = type;
  node->graph = this;
  node->work = std::move(work);
  node->after = std::move(after);
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

bool ihipGraph::contains(const hipGraphNode* node) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](auto& own) { return own.get() == node; });
}

std::unique_ptr<ihipGraph> ihipGraph::clone() const {
  auto copy = std::make_unique<ihipGraph>();
  copy->original = this;
  for (const auto& node : nodes) {
    hip::NodeWork work = node->work;
    if (auto* child = std::get_if<hip::ChildNode>(&work)) child->graph = child->graph->clone();
    hipGraphNode* made = copy->add(node->type, std::move(work));
    made->enabled = node->enabled;
    if (auto* kernel = std::get_if<hip::KernelNode>(&made->work)) {
      const auto& source = std::get<hip::KernelNode>(node->work);
      for (void*& pointer : kernel->argument_pointers)
        pointer = kernel->arguments.data() + (static_cast<const char*>(pointer) - source.arguments.data());
    }
    copy->clone_of[node.get()] = made;
  }
  for (const auto& node : nodes)
    for (hipGraphNode* before : node->after) copy->clone_of[node.get()]->after.push_back(copy->clone_of[before]);
  for (auto [object, count] : user_objects) {
    hip::retain_user_object(object, count);
    copy->user_objects[object] = count;
  }
  return copy;
}

std::vector<hipGraphNode*> ihipGraph::order() const {
  std::vector<hipGraphNode*> result;
  std::set<const hipGraphNode*> done;
  for (bool progress = true; progress && result.size() < nodes.size();) {
    progress = false;
    for (const auto& node : nodes) {
      if (done.count(node.get())) continue;
      bool ready = std::all_of(node->after.begin(), node->after.end(),
                               [&](hipGraphNode* before) { return done.count(before) != 0; });
      if (!ready) continue;
      done.insert(node.get());
      result.push_back(node.get());
      progress = true;
    }
  }
  if (result.size() < nodes.size()) result.clear();
  return result;
}

ihipGraph::~ihipGraph() {
  for (auto [object, count] : user_objects) hip::release_user_object(object, count);
}
