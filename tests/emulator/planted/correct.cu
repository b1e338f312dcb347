// Correct kernels of every style: no check may report one

// # TMA reductions and atomics of several blocks at one place
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), mapped()
// grid: 3
// helper: add_2d
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { add_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); }
atomicAdd(y + threadIdx.x, 1.0f);

// # an exchange as the first store, its old value unused
__shared__ int count;
if (threadIdx.x == 0) atomicExch(&count, 0);
__syncthreads();
atomicAdd(&count, 1);
__syncthreads();
y[threadIdx.x] = count;

// # an atomic from compare-and-swap, with a plain first look
unsigned* word = (unsigned*)y;
unsigned old = *word, seen;
do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + x[threadIdx.x]));
} while (old != seen);

// # a sum in a warp by shuffles, then one of the warps' sums
__shared__ float sums[2];
float v = x[threadIdx.x];
for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
__syncthreads();
if (threadIdx.x == 0) y[0] = sums[0] + sums[1];

// # a warp that works in shared memory with __syncwarp()
__shared__ float s[64];
float* mine = s + threadIdx.x / 32 * 32;
int lane = threadIdx.x % 32;
mine[lane] = x[threadIdx.x];
for (int d = 16; d; d /= 2) {
    __syncwarp();
    float v = lane < d ? mine[lane + d] : 0;
    __syncwarp();
    if (lane < d) mine[lane] += v;
}
if (lane == 0) y[threadIdx.x / 32] = mine[0];

// # halves of a warp that go different ways, each under its own mask
__shared__ float s[64];
if (threadIdx.x % 32 < 16) {
    s[threadIdx.x] = 1; __syncwarp(0xffff); y[threadIdx.x] = s[threadIdx.x ^ 1];
} else {
    s[threadIdx.x] = 2; __syncwarp(0xffff0000); y[threadIdx.x] = s[threadIdx.x ^ 1];
}

// # a warp that is not full, with a mask of the lanes that are there
// block: 48
unsigned mask = __ballot_sync(__activemask(), threadIdx.x < 48);
float v = x[threadIdx.x];
int last = 31 - __clz(mask);
float w = __shfl_down_sync(mask, v, 1);
y[threadIdx.x] = threadIdx.x % 32 < last ? v + w : v;

// # producer and consumer warps at named barriers
__shared__ float s[2][32];
int lane = threadIdx.x % 32;
if (threadIdx.x < 32) {
    for (int i = 0; i < 4; ++i) {
        if (i > 1) ASM("bar.sync %0, 64;" :: "r"(3 + i % 2) : "memory");
        s[i % 2][lane] = x[lane] + i;
        ASM("bar.arrive %0, 64;" :: "r"(1 + i % 2) : "memory");
    }
} else {
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        ASM("bar.sync %0, 64;" :: "r"(1 + i % 2) : "memory");
        sum += s[i % 2][31 - lane];
        if (i < 2) ASM("bar.arrive %0, 64;" :: "r"(3 + i % 2) : "memory");
    }
    y[lane] = sum;
}

// # a barrier for the whole grid, of atomics
// grid: 2
// block: 32
unsigned* count = (unsigned*)(y + 63);
x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
__syncthreads();
if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (*(volatile unsigned*)count < gridDim.x) { }
    __threadfence();
}
__syncthreads();
y[blockIdx.x * 8 + threadIdx.x % 8] = x[(blockIdx.x + 1) % 2 * 32];

// # this_grid().sync()
// grid: 2
// block: 32
// helper: cooperative
x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
cg::this_grid().sync();
y[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x + 1) % 2 * 32 + threadIdx.x];

// # a grid whose blocks wait for each other twice, and a count that starts anew
// args: ones(2048), zeros(64), 3
// grid: 8
// block: 32
unsigned* count = (unsigned*)(y + 63);
for (int turn = 1; turn <= 2; ++turn) {
    x[blockIdx.x * 32 + threadIdx.x] += x[(blockIdx.x + turn) % gridDim.x * 32 + 1024];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1u);
        while (*(volatile unsigned*)count < turn * gridDim.x) { }
    }
    __syncthreads();
    __threadfence();
    x[blockIdx.x * 32 + threadIdx.x + 1024] = x[(blockIdx.x + 1) % gridDim.x * 32 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count + turn - 3, 1u);
        while (atomicAdd(count + turn - 3, 0u) < gridDim.x) { }
        __threadfence();
    }
    __syncthreads();
}
if (blockIdx.x == 0 && threadIdx.x == 0) count[-1] = 0;

// # a sum handed from block to block
// args: zeros(300), zeros(300), 3
// grid: 300
// block: 32
// budget: none
volatile int* ready = (volatile int*)y;
if (threadIdx.x == 0) {
    float before = 0;
    if (blockIdx.x > 0) {
        while (ready[blockIdx.x - 1] == 0) { }
        __threadfence();
        before = x[blockIdx.x - 1] + x[0];
    }
    x[blockIdx.x] = before + 1;
    __threadfence();
    ready[blockIdx.x] = 1;
}

