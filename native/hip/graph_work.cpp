#include "graph_work.h"

#include <type_traits>

#include "copy_params.h"

namespace hip {

void point_at_arguments(KernelNode& node) {
  node.argument_pointers.clear();
  for (const KernelArgument& argument : node.function->metadata->explicit_arguments)
    node.argument_pointers.push_back(node.arguments.data() + argument.offset);
}

hipError_t kernel_work(const hipKernelNodeParams* p, KernelNode& node) {
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
}

template <class Params>
hipError_t copy_work(const Params* p, MemcpyNode& node) {
  if (hipError_t status = copy_request(p, node.copy)) return status;
  if constexpr (std::is_same_v<Params, hipMemcpy3DParms>) {
    node.params = *p;
  } else {
    node.params.srcPtr = {node.copy.from.base, node.copy.from.pitch, node.copy.width, node.copy.height};
    node.params.dstPtr = {node.copy.to.base, node.copy.to.pitch, node.copy.width, node.copy.height};
    node.params.extent = {node.copy.width, node.copy.height, node.copy.depth};
    node.params.kind = node.copy.kind;
  }
  return check_copy(node.copy);
}
template hipError_t copy_work(const hipMemcpy3DParms*, MemcpyNode&);
template hipError_t copy_work(const HIP_MEMCPY3D*, MemcpyNode&);

hipError_t linear_work(void* dst, const void* src, size_t count, hipMemcpyKind kind, MemcpyNode& node) {
  node.copy = linear_copy(dst, src, count, kind);
  node.params.srcPtr = {const_cast<void*>(src), count, count, 1};
  node.params.dstPtr = {dst, count, count, 1};
  node.params.extent = {count, 1, 1};
  node.params.kind = kind;
  if (!dst || !src || count == 0) return hipErrorInvalidValue;
  return check_copy(node.copy);
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

hipError_t to_symbol_work(const void* symbol, const void* src, size_t count, size_t offset, hipMemcpyKind kind,
                          MemcpyNode& node) {
  void* address = nullptr;
  if (hipError_t status = symbol_address(symbol, offset, count, address)) return status;
  return linear_work(address, src, count, kind, node);
}
hipError_t from_symbol_work(void* dst, const void* symbol, size_t count, size_t offset, hipMemcpyKind kind,
                            MemcpyNode& node) {
  void* address = nullptr;
  if (hipError_t status = symbol_address(symbol, offset, count, address)) return status;
  return linear_work(dst, address, count, kind, node);
}

hipError_t fill_work(const hipMemsetParams* p, MemsetNode& node) {
  if (!p || !p->dst || p->width == 0 || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return hipErrorInvalidValue;
  node.params = *p;
  return check_fill(node.request());
}

hipError_t host_work(const hipHostNodeParams* p, HostNode& node) {
  if (!p || !p->fn) return hipErrorInvalidValue;
  node = *p;
  return hipSuccess;
}

hipError_t event_work(hipEvent_t handle, EventNode& node) {
  node.event = resolve_event(handle);
  return node.event ? hipSuccess : hipErrorInvalidValue;
}

namespace {
template <class Node, class Params>
hipError_t made(hipError_t (*make)(Params, Node&), std::type_identity_t<Params> p, NodeWork& work) {
  Node node;
  const hipError_t status = make(p, node);
  work = std::move(node);
  return status;
}
}  // namespace

hipError_t any_work(hipGraphNodeParams* p, NodeWork& work) {
  switch (p->type) {
    case hipGraphNodeTypeKernel: return made(kernel_work, &p->kernel, work);
    case hipGraphNodeTypeMemcpy: return made(copy_work<hipMemcpy3DParms>, &p->memcpy.copyParams, work);
    case hipGraphNodeTypeMemset: return made(fill_work, &p->memset, work);
    case hipGraphNodeTypeHost: return made(host_work, &p->host, work);
    case hipGraphNodeTypeWaitEvent: return made(event_work, p->eventWait.event, work);
    case hipGraphNodeTypeEventRecord: return made(event_work, p->eventRecord.event, work);
    case hipGraphNodeTypeEmpty: work = std::monostate{}; return hipSuccess;
    case hipGraphNodeTypeMemFree: work = FreeNode{p->free.dptr}; return hipSuccess;
    case hipGraphNodeTypeGraph:
      if (!p->graph.graph) return hipErrorInvalidValue;
      work = ChildNode{p->graph.graph->clone()};
      return hipSuccess;
    default: return hipErrorInvalidValue;
  }
}

}  // namespace hip
