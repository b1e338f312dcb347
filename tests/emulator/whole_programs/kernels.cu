// The kernels of host.c, which is compiled without nvcc: NVRTC compiles these.

__device__ int total = 5;
__constant__ int factor[2];

extern "C" __global__ void add(int *to, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

extern "C" __global__ void scale(int *to, int n) {
    if (threadIdx.x < n) to[threadIdx.x] *= factor[1];
    if (threadIdx.x == 0) total += 1;
}

extern "C" __global__ void greet(int number) { printf("hello from thread %d of %d\n", threadIdx.x, number); }

extern "C" __global__ void unordered(int *to) {
    __shared__ int row[64];
    row[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = row[63 - threadIdx.x];
}

extern "C" __global__ void meet(int *to) {
    atomicAdd(to, 1);
    while (atomicAdd(to, 0) < 96) continue;
    if (threadIdx.x == 0) to[1 + blockIdx.x] = to[0];
}

extern "C" __global__ void rank_in_cluster(unsigned *to) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    to[blockIdx.x] = rank;
}

extern "C" __global__ void much_shared(int *to) {
    extern __shared__ int room[];
    room[threadIdx.x] = 3;
    to[threadIdx.x] = room[threadIdx.x];
}

struct alignas(64) Map { char bytes[128]; };

extern "C" __global__ void box_of(const __grid_constant__ Map map, int *to) {
    __shared__ alignas(128) int tile[8];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned into = __cvta_generic_to_shared(tile), at = __cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at));
        asm volatile("fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32;" ::"r"(at));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {4, 3}], [%2];" ::"r"(into), "l"(&map), "r"(at) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0;"
                 " @!done bra again; }" ::"r"(at) : "memory");
    if (threadIdx.x < 4) to[threadIdx.x] = tile[2 + threadIdx.x];
}

extern "C" __global__ void fetch(cudaTextureObject_t t, float *to) {
    int x = threadIdx.x % 3, y = threadIdx.x / 3;
    to[threadIdx.x] = tex2D<float>(t, x + 0.5f + 0.5f * (x == 1), y + 0.5f);
}

extern "C" __global__ void fetch_1d(cudaTextureObject_t t, float *to) {
    to[threadIdx.x] = tex1Dfetch<float>(t, 5 - threadIdx.x);
}

extern "C" __global__ void draw(cudaSurfaceObject_t s) {
    surf2Dwrite(10.0f * threadIdx.x, s, threadIdx.x % 3 * 4, threadIdx.x / 3);
}
