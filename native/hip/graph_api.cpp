// hipGraph*: the structure of graphs, instantiation and launch. Parameters of nodes are in
// graph_nodes.cpp.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unordered_set>

#include "api_impl.h"
#include "graph.h"

namespace hip {

namespace {

std::vector<hipGraphNode*> dependents(const hipGraphNode& node) {
  std::vector<hipGraphNode*> result;
  for (auto& other : node.graph->nodes)
    if (std::find(other->after.begin(), other->after.end(), &node) != other->after.end()) result.push_back(other.get());
  return result;
}

// The two-call convention: count alone, or as many as fit with the rest set to null.
hipError_t give(const std::vector<hipGraphNode*>& list, hipGraphNode_t* nodes, size_t* count) {
  if (!count) return hipErrorInvalidValue;
  if (nodes)
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < list.size() ? list[i] : nullptr;
  *count = nodes ? std::min(*count, list.size()) : list.size();
  return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t* result, hipGraph_t graph, unsigned long long flags) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  if (!result || !graph) return hipErrorInvalidValue;
  auto exec = std::make_unique<hipGraphExec>();
  exec->graph = graph->clone();
  exec->order = exec->graph->order();
  if (exec->order.empty() && !graph->nodes.empty()) return hipErrorInvalidValue;  // a cycle
  exec->flags = flags;
  exec->device = device;
  *result = exec.release();
  return hipSuccess;
}

const char* type_name(hipGraphNodeType type) {
  constexpr const char* kNames[] = {
      "KERNEL",     "MEMCPY",       "MEMSET",           "HOST",           "GRAPH",     "EMPTY",
      "WAIT_EVENT", "EVENT_RECORD", "SEMAPHORE_SIGNAL", "SEMAPHORE_WAIT", "MEM_ALLOC", "MEM_FREE"};
  return type <= hipGraphNodeTypeMemFree ? kNames[type] : "OTHER";
}

}  // namespace

hipError_t hipGraphCreate(hipGraph_t* pGraph, unsigned int flags) {
  if (!pGraph || flags != 0) return hipErrorInvalidValue;
  *pGraph = new ihipGraph;
  return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  if (!graph) return hipErrorInvalidValue;
  delete graph;
  return hipSuccess;
}
hipError_t hipGraphClone(hipGraph_t* pGraphClone, hipGraph_t originalGraph) {
  if (!pGraphClone || !originalGraph) return hipErrorInvalidValue;
  *pGraphClone = originalGraph->clone().release();
  return hipSuccess;
}
hipError_t hipGraphNodeFindInClone(hipGraphNode_t* pNode, hipGraphNode_t originalNode, hipGraph_t clonedGraph) {
  if (!pNode || !originalNode || !clonedGraph || !clonedGraph->original) return hipErrorInvalidValue;
  auto found = clonedGraph->clone_of.find(originalNode);
  if (found == clonedGraph->clone_of.end()) return hipErrorInvalidValue;
  *pNode = found->second;
  return hipSuccess;
}

