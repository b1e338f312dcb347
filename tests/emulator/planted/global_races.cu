// Races in global memory

// # blocks that update one element — data race
// cause: UPDATE_NOT_ATOMIC
// thread: any
// grid: 4
// block: 1
«x[0] += 1.0f;→atomicAdd(x, 1.0f);» // !

// # blocks that store different values in one element — data race
// cause: WRITTEN_BY_ALL
// other: 0
// grid: 2
// block: 1
«x[0] = blockIdx.x + 1;→x[blockIdx.x] = 1;» // !

// # lanes that store different values in one element — data race
// cause: SAME_ELEMENT_WRITTEN
// thread: any
x[threadIdx.x« % 32→»] = threadIdx.x; // !

// # overwriting what another warp still reads — data race
// cause: NO_ORDER_IN_BLOCK
// thread: any
// args: numbers(64), zeros(64), 0
float v = x[63 - threadIdx.x]; // ?
«→__syncthreads();»
x[threadIdx.x] = v + 1; // !

// # an atomic sum read by another block — data race
// cause: NO_ORDER_IN_GRID
// thread: any
// grid: 2
// block: 1
atomicAdd(x, 1.0f); // ?
«y[blockIdx.x] = x[0];→» // !

// # reading what a neighbouring block writes — data race
// cause: NO_ORDER_IN_GRID
// thread: any
// args: numbers(64), zeros(64), 3
// grid: 2
// block: 1
«x→y»[blockIdx.x] = x[blockIdx.x + 1]; // !

// # two warps of a block and no barrier — data race
// cause: NO_ORDER_IN_BLOCK
// thread: any
x[threadIdx.x] = threadIdx.x; // ?
«→__syncthreads();»
y[threadIdx.x] = x[63 - threadIdx.x]; // !

// # two lanes of a warp and no __syncwarp() — data race
// cause: NO_ORDER_IN_WARP
// level: warning
// thread: any
// block: 32
x[threadIdx.x] = threadIdx.x; // ?
«→__syncwarp();»
y[threadIdx.x] = x[threadIdx.x ^ 1]; // !

// # a barrier does not order two blocks — data race
// cause: NO_ORDER_IN_GRID
// thread: any
// grid: 2
// block: 1
x[blockIdx.x] = 1.0f + blockIdx.x; // ?
__syncthreads();
y[blockIdx.x] = x[«1 - blockIdx.x→blockIdx.x»]; // !

// # a shift in place, across lanes, warps and blocks — data race
// cause: NO_ORDER_IN_GRID
// thread: any
// args: numbers(129), zeros(128), 3
// grid: 2
int i = blockIdx.x * blockDim.x + threadIdx.x;
«x→y»[i] = x[i + 1]; // !

// # a largest value that several threads compare and store — data race
// cause: TEST_NOT_ATOMIC
// thread: any
// args: zeros(1), numbers(64), 3
«if (y[threadIdx.x] > x[0]) x[0] = y[threadIdx.x];→atomicMax((int*)x, __float_as_int(y[threadIdx.x]));» // !

// # an element that several threads find new — data race
// cause: TEST_NOT_ATOMIC
// thread: any
// args: zeros(8), numbers(64), 3
// grid: 2
int i = (int)y[threadIdx.x] % 8;
if («x[i] == 0) x[i] = 1 + threadIdx.x→atomicCAS((int*)&x[i], 0, 1 + threadIdx.x) == 0) return»; // !

// # a slot that is read from a counter before the counter goes on — data race
// cause: READ_BESIDE_ATOMIC
// thread: any
// grid: 2
int* count = (int*)y;
int slot = «count[0]→atomicAdd(count, 1)»; // ?
if (slot > 999) __trap();
«atomicAdd(count, 1);→» // !

// # a largest value that each thread looks at before its atomic — data race
// cause: READ_BESIDE_ATOMIC
// thread: any
// args: zeros(1), numbers(64), 3
int value = __float_as_int(y[threadIdx.x]);
«if (value > *(int*)x)→» atomicMax((int*)x, value); // !

// # a counter that is volatile and no atomic — data race
// cause: UPDATE_NOT_ATOMIC
// thread: any
// grid: 4
// block: 1
volatile int* count = (int*)x;
«count[0] = count[0] + 1→atomicAdd((int*)x, 1)»; // !

// # an element that is tested and stored as volatile — data race
// cause: TEST_NOT_ATOMIC
// thread: any
// args: zeros(16), numbers(64), 3
// grid: 2
volatile float* seen = x;
int i = (int)y[threadIdx.x] % 8;
«if (seen[i] == 0) { // ?
    seen[i] = 1 + threadIdx.x; // !→if (atomicCAS((int*)x + i, 0, 1) == 0) {»
    atomicAdd(x + 8, 1);
}

// # a lock that a loop finds free — data race
// cause: LOCK_NOT_ATOMIC
// thread: any
// grid: 4
// block: 1
volatile int* lock = (int*)y;
«while (lock[0] != 0) { } // ?
lock[0] = 1; // !→while (atomicCAS((int*)y, 0, 1) != 0) { }»
__threadfence();
x[0] += 1;
__threadfence();
atomicExch((int*)y, 0);

// # a lock without fences — data race
// cause: LOCK_NOT_FENCED
// thread: any
// grid: 4
// block: 1
while (atomicCAS((int*)y, 0, 1) != 0) { }
«→__threadfence();»
x[0] += 1; // !
«→__threadfence();»
atomicExch((int*)y, 0);

// # bins to which several threads add — data race
// cause: UPDATE_OF_ONE_INDEX
// thread: any
// args: zeros(8), numbers(64), 3
«x[threadIdx.x % 8] += y[threadIdx.x];→atomicAdd(&x[threadIdx.x % 8], y[threadIdx.x]);» // !

// # a stencil in place — data race
// cause: NO_ORDER_IN_GRID
// thread: any
// args: numbers(129), numbers(129), 3
// grid: 2
int i = blockIdx.x * blockDim.x + threadIdx.x;
«x→y»[i] = x[i] + x[i + 1] * x[i + 1]; // !
