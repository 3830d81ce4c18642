// What a graph's node does, from the parameters a program gives.
#pragma once

#include "graph.h"

namespace hip {

template <class Work>
struct Made {
  hipError_t status = hipSuccess;
  Work work{};
};

void point_at_arguments(KernelNode& node);
Made<KernelNode> kernel_work(const hipKernelNodeParams* p);
Made<EventNode> event_work(hipEvent_t handle);
// hipGraphNodeParams holds the parameters of any kind of node.
Made<NodeWork> any_work(hipGraphNodeParams* p);

// Named as the functions that add such a node and change it, which gen_api.py makes of them.
namespace nodes {

Made<MemcpyNode> hipGraphMemcpyNode(const hipMemcpy3DParms* p);
Made<MemcpyNode> hipDrvGraphMemcpyNode(const HIP_MEMCPY3D* p);
Made<MemcpyNode> hipGraphMemcpyNode1D(void* dst, const void* src, size_t count, hipMemcpyKind kind);
Made<MemcpyNode> hipGraphMemcpyNodeToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                                            hipMemcpyKind kind);
Made<MemcpyNode> hipGraphMemcpyNodeFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                              hipMemcpyKind kind);
Made<MemsetNode> hipGraphMemsetNode(const hipMemsetParams* p);
Made<HostNode> hipGraphHostNode(const hipHostNodeParams* p);

}  // namespace nodes

constexpr hipGraphNodeType type_of(const KernelNode&) { return hipGraphNodeTypeKernel; }
constexpr hipGraphNodeType type_of(const MemcpyNode&) { return hipGraphNodeTypeMemcpy; }
constexpr hipGraphNodeType type_of(const MemsetNode&) { return hipGraphNodeTypeMemset; }
constexpr hipGraphNodeType type_of(const HostNode&) { return hipGraphNodeTypeHost; }

hipError_t add_node(hipGraphNode_t* result, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                    hipGraphNodeType type, NodeWork work);
template <class Work>
hipError_t add_node(hipGraphNode_t* result, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                    Made<Work> made) {
  if (made.status != hipSuccess) return made.status;
  return add_node(result, graph, dependencies, count, type_of(made.work), std::move(made.work));
}

template <class Work>
hipError_t set_node(hipGraphNode* node, Made<Work> made) {
  if (made.status != hipSuccess) return made.status;
  Work* target = node ? std::get_if<Work>(&node->work) : nullptr;
  if (!target) return hipErrorInvalidValue;
  *target = std::move(made.work);
  return hipSuccess;
}

}  // namespace hip
