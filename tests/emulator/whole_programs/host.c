// A host program as nvcc would make it, by hand, so that the stand-in is tested without nvcc. It
// prints what it gets; a comment in capitals marks the line of each mistake.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned long long binary[] = {
#include "binary.inc"
};
static struct { unsigned magic, version; const void *data; void *unused; } wrapper = {0x466243b1, 1, binary, 0};
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);

static char box_of, add, scale, greet, unordered, meet, rank_in_cluster, much_shared, fetch, fetch_1d, draw, total, factor;

__attribute__((constructor)) static void begin(void) {
    void **handle = __cudaRegisterFatBinary(&wrapper);
#define KERNEL(name) __cudaRegisterFunction(handle, &name, #name, #name, -1, 0, 0, 0, 0, 0)
    KERNEL(box_of), KERNEL(add), KERNEL(scale), KERNEL(greet), KERNEL(unordered), KERNEL(meet), KERNEL(rank_in_cluster), KERNEL(much_shared);
    KERNEL(fetch), KERNEL(fetch_1d), KERNEL(draw);
    __cudaRegisterVar(handle, &total, "total", "total", 0, 4, 0, 0);
    __cudaRegisterVar(handle, &factor, "factor", "factor", 0, 8, 1, 0);
}

#define LAUNCH(kernel, blocks, threads, shared, ...) \
    cudaLaunchKernel(&kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, (void *[]){__VA_ARGS__}, shared, 0)

static void show(const char *name, const int *values, int n) {
    printf("%s:", name);
    for (int i = 0; i < n; i++) printf(" %d", values[i]);
    printf("\n");
}

// Of cuRAND, whose header need not be here.
int curandCreateGenerator(void **, int), curandSetPseudoRandomGeneratorSeed(void *, unsigned long long);
int curandGenerateNormal(void *, float *, size_t, float, float), curandGenerateUniform(void *, float *, size_t);

int cusolverDnCreate(void **); // which the stand-in lacks

static void random_numbers(void) {
    enum { N = 1000 };
    float h[N], sum = 0, least = 1, *d;
    void *generator;
    cudaMalloc((void **)&d, sizeof h);
    curandCreateGenerator(&generator, 100);
    curandSetPseudoRandomGeneratorSeed(generator, 7);
    curandGenerateNormal(generator, d, N, 5, 0.1f);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) sum += h[i];
    curandGenerateUniform(generator, d, N);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) least = h[i] < least ? h[i] : least;
    printf("random: %.1f %d\n", sum / N, least > 0 && least < 0.1f);
    cudaFree(d);
}

static void tensor_map(void) {
    int h[64], out[4], *d, *to;
    struct { _Alignas(64) char bytes[128]; } map;
    for (int i = 0; i < 64; i++) h[i] = i;
    cudaMalloc((void **)&d, sizeof h);
    cudaMalloc((void **)&to, 16);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    unsigned long long sizes[] = {8, 8}, strides[] = {32};
    unsigned box[] = {4, 2}, steps[] = {1, 1};
    cuTensorMapEncodeTiled(&map, 3, 2, d, sizes, strides, box, steps, 0, 0, 0, 0);
    LAUNCH(box_of, 1, 32, 0, &map, &to);
    cudaMemcpy(out, to, 16, cudaMemcpyDeviceToHost);
    show("box", out, 4);
    cudaFree(d), cudaFree(to);
}

static void right(void) {
    int h[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0}, n = 6, two[2] = {7, 3};
    int *a, *b, *m, *p;
    cudaMalloc((void **)&a, sizeof h);
    cudaMalloc((void **)&b, sizeof h);
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, sizeof h);
    LAUNCH(add, 2, 4, 0, &b, &a, &n);
    cudaMemcpyToSymbol(&factor, two, sizeof two, 0, cudaMemcpyHostToDevice);
    LAUNCH(scale, 1, 32, 0, &b, &n);
    cudaMemcpy(out, b, sizeof h, cudaMemcpyDefault);
    show("sums", out, 6);
    cudaMemcpyFromSymbol(out, &total, 4, 0, cudaMemcpyDeviceToHost);
    show("symbol", out, 1);
    cudaMemcpy2D(out, 8, (char *)a + 4, 12, 8, 2, cudaMemcpyDeviceToHost);
    show("rows", out, 4);
    cudaMallocManaged((void **)&m, 8, cudaMemAttachGlobal);
    m[0] = 40, m[1] = 2, n = 1;
    LAUNCH(add, 1, 1, 0, &m, &(int *){m + 1}, &n);
    cudaDeviceSynchronize();
    show("managed", m, 1);
    cudaMallocHost((void **)&p, 8);
    p[0] = 1, p[1] = 10;
    LAUNCH(add, 1, 1, 0, &p, &(int *){p + 1}, &n);
    show("pinned", p, 1);
    printf("before\n");
    LAUNCH(greet, 1, 2, 0, &(int){2});
    printf("after\n");
    cudaMemset(a, 0, 24);
    dim3 grid = {3, 1, 1}, block = {32, 1, 1};
    cudaLaunchCooperativeKernel(&meet, grid, block, (void *[]){&a}, 0, 0);
    cudaMemcpy(out, a, 16, cudaMemcpyDeviceToHost);
    show("grid", out, 4);
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeClusterDimension};
    attribute.val.clusterDim.x = 2, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {.gridDim = {4, 1, 1}, .blockDim = {1, 1, 1}, .attrs = &attribute, .numAttrs = 1};
    cudaLaunchKernelExC(&config, &rank_in_cluster, (void *[]){&a});
    cudaMemcpy(out, a, 16, cudaMemcpyDeviceToHost);
    show("clusters", out, 4);
    struct cudaDeviceProp facts;
    cudaGetDeviceProperties(&facts, 0);
    int per_sm;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, &unordered, 1024, 0);
    show("device", (int[]){facts.warpSize, facts.maxThreadsPerBlock, facts.major, (int)facts.maxGridSize[1], per_sm}, 5);
    struct cudaFuncAttributes kernel;
    cudaFuncGetAttributes(&kernel, &unordered);
    show("kernel", (int[]){kernel.sharedSizeBytes, kernel.maxThreadsPerBlock}, 2);
    show("refused", (int[]){cudaSetDevice(1), cudaGetLastError(), cudaGetLastError()}, 3);
    show("too much", (int[]){cudaMalloc((void **)&m, 1ull << 40), cudaPeekAtLastError(), cudaGetLastError()}, 3);
    printf("text: %s, %s\n", cudaGetErrorName(700), cudaGetErrorString(9));
    struct cudaPointerAttributes pointer;
    cudaPointerGetAttributes(&pointer, p);
    show("pointers", (int[]){pointer.type, (cudaPointerGetAttributes(&pointer, b), pointer.type)}, 2);
    cudaFuncSetAttribute(&much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
    LAUNCH(much_shared, 1, 4, 100 << 10, &a);
    cudaMemcpy(out, a, 16, cudaMemcpyDeviceToHost);
    show("shared", out, 4);
    cudaEvent_t first, second;
    float time = -1;
    cudaEventCreate(&first), cudaEventCreate(&second);
    cudaEventRecord(first, 0), cudaEventRecord(second, 0);
    cudaEventElapsedTime(&time, first, second);
    printf("time: %g\n", time);
    random_numbers();
    tensor_map();
    cudaFree(a), cudaFree(b), cudaFreeHost(p);
    cudaDeviceReset();
}

