// Errors and the device.
#include "asking.h"

cudaError_t cudaGetLastError(void) { return ASK(0); }
cudaError_t cudaPeekAtLastError(void) { return ASK(0); }
const char *cudaGetErrorString(cudaError_t e) { return (const char *)ANSWER(__func__, NO_STREAM, e); }
const char *cudaGetErrorName(cudaError_t e) { return (const char *)ANSWER(__func__, NO_STREAM, e); }

static int attribute(enum cudaDeviceAttr a) {
    int value = 0;
    ASK_AS("cudaDeviceGetAttribute", W(&value), a, 0);
    return value;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr a, int device) { return ASK(W(value), a, device); }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    cudaError_t error = ASK_AS("cudaSetDevice", device);
    if (error) return error;
    memset(p, 0, sizeof *p);
    strcpy(p->name, DEVICE_NAME);
    size_t left, total;
    ASK_AS("cudaMemGetInfo", W(&left), W(&total));
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
    p->persistingL2CacheMaxSize = attribute(cudaDevAttrMaxPersistingL2CacheSize);
    p->accessPolicyMaxWindowSize = attribute(cudaDevAttrMaxAccessPolicyWindowSize);
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
cudaError_t cudaInitDevice(int device, unsigned flags, unsigned more) { return ASK_AS("cudaSetDevice", device); }
cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *p) { *device = 0; return cudaSuccess; }
cudaError_t cudaSetValidDevices(int *devices, int n) { return cudaSuccess; }
cudaError_t cudaSetDeviceFlags(unsigned flags) { return cudaSuccess; }
cudaError_t cudaGetDeviceFlags(unsigned *flags) { *flags = 0; return cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char *text, int n, int device) { snprintf(text, n, "0000:00:00.0"); return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return ASK(0); }
cudaError_t cudaThreadSynchronize(void) { return ASK_AS("cudaDeviceSynchronize", 0); }
cudaError_t cudaDeviceReset(void) { return ASK(0); }
cudaError_t cudaThreadExit(void) { return ASK_AS("cudaDeviceReset", 0); }
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
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }
