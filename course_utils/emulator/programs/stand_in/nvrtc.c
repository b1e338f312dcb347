// NVRTC: CUDA's own library compiles, which needs no GPU. It makes PTX where a program asks for machine
// code, since the emulator reads PTX. Its header needn't be here.
#include "asking.h"

typedef void *P;
enum { MOST = 256 };
#define ARCHITECTURE "--gpu-architecture=compute_90a"

static void *function(const char *name) {
    static void *library;
    if (!library) {
        const char *path = (const char *)ANSWER("nvrtc_library", NO_STREAM, CUDART_VERSION);
        library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    void *found = library ? dlsym(library, name) : NULL;
    if (!found) emulator_missing(name);
    return found;
}
#define FORWARD(name, types, ...) { return ((int (*) types)function(name))(__VA_ARGS__); }

int nvrtcVersion(int *major, int *minor) FORWARD("nvrtcVersion", (int *, int *), major, minor)
int nvrtcGetNumSupportedArchs(int *n) FORWARD("nvrtcGetNumSupportedArchs", (int *), n)
int nvrtcGetSupportedArchs(int *list) FORWARD("nvrtcGetSupportedArchs", (int *), list)
const char *nvrtcGetErrorString(int e) { return ((const char *(*)(int))function("nvrtcGetErrorString"))(e); }
int nvrtcCreateProgram(P *p, const char *source, const char *name, int n, P headers, P names) FORWARD("nvrtcCreateProgram", (P *, const char *, const char *, int, P, P), p, source, name, n, headers, names)
int nvrtcDestroyProgram(P *p) FORWARD("nvrtcDestroyProgram", (P *), p)
int nvrtcAddNameExpression(P p, const char *name) FORWARD("nvrtcAddNameExpression", (P, const char *), p, name)
int nvrtcGetLoweredName(P p, const char *name, const char **lowered) FORWARD("nvrtcGetLoweredName", (P, const char *, const char **), p, name, lowered)
int nvrtcGetProgramLogSize(P p, size_t *n) FORWARD("nvrtcGetProgramLogSize", (P, size_t *), p, n)
int nvrtcGetProgramLog(P p, char *log) FORWARD("nvrtcGetProgramLog", (P, char *), p, log)
int nvrtcGetPTXSize(P p, size_t *n) FORWARD("nvrtcGetPTXSize", (P, size_t *), p, n)
int nvrtcGetPTX(P p, char *ptx) FORWARD("nvrtcGetPTX", (P, char *), p, ptx)
int nvrtcGetCUBINSize(P p, size_t *n) { return nvrtcGetPTXSize(p, n); }
int nvrtcGetCUBIN(P p, char *cubin) { return nvrtcGetPTX(p, cubin); }

// The options, but for the architecture, and with the lines of the source.
int nvrtcCompileProgram(P p, int n, const char *const *options) {
    const char *kept[MOST + 2] = {ARCHITECTURE, "--generate-line-info"};
    int count = 2;
    for (int i = 0; i < n && count < MOST; i++) {
        const char *o = options[i];
        if (!strcmp(o, "-arch") || !strcmp(o, "--gpu-architecture")) i++;
        else if (!strncmp(o, "-arch=", 6) || !strncmp(o, "--gpu-architecture=", 19)) continue;
        else if (!strcmp(o, "-lineinfo") || !strcmp(o, "--generate-line-info") || !strcmp(o, "-G") || !strcmp(o, "--device-debug")) continue;
        else kept[count++] = o;
    }
    return ((int (*)(P, int, const char *const *))function("nvrtcCompileProgram"))(p, count, kept);
}
