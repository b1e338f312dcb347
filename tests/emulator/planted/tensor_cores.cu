// Tensor cores of a warpgroup

// # a result of wgmma used before wait_group — data race
// says: Result used too early
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

// # no wgmma.fence before the first wgmma — data race
// says: with no wgmma.fence before it
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
// says: with no wgmma.fence since
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

// # a tile is overwritten while wgmma may still read it — data race
// says: may read it until the wgmma.wait_group at kernel.cu:10
// thread: any
// args: zeros(64), zeros(128), 0
// block: 128
// helper: wgmma
__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};

FENCE; mma(d, tile); COMMIT; // !
«→WAIT;»
__syncthreads();
tile[threadIdx.x % 128] = 1; // ?
__syncthreads();
«WAIT;→»
y[threadIdx.x] = d[0];

// # no fence.proxy.async between threads' stores and wgmma — data race
// says: no fence.proxy.async in between
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
// says: read after write
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
// says: needs all 128 threads of a warpgroup
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
