// The driver's functions. A CUresult has the number of the runtime's error of the same meaning.
#include "asking.h"
#include <cuda.h>

enum { DEEPEST = 32 };
static int started;                       // by cuInit
static __thread CUcontext contexts[DEEPEST]; // the last is the current one
static __thread int depth;
static int primary; // its address is the primary context, which the runtime uses

static CUresult result(Word answer) {
    return answer == cudaErrorInvalidConfiguration ? CUDA_ERROR_INVALID_VALUE : (CUresult)answer;
}
// What a call fails with that needs a context. The runtime makes the primary context current.
static CUresult no_context(void) {
    if (depth && contexts[depth - 1]) return CUDA_SUCCESS;
    if (emulator_runtime_used) return CUDA_SUCCESS;
    return started ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
}
#define CALL(name, stream, ...) (no_context() ? no_context() : result(ANSWER(name, W(stream), __VA_ARGS__)))
#define PLAIN(call) (no_context() ? no_context() : result(call)) // a function of the runtime
#define AT_ONCE NO_STREAM
// A question that needs no context, and makes none.
#define QUIET(ask) ({ int before = emulator_runtime_used; Word answer = (ask); emulator_runtime_used = before; result(answer); })

CUresult cuInit(unsigned flags) { started = 1; return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *v) { *v = CUDART_VERSION; return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult e, const char **text) { *text = cudaGetErrorString((cudaError_t)e); return CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult e, const char **text) { *text = (const char *)ANSWER("cuGetErrorName", NO_STREAM, e); return CUDA_SUCCESS; }

// --- devices and contexts ---

static CUresult device(int d) { return !started ? CUDA_ERROR_NOT_INITIALIZED : d ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *d, int ordinal) { *d = ordinal; return device(ordinal); }
CUresult cuDeviceGetCount(int *count) { *count = 1; return device(0); }
CUresult cuDeviceGetName(char *name, int n, CUdevice d) { snprintf(name, n, "%s", DEVICE_NAME); return device(d); }
CUresult cuDeviceTotalMem(size_t *n, CUdevice d) { size_t left; return device(d) ? device(d) : QUIET(ASK_AS("cudaMemGetInfo", W(&left), W(n))); }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) { return device(d) ? device(d) : QUIET(ASK_AS("cudaDeviceGetAttribute", W(v), a, d)); }
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice d) {
    CUresult error = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
    return error ? error : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice a, CUdevice b) { *can = 0; return device(0); }

static CUresult pushed(CUcontext c) {
    if (depth == DEEPEST) return CUDA_ERROR_INVALID_VALUE;
    contexts[depth++] = c;
    return CUDA_SUCCESS;
}
static CUresult made(CUcontext *c, CUdevice d) {
    if (device(d)) return device(d);
    *c = calloc(1, 8);
    return pushed(*c);
}
CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice d) { return made(c, d); }
CUresult cuCtxCreate_v3(CUcontext *c, CUexecAffinityParam *p, int n, unsigned flags, CUdevice d) { return made(c, d); }
#if CUDA_VERSION >= 12050
CUresult cuCtxCreate_v4(CUcontext *c, CUctxCreateParams *p, unsigned flags, CUdevice d) { return made(c, d); }
#endif
CUresult cuCtxPushCurrent(CUcontext c) { return pushed(c); }
CUresult cuCtxPopCurrent(CUcontext *c) {
    if (!depth) return CUDA_ERROR_INVALID_CONTEXT;
    CUcontext top = contexts[--depth];
    if (c) *c = top;
    return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext c) {
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    if (depth && contexts[depth - 1] == c) depth--;
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext c) { if (depth) depth--; return c ? pushed(c) : CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext *c) { *c = depth ? contexts[depth - 1] : NULL; return CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice *d) { *d = 0; return no_context(); }
CUresult cuCtxSynchronize(void) { return CALL("cuCtxSynchronize", AT_ONCE, 0); }
CUresult cuCtxSetLimit(CUlimit l, size_t v) { return no_context(); }
CUresult cuCtxGetLimit(size_t *v, CUlimit l) { return PLAIN(cudaDeviceGetLimit(v, (enum cudaLimit)l)); }
CUresult cuCtxSetCacheConfig(CUfunc_cache c) { return no_context(); }
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) { *c = (CUcontext)&primary; return device(d); }
CUresult cuDevicePrimaryCtxRelease(CUdevice d) { return device(d); }
CUresult cuDevicePrimaryCtxReset(CUdevice d) { return device(d); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned flags) { return device(d); }

// --- modules and launches ---