static void wrong(void) {
    int *a, *b, *c, *h = malloc(100), stack[25] = {0};
    cudaMalloc((void **)&c, 256);
    cudaMalloc((void **)&a, 100);
    cudaMalloc((void **)&b, 100);
    cudaMemset(b, 0, 104); // SET_OUTSIDE
    cudaMemcpy(a, stack, 108, cudaMemcpyHostToDevice); // COPY_OUTSIDE
    cudaMemcpy(h, a, 200, cudaMemcpyDeviceToHost); // READ_OUTSIDE
    cudaMemcpy(a, h + 1, 100, cudaMemcpyHostToDevice); // HOST_OUTSIDE
    cudaMemcpy(stack, a, 100, cudaMemcpyHostToDevice); // DIRECTION
    cudaMemset(stack, 0, 100); // SET_HOST
    cudaFree(b);
    cudaFree(b); // TWICE
    cudaMemcpy(b, stack, 100, cudaMemcpyHostToDevice); // FREED
    cudaFree(a + 1); // INSIDE
    cudaFree(h); // OF_HOST
    cudaMemcpy(0, stack, 4, cudaMemcpyHostToDevice); // NULL_POINTER
    LAUNCH(unordered, 1, 2000, 0, &a); // TOO_MANY
    LAUNCH(unordered, 0, 32, 0, &a); // NO_BLOCKS
    LAUNCH(much_shared, 1, 32, 60000, &a); // TOO_MUCH_SHARED
    LAUNCH(unordered, 1, 64, 0, &c);
    int n = 30;
    LAUNCH(add, 1, 32, 0, &a, &a, &n);
    show("sticky", (int[]){cudaDeviceSynchronize(), cudaMalloc((void **)&b, 4), cudaGetLastError(), cudaGetLastError()}, 4);
}

#include "graphs.h"
#include "driver.h"

int main(int count, char **words) {
    if (count < 2) return 1;
    if (!strcmp(words[1], "right")) right();
    if (!strcmp(words[1], "wrong")) wrong();
    if (!strcmp(words[1], "graphs")) graphs();
    if (!strcmp(words[1], "arrays")) arrays();
    if (!strcmp(words[1], "driver")) driver();
    if (!strcmp(words[1], "compiled")) compiled();
    if (!strcmp(words[1], "late")) { // as the GPU, whose launches are asynchronous
        int *a, n = 30;
        cudaMalloc((void **)&a, 100);
        LAUNCH(add, 1, 2000, 0, &a, &a, &n);
        int first[] = {cudaGetLastError(), cudaGetLastError()};
        LAUNCH(add, 1, 32, 0, &a, &a, &n);
        int second = cudaGetLastError();
        show("late", (int[]){first[0], first[1], second, cudaDeviceSynchronize(), cudaGetLastError()}, 5);
    }
    if (!strcmp(words[1], "leave")) {
        int *kept;
        cudaMalloc((void **)&kept, 12); // KEPT
        LAUNCH(unordered, 1, 1 << 20, 0, &kept); // NOT_READ
    }
    if (!strcmp(words[1], "lack")) {
        void *handle;
        cusolverDnCreate(&handle); // NOT_THERE
        printf("not reached\n");
    }
    if (!strcmp(words[1], "touch")) {
        int *a;
        cudaMalloc((void **)&a, 12);
        *a = 1; // TOUCHED
    }
    return 0;
}
