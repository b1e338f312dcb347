// CUDA graphs: captured from streams, or made node by node. Each node is a call that waits.
#include "asking.h"

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) { return ASK(W(s), mode, 0); }
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *after, const cudaGraphEdgeData *d, size_t n, enum cudaStreamCaptureMode mode) { return ASK_AS("cudaStreamBeginCapture", W(s), mode, W(g)); }
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g) { return ASK(W(s), W(g)); }
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) { return ASK(W(s), W(status), 0, 0); }
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode) { return ASK(W(mode)); }
static cudaError_t capture_info(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g) { return ASK_AS("cudaStreamIsCapturing", W(s), W(status), W(id), W(g)); }
#undef cudaStreamGetCaptureInfo
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g, const cudaGraphNode_t **after, const cudaGraphEdgeData **d, size_t *n) {
    if (after || n) emulator_missing("cudaStreamGetCaptureInfo of dependencies");
    return capture_info(s, status, id, g);
}
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t s, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *g, const cudaGraphNode_t **after, size_t *n) {
    if (after || n) emulator_missing("cudaStreamGetCaptureInfo of dependencies");
    return capture_info(s, status, id, g);
}
#endif

cudaError_t cudaGraphCreate(cudaGraph_t *g, unsigned flags) { return ASK(W(g)); }
cudaError_t cudaGraphDestroy(cudaGraph_t g) { return ASK(W(g)); }
cudaError_t cudaGraphClone(cudaGraph_t *made, cudaGraph_t g) { return ASK(W(made), W(g)); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long flags) { return ASK(W(e), W(g)); }
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *e, cudaGraph_t g, unsigned long long flags) { return ASK_AS("cudaGraphInstantiate", W(e), W(g)); }
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *e, cudaGraph_t g, cudaGraphInstantiateParams *p) {
    p->result_out = cudaGraphInstantiateSuccess;
    return ASK_AS("cudaGraphInstantiate", W(e), W(g));
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t e) { return ASK(W(e)); }
cudaError_t cudaGraphUpload(cudaGraphExec_t e, cudaStream_t s) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t s) { return ASK_IN(s, W(e)); }
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t e, cudaGraph_t g, cudaGraphExecUpdateResultInfo *info) {
    cudaError_t error = ASK(W(e), W(g));
    memset(info, 0, sizeof *info);
    info->result = error ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess;
    return error;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t g, const char *path, unsigned flags) { return ASK(W(g), W(path)); }

// --- nodes ---

typedef cudaGraphNode_t Node;
#define NEW Node *made, cudaGraph_t g, const Node *after, size_t n
#define PLACE W(made), W(g), W(after), n
#define KERNEL(p) W(p->func), p->gridDim.x, p->gridDim.y, p->gridDim.z, p->blockDim.x, p->blockDim.y, p->blockDim.z, \
                  W(p->kernelParams), p->sharedMemBytes, 0, 0, 0, 0
#define BOX(p) W(p->dstArray), W(p->dstPtr.ptr), p->dstPtr.pitch, p->dstPtr.ysize, p->dstPos.x, p->dstPos.y, p->dstPos.z, \
               W(p->srcArray), W(p->srcPtr.ptr), p->srcPtr.pitch, p->srcPtr.ysize, p->srcPos.x, p->srcPos.y, p->srcPos.z, \
               p->extent.width, p->extent.height, p->extent.depth, p->kind
#define FILL(p) W(p->dst), p->pitch, p->value, p->elementSize, p->width, p->height
#define NAME(call) W(call)

cudaError_t cudaGraphAddKernelNode(NEW, const struct cudaKernelNodeParams *p) {
    if (p->extra) emulator_missing("cudaGraphAddKernelNode with extra");
    return ASK_AS("graph_add", PLACE, NAME("launch"), KERNEL(p));
}
cudaError_t cudaGraphAddMemcpyNode(NEW, const struct cudaMemcpy3DParms *p) { return ASK_AS("graph_add", PLACE, NAME("cudaMemcpy3D"), BOX(p)); }
cudaError_t cudaGraphAddMemcpyNode1D(NEW, void *d, const void *s, size_t size, enum cudaMemcpyKind k) { return ASK_AS("graph_add", PLACE, NAME("cudaMemcpy"), W(d), W(s), size, k); }
cudaError_t cudaGraphAddMemcpyNodeToSymbol(NEW, const void *symbol, const void *s, size_t size, size_t at, enum cudaMemcpyKind k) { return ASK_AS("graph_add", PLACE, NAME("cudaMemcpyToSymbol"), W(symbol), W(s), size, at, k); }
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(NEW, void *d, const void *symbol, size_t size, size_t at, enum cudaMemcpyKind k) { return ASK_AS("graph_add", PLACE, NAME("cudaMemcpyFromSymbol"), W(d), W(symbol), size, at, k); }
cudaError_t cudaGraphAddMemsetNode(NEW, const struct cudaMemsetParams *p) { return ASK_AS("graph_add", PLACE, NAME("fill_elements"), FILL(p)); }
cudaError_t cudaGraphAddHostNode(NEW, const struct cudaHostNodeParams *p) { return ASK_AS("graph_add", PLACE, NAME("host_function"), W(p->fn), W(p->userData)); }
cudaError_t cudaGraphAddChildGraphNode(NEW, cudaGraph_t child) { return ASK_AS("graph_add", PLACE, NAME("child_graph"), W(child)); }
cudaError_t cudaGraphAddEmptyNode(NEW) { return ASK_AS("graph_add", PLACE, NAME("nothing")); }
cudaError_t cudaGraphAddEventRecordNode(NEW, cudaEvent_t e) { return ASK_AS("graph_add", PLACE, NAME("record_event")); }
cudaError_t cudaGraphAddEventWaitNode(NEW, cudaEvent_t e) { return ASK_AS("graph_add", PLACE, NAME("wait_event")); }
cudaError_t cudaGraphAddMemAllocNode(NEW, struct cudaMemAllocNodeParams *p) {
    cudaError_t error = ASK_AS("graph_memory", W(&p->dptr), p->bytesize);
    return error ? error : ASK_AS("graph_add", PLACE, NAME("allocated"), W(p->dptr));
}
cudaError_t cudaGraphAddMemFreeNode(NEW, void *p) { return ASK_AS("graph_add", PLACE, NAME("cudaFreeAsync"), W(p)); }

