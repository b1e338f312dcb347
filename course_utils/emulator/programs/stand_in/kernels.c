// Kernels: the calls that the compiler puts into a program, launches and what is known of kernels.
#include "asking.h"

enum { CONFIGURATIONS = 64 };

void **__cudaRegisterFatBinary(void *binary) {
    ASK_AS("register_binary", W(binary));
    void **handle = malloc(sizeof *handle);
    *handle = binary;
    return handle;
}
// One file of a program that is linked from several (-rdc=true). nvcc's linker would call this.
void emulator_part(void (*register_all)(void **), void *binary) {
    static char linked;
    void *place = &linked, **handle = &place;
    ASK_AS("register_part", W(place), W(binary));
    register_all(handle);
}
void __cudaRegisterFatBinaryEnd(void **handle) {}
void __cudaUnregisterFatBinary(void **handle) {}
char __cudaInitModule(void **handle) { return 1; }
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *thread, void *block, void *blocks, void *grid, int *warp) {
    ASK_AS("register_function", W(*handle), W(host), W(name));
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global) {
    ASK_AS("register_variable", W(*handle), W(host), W(name));
}
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                              size_t size, int constant, int global) {
    ASK_AS("register_managed", W(*handle), W(host), W(name));
}

static __thread struct { dim3 grid, block; size_t shared; cudaStream_t stream; } configurations[CONFIGURATIONS];
static __thread int depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    if (depth == CONFIGURATIONS) return 1;
    configurations[depth].grid = grid;
    configurations[depth].block = block;
    configurations[depth].shared = shared;
    configurations[depth++].stream = stream;
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (!depth) return cudaErrorInvalidValue;
    *grid = configurations[--depth].grid;
    *block = configurations[depth].block;
    *shared = configurations[depth].shared;
    *(cudaStream_t *)stream = configurations[depth].stream;
    return cudaSuccess;
}

static cudaError_t launch(const void *f, dim3 g, dim3 b, void **args, size_t shared, cudaStream_t stream,
                          int cooperative, dim3 cluster) {
    return ASK_IN(stream, W(f), g.x, g.y, g.z, b.x, b.y, b.z, W(args), shared, cooperative, cluster.x, cluster.y, cluster.z);
}
static const dim3 NONE = {0, 0, 0};
cudaError_t __cudaGetKernel(void **kernel, const void *f) { *kernel = (void *)f; return cudaSuccess; }
cudaError_t __cudaLaunchKernel(void *f, dim3 g, dim3 b, void **args, size_t n, cudaStream_t s) { return launch(f, g, b, args, n, s, 0, NONE); }
cudaError_t __cudaLaunchKernel_ptsz(void *f, dim3 g, dim3 b, void **args, size_t n, cudaStream_t s) { return launch(f, g, b, args, n, s, 0, NONE); }
cudaError_t cudaLaunchKernel(const void *f, dim3 g, dim3 b, void **args, size_t n, cudaStream_t s) { return launch(f, g, b, args, n, s, 0, NONE); }
cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 g, dim3 b, void **args, size_t n, cudaStream_t s) { return launch(f, g, b, args, n, s, 1, NONE); }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args) {
    dim3 cluster = NONE;
    int cooperative = 0;
    for (unsigned n = 0; n < c->numAttrs; n++) {
        if (c->attrs[n].id == cudaLaunchAttributeCooperative) cooperative = c->attrs[n].val.cooperative;
        if (c->attrs[n].id == cudaLaunchAttributeClusterDimension) {
            cluster.x = c->attrs[n].val.clusterDim.x;
            cluster.y = c->attrs[n].val.clusterDim.y;
            cluster.z = c->attrs[n].val.clusterDim.z;
        }
    }
    return launch(f, c->gridDim, c->blockDim, args, c->dynamicSmemBytes, c->stream, cooperative, cluster);
}

cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute a, int v) { return ASK(W(f), a, v); }
cudaError_t cudaFuncSetCacheConfig(const void *f, enum cudaFuncCache c) { return cudaSuccess; }
#if CUDART_VERSION < 13000
cudaError_t cudaFuncSetSharedMemConfig(const void *f, enum cudaSharedMemConfig c) { return cudaSuccess; }
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig c) { return cudaSuccess; }
#endif
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f) {
    Word found[5] = {0}; // shared, local, threads of a block, most dynamic shared, registers
    cudaError_t error = ASK(W(f), W(found));
    memset(a, 0, sizeof *a);
    a->sharedSizeBytes = found[0], a->localSizeBytes = found[1], a->maxThreadsPerBlock = found[2];
    a->maxDynamicSharedSizeBytes = found[3], a->numRegs = found[4];
    a->ptxVersion = a->binaryVersion = 90;
    return error;
}
cudaError_t cudaFuncGetName(const char **name, const void *f) { return ASK(W(name), W(f)); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads, size_t shared) { return ASK(W(n), W(f), threads, shared); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int threads, size_t shared, unsigned flags) { return ASK(W(n), W(f), threads, shared); }
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *n, const void *f, int blocks, int threads) { return ASK(W(n), W(f), blocks, threads); }
cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *f, const cudaLaunchConfig_t *c) { *n = 8; return cudaSuccess; }
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *f, const cudaLaunchConfig_t *c) { *n = 8; return cudaSuccess; }
