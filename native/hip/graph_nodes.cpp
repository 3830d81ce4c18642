// hipGraphAdd*Node and the parameters of nodes, as far as gen_api.py does not make them.
#include <cstring>

#include "api_impl.h"
#include "entry.h"
#include "graph.h"
#include "graph_work.h"

namespace hip {

namespace {

// The parameters of a node of the wanted kind; null for another kind.
template <class T>
T* part(hipGraphNode* node) {
  return node ? std::get_if<T>(&node->work) : nullptr;
}

}  // namespace

hipError_t add_node(hipGraphNode_t* result, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                    hipGraphNodeType type, NodeWork work) {
  if (!result || !graph || (count && !dependencies)) return hipErrorInvalidValue;
  std::vector<hipGraphNode*> after(dependencies, dependencies + count);
  for (hipGraphNode* node : after)
    if (!graph->contains(node)) return hipErrorInvalidValue;
  *result = graph->add(type, std::move(work), std::move(after));
  return hipSuccess;
}

hipGraphNode_t in_exec(hipGraphExec_t exec, hipGraphNode_t node) {
  if (!exec || !node) return nullptr;
  auto found = exec->graph->clone_of.find(node);
  return found == exec->graph->clone_of.end() ? nullptr : found->second;
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                size_t numDependencies) {
  return add_node(pGraphNode, graph, pDependencies, numDependencies, hipGraphNodeTypeEmpty, std::monostate{});
}

hipError_t hipGraphAddNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                           size_t numDependencies, hipGraphNodeParams* nodeParams) {
  if (!nodeParams) return hipErrorInvalidValue;
  if (nodeParams->type == hipGraphNodeTypeMemAlloc)
    return hip::hipGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies, &nodeParams->alloc);
  Made<NodeWork> made = any_work(nodeParams);
  if (made.status != hipSuccess) return made.status;
  hipError_t status =
      add_node(pGraphNode, graph, pDependencies, numDependencies, nodeParams->type, std::move(made.work));
  if (status == hipSuccess)
    if (auto* kernel = part<KernelNode>(*pGraphNode)) point_at_arguments(*kernel);
  return status;
}
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* nodeParams) {
  if (!node || !nodeParams || node->type != nodeParams->type) return hipErrorInvalidValue;
  Made<NodeWork> made = any_work(nodeParams);
  if (made.status != hipSuccess) return made.status;
  node->work = std::move(made.work);
  if (auto* kernel = part<KernelNode>(node)) point_at_arguments(*kernel);
  return hipSuccess;
}

// ---- kernels ------------------------------------------------------------------------------------------

hipError_t hipGraphAddKernelNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                 size_t numDependencies, const hipKernelNodeParams* pNodeParams) {
  hipError_t status = add_node(pGraphNode, graph, pDependencies, numDependencies, kernel_work(pNodeParams));
  if (status == hipSuccess) point_at_arguments(*part<KernelNode>(*pGraphNode));
  return status;
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* pNodeParams) {
  KernelNode* kernel = part<KernelNode>(node);
  if (!kernel || !pNodeParams) return hipErrorInvalidValue;
  *pNodeParams = {kernel->block,
                  nullptr,
                  const_cast<void*>(kernel->host),
                  kernel->grid,
                  kernel->argument_pointers.data(),
                  unsigned(kernel->dynamic_shared)};
  return hipSuccess;
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* pNodeParams) {
  KernelNode* kernel = part<KernelNode>(node);
  if (!kernel) return hipErrorInvalidValue;
  Made<KernelNode> made = kernel_work(pNodeParams);
  if (made.status != hipSuccess) return made.status;
  made.work.cooperative = kernel->cooperative;
  made.work.priority = kernel->priority;
  *kernel = std::move(made.work);
  point_at_arguments(*kernel);
  return hipSuccess;
}
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
                                          const hipLaunchAttributeValue* value) {
  KernelNode* kernel = part<KernelNode>(hNode);
  if (!kernel || !value) return hipErrorInvalidValue;
  if (attr == hipLaunchAttributeCooperative) kernel->cooperative = value->cooperative != 0;
  else if (attr == hipLaunchAttributePriority) kernel->priority = value->priority;
  else if (attr == hipLaunchAttributeAccessPolicyWindow) kernel->window = value->accessPolicyWindow;
  else return hipErrorInvalidValue;
  return hipSuccess;
}
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
                                          hipLaunchAttributeValue* value) {
  KernelNode* kernel = part<KernelNode>(hNode);
  if (!kernel || !value) return hipErrorInvalidValue;
  if (attr == hipLaunchAttributeCooperative) value->cooperative = kernel->cooperative;
  else if (attr == hipLaunchAttributePriority) value->priority = kernel->priority;
  else if (attr == hipLaunchAttributeAccessPolicyWindow) value->accessPolicyWindow = kernel->window;
  else return hipErrorInvalidValue;
  return hipSuccess;
}
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc, hipGraphNode_t hDst) {
  KernelNode *from = part<KernelNode>(hSrc), *to = part<KernelNode>(hDst);
  if (!from || !to) return hipErrorInvalidValue;
  to->cooperative = from->cooperative;
  to->priority = from->priority;
  to->window = from->window;
  return hipSuccess;
}

