// Our runtime library: it replaces the CUDA runtime. A program's host code calls these functions in
// its own process. Each packs its arguments into words and asks Python, where the emulator runs. We
// compile it with the headers of the compiler that built the program, so both have the same structs.
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef long long Word;
typedef Word (*Answer)(const char *name, Word *words);
enum { FRAMES = 16, CONFIGURATIONS = 64 };

static Answer answer;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static __thread int asking;
void *emulator_frames[FRAMES]; // return addresses of the callers, innermost first
int emulator_frame_count;

static Word ask(const char *name, Word *words) {
    pthread_mutex_lock(&lock);
    asking++;
    emulator_frame_count = backtrace(emulator_frames, FRAMES);
    Word result = answer ? answer(name, words) : cudaErrorInitializationError;
    asking--;
    pthread_mutex_unlock(&lock);
    return result;
}

#define ASK(...) ((cudaError_t)ask(__func__, (Word[]){__VA_ARGS__}))
#define W(x) ((Word)(x))

// --- functions that Python calls ---

static __thread sigjmp_buf copying;
static __thread volatile int is_copying;

static void on_fault(int number, siginfo_t *info, void *context) {
    if (is_copying) siglongjmp(copying, 1);
    if (!asking) {
        Word registers[24];
        int count = 0;
#if defined(__x86_64__)
        for (int n = 0; n < 16; n++) registers[1 + count++] = ((ucontext_t *)context)->uc_mcontext.gregs[n];
#endif
        registers[0] = count;
        ask("host_fault", registers);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void at_end(void) {
    fflush(NULL);
    ask("program_ends", (Word[]){0});
}

void emulator_begin(Answer function) {
    answer = function;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    atexit(at_end);
}

// Copies bytes between addresses of this process. Returns 0 if one of them can't be reached.
int emulator_copy(void *to, const void *from, size_t bytes) {
    if (sigsetjmp(copying, 1)) return is_copying = 0;
    is_copying = 1;
    memmove(to, from, bytes);
    is_copying = 0;
    return 1;
}

// Allocates whole pages that host and kernels share. The page after them can't be accessed.
void *emulator_pages(size_t bytes) {
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    char *start = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    mprotect(start + whole, page, PROT_NONE);
    return start;
}

void emulator_close_pages(void *start, size_t bytes) {
    size_t page = 4096, whole = (bytes + page - 1) / page * page;
    mprotect(start, whole, PROT_NONE);
    madvise(start, whole, MADV_DONTNEED);
}

void emulator_missing(const char *name) {
    fflush(NULL);
    ask("missing_function", (Word[]){W(name)});
    _exit(2);
}

// --- the host's own memory: the linker turns the program's calls into these (--wrap) ---

typedef struct { char *start; size_t bytes; } Block;
static Block *blocks;
static size_t places, filled;

static size_t place_of(char *start) {
    size_t at = ((uintptr_t)start >> 4) * 0x9E3779B97F4A7C15ull >> 20 & (places - 1);
    while (blocks[at].start && blocks[at].start != start) at = (at + 1) & (places - 1);
    return at;
}

static void *noted(void *start, size_t bytes) {
    if (!start) return start;
    pthread_mutex_lock(&lock);
    if (2 * (filled + 1) > places) {
        Block *old = blocks;
        size_t count = places;
        places = places ? 2 * places : 4096;
        blocks = calloc(places, sizeof *blocks);
        filled = 0;
        for (size_t n = 0; n < count; n++)
            if (old[n].start && old[n].bytes != (size_t)-1) blocks[place_of(old[n].start)] = old[n], filled++;
        free(old);
    }
    size_t at = place_of(start);
    filled += !blocks[at].start;
    blocks[at] = (Block){start, bytes};
    pthread_mutex_unlock(&lock);
    return start;
}

static void gone(void *start) {
    pthread_mutex_lock(&lock);
    if (places && start) {
        size_t at = place_of(start);
        if (blocks[at].start) blocks[at].bytes = -1;
    }
    pthread_mutex_unlock(&lock);
}

// Finds the start and size of the block that contains an address. Returns 0 if we know none.
int emulator_host_block(char *address, Word *start, Word *bytes) {
    int found = 0;
    for (size_t n = 0; n < places && !found; n++)
        if (blocks[n].start && blocks[n].bytes != (size_t)-1 && blocks[n].start <= address &&
            address < blocks[n].start + blocks[n].bytes)
            *start = W(blocks[n].start), *bytes = blocks[n].bytes, found = 1;
    return found;
}

// libstdc++ comes with the program, so its operators are looked up when they are first called.
static void *taken(const char *name, size_t n) {
    void *(*real)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, name);
    return noted(real(n), n);
}
static void given(const char *name, void *p) {
    gone(p);
    ((void (*)(void *))dlsym(RTLD_DEFAULT, name))(p);
}
void *__wrap_malloc(size_t n) { return noted(malloc(n), n); }
void *__wrap_calloc(size_t n, size_t m) { return noted(calloc(n, m), n * m); }
void *__wrap_realloc(void *p, size_t n) { gone(p); return noted(realloc(p, n), n); }
void *__wrap_aligned_alloc(size_t a, size_t n) { return noted(aligned_alloc(a, n), n); }
int __wrap_posix_memalign(void **p, size_t a, size_t n) { int e = posix_memalign(p, a, n); if (!e) noted(*p, n); return e; }
void __wrap_free(void *p) { gone(p); free(p); }
void *__wrap__Znwm(size_t n) { return taken("_Znwm", n); }
void *__wrap__Znam(size_t n) { return taken("_Znam", n); }
void __wrap__ZdlPv(void *p) { given("_ZdlPv", p); }
void __wrap__ZdaPv(void *p) { given("_ZdaPv", p); }
void __wrap__ZdlPvm(void *p, size_t n) { given("_ZdlPv", p); }
void __wrap__ZdaPvm(void *p, size_t n) { given("_ZdaPv", p); }

// --- calls that the compiler puts into a program: its kernels and variables ---

void **__cudaRegisterFatBinary(void *binary) {
    ask("register_binary", (Word[]){W(binary)});
    void **handle = malloc(sizeof *handle);
    *handle = binary;
    return handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) {}
void __cudaUnregisterFatBinary(void **handle) {}
char __cudaInitModule(void **handle) { return 1; }
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
                            void *thread, void *block, void *blocks, void *grid, int *warp) {
    ask("register_function", (Word[]){W(*handle), W(host), W(name)});
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global) {
    ask("register_variable", (Word[]){W(*handle), W(host), W(name)});
}
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
                              size_t size, int constant, int global) {
    ask("register_managed", (Word[]){W(*handle), W(host), W(name)});
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
    return (cudaError_t)ask("launch", (Word[]){W(f), g.x, g.y, g.z, b.x, b.y, b.z, W(args), shared, W(stream),
                                               cooperative, cluster.x, cluster.y, cluster.z});
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

// --- memory ---

cudaError_t cudaMalloc(void **p, size_t n) { return ASK(W(p), n); }
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s) { return ASK(W(p), n); }
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t m, cudaStream_t s) { return ASK(W(p), n); }
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned flags) { return ASK(W(p), n); }
cudaError_t cudaMallocHost(void **p, size_t n) { return ASK(W(p), n); }
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags) { return ASK(W(p), n); }
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t w, size_t h) { *pitch = (w + 511) / 512 * 512; return ASK(W(p), *pitch * h); }
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e) {
    p->pitch = (e.width + 511) / 512 * 512, p->xsize = e.width, p->ysize = e.height;
    return ASK(W(&p->ptr), p->pitch * e.height * e.depth);
}
cudaError_t cudaFree(void *p) { return ASK(W(p)); }
cudaError_t cudaFreeAsync(void *p, cudaStream_t s) { return ASK(W(p)); }
cudaError_t cudaFreeHost(void *p) { return ASK(W(p)); }
cudaError_t cudaHostRegister(void *p, size_t n, unsigned flags) { return ASK(W(p), n); }
cudaError_t cudaHostUnregister(void *p) { return ASK(W(p)); }
cudaError_t cudaHostGetDevicePointer(void **d, void *h, unsigned flags) { return ASK(W(d), W(h)); }
cudaError_t cudaHostGetFlags(unsigned *flags, void *p) { *flags = 0; return cudaSuccess; }
cudaError_t cudaMemcpy(void *d, const void *s, size_t n, enum cudaMemcpyKind k) { return ASK(W(d), W(s), n, k); }
cudaError_t cudaMemcpyAsync(void *d, const void *s, size_t n, enum cudaMemcpyKind k, cudaStream_t st) { return ASK(W(d), W(s), n, k, W(st)); }
cudaError_t cudaMemcpyPeer(void *d, int dd, const void *s, int sd, size_t n) { return ASK(W(d), W(s), n, cudaMemcpyDeviceToDevice); }
cudaError_t cudaMemcpyPeerAsync(void *d, int dd, const void *s, int sd, size_t n, cudaStream_t st) { return ASK(W(d), W(s), n, cudaMemcpyDeviceToDevice); }
cudaError_t cudaMemcpy2D(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, enum cudaMemcpyKind k) { return ASK(W(d), dp, W(s), sp, w, h, k); }
cudaError_t cudaMemcpy2DAsync(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, enum cudaMemcpyKind k, cudaStream_t st) { return ASK(W(d), dp, W(s), sp, w, h, k); }
static Word pitched(struct cudaPitchedPtr p, struct cudaPos at) { return W(p.ptr) + at.x + p.pitch * (at.y + p.ysize * at.z); }
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    if (p->srcArray || p->dstArray) emulator_missing("cudaMemcpy3D of a cudaArray");
    return ASK(pitched(p->dstPtr, p->dstPos), p->dstPtr.pitch, p->dstPtr.ysize, pitched(p->srcPtr, p->srcPos), p->srcPtr.pitch,
               p->srcPtr.ysize, p->extent.width, p->extent.height, p->extent.depth, p->kind);
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s) { return cudaMemcpy3D(p); }
cudaError_t cudaMemset(void *p, int v, size_t n) { return ASK(W(p), v, n); }
cudaError_t cudaMemsetAsync(void *p, int v, size_t n, cudaStream_t s) { return ASK(W(p), v, n); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int v, size_t w, size_t h) { return ASK(W(p), pitch, v, w, h); }
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int v, size_t w, size_t h, cudaStream_t s) { return ASK(W(p), pitch, v, w, h); }
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int v, struct cudaExtent e) { return (cudaError_t)ask("cudaMemset2D", (Word[]){W(p.ptr), p.pitch, v, e.width, e.height * e.depth}); }
cudaError_t cudaGetSymbolAddress(void **p, const void *symbol) { return ASK(W(p), W(symbol)); }
cudaError_t cudaGetSymbolSize(size_t *n, const void *symbol) { return ASK(W(n), W(symbol)); }
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *s, size_t n, size_t at, enum cudaMemcpyKind k) { return ASK(W(symbol), W(s), n, at, k); }
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *s, size_t n, size_t at, enum cudaMemcpyKind k, cudaStream_t st) { return ASK(W(symbol), W(s), n, at, k); }
cudaError_t cudaMemcpyFromSymbol(void *d, const void *symbol, size_t n, size_t at, enum cudaMemcpyKind k) { return ASK(W(d), W(symbol), n, at, k); }
cudaError_t cudaMemcpyFromSymbolAsync(void *d, const void *symbol, size_t n, size_t at, enum cudaMemcpyKind k, cudaStream_t st) { return ASK(W(d), W(symbol), n, at, k); }
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