// # flags with .release and .acquire, handed on by a third block
// grid: 3
// block: 1
int* flag = (int*)y; int seen = 0;
#define SET(p) ASM("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(p) : "memory")
#define WAIT(p) while (!seen) \
    ASM("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(p) : "memory")
if (blockIdx.x == 0) { x[0] = 1; SET(flag); }
if (blockIdx.x == 1) { WAIT(flag); x[1] = 2; SET(flag + 1); }
if (blockIdx.x == 2) { WAIT(flag + 1); x[0] += x[1]; }

// # every thread takes a lock
// grid: 2
// budget: none
int* lock = (int*)x;
for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
        __threadfence();
        y[0] += 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
    }
}

// # atomics of a block's scope within each block, of a cluster's within each cluster
// grid: 4
// cluster: 2
int* count = (int*)y; int old;
atomicAdd_block(count + blockIdx.x, 1);
ASM("atom.add.relaxed.cluster.global.s32 %0, [%1], 1;"
    : "=r"(old) : "l"(count + 32 + blockIdx.x / 2) : "memory");

// # a lock of one block, with fences for the block
// grid: 2
// block: 128
int* lock = (int*)x + blockIdx.x;
if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence_block();
    y[blockIdx.x] += 1;
    __threadfence_block();
    atomicExch(lock, 0);
}

// # a lock in shared memory
// block: 128
__shared__ int lock, count;
if (threadIdx.x == 0) lock = count = 0;
__syncthreads();
if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) { }
    __threadfence_block();
    count += 1;
    __threadfence_block();
    atomicExch(&lock, 0);
}
__syncthreads();
y[threadIdx.x % 32] = count;

// # a ticket for each block, and the last one starts the count anew
// grid: 300
// block: 32
int* count = (int*)x;
if (threadIdx.x == 0 && atomicAdd(count, 1) == gridDim.x - 1) count[0] = 0;

// # one waits until all blocks have counted, and starts the count anew
// grid: 8
// block: 32
int* count = (int*)x;
if (threadIdx.x == 0) atomicAdd(count, 1);
if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (*(volatile int*)count < gridDim.x) { }
    count[0] = 0;
}

// # flags and results in one word of 64 bits
// grid: 2
// block: 1
volatile u64* box = (volatile u64*)x;
if (blockIdx.x == 0) box[0] = 42 * 1000 + 1;
else { u64 both; do both = box[0]; while (!(both % 1000)); y[0] = both / 1000; }

// # a flag that one thread reads and an mbarrier that tells the others
// grid: 2
__shared__ u64 bar;
volatile int* flag = (volatile int*)y;
if (threadIdx.x == 0) init(&bar, 1);
fence();
__syncthreads();
if (blockIdx.x == 0) {
    x[threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) flag[0] = 1;
} else {
    if (threadIdx.x == 0) { while (flag[0] == 0) { } __threadfence(); arrive(&bar); }
    wait(&bar, 0);
    y[1 + threadIdx.x % 32] = x[threadIdx.x % 32];
}

// # a lock with __threadfence()
// grid: 8
// block: 32
int* lock = (int*)x;
if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    ((volatile float*)y)[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// # the last block adds up what all have written
// grid: 8
// block: 1
__shared__ bool last;
int* done = (int*)x;
y[1 + blockIdx.x] = blockIdx.x;
__threadfence();
if (threadIdx.x == 0) last = atomicAdd(done, 1) == gridDim.x - 1;
__syncthreads();
if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += ((volatile float*)y)[1 + b];
    y[0] = sum;
}

// # tiles loaded by cp.async while others are computed with
// args: numbers(1024), empty(1024), 4
__shared__ alignas(16) float tile[2][256];
int t = threadIdx.x;
cp16(&tile[0][4 * t], x + 4 * t); commit();
for (int i = 0; i < n; ++i) {
    if (i + 1 < n) cp16(&tile[(i + 1) % 2][4 * t], x + (i + 1) * 256 + 4 * t);
    commit();
    wait_group<1>();
    __syncthreads();
    for (int j = 0; j < 4; ++j) y[i * 256 + j * 64 + t] = tile[i % 2][255 - j * 64 - t];
    __syncthreads();
}

// # a warp that loads with cp.async for others, in two stages
// args: numbers(640), empty(640), 5
// block: 96
// helper: tell
__shared__ alignas(16) float tile[2][128]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) for (int s = 0; s < 2; ++s) { init(&full[s], 32); init(&empty[s], 64); }
__syncthreads();
if (t >= 64) {
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1);
        cp16(&tile[i % 2][4 * (t - 64)], x + i * 128 + 4 * (t - 64));
        tell(&full[i % 2]);
    }
} else {
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        for (int j = 0; j < 2; ++j) y[i * 128 + j * 64 + t] = tile[i % 2][127 - j * 64 - t];
        arrive(&empty[i % 2]);
    }
}