// ---- copies -------------------------------------------------------------------------------------------

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* pNodeParams) {
  MemcpyNode* copy = part<MemcpyNode>(node);
  if (!copy || !pNodeParams) return hipErrorInvalidValue;
  *pNodeParams = copy->params;
  return hipSuccess;
}
hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t hNode, HIP_MEMCPY3D* nodeParams) {
  MemcpyNode* node = part<MemcpyNode>(hNode);
  if (!node || !nodeParams) return hipErrorInvalidValue;
  *nodeParams = {};
  nodeParams->srcMemoryType = nodeParams->dstMemoryType = hipMemoryTypeUnified;
  nodeParams->srcDevice = node->copy.from.base;
  nodeParams->srcPitch = node->copy.from.pitch;
  nodeParams->dstDevice = node->copy.to.base;
  nodeParams->dstPitch = node->copy.to.pitch;
  nodeParams->srcHeight = node->copy.from.pitch ? node->copy.from.slice / node->copy.from.pitch : 0;
  nodeParams->dstHeight = node->copy.to.pitch ? node->copy.to.slice / node->copy.to.pitch : 0;
  nodeParams->WidthInBytes = node->copy.width;
  nodeParams->Height = node->copy.height;
  nodeParams->Depth = node->copy.depth;
  return hipSuccess;
}

// ---- fills --------------------------------------------------------------------------------------------

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* pNodeParams) {
  MemsetNode* fill = part<MemsetNode>(node);
  if (!fill || !pNodeParams) return hipErrorInvalidValue;
  *pNodeParams = fill->params;
  return hipSuccess;
}

// ---- host functions, events, child graphs ----------------------------------------------------------------

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* pNodeParams) {
  HostNode* host = part<HostNode>(node);
  if (!host || !pNodeParams) return hipErrorInvalidValue;
  *pNodeParams = *host;
  return hipSuccess;
}

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                      size_t numDependencies, hipEvent_t event) {
  const Made<EventNode> made = event_work(event);
  if (made.status != hipSuccess) return made.status;
  return add_node(pGraphNode, graph, pDependencies, numDependencies, hipGraphNodeTypeEventRecord, made.work);
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                    size_t numDependencies, hipEvent_t event) {
  const Made<EventNode> made = event_work(event);
  if (made.status != hipSuccess) return made.status;
  return add_node(pGraphNode, graph, pDependencies, numDependencies, hipGraphNodeTypeWaitEvent, made.work);
}

