// What a graph's node does, from the parameters a program gives.
#pragma once

#include "graph.h"

namespace hip {

void point_at_arguments(KernelNode& node);
hipError_t kernel_work(const hipKernelNodeParams* p, KernelNode& node);
template <class Params>  // hipMemcpy3DParms or HIP_MEMCPY3D
hipError_t copy_work(const Params* p, MemcpyNode& node);
hipError_t linear_work(void* dst, const void* src, size_t count, hipMemcpyKind kind, MemcpyNode& node);
hipError_t to_symbol_work(const void* symbol, const void* src, size_t count, size_t offset, hipMemcpyKind kind,
                          MemcpyNode& node);
hipError_t from_symbol_work(void* dst, const void* symbol, size_t count, size_t offset, hipMemcpyKind kind,
                            MemcpyNode& node);
hipError_t fill_work(const hipMemsetParams* p, MemsetNode& node);
hipError_t host_work(const hipHostNodeParams* p, HostNode& node);
hipError_t event_work(hipEvent_t handle, EventNode& node);
// hipGraphNodeParams holds the parameters of any kind of node.
hipError_t any_work(hipGraphNodeParams* p, NodeWork& work);

}  // namespace hip
