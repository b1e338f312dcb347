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
