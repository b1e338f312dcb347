// Streams and events: all work is done when its call returns, or when its graph is launched.
#include "asking.h"

static int streams = 0x100; // odd numbers: streams that don't wait for the default stream
static cudaError_t stream_of(cudaStream_t *s, unsigned flags) {
    *s = (cudaStream_t)(intptr_t)(__sync_fetch_and_add(&streams, 2) | (flags & cudaStreamNonBlocking));
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *s) { return stream_of(s, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { return stream_of(s, flags); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) { return stream_of(s, flags); }
cudaError_t cudaStreamDestroy(cudaStream_t s) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t s) { return ASK(W(s)); }
cudaError_t cudaStreamQuery(cudaStream_t s) { return ASK_AS("cudaStreamSynchronize", W(s)); }
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *p) { *p = 0; return cudaSuccess; }
cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags) { *flags = (intptr_t)s & 1; return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) { return ASK_IN(s, W(s), W(e)); }
cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaLaunchAttributeID a, const cudaLaunchAttributeValue *v) { return cudaSuccess; }
cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) { return cudaSuccess; }
cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t n, unsigned flags) { return cudaSuccess; }
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned flags) {
    cudaError_t error = ASK_IN(s, W(s));
    f(s, error, data);
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *data) {
    int recorded = 0; // by a capture of the stream
    cudaError_t error = ASK_IN(s, W(f), W(data), W(&recorded));
    if (!error && !recorded) f(data);
    return error;
}
cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = calloc(1, 8); return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) { *e = calloc(1, 8); return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return ASK_IN(s, W(e), W(s)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) { return cudaEventRecord(e, s); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) { return ASK(W(e)); }
cudaError_t cudaEventQuery(cudaEvent_t e) { return ASK_AS("cudaEventSynchronize", W(e)); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { return ASK(W(ms), W(a), W(b)); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return cudaSuccess; }
