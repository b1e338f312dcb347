// The driver's functions: a module that the program loads itself.

static void driver(void) {
    CUdeviceptr d = 0;
    CUmodule module;
    CUfunction add_to, missing;
    CUcontext context;
    int count = 0, major = 0, threads = 0, h[4] = {1, 2, 3, 4}, n = 4;
    show("too early", (int[]){cuDeviceGetCount(&count), cuMemAlloc(&d, 16)}, 2);
    cuInit(0);
    show("no context", (int[]){cuMemAlloc(&d, 16), cuDeviceGet(&count, 1)}, 2);
    cuDeviceGetCount(&count);
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    cuCtxCreate_v2(&context, 0, 0);
    int loaded[] = {cuModuleLoadData(&module, binary), cuModuleGetFunction(&add_to, module, "add"),
                    cuModuleGetFunction(&missing, module, "none")};
    show("module", loaded, 3);
    cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add_to);
    show("driver's device", (int[]){count, major, threads}, 3);
    cuMemAlloc(&d, sizeof h);
    cuMemcpyHtoD(d, h, sizeof h);
    void *arguments[] = {&d, &d, &n};
    show("doubled", (int[]){cuLaunchKernel(add_to, 1, 1, 1, 32, 1, 1, 0, 0, arguments, 0)}, 1);
    struct { CUdeviceptr to, from; int n; } packed = {d, d, 2};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    cuLaunchKernel(add_to, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra);
    cuCtxSynchronize();
    cuMemcpyDtoH(h, d, sizeof h);
    show("sums of the driver", h, 4);
    cuMemsetD32(d, 7, 2);
    cuMemcpyDtoH(h, d, 8);
    CUdeviceptr global;
    cuModuleGetGlobal(&global, &size, module, "factor");
    show("set and found", (int[]){h[0], h[1], size}, 3);
    const char *name;
    cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name);
    printf("name: %s\n", name);
    show("bad image", (int[]){cuModuleLoadData(&module, "no kernels")}, 1); // BAD_IMAGE
    cuMemcpyHtoD(d, h, 20);                                                  // HOST_TOO_SMALL
    cuMemFree(d);
    cuMemFree(d); // FREED_BY_DRIVER
    cuCtxDestroy(context);
}

// NVRTC, whose header needn't be here: it gives PTX for machine code.
int nvrtcCreateProgram(void **, const char *, const char *, int, void *, void *), nvrtcGetCUBINSize(void *, size_t *);
int nvrtcCompileProgram(void *, int, const char *const *), nvrtcGetCUBIN(void *, char *);
static void compiled(void) {
    const char *source = "extern \"C\" __global__ void set(int *x) { x[threadIdx.x] = WIDE + threadIdx.x; }";
    const char *options[] = {"--gpu-architecture=sm_90", "-DWIDE=40"};
    void *program;
    size_t size = 0;
    CUdeviceptr d;
    CUcontext context;
    CUmodule module;
    CUfunction set;
    int h[3] = {0};
    int made[] = {nvrtcCreateProgram(&program, source, "set.cu", 0, 0, 0), nvrtcCompileProgram(program, 2, options)};
    nvrtcGetCUBINSize(program, &size);
    char *image = malloc(size);
    nvrtcGetCUBIN(program, image);
    cuInit(0);
    cuCtxCreate_v2(&context, 0, 0);
    CUlinkState link;
    cuLinkCreate(0, 0, 0, &link);
    cuLinkAddData(link, CU_JIT_INPUT_PTX, image, size, "set", 0, 0, 0);
    cuLinkComplete(link, (void **)&image, &size);
    cuModuleLoadData(&module, image);
    cuModuleGetFunction(&set, module, "set");
    cuMemAlloc(&d, sizeof h);
    void *arguments[] = {&d};
    cuLaunchKernel(set, 1, 1, 1, 3, 1, 1, 0, 0, arguments, 0);
    cuMemcpyDtoH(h, d, sizeof h);
    show("compiled", (int[]){made[0], made[1], h[0], h[2]}, 4);
    cuLaunchKernel(set, 1, 1, 1, 4, 1, 1, 0, 0, arguments, 0);
}
