// The few functions of the driver that programs of the runtime call.
#include "asking.h"

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