cudaError_t cudaGraphKernelNodeSetParams(Node node, const struct cudaKernelNodeParams *p) { return ASK_AS("graph_change", 0, W(node), NAME("launch"), KERNEL(p)); }
cudaError_t cudaGraphMemcpyNodeSetParams(Node node, const struct cudaMemcpy3DParms *p) { return ASK_AS("graph_change", 0, W(node), NAME("cudaMemcpy3D"), BOX(p)); }
cudaError_t cudaGraphMemcpyNodeSetParams1D(Node node, void *d, const void *s, size_t size, enum cudaMemcpyKind k) { return ASK_AS("graph_change", 0, W(node), NAME("cudaMemcpy"), W(d), W(s), size, k); }
cudaError_t cudaGraphMemsetNodeSetParams(Node node, const struct cudaMemsetParams *p) { return ASK_AS("graph_change", 0, W(node), NAME("fill_elements"), FILL(p)); }
cudaError_t cudaGraphHostNodeSetParams(Node node, const struct cudaHostNodeParams *p) { return ASK_AS("graph_change", 0, W(node), NAME("host_function"), W(p->fn), W(p->userData)); }
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t e, Node node, const struct cudaKernelNodeParams *p) { return ASK_AS("graph_change", W(e), W(node), NAME("launch"), KERNEL(p)); }
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t e, Node node, const struct cudaMemcpy3DParms *p) { return ASK_AS("graph_change", W(e), W(node), NAME("cudaMemcpy3D"), BOX(p)); }
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t e, Node node, void *d, const void *s, size_t size, enum cudaMemcpyKind k) { return ASK_AS("graph_change", W(e), W(node), NAME("cudaMemcpy"), W(d), W(s), size, k); }
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t e, Node node, const struct cudaMemsetParams *p) { return ASK_AS("graph_change", W(e), W(node), NAME("fill_elements"), FILL(p)); }
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t e, Node node, const struct cudaHostNodeParams *p) { return ASK_AS("graph_change", W(e), W(node), NAME("host_function"), W(p->fn), W(p->userData)); }

// --- what a graph holds ---

cudaError_t cudaGraphDestroyNode(Node node) { return ASK(W(node)); }
cudaError_t cudaGraphGetNodes(cudaGraph_t g, Node *nodes, size_t *n) { return ASK_AS("graph_nodes", W(g), W(nodes), W(n), 0); }
cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, Node *nodes, size_t *n) { return ASK_AS("graph_nodes", W(g), W(nodes), W(n), 1); }
cudaError_t cudaGraphNodeGetType(Node node, enum cudaGraphNodeType *type) { return ASK(W(node), W(type)); }
cudaError_t cudaGraphKernelNodeSetAttribute(Node node, cudaLaunchAttributeID a, const cudaLaunchAttributeValue *v) { return cudaSuccess; }
cudaError_t cudaDeviceGraphMemTrim(int device) { return cudaSuccess; }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a, void *v) { return ASK(a, W(v)); }
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType a, void *v) { return cudaSuccess; }
#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const Node *from, const Node *to, const cudaGraphEdgeData *d, size_t n) { return ASK(W(g), W(from), W(to), n); }
cudaError_t cudaGraphGetEdges(cudaGraph_t g, Node *from, Node *to, cudaGraphEdgeData *d, size_t *n) { return ASK(W(g), W(from), W(to), W(n)); }
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t g, const Node *from, const Node *to, size_t n) { return ASK(W(g), W(from), W(to), n); }
cudaError_t cudaGraphGetEdges(cudaGraph_t g, Node *from, Node *to, size_t *n) { return ASK(W(g), W(from), W(to), W(n)); }
#endif
