// Barriers and warps

// # __syncthreads() where half of a warp comes by — barrier misuse
// cause: BARRIER_NOT_REACHED
«if (threadIdx.x < 16)→»
    __syncthreads(); // !
x[threadIdx.x] = 1;
__syncthreads();
y[threadIdx.x] = x[63 - threadIdx.x];

// # warps at two different __syncthreads() — barrier misuse
// cause: BARRIERS_DIFFER
// level: warning
// thread: 32
__shared__ float s[64];
s[threadIdx.x] = 1;
if («threadIdx.x→n» < 32) {
    __syncthreads(); // ?
    y[threadIdx.x] = s[threadIdx.x ^ 32];
} else {
    __syncthreads(); // !
    y[threadIdx.x] = s[threadIdx.x ^ 32] + 1;
}

// # threads that returned before __syncthreads() — barrier misuse
// cause: THREADS_RETURNED
// thread: any
if (threadIdx.x >= «50→64») return;
__syncthreads(); // !
y[threadIdx.x] = 1;

// # a barrier that lets go when the others return — barrier misuse
// cause: THREADS_RETURNED
// level: warning
// thread: any
if («threadIdx.x→n» < 32) {
    y[threadIdx.x] = 1;
    __syncthreads(); // !
}

// # a barrier for part of a warp — barrier misuse
// cause: BARRIER_COUNT_INVALID
ASM("bar.sync 1, «48→64»;" ::: "memory"); // !
y[threadIdx.x] = 1;

// # a barrier that more threads come to than it counts — barrier misuse
// cause: BARRIER_TOO_MANY_THREADS
ASM("bar.sync 1, «32→64»;" ::: "memory"); // !
y[threadIdx.x] = 1;

// # warps that count differently at one barrier — barrier misuse
// cause: BARRIER_COUNTS_DIFFER
// thread: 32
// also: deadlock
// block: 96
if (threadIdx.x < 32) ASM("bar.arrive 1, 96;" ::: "memory"); // ?
else if (threadIdx.x < 64) ASM("bar.arrive 1, «64→96»;" ::: "memory"); // !
else ASM("bar.sync 1, 96;" ::: "memory");
x[threadIdx.x % 64] = 0;

// # an arrival that nobody waits for — barrier misuse
// cause: BARRIER_NOT_COMPLETED
if (threadIdx.x < 32) ASM("bar.arrive 1, 64;" ::: "memory"); // !
«→else ASM("bar.sync 1, 64;" ::: "memory");»
y[threadIdx.x] = 1;

// # a barrier that a block does not have — barrier misuse
// cause: BARRIER_NUMBER_INVALID
ASM("bar.sync %0, 64;" :: "r"(«16→15» + n - 3) : "memory"); // !
y[threadIdx.x] = 1;

// # warps that wait at two named barriers — deadlock
// cause: NEVER_RELEASED
if (threadIdx.x < 32) ASM("bar.sync 1, 64;"); // !
else ASM("bar.sync «2→1», 64;");
y[threadIdx.x] = 1;

// # a lane that its own mask does not name — barrier misuse
// cause: LANE_NOT_IN_MASK
// thread: 16
// also: uninitialised read
float v = x[threadIdx.x];
v += __shfl_xor_sync(«0xffff→~0u», v, 1); // !
y[threadIdx.x] = v;

// # __syncwarp() with a mask for others — barrier misuse
// cause: LANE_NOT_IN_MASK
// thread: 4
if (threadIdx.x % 32 < 8) __syncwarp(«0xf→0xff»); // !
y[threadIdx.x] = 1;

// # a shuffle whose mask names lanes that skip it — deadlock
// cause: SHUFFLE_NOT_REACHED
float v = x[threadIdx.x];
if (threadIdx.x % 32 < 16)
    v += __shfl_xor_sync(«~0u→0xffff», v, 8); // !
__syncthreads(); // ?
y[threadIdx.x] = v;

// # a vote in a loop that some lanes leave earlier — deadlock
// cause: ITERATIONS_DIFFER
// thread: 4
for (int i = threadIdx.x; i < «100→96»; i += 32) {
    const unsigned votes = __ballot_sync(~0u, i % 3 == 0); // !
    if (threadIdx.x == 0) y[i / 32] = votes;
}

// # a shuffle of one function, called in both branches — deadlock
// cause: SHUFFLE_NOT_REACHED
// thread: 16
const auto added = [](float v) { return v + __shfl_xor_sync(~0u, v, 1); }; // !
if (threadIdx.x % 64 < «16→64») y[threadIdx.x] = added(x[threadIdx.x]);
else y[threadIdx.x] = 2 * added(x[threadIdx.x] + 1);

// # __syncwarp() for lanes that went another way — barrier misuse
// cause: SYNCWARP_NOT_REACHED
if (threadIdx.x < 16)
    __syncwarp(«~0u→0xffff»); // !
else
    y[threadIdx.x] = 1;
__syncthreads();
x[threadIdx.x] = 1;

// # a producer that overwrites a tile after bar.arrive, which does not wait — data race
// cause: TURN_NOT_PASSED
// thread: 32
// other: 0
__shared__ float s[32];
if (threadIdx.x < 32) {
    s[threadIdx.x] = 1;
    ASM("«bar.arrive→bar.sync» 1, 64;" ::: "memory");
    «→ASM("bar.sync 2, 64;" ::: "memory");»
    s[threadIdx.x] = 2; // ?
} else {
    ASM("bar.sync 1, 64;" ::: "memory");
    y[threadIdx.x] = s[threadIdx.x - 32]; // !
    «→ASM("bar.sync 2, 64;" ::: "memory");»
}