// ---- edges ------------------------------------------------------------------------------------------

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t numDependencies) {
  if (!graph || (numDependencies && (!from || !to))) return hipErrorInvalidValue;
  for (size_t i = 0; i < numDependencies; ++i) {
    if (!graph->contains(from[i]) || !graph->contains(to[i]) || from[i] == to[i]) return hipErrorInvalidValue;
    auto& after = to[i]->after;
    if (std::find(after.begin(), after.end(), from[i]) != after.end()) return hipErrorInvalidValue;
    after.push_back(from[i]);
  }
  return hipSuccess;
}
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t numDependencies) {
  if (!graph || (numDependencies && (!from || !to))) return hipErrorInvalidValue;
  for (size_t i = 0; i < numDependencies; ++i) {
    if (!graph->contains(from[i]) || !graph->contains(to[i])) return hipErrorInvalidValue;
    auto& after = to[i]->after;
    auto edge = std::find(after.begin(), after.end(), from[i]);
    if (edge == after.end()) return hipErrorInvalidValue;
    after.erase(edge);
  }
  return hipSuccess;
}
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* numEdges) {
  if (!graph || !numEdges || (from == nullptr) != (to == nullptr)) return hipErrorInvalidValue;
  std::vector<hipGraphNode*> sources, targets;
  for (auto& node : graph->nodes)
    for (hipGraphNode* before : node->after) {
      sources.push_back(before);
      targets.push_back(node.get());
    }
  size_t count = *numEdges;
  hipError_t status = give(sources, from, &count);
  if (status == hipSuccess) status = give(targets, to, numEdges);
  return status;
}
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* numNodes) {
  if (!graph) return hipErrorInvalidValue;
  std::vector<hipGraphNode*> list;
  for (auto& node : graph->nodes) list.push_back(node.get());
  return give(list, nodes, numNodes);
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* pRootNodes, size_t* pNumRootNodes) {
  if (!graph) return hipErrorInvalidValue;
  std::vector<hipGraphNode*> list;
  for (auto& node : graph->nodes)
    if (node->after.empty()) list.push_back(node.get());
  return give(list, pRootNodes, pNumRootNodes);
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* pDependencies, size_t* pNumDependencies) {
  return node ? give(node->after, pDependencies, pNumDependencies) : hipErrorInvalidValue;
}
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* pDependentNodes,
                                         size_t* pNumDependentNodes) {
  return node ? give(dependents(*node), pDependentNodes, pNumDependentNodes) : hipErrorInvalidValue;
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* pType) {
  if (!node || !pType) return hipErrorInvalidValue;
  *pType = node->type;
  return hipSuccess;
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  if (!node) return hipErrorInvalidValue;
  ihipGraph* graph = node->graph;
  for (auto& other : graph->nodes) {
    auto& after = other->after;
    after.erase(std::remove(after.begin(), after.end(), node), after.end());
  }
  auto& nodes = graph->nodes;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](auto& own) { return own.get() == node; }), nodes.end());
  return hipSuccess;
}

// ---- executable graphs --------------------------------------------------------------------------------

hipError_t hipGraphInstantiate(hipGraphExec_t* pGraphExec, hipGraph_t graph, hipGraphNode_t* pErrorNode,
                               char* pLogBuffer, size_t bufferSize) {
  if (pErrorNode) *pErrorNode = nullptr;
  if (pLogBuffer && bufferSize) pLogBuffer[0] = '\0';
  return instantiate(pGraphExec, graph, 0);
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* pGraphExec, hipGraph_t graph, unsigned long long flags) {
  constexpr unsigned long long kAllowed = hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload |
                                          hipGraphInstantiateFlagDeviceLaunch | hipGraphInstantiateFlagUseNodePriority;
  if (flags & ~kAllowed) return hipErrorInvalidValue;
  if (flags & hipGraphInstantiateFlagDeviceLaunch) return hipErrorNotSupported;
  return instantiate(pGraphExec, graph, flags);
}
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* pGraphExec, hipGraph_t graph,
                                         hipGraphInstantiateParams* params) {
  if (!params) return hipErrorInvalidValue;
  params->errNode_out = nullptr;
  hipError_t status = hip::hipGraphInstantiateWithFlags(pGraphExec, graph, params->flags);
  params->result_out = status == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
  return status;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec) {
  if (!graphExec) return hipErrorInvalidValue;
  hipError_t status = synchronize(*graphExec->device);  // it may still run
  delete graphExec;
  return status;
}
hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec, unsigned long long* flags) {
  if (!graphExec || !flags) return hipErrorInvalidValue;
  *flags = graphExec->flags;
  return hipSuccess;
}
hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t handle) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  if (!graphExec) return hipErrorInvalidValue;
  if (stream->capture) return capture_child(*stream, *graphExec->graph);
  return run_graph(*graphExec, *stream);
}
hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t handle) {
  Stream* stream;
  if (hipError_t status = stream_for_work(handle, stream)) return status;
  return graphExec ? hipSuccess : hipErrorInvalidValue;
}

hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t* hErrorNode_out,
                              hipGraphExecUpdateResult* updateResult_out) {
  if (!hGraphExec || !hGraph || !hErrorNode_out || !updateResult_out) return hipErrorInvalidValue;
  *hErrorNode_out = nullptr;
  auto fail = [&](hipGraphNode* node, hipGraphExecUpdateResult why) {
    *hErrorNode_out = node;
    *updateResult_out = why;
    return hipErrorGraphExecUpdateFailure;
  };
  auto& old_nodes = hGraphExec->graph->nodes;
  if (old_nodes.size() != hGraph->nodes.size()) return fail(nullptr, hipGraphExecUpdateErrorTopologyChanged);
  std::map<const hipGraphNode*, const hipGraphNode*> pairs;
  for (size_t i = 0; i < old_nodes.size(); ++i) pairs[hGraph->nodes[i].get()] = old_nodes[i].get();
  for (size_t i = 0; i < old_nodes.size(); ++i) {
    hipGraphNode* updated = hGraph->nodes[i].get();
    hipGraphNode* current = old_nodes[i].get();
    if (updated->type != current->type) return fail(updated, hipGraphExecUpdateErrorNodeTypeChanged);
    if (updated->after.size() != current->after.size()) return fail(updated, hipGraphExecUpdateErrorTopologyChanged);
    for (hipGraphNode* before : updated->after)
      if (std::find(current->after.begin(), current->after.end(), pairs[before]) == current->after.end())
        return fail(updated, hipGraphExecUpdateErrorTopologyChanged);
  }
  auto replacement = hGraph->clone();
  for (size_t i = 0; i < old_nodes.size(); ++i) std::swap(old_nodes[i]->work, replacement->nodes[i]->work);
  *updateResult_out = hipGraphExecUpdateSuccess;
  return hipSuccess;
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int isEnabled) {
  if (!hGraphExec || !hNode) return hipErrorInvalidValue;
  auto found = hGraphExec->graph->clone_of.find(hNode);
  if (found == hGraphExec->graph->clone_of.end()) return hipErrorInvalidValue;
  if (hNode->type != hipGraphNodeTypeKernel && hNode->type != hipGraphNodeTypeMemcpy &&
      hNode->type != hipGraphNodeTypeMemset)
    return hipErrorInvalidValue;
  found->second->enabled = isEnabled != 0;
  return hipSuccess;
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned int* isEnabled) {
  if (!hGraphExec || !hNode || !isEnabled) return hipErrorInvalidValue;
  auto found = hGraphExec->graph->clone_of.find(hNode);
  if (found == hGraphExec->graph->clone_of.end()) return hipErrorInvalidValue;
  *isEnabled = found->second->enabled;
  return hipSuccess;
}

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int) {
  if (!graph || !path) return hipErrorInvalidValue;
  std::ofstream file(path);
  if (!file) return hipErrorOperatingSystem;
  std::map<const hipGraphNode*, size_t> number;
  file << "digraph dot {\n";
  for (auto& node : graph->nodes) {
    size_t index = number.size();
    number[node.get()] = index;
    std::string label = type_name(node->type);
    if (auto* kernel = std::get_if<KernelNode>(&node->work)) label += "\\n" + kernel->function->name();
    file << "  node_" << index << " [shape=box, label=\"" << index << "\\n" << label << "\"];\n";
  }
  for (auto& node : graph->nodes)
    for (hipGraphNode* before : node->after)
      file << "  node_" << number[before] << " -> node_" << number[node.get()] << ";\n";
  file << "}\n";
  return file ? hipSuccess : hipErrorOperatingSystem;
}

}  // namespace hip
