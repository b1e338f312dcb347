// Memory: to allocate, to free and to copy.
#include "asking.h"

cudaError_t cudaMalloc(void **p, size_t n) { return ASK(W(p), n); }
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s) { return ASK_IN(s, W(p), n); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t m, cudaStream_t s) { return ASK_IN(s, W(p), n); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned flags) { return ASK(W(p), n); }
cudaError_t cudaMallocHost(void **p, size_t n) { return ASK(W(p), n); }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags) { return ASK(W(p), n); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t w, size_t h) { *pitch = (w + 511) / 512 * 512; return ASK(W(p), *pitch * h); }
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e) {
    p->pitch = (e.width + 511) / 512 * 512, p->xsize = e.width, p->ysize = e.height;
    return ASK(W(&p->ptr), p->pitch * e.height * e.depth);
}
cudaError_t cudaFree(void *p) { return ASK(W(p)); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t s) { return ASK_IN(s, W(p)); }
cudaError_t cudaFreeHost(void *p) { return ASK(W(p)); }
cudaError_t cudaHostRegister(void *p, size_t n, unsigned flags) { return ASK(W(p), n); }
cudaError_t cudaHostUnregister(void *p) { return ASK(W(p)); }
cudaError_t cudaHostGetDevicePointer(void **d, void *h, unsigned flags) { return ASK(W(d), W(h)); }
cudaError_t cudaHostGetFlags(unsigned *flags, void *p) { *flags = 0; return cudaSuccess; }
cudaError_t cudaMemcpy(void *d, const void *s, size_t n, enum cudaMemcpyKind k) { return ASK(W(d), W(s), n, k); }
cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, enum cudaMemcpyKind k, cudaStream_t st) { return ASK_IN(st, W(d), W(s), n, k); }
cudaError_t cudaMemcpyPeer(void *d, int dd, const void *s, int sd, size_t n) { return ASK(W(d), W(s), n, cudaMemcpyDeviceToDevice); }
cudaError_t cudaMemcpyPeerAsync(void *d, int dd, const void *s, int sd, size_t n, cudaStream_t st) { return ASK_IN(st, W(d), W(s), n, cudaMemcpyDeviceToDevice); }
cudaError_t cudaMemcpy2D(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, enum cudaMemcpyKind k) { return ASK(W(d), dp, W(s), sp, w, h, k); }
cudaError_t cudaMemcpy2DAsync(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, enum cudaMemcpyKind k, cudaStream_t st) { return ASK_IN(st, W(d), dp, W(s), sp, w, h, k); }
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s) { return emulator_copy_3d("cudaMemcpy3DAsync", W(s), p); }
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) { return emulator_copy_3d("cudaMemcpy3D", NO_STREAM, p); }
cudaError_t cudaMemset(void *p, int v, size_t n) { return ASK(W(p), v, n); }
cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t s) { return ASK_IN(s, W(p), v, n); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int v, size_t w, size_t h) { return ASK(W(p), pitch, v, w, h); }
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int v, size_t w, size_t h, cudaStream_t s) { return ASK_IN(s, W(p), pitch, v, w, h); }
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int v, struct cudaExtent e, cudaStream_t s) { return (cudaError_t)ANSWER("cudaMemset2DAsync", W(s), W(p.ptr), p.pitch, v, e.width, e.height * e.depth); }
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int v, struct cudaExtent e) { return ASK_AS("cudaMemset2D", W(p.ptr), p.pitch, v, e.width, e.height * e.depth); }
cudaError_t cudaGetSymbolAddress(void **p, const void *symbol) { return ASK(W(p), W(symbol)); }
cudaError_t cudaGetSymbolSize(size_t *n, const void *symbol) { return ASK(W(n), W(symbol)); }
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *s, size_t n, size_t at, enum cudaMemcpyKind k) { return ASK(W(symbol), W(s), n, at, k); }
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *s, size_t n, size_t at, enum cudaMemcpyKind k, cudaStream_t st) { return ASK_IN(st, W(symbol), W(s), n, at, k); }
cudaError_t cudaMemcpyFromSymbol(void *d, const void *symbol, size_t n, size_t at, enum cudaMemcpyKind k) { return ASK(W(d), W(symbol), n, at, k); }
cudaError_t cudaMemcpyFromSymbolAsync(void *d, const void *symbol, size_t n, size_t at, enum cudaMemcpyKind k, cudaStream_t st) { return ASK_IN(st, W(d), W(symbol), n, at, k); }
cudaError_t cudaMemGetInfo(size_t *left, size_t *total) { return ASK(W(left), W(total)); }
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p) {
    Word found[3] = {0, 0, 0}; // type, device pointer, host pointer
    cudaError_t error = ASK(W(p), W(found));
    memset(a, 0, sizeof *a);
    a->type = (enum cudaMemoryType)found[0];
    a->devicePointer = (void *)found[1];
    a->hostPointer = (void *)found[2];
    return error;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props) { *pool = (cudaMemPool_t)1; return cudaSuccess; }
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) { *pool = (cudaMemPool_t)1; return cudaSuccess; }
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *a, size_t n) { return cudaSuccess; }
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *v) {
    // The first three are ints that allow reuse, the others are numbers of bytes.
    if (a <= cudaMemPoolReuseAllowInternalDependencies) *(int *)v = 1;
    else *(uint64_t *)v = 0;
    return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) { *pool = (cudaMemPool_t)1; return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr a, void *v) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t n) { return cudaSuccess; }
#if CUDART_VERSION >= 13000
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, struct cudaMemLocation at, unsigned flags, cudaStream_t s) { return ASK(W(p), n); }
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice, struct cudaMemLocation at) { return ASK(W(p), n); }
#else
cudaError_t cudaMemPrefetchAsync(const void *p, size_t n, int device, cudaStream_t s) { return ASK(W(p), n); }
cudaError_t cudaMemAdvise(const void *p, size_t n, enum cudaMemoryAdvise advice, int device) { return ASK(W(p), n); }
#endif
