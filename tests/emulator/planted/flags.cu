// Flags and fences

// # a result published with no fence before the flag — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 2
// block: 1
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    «→__threadfence();»
    flag[0] = 1;
} else {
    while (flag[0] == 0) { }
    __threadfence();
    y[1] = x[0]; // !
}

// # a fence after the flag in place of before it — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 2
// block: 1
int* flag = (int*)y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    «→__threadfence();»
    atomicExch(flag, 1);
    «__threadfence();→»
} else {
    while (atomicAdd(flag, 0) == 0) { }
    __threadfence();
    y[1] = x[0]; // !
}

// # no fence between a flag that is read and the result — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 2
// block: 1
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    __threadfence();
    flag[0] = 1;
} else {
    while (flag[0] == 0) { }
    «→__threadfence();»
    y[1] = x[0]; // !
}

// # a fence that counts for one block only — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 2
// block: 1
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    «__threadfence_block→__threadfence»();
    flag[0] = 1;
} else {
    while (flag[0] == 0) { }
    __threadfence();
    y[1] = x[0]; // !
}

// # a flag set before the other threads of the block have stored — data race
// cause: FLAG_BARRIER_MISSING
// other: 32
// grid: 2
int* flag = (int*)y;
if (blockIdx.x == 0) {
    x[threadIdx.x] = 42; // ?
    «→__syncthreads();»
    if (threadIdx.x == 0) { __threadfence(); atomicExch(flag, 1); }
} else {
    if (threadIdx.x == 0) { while (atomicAdd(flag, 0) == 0) { } __threadfence(); }
    __syncthreads();
    y[1 + threadIdx.x % 32] = x[32 + threadIdx.x % 32]; // !
}

// # a flag set by st.relaxed, not by st.release — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 2
// block: 1
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    ASM("st.«relaxed→release».gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
} else {
    while (!seen) ASM("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    y[1] = x[0]; // !
}

// # a flag read by ld.relaxed, not by ld.acquire — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 2
// block: 1
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    ASM("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
} else {
    while (!seen)
        ASM("ld.«relaxed→acquire».gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    y[1] = x[0]; // !
}

// # a count of all blocks by an atomic whose scope is one block — data race
// cause: SCOPE_TOO_NARROW
// other: 31
// grid: 2
// block: 32
atomicAdd«_block→»((int*)y, 1); // !

// # a flag released and acquired in the scope of a block, for another block — data race
// cause: SCOPE_TOO_NARROW
// other: 0
// grid: 2
// block: 1
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42;
    __threadfence();
    ASM("st.relaxed.«cta→gpu».global.s32 [%0], 1;" :: "l"(flag) : "memory"); // !
} else {
    while (!seen) ASM("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag)); // ?
    __threadfence();
    y[1] = x[0];
}

// # a flag that another block reads in the scope of its own — data race
// cause: SCOPE_TOO_NARROW
// other: 0
// grid: 2
// block: 1
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42;
    ASM("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory"); // !
} else {
    while (!seen) ASM("ld.acquire.«cta→gpu».global.s32 %0, [%1];" : "=r"(seen) : "l"(flag)); // ?
    y[1] = x[0];
}

// # an atomic of a cluster's scope, for blocks of two clusters — data race
// cause: SCOPE_TOO_NARROW
// thread: any
// grid: 4
// block: 32
// cluster: 2
int old;
#define ADD(scope) "atom.add.relaxed." scope ".global.s32 %0, [%1], 1;"
ASM(ADD(«"cluster"→"gpu"») : "=r"(old) : "l"(y) : "memory"); // !

// # a flag that is set by an ordinary store — data race
// cause: LOOP_WAITS_FOR_WRITE
// thread: any
// grid: 2
// block: 1
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42;
    __threadfence();
    «y→flag»[0] = 1; // !
} else {
    while (flag[0] == 0) { } // ?
    __threadfence();
    y[1] = x[0];
}

// # the last block adds up, and no block has fenced its sum — data race
// cause: FLAG_NOT_FENCED
// other: 0
// grid: 8
// block: 32
__shared__ bool last;
int* done = (int*)y;
if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x; // ?
    «→__threadfence();»
    last = atomicAdd(done, 1) == gridDim.x - 1;
}
__syncthreads();
if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) atomicAdd(y + 1, x[threadIdx.x]); // !
}

// # the last block adds up before a fence of its own — data race
// cause: FLAG_NOT_FENCED
// level: warning
// other: 0
// grid: 8
// block: 32
__shared__ bool last;
int* done = (int*)y;
if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x; // ?
    __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
}
__syncthreads();
if (last) {
    «→__threadfence();»
    if (threadIdx.x < gridDim.x) atomicAdd(y + 1, x[threadIdx.x]); // !
}

// # a lock that is released with no fence — data race
// cause: FLAG_NOT_FENCED
// thread: any
// other: 0
// grid: 8
// block: 1
int* lock = (int*)x;
while (atomicCAS(lock, 0, 1) != 0) { }
__threadfence();
y[0] += 1; // !
«→__threadfence();»
atomicExch(lock, 0);

// # a lock that is taken with no fence — data race
// cause: FLAG_NOT_FENCED
// thread: any
// other: 0
// grid: 8
// block: 1
int* lock = (int*)x;
while (atomicCAS(lock, 0, 1) != 0) { }
«→__threadfence();»
y[0] += 1; // !
__threadfence();
atomicExch(lock, 0);

// # a barrier for the grid whose blocks do not fence — data race
// cause: FLAG_NOT_FENCED
// thread: any
// grid: 2
// block: 32
unsigned* count = (unsigned*)(y + 63);
x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x + 1; // ?
__syncthreads();
if (threadIdx.x == 0) {
    «→__threadfence();»
    atomicAdd(count, 1u);
    while (*(volatile unsigned*)count < gridDim.x) { }
    __threadfence();
}
__syncthreads();
y[blockIdx.x * 8 + threadIdx.x % 8] = x[(blockIdx.x + 1) % 2 * 32]; // !

// # a fence by the lane that sets the flag, for what its warp wrote — data race
// cause: ARRIVAL_OF_OTHER_LANE
// level: warning
// thread: 1
// other: 1
// args: zeros(32), zeros(64), 3
// grid: 2
// block: 32
__shared__ int seen;
if (blockIdx.x == 0) {
    x[threadIdx.x] = 1; // ?
    «→__syncwarp();»
    if (threadIdx.x == 0) { __threadfence(); atomicExch((int*)y + 63, 1); }
} else {
    if (threadIdx.x == 0) { while (atomicAdd((int*)y + 63, 0) == 0); __threadfence(); }
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x]; // !
}