CUresult cuModuleLoadData(CUmodule *m, const void *image) { return CALL("cuModuleLoadData", AT_ONCE, W(m), W(image)); }
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned n, CUjit_option *o, void **v) { return cuModuleLoadData(m, image); }
CUresult cuModuleLoadFatBinary(CUmodule *m, const void *image) { return cuModuleLoadData(m, image); }
CUresult cuModuleLoad(CUmodule *m, const char *path) { return CALL("cuModuleLoad", AT_ONCE, W(m), W(path)); }
CUresult cuModuleUnload(CUmodule m) { return CALL("cuModuleUnload", AT_ONCE, W(m)); }
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) { return CALL("cuModuleGetFunction", AT_ONCE, W(f), W(m), W(name)); }
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *n, CUmodule m, const char *name) { return CALL("cuModuleGetGlobal", AT_ONCE, W(p), W(n), W(m), W(name)); }

CUresult cuLinkCreate(unsigned n, CUjit_option *o, void **v, CUlinkState *l) { return CALL("cuLinkCreate", AT_ONCE, W(l)); }
CUresult cuLinkAddData(CUlinkState l, CUjitInputType type, void *data, size_t size, const char *name, unsigned n, CUjit_option *o, void **v) { return CALL("cuLinkAddData", AT_ONCE, W(l), W(data), size); }
CUresult cuLinkComplete(CUlinkState l, void **image, size_t *size) { return CALL("cuLinkComplete", AT_ONCE, W(l), W(image), W(size)); }
CUresult cuLinkDestroy(CUlinkState l) { return CALL("cuLinkDestroy", AT_ONCE, W(l)); }

// A launch's arguments are pointers to them, or one buffer with all of them.
static void *buffer_of(void **extra) {
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) return extra[1];
    return NULL;
}
#define LAUNCH(cooperative, extra) \
    CALL("launch", s, W(f), gx, gy, gz, bx, by, bz, W(args), shared, cooperative, 0, 0, 0, W(buffer_of(extra)))
#define SHAPE CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **args
CUresult cuLaunchKernel(SHAPE, void **extra) { return LAUNCH(0, extra); }
CUresult cuLaunchCooperativeKernel(SHAPE) { return LAUNCH(1, NULL); }

CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
    Word facts[5] = {0}; // shared, local, threads of a block, most dynamic shared, registers
    CUresult error = CALL("cudaFuncGetAttributes", AT_ONCE, W(f), W(facts));
    switch (a) {
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *v = facts[0]; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *v = facts[1]; break;
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *v = facts[2]; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *v = facts[3]; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *v = facts[4]; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *v = 90; break;
    default: *v = 0;
    }
    return error;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) { return CALL("cudaFuncSetAttribute", AT_ONCE, W(f), a, v); }
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache c) { return no_context(); }
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t shared) { return CALL("cudaOccupancyMaxActiveBlocksPerMultiprocessor", AT_ONCE, W(n), W(f), threads, shared); }
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    int best = 0;
    CUresult error = CUDA_SUCCESS;
    for (int threads = 32; threads <= 1024 && (!limit || threads <= limit) && !error; threads += 32) {
        int fit = 0;
        error = cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, f, threads, shared_of ? shared_of(threads) : shared);
        if (fit * threads >= best) best = fit * threads, *block = threads, *grid = fit;
    }
    int sms = 0;
    ASK_AS("cudaDeviceGetAttribute", W(&sms), cudaDevAttrMultiProcessorCount, 0);
    *grid *= sms;
    return error;
}

// --- memory ---