// --- errors ---

cudaError_t cudaGetLastError(void) { return ASK(0); }
cudaError_t cudaPeekAtLastError(void) { return ASK(0); }
const char *cudaGetErrorString(cudaError_t e) { return (const char *)ask(__func__, (Word[]){e}); }
const char *cudaGetErrorName(cudaError_t e) { return (const char *)ask(__func__, (Word[]){e}); }

// --- devices ---

static int attribute(enum cudaDeviceAttr a) {
    int value = 0;
    ask("cudaDeviceGetAttribute", (Word[]){W(&value), a, 0});
    return value;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr a, int device) { return ASK(W(value), a, device); }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    cudaError_t error = (cudaError_t)ask("cudaSetDevice", (Word[]){device});
    if (error) return error;
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulator of an sm_90a GPU");
    size_t left, total;
    ask("cudaMemGetInfo", (Word[]){W(&left), W(&total)});
    p->totalGlobalMem = total;
    p->sharedMemPerBlock = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    p->sharedMemPerBlockOptin = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->sharedMemPerMultiprocessor = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->reservedSharedMemPerBlock = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
    p->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
    p->regsPerMultiprocessor = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
    p->warpSize = attribute(cudaDevAttrWarpSize);
    p->memPitch = attribute(cudaDevAttrMaxPitch);
    p->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
    for (int n = 0; n < 3; n++) {
        p->maxThreadsDim[n] = attribute(cudaDevAttrMaxBlockDimX + n);
        p->maxGridSize[n] = attribute(cudaDevAttrMaxGridDimX + n);
    }
    p->totalConstMem = attribute(cudaDevAttrTotalConstantMemory);
    p->major = attribute(cudaDevAttrComputeCapabilityMajor);
    p->minor = attribute(cudaDevAttrComputeCapabilityMinor);
    p->textureAlignment = attribute(cudaDevAttrTextureAlignment);
    p->texturePitchAlignment = attribute(cudaDevAttrTexturePitchAlignment);
    p->multiProcessorCount = attribute(cudaDevAttrMultiProcessorCount);
    p->maxThreadsPerMultiProcessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    p->maxBlocksPerMultiProcessor = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
    p->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
    p->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
    p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
    p->concurrentKernels = p->asyncEngineCount = p->cooperativeLaunch = 1;
    p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->pageableMemoryAccess = p->memoryPoolsSupported = attribute(cudaDevAttrMemoryPoolsSupported);
    p->pageableMemoryAccess = 0;
