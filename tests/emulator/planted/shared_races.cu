// Races in shared memory

// # read after write between warps — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
«→__syncthreads();»
y[threadIdx.x] = s[63 - threadIdx.x]; // !

// # write after read between warps — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x];
__syncthreads();
float v = s[63 - threadIdx.x]; // ?
«→__syncthreads();»
s[threadIdx.x] = 2; // !
__syncthreads();
y[threadIdx.x] = v + s[threadIdx.x];

// # two threads that store different values — data race
// cause: SAME_ELEMENT_WRITTEN
// thread: 1
// other: 0
__shared__ float s[64];
s[threadIdx.x« / 2→»] = threadIdx.x; // !
__syncthreads();
y[threadIdx.x] = s[threadIdx.x« / 2→»];

// # neighbours within a warp and no __syncwarp() — data race
// cause: NO_ORDER_IN_WARP
// level: warning
// other: 1
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
«→__syncwarp();»
y[threadIdx.x] = s[threadIdx.x ^ 1]; // !

// # a shuffle in place of __syncwarp() — data race
// cause: NO_ORDER_IN_WARP
// level: warning
// other: 1
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
float v = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
«→__syncwarp();»
y[threadIdx.x] = v + s[threadIdx.x ^ 1]; // !

// # lanes on the two sides of a branch — data race
// cause: NO_ORDER_IN_WARP
// thread: 16
// other: 0
__shared__ float s[64];
if (threadIdx.x % 32 < 16) {
    s[threadIdx.x] = x[threadIdx.x]; // ?
«} else {→} __syncwarp(); if (threadIdx.x % 32 >= 16) {»
    y[threadIdx.x] = s[threadIdx.x - 16]; // !
}

// # a sum of a warp's lanes with no atomic — data race
// cause: UPDATE_NOT_ATOMIC
if (threadIdx.x < 32) «x[0] += 1→atomicAdd(x, 1)»; // !

// # lanes that wait for others than their neighbours — data race
// cause: NO_ORDER_IN_WARP
// other: 1
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
__syncwarp(«0x55555555u << threadIdx.x % 2→3u << threadIdx.x % 32 / 2 * 2»);
y[threadIdx.x] = s[threadIdx.x ^ 1]; // !

// # an atomic sum read too early — data race
// cause: NO_ORDER_IN_BLOCK
// thread: any
__shared__ int s;
if (threadIdx.x == 0) s = 0;
__syncthreads();
atomicAdd(&s, 1); // ?
«→__syncthreads();»
y[threadIdx.x] = s; // !

// # lanes of a warp that overwrite what others still read — data race
// cause: NO_ORDER_IN_WARP
// level: warning
// other: 1
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x];
__syncwarp();
float v = s[threadIdx.x ^ 1]; // ?
«→__syncwarp();»
s[threadIdx.x] = 2; // !
y[threadIdx.x] = v;

// # two warps that store different values — data race
// cause: WRITTEN_BY_ALL
// thread: 32
// other: 0
__shared__ float s;
if (threadIdx.x «% 32→» == 0) s = threadIdx.x; // !
__syncthreads();
y[threadIdx.x] = s;

// # a barrier for half of the threads that exchange — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
ASM("bar.sync %0, «32→64»;" :: "r"(«1 + threadIdx.x / 32→1») : "memory");
y[threadIdx.x] = s[63 - threadIdx.x]; // !

// # lanes that take turns by a loop — data race
// cause: LOOP_WAITS_FOR_WRITE
// level: warning
// thread: any
__shared__ «volatile int turn→int turns[64]»;
«turn→turns[threadIdx.x]» = 0;
__syncthreads();
«if (threadIdx.x < 4) {
    while (turn < threadIdx.x) { } // ?
    y[threadIdx.x] = turn;
    turn = threadIdx.x + 1; // !
}→y[threadIdx.x] = threadIdx.x;»

// # a warp that waits for another in a loop — data race
// cause: LOOP_WAITS_FOR_WRITE
// thread: any
__shared__ int ready;
if (threadIdx.x == 0) ready = 0;
__syncthreads();
if (threadIdx.x == 32) «*(volatile int*)&ready = 1→atomicExch(&ready, 1)»; // ?
if (threadIdx.x == 0) while («*(volatile int*)&ready→atomicAdd(&ready, 0)» == 0) { } // !
y[threadIdx.x] = 1;