CUresult cuMemAlloc(CUdeviceptr *p, size_t n) { return n ? CALL("cuMemAlloc", AT_ONCE, W(p), n) : CUDA_ERROR_INVALID_VALUE; }
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s) { return CALL("cudaMallocAsync", s, W(p), n); }
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t n, unsigned flags) { return CALL("cuMemAllocManaged", AT_ONCE, W(p), n); }
CUresult cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t w, size_t h, unsigned element) { *pitch = (w + 511) / 512 * 512; return cuMemAlloc(p, *pitch * h); }
CUresult cuMemFree(CUdeviceptr p) { return CALL("cuMemFree", AT_ONCE, p); }
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) { return CALL("cudaFreeAsync", s, p); }
CUresult cuMemAllocHost(void **p, size_t n) { return PLAIN(cudaMallocHost(p, n)); }
CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) { return PLAIN(cudaHostAlloc(p, n, flags)); }
CUresult cuMemFreeHost(void *p) { return PLAIN(cudaFreeHost(p)); }
CUresult cuMemHostRegister(void *p, size_t n, unsigned flags) { return PLAIN(cudaHostRegister(p, n, flags)); }
CUresult cuMemHostUnregister(void *p) { return PLAIN(cudaHostUnregister(p)); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *d, void *p, unsigned flags) { return PLAIN(cudaHostGetDevicePointer((void **)d, p, flags)); }
CUresult cuMemGetInfo(size_t *left, size_t *total) { return CALL("cudaMemGetInfo", AT_ONCE, W(left), W(total)); }
#define COPY(name, to, from, kind, stream) CALL(name, stream, W(to), W(from), n, kind)
CUresult cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n) { return COPY("cuMemcpy", d, s, cudaMemcpyDefault, AT_ONCE); }
CUresult cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st) { return COPY("cuMemcpy", d, s, cudaMemcpyDefault, st); }
CUresult cuMemcpyHtoD(CUdeviceptr d, const void *s, size_t n) { return COPY("cuMemcpyHtoD", d, s, cudaMemcpyHostToDevice, AT_ONCE); }
CUresult cuMemcpyHtoDAsync(CUdeviceptr d, const void *s, size_t n, CUstream st) { return COPY("cuMemcpyHtoD", d, s, cudaMemcpyHostToDevice, st); }
CUresult cuMemcpyDtoH(void *d, CUdeviceptr s, size_t n) { return COPY("cuMemcpyDtoH", d, s, cudaMemcpyDeviceToHost, AT_ONCE); }
CUresult cuMemcpyDtoHAsync(void *d, CUdeviceptr s, size_t n, CUstream st) { return COPY("cuMemcpyDtoH", d, s, cudaMemcpyDeviceToHost, st); }
CUresult cuMemcpyDtoD(CUdeviceptr d, CUdeviceptr s, size_t n) { return COPY("cuMemcpyDtoD", d, s, cudaMemcpyDeviceToDevice, AT_ONCE); }
CUresult cuMemcpyDtoDAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st) { return COPY("cuMemcpyDtoD", d, s, cudaMemcpyDeviceToDevice, st); }
#define SET(size, stream) CALL("fill_elements", stream, W(p), 0, v, size, n, 1)
CUresult cuMemsetD8(CUdeviceptr p, unsigned char v, size_t n) { return SET(1, AT_ONCE); }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) { return SET(1, s); }
CUresult cuMemsetD16(CUdeviceptr p, unsigned short v, size_t n) { return SET(2, AT_ONCE); }
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t n, CUstream s) { return SET(2, s); }
CUresult cuMemsetD32(CUdeviceptr p, unsigned v, size_t n) { return SET(4, AT_ONCE); }
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s) { return SET(4, s); }

// --- streams and events: the runtime's, whose handles are the same ---

CUresult cuStreamCreate(CUstream *s, unsigned flags) { return PLAIN(cudaStreamCreateWithFlags(s, flags)); }
CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority) { return PLAIN(cudaStreamCreateWithFlags(s, flags)); }
CUresult cuStreamDestroy(CUstream s) { return PLAIN(cudaStreamDestroy(s)); }
CUresult cuStreamSynchronize(CUstream s) { return PLAIN(cudaStreamSynchronize(s)); }
CUresult cuStreamQuery(CUstream s) { return PLAIN(cudaStreamQuery(s)); }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) { return PLAIN(cudaStreamWaitEvent(s, e, flags)); }
CUresult cuLaunchHostFunc(CUstream s, CUhostFn f, void *data) { return PLAIN(cudaLaunchHostFunc(s, f, data)); }
CUresult cuEventCreate(CUevent *e, unsigned flags) { return PLAIN(cudaEventCreateWithFlags(e, flags)); }
CUresult cuEventDestroy(CUevent e) { return PLAIN(cudaEventDestroy(e)); }
CUresult cuEventRecord(CUevent e, CUstream s) { return PLAIN(cudaEventRecord(e, s)); }
CUresult cuEventSynchronize(CUevent e) { return PLAIN(cudaEventSynchronize(e)); }
CUresult cuEventQuery(CUevent e) { return PLAIN(cudaEventQuery(e)); }
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) { return PLAIN(cudaEventElapsedTime(ms, a, b)); }
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) { return PLAIN(cudaEventElapsedTime(ms, a, b)); }
#endif

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, unsigned rank, void *address, const cuuint64_t *sizes, const cuuint64_t *strides,
                                const unsigned *box, const unsigned *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill) {
    return result(ASK(W(map), type, rank, W(address), W(sizes), W(strides), W(box), W(steps), interleave, swizzle, fill));
}
static cudaError_t driver_function(const char *name, void **f, enum cudaDriverEntryPointQueryResult *found) {
    static const char *const versions[] = {"", "_v2", "_v3", "_v4"};
    char full[128];
    *f = NULL;
    for (int n = 0; n < 4 && !*f; n++) {
        snprintf(full, sizeof full, "%s%s", name, versions[n]);
        *f = dlsym(RTLD_DEFAULT, full);
    }
    if (found) *found = *f ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *f ? cudaSuccess : cudaErrorSymbolNotFound;
}
cudaError_t cudaGetDriverEntryPoint(const char *name, void **f, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found) { return driver_function(name, f, found); }
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **f, unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *found) { return driver_function(name, f, found); }