namespace {
hipError_t get_event(hipGraphNode_t node, hipGraphNodeType type, hipEvent_t* event) {
  if (!node || node->type != type || !event) return hipErrorInvalidValue;
  *event = reinterpret_cast<hipEvent_t>(part<EventNode>(node)->event);
  return hipSuccess;
}
hipError_t set_event(hipGraphNode_t node, hipGraphNodeType type, hipEvent_t event) {
  if (!node || node->type != type) return hipErrorInvalidValue;
  return set_node(node, event_work(event));
}
}  // namespace

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event_out) {
  return get_event(node, hipGraphNodeTypeEventRecord, event_out);
}
hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return set_event(node, hipGraphNodeTypeEventRecord, event);
}
hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event_out) {
  return get_event(node, hipGraphNodeTypeWaitEvent, event_out);
}
hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return set_event(node, hipGraphNodeTypeWaitEvent, event);
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                     size_t numDependencies, hipGraph_t childGraph) {
  if (!childGraph || childGraph == graph) return hipErrorInvalidValue;
  return add_node(pGraphNode, graph, pDependencies, numDependencies, hipGraphNodeTypeGraph,
                  ChildNode{childGraph->clone()});
}
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* pGraph) {
  ChildNode* child = part<ChildNode>(node);
  if (!child || !pGraph) return hipErrorInvalidValue;
  *pGraph = child->graph.get();
  return hipSuccess;
}
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node, hipGraph_t childGraph) {
  ChildNode* child = part<ChildNode>(in_exec(hGraphExec, node));
  if (!child || !childGraph || child->graph->nodes.size() != childGraph->nodes.size()) return hipErrorInvalidValue;
  child->graph = childGraph->clone();
  return hipSuccess;
}

// ---- memory ---------------------------------------------------------------------------------------------

hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                   size_t numDependencies, hipMemAllocNodeParams* pNodeParams) {
  if (!pNodeParams || pNodeParams->bytesize == 0 || pNodeParams->poolProps.location.type != hipMemLocationTypeDevice)
    return hipErrorInvalidValue;
  Device* device = device_at(pNodeParams->poolProps.location.id);
  if (!device) return hipErrorInvalidDevice;
  void* address = nullptr;
  if (hipError_t status = allocate_device(*device, pNodeParams->bytesize, 0, &address)) return status;
  pNodeParams->dptr = address;
  AllocNode work;
  work.params = *pNodeParams;
  work.memory = {address, [](void* memory) {
                   // The program may have freed it already.
                   auto found = memory_map().remove(reinterpret_cast<uintptr_t>(memory));
                   if (found) (void)free_allocation(*found);
                 }};
  return add_node(pGraphNode, graph, pDependencies, numDependencies, hipGraphNodeTypeMemAlloc, work);
}
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams* pNodeParams) {
  AllocNode* allocation = part<AllocNode>(node);
  if (!allocation || !pNodeParams) return hipErrorInvalidValue;
  *pNodeParams = allocation->params;
  return hipSuccess;
}
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const hipGraphNode_t* pDependencies,
                                  size_t numDependencies, void* dev_ptr) {
  if (!dev_ptr) return hipErrorInvalidValue;
  return add_node(pGraphNode, graph, pDependencies, numDependencies, hipGraphNodeTypeMemFree, FreeNode{dev_ptr});
}
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* dev_ptr) {
  FreeNode* freed = part<FreeNode>(node);
  if (!freed || !dev_ptr) return hipErrorInvalidValue;
  std::memcpy(dev_ptr, &freed->address, sizeof(void*));
  return hipSuccess;
}
hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void* value) {
  if (!device_at(device)) return hipErrorInvalidDevice;
  if (!value || attr > hipGraphMemAttrReservedMemHigh) return hipErrorInvalidValue;
  *static_cast<uint64_t*>(value) = 0;
  return hipSuccess;
}
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void* value) {
  if (!device_at(device)) return hipErrorInvalidDevice;
  const bool high = attr == hipGraphMemAttrUsedMemHigh || attr == hipGraphMemAttrReservedMemHigh;
  return value && high ? hipSuccess : hipErrorInvalidValue;
}
hipError_t hipDeviceGraphMemTrim(int device) { return device_at(device) ? hipSuccess : hipErrorInvalidDevice; }

}  // namespace hip
