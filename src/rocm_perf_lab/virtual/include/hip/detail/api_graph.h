// Graphs and stream capture. Parsed by native/hip/gen_api.py: one prototype per API.
#ifndef ROCM_PERF_HIP_DETAIL_API_GRAPH_H
#define ROCM_PERF_HIP_DETAIL_API_GRAPH_H

HIP_API hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t* phGraphNode, hipGraph_t hGraph, const
    hipGraphNode_t* dependencies, size_t numDependencies, const hipBatchMemOpNodeParams*
    nodeParams);
HIP_API hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t hNode, hipBatchMemOpNodeParams*
    nodeParams_out);
HIP_API hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t hNode, hipBatchMemOpNodeParams*
    nodeParams);
HIP_API hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t
    hNode, const hipBatchMemOpNodeParams* nodeParams);
HIP_API hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
HIP_API hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const
    hipGraphNode_t* dependencies, const hipGraphEdgeData* dependencyData, size_t numDependencies,
    hipStreamCaptureMode mode);
HIP_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* pGraph);
HIP_API hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus*
    pCaptureStatus, unsigned long long* pId);
HIP_API hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus*
    captureStatus_out, unsigned long long* id_out HIP_DEFAULT(0), hipGraph_t* graph_out
    HIP_DEFAULT(0), const hipGraphNode_t** dependencies_out HIP_DEFAULT(0), size_t*
    numDependencies_out HIP_DEFAULT(0));
HIP_API hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t*
    dependencies, size_t numDependencies, unsigned int flags HIP_DEFAULT(0));
HIP_API hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode);
HIP_API hipError_t hipGraphCreate(hipGraph_t* pGraph, unsigned int flags);
HIP_API hipError_t hipGraphDestroy(hipGraph_t graph);
HIP_API hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const
    hipGraphNode_t* to, size_t numDependencies);
HIP_API hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const
    hipGraphNode_t* to, size_t numDependencies);
HIP_API hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to,
    size_t* numEdges);
HIP_API hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* numNodes);
HIP_API hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* pRootNodes, size_t*
    pNumRootNodes);
HIP_API hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* pDependencies,
    size_t* pNumDependencies);
HIP_API hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t*
    pDependentNodes, size_t* pNumDependentNodes);
HIP_API hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* pType);
HIP_API hipError_t hipGraphDestroyNode(hipGraphNode_t node);
HIP_API hipError_t hipGraphClone(hipGraph_t* pGraphClone, hipGraph_t originalGraph);
HIP_API hipError_t hipGraphNodeFindInClone(hipGraphNode_t* pNode, hipGraphNode_t originalNode,
    hipGraph_t clonedGraph);
HIP_API hipError_t hipGraphInstantiate(hipGraphExec_t* pGraphExec, hipGraph_t graph, hipGraphNode_t*
    pErrorNode, char* pLogBuffer, size_t bufferSize);
HIP_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* pGraphExec, hipGraph_t graph,
    unsigned long long flags);
HIP_API hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* pGraphExec, hipGraph_t graph,
    hipGraphInstantiateParams* instantiateParams);
HIP_API hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream);
HIP_API hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream);
HIP_API hipError_t hipGraphAddNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, hipGraphNodeParams* nodeParams);
HIP_API hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec, unsigned long long* flags);
HIP_API hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* nodeParams);
HIP_API hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node,
    hipGraphNodeParams* nodeParams);
HIP_API hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec);
HIP_API hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph, hipGraphNode_t*
    hErrorNode_out, hipGraphExecUpdateResult* updateResult_out);
HIP_API hipError_t hipGraphAddKernelNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, const hipKernelNodeParams* pNodeParams);
HIP_API hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams*
    pNodeParams);
HIP_API hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams*
    pNodeParams);
HIP_API hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    const hipKernelNodeParams* pNodeParams);
HIP_API hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* phGraphNode, hipGraph_t hGraph, const
    hipGraphNode_t* dependencies, size_t numDependencies, const HIP_MEMCPY3D* copyParams, hipCtx_t
    ctx);
HIP_API hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, const hipMemcpy3DParms* pCopyParams);
HIP_API hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* pNodeParams);
HIP_API hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms*
    pNodeParams);
HIP_API hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
    const hipLaunchAttributeValue* value);
HIP_API hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
    hipLaunchAttributeValue* value);
HIP_API hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    hipMemcpy3DParms* pNodeParams);
HIP_API hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, void* dst, const void* src, size_t count,
    hipMemcpyKind kind);
HIP_API hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* dst, const void* src,
    size_t count, hipMemcpyKind kind);
HIP_API hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    void* dst, const void* src, size_t count, hipMemcpyKind kind);
HIP_API hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* pGraphNode, hipGraph_t graph,
    const hipGraphNode_t* pDependencies, size_t numDependencies, void* dst, const void* symbol,
    size_t count, size_t offset, hipMemcpyKind kind);
HIP_API hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* dst, const void*
    symbol, size_t count, size_t offset, hipMemcpyKind kind);
