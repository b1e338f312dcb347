// More of host.c: graphs, CUDA arrays, textures and surfaces. A comment in capitals marks a mistake.

static void count_up(void *number) { *(int *)number += 100; }

static void graphs(void) {
    int h[4] = {1, 2, 3, 4}, out[4] = {0}, n = 4, counted = 0, *a, *b;
    cudaMalloc((void **)&a, sizeof h);
    cudaMalloc((void **)&b, sizeof h);
    cudaStream_t s, other;
    cudaStreamCreate(&s), cudaStreamCreate(&other);
    cudaEvent_t fork, join;
    cudaEventCreate(&fork), cudaEventCreate(&join);
    cudaGraph_t graph, made;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(a, h, sizeof h, cudaMemcpyHostToDevice, s);
    cudaEventRecord(fork, s), cudaStreamWaitEvent(other, fork, 0);
    cudaMemsetAsync(b, 0, sizeof h, other);
    cudaEventRecord(join, other), cudaStreamWaitEvent(s, join, 0);
    int *source = a;
    cudaLaunchKernel(&add, (dim3){1, 1, 1}, (dim3){4, 1, 1}, (void *[]){&b, &source, &n}, 0, s);
    source = 0; // the graph has a copy
    cudaMemcpyAsync(out, b, sizeof h, cudaMemcpyDeviceToHost, s);
    cudaLaunchHostFunc(s, count_up, &counted);
    enum cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(s, &status);
    cudaStreamEndCapture(s, &graph);
    size_t nodes;
    cudaGraphGetNodes(graph, 0, &nodes);
    show("captured", (int[]){status, nodes, out[0], counted}, 4);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, s), cudaGraphLaunch(ready, s);
    show("replayed", (int[]){out[0], out[3], counted}, 3);

    cudaGraphNode_t fill, run, child;
    cudaGraphCreate(&made, 0);
    struct cudaMemsetParams value = {.dst = b, .value = 7, .elementSize = 4, .width = 4, .height = 1};
    struct cudaKernelNodeParams kernel = {.func = &add, .gridDim = {1, 1, 1}, .blockDim = {4, 1, 1},
                                          .kernelParams = (void *[]){&b, &a, &n}};
    cudaGraphAddKernelNode(&run, made, 0, 0, &kernel);
    cudaGraphAddMemsetNode(&fill, made, 0, 0, &value);
#if CUDART_VERSION >= 13000
    cudaGraphAddDependencies(made, &fill, &run, 0, 1);
#else
    cudaGraphAddDependencies(made, &fill, &run, 1);
#endif
    cudaGraphExec_t second;
    cudaGraphInstantiate(&second, made, 0);
    cudaGraphLaunch(second, s);
    cudaMemcpy(out, b, sizeof h, cudaMemcpyDeviceToHost);
    show("made", out, 4);
    value.value = 9;
    cudaGraphExecMemsetNodeSetParams(second, fill, &value);
    cudaGraphLaunch(second, s);
    cudaMemcpy(out, b, sizeof h, cudaMemcpyDeviceToHost);
    show("changed", out, 4);

    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    int refused = cudaStreamSynchronize(s); // WAITS_IN_CAPTURE
    show("broken", (int[]){refused, cudaStreamEndCapture(s, &graph), graph == 0}, 3);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    refused = cudaMemcpy(out, b, 4, cudaMemcpyDeviceToHost); // COPY_IN_CAPTURE
    cudaStreamEndCapture(s, &graph);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaEventRecord(fork, s), cudaStreamWaitEvent(other, fork, 0);
    cudaMemsetAsync(b, 0, 4, other);
    show("unjoined", (int[]){refused, cudaStreamEndCapture(s, &graph)}, 2); // UNJOINED
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(b, 0, 20, s); // SET_OUTSIDE_IN_GRAPH
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    show("late", (int[]){cudaGraphLaunch(ready, s)}, 1);
    int *inside;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMallocAsync((void **)&inside, sizeof h, s);
    cudaMemsetAsync(inside, 7, 1, s);
    cudaMemcpyAsync(out, inside, 1, cudaMemcpyDeviceToHost, s);
    cudaFreeAsync(inside, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    out[0] = 0;
    int launched[] = {cudaGraphLaunch(ready, s), cudaGraphLaunch(ready, s)};
    show("its own memory", (int[]){launched[0], launched[1], out[0]}, 3);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMallocAsync((void **)&inside, sizeof h, s);
    cudaMemsetAsync(inside, 5, 1, s);
    cudaStreamEndCapture(s, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    int again[] = {cudaGraphLaunch(ready, s), cudaFreeAsync(inside, s), cudaGraphLaunch(ready, s)};
    cudaMemcpy(out, inside, 1, cudaMemcpyDeviceToHost);
    show("freed outside", (int[]){again[0], again[1], again[2], out[0], cudaFree(inside)}, 5);
    cudaGraphExecDestroy(ready), cudaGraphDestroy(graph);
    cudaFree(a), cudaFree(b);
}

static void arrays(void) {
    float h[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0}, *d;
    cudaMalloc((void **)&d, sizeof h);
    struct cudaChannelFormatDesc channel = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    cudaArray_t array;
    cudaMallocArray(&array, &channel, 3, 2, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(array, 0, 0, h, 12, 12, 2, cudaMemcpyHostToDevice);
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeArray};
    resource.res.array.array = array;
    struct cudaTextureDesc how = {.addressMode = {cudaAddressModeClamp, cudaAddressModeClamp}, .filterMode = cudaFilterModeLinear};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaCreateTextureObject(&texture, &resource, &how, 0);
    cudaCreateSurfaceObject(&surface, &resource);
    LAUNCH(fetch, 1, 6, 0, &texture, &d);
    cudaMemcpy(out, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("texture: %g %g %g\n", out[0], out[1], out[5]);
    LAUNCH(draw, 1, 6, 0, &surface);
    cudaMemcpy2DFromArray(out, 12, array, 0, 0, 12, 2, cudaMemcpyDeviceToHost);
    printf("surface: %g %g\n", out[0], out[5]);
    struct cudaMemcpy3DParms box = {.srcArray = array, .kind = cudaMemcpyDeviceToHost, .extent = {2, 1, 1}};
    box.srcPos.x = 1, box.srcPos.y = 1;
    box.dstPtr.ptr = out, box.dstPtr.pitch = 8, box.dstPtr.ysize = 1;
    cudaMemcpy3D(&box);
    printf("box of texels: %g %g\n", out[0], out[1]);
    resource = (struct cudaResourceDesc){.resType = cudaResourceTypeLinear};
    resource.res.linear.devPtr = d, resource.res.linear.desc = channel, resource.res.linear.sizeInBytes = sizeof h;
    struct cudaTextureDesc plain = {0};
    cudaTextureObject_t linear;
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    cudaCreateTextureObject(&linear, &resource, &plain, 0);
    float *to;
    cudaMalloc((void **)&to, sizeof h);
    LAUNCH(fetch_1d, 1, 6, 0, &linear, &to);
    cudaMemcpy(out, to, sizeof h, cudaMemcpyDeviceToHost);
    printf("linear: %g %g\n", out[0], out[5]);
    cudaMemcpy2DToArray(array, 0, 0, h, 12, 12, 3, cudaMemcpyHostToDevice); // TOO_MANY_ROWS
    cudaFree(array); // FREED_AS_MEMORY
    cudaDestroyTextureObject(texture), cudaDestroyTextureObject(linear), cudaDestroySurfaceObject(surface);
    cudaFreeArray(array), cudaFree(d), cudaFree(to);
}