// # a warp that loads with TMA for others, in two stages
// parameters: const __grid_constant__ TensorMap map, float* y, int n
// args: tensor_map(), empty(320), 5
// block: 96
__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64) {
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1);
        expect(&full[i % 2], 256);
        load_2d(tile[i % 2], &map, 0, 0, &full[i % 2]);
    }
} else if (t < 64) {
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }
}

// # a tile that goes in and out through the asynchronous proxy
// args: numbers(64), empty(64), 0
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(s, x, 256, &bar); }
wait(&bar, 0);
s[threadIdx.x] *= 2;
fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); bulk_wait(); }

// # a sum over a cluster through the shared memory of all its blocks
// grid: 2
// block: 32
// cluster: 2
__shared__ float sum;
if (threadIdx.x == 0) sum = 0;
__syncthreads();
atomicAdd(&sum, x[blockIdx.x * 32 + threadIdx.x]);
cluster_sync();
if (rank() == 0 && threadIdx.x == 0) {
    float total = 0;
    for (int r = 0; r < 2; ++r) total += load_remote(map_rank(&sum, r));
    y[0] = total;
}
cluster_sync();

// # accumulators of wgmma that start with no value and scale-d 0
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4];

FENCE;
ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, 0, 1, 1, 0, 0;"
    : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"((u64)(smem(tile) >> 4)));
for (int i = 0; i < 3; ++i) mma(d, tile);
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # rows of a tile for tensor cores that are never filled, nor used
// block: 32
__shared__ alignas(128) u32 s[128];
if (threadIdx.x % 16 < 8) for (int i = 0; i < 4; ++i) s[4 * threadIdx.x + i] = 0x3c003c00;
__syncthreads();
u32 a[4]; float d[4] = {0, 0, 0, 0};
ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(smem(&s[threadIdx.x * 4])));
ASM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
    "{%4, %6}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
y[threadIdx.x] = d[0] + d[1];

// # a vector load whose last part is padding
// args: padded(), empty(16), 0
// block: 16
float4 v = ((float4*)x)[threadIdx.x];
((float4*)x)[threadIdx.x] = make_float4(v.x, 2, 3, 4);
y[threadIdx.x] = v.x + v.y + v.z;

// # structures copied with their padding
// args: zeros(64), empty(128), 0
// helper: pair
__shared__ Pair s[64];
Pair p; p.tag = threadIdx.x; p.value = x[threadIdx.x];
s[threadIdx.x] = p;
__syncthreads();
((Pair*)y)[threadIdx.x] = s[63 - threadIdx.x];

// # a padded tile that is transposed
__shared__ float tile[8][9];
int row = threadIdx.x / 8, column = threadIdx.x % 8;
tile[row][column] = x[threadIdx.x];
__syncthreads();
y[threadIdx.x] = tile[column][row];

// # what lies outside is read and then thrown away
__shared__ float s[66];
s[threadIdx.x + 1] = x[threadIdx.x];
__syncthreads();
float left = s[threadIdx.x], right = s[threadIdx.x + 2];
y[threadIdx.x] = (threadIdx.x > 0 ? left : 0) + (threadIdx.x < 63 ? right : 0);

// # many threads that raise one flag
__shared__ int flag;
if (threadIdx.x == 0) flag = 0;
__syncthreads();
if (x[threadIdx.x] == 0) flag = 1;
__syncthreads();
if (flag) y[threadIdx.x] = 1;

// # a histogram of atomics, in shared memory first
// grid: 4
__shared__ int bins[4];
if (threadIdx.x < 4) bins[threadIdx.x] = 0;
__syncthreads();
atomicAdd(&bins[threadIdx.x % 4], 1);
__syncthreads();
if (threadIdx.x < 4) atomicAdd((int*)y + threadIdx.x, bins[threadIdx.x]);

// # blocks that take turns at a volatile number, and count it up
// grid: 4
// block: 1
volatile int* turn = (int*)y;
while (turn[0] != blockIdx.x) { }
__threadfence();
x[0] += 1;
__threadfence();
turn[0] = turn[0] + 1;

// # a volatile "found it" that all may set
// args: zeros(1), numbers(64), 3
// grid: 4
volatile float* found = x;
if (found[0] != 0) return;
if (y[threadIdx.x] > 3) found[0] = 1;

// # blocks that take over the work of others that haven't started
// args: zeros(64), zeros(64), 3
// grid: 9
// target: sm_100a
// helper: launch_control
__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
__syncthreads();
for (u32 block = blockIdx.x, turn = 0;; ++turn) {
    if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); }
    if (threadIdx.x == 1) y[block] += 1;
    wait(&bar, turn & 1);
    if (!granted(answer)) break;
    block = index_x(answer);
    fence(); __syncthreads();
}
