#include "graph_work.h"

#include "copy_params.h"

namespace hip {

void point_at_arguments(KernelNode& node) {
  node.argument_pointers.clear();
  for (const KernelArgument& argument : node.function->metadata->explicit_arguments)
    node.argument_pointers.push_back(node.arguments.data() + argument.offset);
}

Made<KernelNode> kernel_work(const hipKernelNodeParams* p) {
  Made<KernelNode> made;
  KernelNode& node = made.work;
  made.status = [&]() -> hipError_t {
    Device* device;
    if (hipError_t status = check_device(device)) return status;
    if (!p || !p->func) return hipErrorInvalidValue;
    // `func` is a kernel of the program, or a function that capture or a module gave.
    if (find_kernel(p->func, *device, node.function) != hipSuccess) {
      if (kernel_name(p->func)) return hipErrorInvalidDeviceFunction;
      node.function = static_cast<Function*>(p->func);
    }
    node.host = p->func;
    node.grid = p->gridDim;
    node.block = p->blockDim;
    node.items[0] = uint64_t{p->gridDim.x} * p->blockDim.x;
    node.items[1] = uint64_t{p->gridDim.y} * p->blockDim.y;
    node.items[2] = uint64_t{p->gridDim.z} * p->blockDim.z;
    node.dynamic_shared = p->sharedMemBytes;
    Arguments arguments;
    arguments.pointers = p->kernelParams;
    if (!p->kernelParams && p->extra && !read_extra(p->extra, arguments)) return hipErrorInvalidValue;
    if (!arguments.pointers && !arguments.packed && !node.function->metadata->explicit_arguments.empty())
      return hipErrorInvalidValue;
    node.arguments = pack_arguments(*node.function, arguments);
    return check_launch(node.request());
  }();
  return made;
}

Made<EventNode> event_work(hipEvent_t handle) {
  Event* event = resolve_event(handle);
  return {event ? hipSuccess : hipErrorInvalidValue, {event}};
}

namespace nodes {

Made<MemcpyNode> hipGraphMemcpyNode(const hipMemcpy3DParms* p) {
  Made<MemcpyNode> made;
  made.status = copy_request(p, made.work.copy);
  if (made.status != hipSuccess) return made;
  made.work.params = *p;
  made.status = check_copy(made.work.copy);
  return made;
}

Made<MemcpyNode> hipDrvGraphMemcpyNode(const HIP_MEMCPY3D* p) {
  Made<MemcpyNode> made;
  CopyRequest& copy = made.work.copy;
  made.status = copy_request(p, copy);
  if (made.status != hipSuccess) return made;
  made.work.params.srcPtr = {copy.from.base, copy.from.pitch, copy.width, copy.height};
  made.work.params.dstPtr = {copy.to.base, copy.to.pitch, copy.width, copy.height};
  made.work.params.extent = {copy.width, copy.height, copy.depth};
  made.work.params.kind = copy.kind;
  made.status = check_copy(copy);
  return made;
}

Made<MemcpyNode> hipGraphMemcpyNode1D(void* dst, const void* src, size_t count, hipMemcpyKind kind) {
  MemcpyNode node;
  node.copy = linear_copy(dst, src, count, kind);
  node.params.srcPtr = {const_cast<void*>(src), count, count, 1};
  node.params.dstPtr = {dst, count, count, 1};
  node.params.extent = {count, 1, 1};
  node.params.kind = kind;
  return {!dst || !src || count == 0 ? hipErrorInvalidValue : check_copy(node.copy), node};
}

namespace {
hipError_t symbol_address(const void* symbol, size_t offset, size_t count, void*& address) {
  Device* device;
  if (hipError_t status = check_device(device)) return status;
  Variable variable;
  if (hipError_t status = find_variable(symbol, *device, variable)) return status;
  if (offset > variable.size || count > variable.size - offset) return hipErrorInvalidValue;
  address = static_cast<char*>(variable.address) + offset;
  return hipSuccess;
}
}  // namespace

Made<MemcpyNode> hipGraphMemcpyNodeToSymbol(const void* symbol, const void* src, size_t count, size_t offset,
                                            hipMemcpyKind kind) {
  void* address = nullptr;
  if (hipError_t status = symbol_address(symbol, offset, count, address)) return {status, {}};
  return hipGraphMemcpyNode1D(address, src, count, kind);
}
Made<MemcpyNode> hipGraphMemcpyNodeFromSymbol(void* dst, const void* symbol, size_t count, size_t offset,
                                              hipMemcpyKind kind) {
  void* address = nullptr;
  if (hipError_t status = symbol_address(symbol, offset, count, address)) return {status, {}};
  return hipGraphMemcpyNode1D(dst, address, count, kind);
}

Made<MemsetNode> hipGraphMemsetNode(const hipMemsetParams* p) {
  if (!p || !p->dst || p->width == 0 || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return {hipErrorInvalidValue, {}};
  const MemsetNode node{*p};
  return {check_fill(node.request()), node};
}

Made<HostNode> hipGraphHostNode(const hipHostNodeParams* p) {
  if (!p || !p->fn) return {hipErrorInvalidValue, {}};
  return {hipSuccess, *p};
}

}  // namespace nodes

namespace {
template <class Work>
Made<NodeWork> any(Made<Work> made) {
  return {made.status, std::move(made.work)};
}
}  // namespace

Made<NodeWork> any_work(hipGraphNodeParams* p) {
  switch (p->type) {
    case hipGraphNodeTypeKernel: return any(kernel_work(&p->kernel));
    case hipGraphNodeTypeMemcpy: return any(nodes::hipGraphMemcpyNode(&p->memcpy.copyParams));
    case hipGraphNodeTypeMemset: return any(nodes::hipGraphMemsetNode(&p->memset));
    case hipGraphNodeTypeHost: return any(nodes::hipGraphHostNode(&p->host));
    case hipGraphNodeTypeWaitEvent: return any(event_work(p->eventWait.event));
    case hipGraphNodeTypeEventRecord: return any(event_work(p->eventRecord.event));
    case hipGraphNodeTypeEmpty: return {};
    case hipGraphNodeTypeMemFree: return {hipSuccess, FreeNode{p->free.dptr}};
    case hipGraphNodeTypeGraph:
      if (!p->graph.graph) return {hipErrorInvalidValue, {}};
      return {hipSuccess, ChildNode{p->graph.graph->clone()}};
    default: return {hipErrorInvalidValue, {}};
  }
}

}  // namespace hip