HIP_API hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec,
    hipGraphNode_t node, void* dst, const void* symbol, size_t count, size_t offset, hipMemcpyKind
    kind);
HIP_API hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, const void* symbol, const void* src,
    size_t count, size_t offset, hipMemcpyKind kind);
HIP_API hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol,
    const void* src, size_t count, size_t offset, hipMemcpyKind kind);
HIP_API hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t
    node, const void* symbol, const void* src, size_t count, size_t offset, hipMemcpyKind kind);
HIP_API hipError_t hipGraphAddMemsetNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, const hipMemsetParams* pMemsetParams);
HIP_API hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* pNodeParams);
HIP_API hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams*
    pNodeParams);
HIP_API hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    const hipMemsetParams* pNodeParams);
HIP_API hipError_t hipGraphAddHostNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, const hipHostNodeParams* pNodeParams);
HIP_API hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* pNodeParams);
HIP_API hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams*
    pNodeParams);
HIP_API hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
    const hipHostNodeParams* pNodeParams);
HIP_API hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, hipGraph_t childGraph);
HIP_API hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* pGraph);
HIP_API hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t
    node, hipGraph_t childGraph);
HIP_API hipError_t hipGraphAddEmptyNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies);
HIP_API hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, hipEvent_t event);
HIP_API hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event_out);
HIP_API hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
HIP_API hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t
    hNode, hipEvent_t event);
HIP_API hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, hipEvent_t event);
HIP_API hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event_out);
HIP_API hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event);
HIP_API hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t
    hNode, hipEvent_t event);
HIP_API hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, hipMemAllocNodeParams* pNodeParams);
HIP_API hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams*
    pNodeParams);
HIP_API hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* pGraphNode, hipGraph_t graph, const
    hipGraphNode_t* pDependencies, size_t numDependencies, void* dev_ptr);
HIP_API hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* dev_ptr);
HIP_API hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void*
    value);
HIP_API hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attr, void*
    value);
HIP_API hipError_t hipDeviceGraphMemTrim(int device);
HIP_API hipError_t hipUserObjectCreate(hipUserObject_t* object_out, void* ptr, hipHostFn_t destroy,
    unsigned int initialRefcount, unsigned int flags);
HIP_API hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count HIP_DEFAULT(1));
HIP_API hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count HIP_DEFAULT(1));
HIP_API hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int
    count HIP_DEFAULT(1), unsigned int flags HIP_DEFAULT(0));
HIP_API hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int
    count HIP_DEFAULT(1));
HIP_API hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned int flags);
HIP_API hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc, hipGraphNode_t hDst);
HIP_API hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned
    int isEnabled);
HIP_API hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode, unsigned
    int* isEnabled);
HIP_API hipError_t hipGraphAddExternalSemaphoresWaitNode(hipGraphNode_t* pGraphNode, hipGraph_t
    graph, const hipGraphNode_t* pDependencies, size_t numDependencies, const
    hipExternalSemaphoreWaitNodeParams* nodeParams);
HIP_API hipError_t hipGraphAddExternalSemaphoresSignalNode(hipGraphNode_t* pGraphNode, hipGraph_t
    graph, const hipGraphNode_t* pDependencies, size_t numDependencies, const
    hipExternalSemaphoreSignalNodeParams* nodeParams);
HIP_API hipError_t hipGraphExternalSemaphoresSignalNodeSetParams(hipGraphNode_t hNode, const
    hipExternalSemaphoreSignalNodeParams* nodeParams);
HIP_API hipError_t hipGraphExternalSemaphoresWaitNodeSetParams(hipGraphNode_t hNode, const
    hipExternalSemaphoreWaitNodeParams* nodeParams);
HIP_API hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t hNode,
    hipExternalSemaphoreSignalNodeParams* params_out);
HIP_API hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t hNode,
    hipExternalSemaphoreWaitNodeParams* params_out);
HIP_API hipError_t hipGraphExecExternalSemaphoresSignalNodeSetParams(hipGraphExec_t hGraphExec,
    hipGraphNode_t hNode, const hipExternalSemaphoreSignalNodeParams* nodeParams);
HIP_API hipError_t hipGraphExecExternalSemaphoresWaitNodeSetParams(hipGraphExec_t hGraphExec,
    hipGraphNode_t hNode, const hipExternalSemaphoreWaitNodeParams* nodeParams);
HIP_API hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t hNode, HIP_MEMCPY3D* nodeParams);
HIP_API hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t hNode, const HIP_MEMCPY3D*
    nodeParams);
HIP_API hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* phGraphNode, hipGraph_t hGraph, const
    hipGraphNode_t* dependencies, size_t numDependencies, const hipMemsetParams* memsetParams,
    hipCtx_t ctx);
HIP_API hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t* phGraphNode, hipGraph_t hGraph, const
    hipGraphNode_t* dependencies, size_t numDependencies, hipDeviceptr_t dptr);
HIP_API hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t
    hNode, const HIP_MEMCPY3D* copyParams, hipCtx_t ctx);
HIP_API hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t
    hNode, const hipMemsetParams* memsetParams, hipCtx_t ctx);

#endif
