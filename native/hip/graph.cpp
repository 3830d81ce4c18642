// What a graph is and how it runs.
#include "graph.h"

#include <algorithm>

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
  fill.to = {params.dst, params.pitch ? params.pitch : params.width * params.elementSize,
             params.pitch * params.height};
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
  hipError_t operator()(const MemcpyNode& node) {
    return submit_copy(stream, node.copy, Blocking::No);
  }
  hipError_t operator()(const MemsetNode& node) {
    return submit_fill(stream, node.request(), Blocking::No);
  }
  hipError_t operator()(const HostNode& node) {
    std::lock_guard lock(stream.device.mutex);
    return stream.host([node](hipError_t status) {
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

// One after another in the launching stream: each order of a graph's nodes that respects what they
// follow is a right one, and this one is always the same.
hipError_t run_order(const std::vector<hipGraphNode*>& order, Stream& stream) {
  for (hipGraphNode* node : order) {
    if (!node->enabled) continue;
    Runner runner{stream};
    runner.record = node->type == hipGraphNodeTypeEventRecord;
    if (hipError_t status = std::visit(runner, node->work)) return status;
  }
  return hipSuccess;
}

}  // namespace

hipError_t run_graph(hipGraphExec& exec, Stream& stream) { return run_order(exec.order, stream); }

}  // namespace hip

hipGraphNode* ihipGraph::add(hipGraphNodeType type, hip::NodeWork work,
                             std::vector<hipGraphNode*> after) {
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
        pointer = kernel->arguments.data() +
                  (static_cast<const char*>(pointer) - source.arguments.data());
    }
    copy->clone_of[node.get()] = made;
  }
  for (const auto& node : nodes)
    for (hipGraphNode* before : node->after)
      copy->clone_of[node.get()]->after.push_back(copy->clone_of[before]);
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
