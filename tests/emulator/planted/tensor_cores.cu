// Tensor cores of a warpgroup

// # a result of wgmma used before wait_group — data race
// cause: REGISTER_READ_BEFORE_WAIT
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); COMMIT; // ?
«→WAIT;»
y[threadIdx.x] = d[0]; // !
«WAIT;→»

// # a swizzled tile that is aligned to 128 bytes only — misaligned access
// cause: TILE_MISALIGNED
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ «alignas(128)→alignas(1024)» u32 tile[2048];
for (int k = threadIdx.x; k < 2048; k += 128) tile[k] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; swizzled(d, tile); COMMIT; WAIT; // !
y[threadIdx.x] = d[0];

// # a tile's descriptor that is advanced in bytes — misaligned access
// cause: TILE_OFFSET_MISALIGNED
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[2048];
for (int k = threadIdx.x; k < 2048; k += 128) tile[k] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; swizzled(d, tile, «32→2»); COMMIT; WAIT; // !
y[threadIdx.x] = d[0];

// # no wgmma.fence before the first wgmma — data race
// cause: WGMMA_FENCE_MISSING
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

«→FENCE;»
mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # no wgmma.fence after accumulators were changed — data race
// cause: WGMMA_FENCE_MISSING
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); COMMIT; WAIT;
for (int i = 0; i < 4; ++i) d[i] *= x[i]; // ?
«→FENCE;»
mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # no wgmma.fence after operand A was changed in its registers — data race
// cause: WGMMA_FENCE_MISSING
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};
u32 a[4] = {tile[0], tile[1], tile[2], tile[3]};
FENCE; times(d, a, tile); COMMIT; WAIT;
for (int i = 0; i < 4; ++i) a[i] ^= threadIdx.x; // ?
«→FENCE;»
times(d, a, tile); COMMIT; WAIT; // !
y[threadIdx.x] = d[0];

// # a tile is overwritten while wgmma may still read it — data race
// cause: TILE_STILL_READ
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); COMMIT; // ?
«→WAIT;»
__syncthreads();
tile[threadIdx.x % 128] = 1; // !
__syncthreads();
«WAIT;→»
y[threadIdx.x] = d[0];

// # no fence.proxy.async between threads' stores and wgmma — data race
// cause: PROXY_FENCE_MISSING
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00; // ?
«→fence();» 
__syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # no barrier between the stores of a tile and wgmma — data race
// cause: NO_ORDER_BEFORE_WGMMA
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00; // ?
fence(); 
«→__syncthreads();» float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # wgmma by an incomplete warpgroup — barrier misuse
// cause: WARPGROUP_MISSING_WARPS
// thread: any
// args: zeros(64), zeros(160), 0
// block: 160
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # wgmma that one warp of its warpgroup skips — barrier misuse
// cause: WARPGROUP_INCOMPLETE
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};
«if (threadIdx.x < 32) return;→»
FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];

// # mma.sync after half of a warp has returned — barrier misuse
// cause: WARP_INCOMPLETE
// args: ones(64), zeros(128), 16
// block: 32
// helper: mma_of_a_warp
«if (threadIdx.x >= n) return;→»
float d[4] = {0, 0, 0, 0};
mma(d); // !
y[threadIdx.x] = d[0];

// # mma.sync while half of a warp waits at a barrier — barrier misuse
// cause: WARP_INCOMPLETE
// args: ones(64), zeros(128), 16
// block: 32
// helper: mma_of_a_warp
float d[4] = {0, 0, 0, 0};
«if (threadIdx.x < n)→»
    mma(d); // !
__syncthreads(); // ?
y[threadIdx.x] = d[0];