#if CUDART_VERSION < 13000
    p->clockRate = attribute(cudaDevAttrClockRate);
    p->memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
    p->deviceOverlap = 1;
#endif
    return cudaSuccess;
}
#if CUDART_VERSION < 13000
#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) { return cudaGetDeviceProperties_v2(p, device); }
#endif
cudaError_t cudaSetDevice(int device) { return ASK(device); }
cudaError_t cudaInitDevice(int device, unsigned flags, unsigned more) { return (cudaError_t)ask("cudaSetDevice", (Word[]){device}); }
cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *p) { *device = 0; return cudaSuccess; }
cudaError_t cudaSetValidDevices(int *devices, int n) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned flags) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned *flags) { *flags = 0; return cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char *text, int n, int device) { snprintf(text, n, "0000:00:00.0"); return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return ASK(0); }
cudaError_t cudaThreadSynchronize(void) { return (cudaError_t)ask("cudaDeviceSynchronize", (Word[]){0}); }
cudaError_t cudaDeviceReset(void) { return ASK(0); }
cudaError_t cudaThreadExit(void) { return (cudaError_t)ask("cudaDeviceReset", (Word[]){0}); }
cudaError_t cudaDeviceCanAccessPeer(int *can, int a, int b) { *can = 0; return cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags) { return ASK(device); }
cudaError_t cudaDeviceDisablePeerAccess(int device) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache c) { return cudaSuccess; }
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *c) { *c = cudaFuncCachePreferNone; return cudaSuccess; }
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache c) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(enum cudaLimit l, size_t v) { return cudaSuccess; }
cudaError_t cudaThreadSetLimit(enum cudaLimit l, size_t v) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(size_t *v, enum cudaLimit l) { *v = l == cudaLimitStackSize ? 1024 : l == cudaLimitPrintfFifoSize ? 1 << 20 : 8 << 20; return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0; *greatest = -5; return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *v) { *v = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

// --- kernels ---

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

// --- streams and events: all work is done when its call returns ---

static int streams = 0x100;
static cudaError_t stream_of(cudaStream_t *s) { *s = (cudaStream_t)(intptr_t)streams++; return cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t *s) { return stream_of(s); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) { return stream_of(s); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) { return stream_of(s); }
cudaError_t cudaStreamDestroy(cudaStream_t s) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t s) { return ASK(W(s)); }
cudaError_t cudaStreamQuery(cudaStream_t s) { return (cudaError_t)ask("cudaStreamSynchronize", (Word[]){W(s)}); }
cudaError_t cudaStreamGetPriority(cudaStream_t s, int *p) { *p = 0; return cudaSuccess; }
cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags) { *flags = 0; return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) { return cudaSuccess; }
cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t n, unsigned flags) { return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) { *status = cudaStreamCaptureStatusNone; return cudaSuccess; }
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *data, unsigned flags) { f(s, cudaSuccess, data); return cudaSuccess; }
cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *data) { f(data); return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = calloc(1, 8); return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) { *e = calloc(1, 8); return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return ASK(W(e)); }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) { return (cudaError_t)ask("cudaEventRecord", (Word[]){W(e)}); }
cudaError_t cudaEventSynchronize(cudaEvent_t e) { return ASK(W(e)); }
cudaError_t cudaEventQuery(cudaEvent_t e) { return (cudaError_t)ask("cudaEventSynchronize", (Word[]){W(e)}); }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) { return ASK(W(ms), W(a), W(b)); }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return cudaSuccess; }

// --- the few functions of the driver that programs of the runtime ask for ---

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *v) { *v = CUDART_VERSION; return 0; }
int cuGetErrorString(int e, const char **text) { *text = cudaGetErrorString((cudaError_t)e); return 0; }
int cuGetErrorName(int e, const char **text) { *text = cudaGetErrorName((cudaError_t)e); return 0; }
int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,
                           const unsigned *box, const unsigned *steps, int interleave, int swizzle, int l2, int fill) {
    return (int)ASK(W(map), type, rank, W(address), W(sizes), W(strides), W(box), W(steps), interleave, swizzle, fill);
}
static cudaError_t driver_function(const char *name, void **f, enum cudaDriverEntryPointQueryResult *found) {
    *f = dlsym(RTLD_DEFAULT, name);
    if (found) *found = *f ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *f ? cudaSuccess : cudaErrorSymbolNotFound;
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **f, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found) { return driver_function(name, f, found); }
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found) { return driver_function(name, f, found); }

// --- cuRAND's host functions: the numbers are NumPy's ---

static Word bits_of(double value) { Word word; memcpy(&word, &value, 8); return word; }
int curandCreateGenerator(void **g, int type) { return (int)ASK(W(g), type, 1); }
int curandCreateGeneratorHost(void **g, int type) { return (int)ask("curandCreateGenerator", (Word[]){W(g), type, 0}); }
int curandDestroyGenerator(void *g) { return 0; }
int curandSetPseudoRandomGeneratorSeed(void *g, unsigned long long seed) { return (int)ASK(W(g), seed); }
int curandSetGeneratorOffset(void *g, unsigned long long offset) { return 0; }
int curandSetGeneratorOrdering(void *g, int order) { return 0; }
int curandSetStream(void *g, void *stream) { return 0; }
int curandGetVersion(int *version) { *version = 10000 + CUDART_VERSION / 1000; return 0; }
enum { BITS, UNIFORM, NORMAL, LOG_NORMAL, POISSON };
#define DRAW(g, out, n, law, size, a, b) (int)ask("curand_draw", (Word[]){W(g), W(out), n, law, size, bits_of(a), bits_of(b)})
int curandGenerate(void *g, unsigned *out, size_t n) { return DRAW(g, out, n, BITS, 4, 0, 0); }
int curandGenerateLongLong(void *g, unsigned long long *out, size_t n) { return DRAW(g, out, n, BITS, 8, 0, 0); }
int curandGenerateUniform(void *g, float *out, size_t n) { return DRAW(g, out, n, UNIFORM, 4, 0, 0); }
int curandGenerateUniformDouble(void *g, double *out, size_t n) { return DRAW(g, out, n, UNIFORM, 8, 0, 0); }
int curandGenerateNormal(void *g, float *out, size_t n, float mean, float deviation) { return DRAW(g, out, n, NORMAL, 4, mean, deviation); }
int curandGenerateNormalDouble(void *g, double *out, size_t n, double mean, double deviation) { return DRAW(g, out, n, NORMAL, 8, mean, deviation); }
int curandGenerateLogNormal(void *g, float *out, size_t n, float mean, float deviation) { return DRAW(g, out, n, LOG_NORMAL, 4, mean, deviation); }
int curandGenerateLogNormalDouble(void *g, double *out, size_t n, double mean, double deviation) { return DRAW(g, out, n, LOG_NORMAL, 8, mean, deviation); }
int curandGeneratePoisson(void *g, unsigned *out, size_t n, double mean) { return DRAW(g, out, n, POISSON, 4, mean, 0); }
