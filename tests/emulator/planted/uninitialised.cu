// Uninitialised values

// # an input that nobody filled — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
// args: empty(64), empty(64), 3
y[threadIdx.x] = «x[threadIdx.x] + →»1; // !

// # adding to an output that starts with no value — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
// args: numbers(64), empty(64), 3
y[threadIdx.x] «+=→=» x[threadIdx.x]; // !

// # an atomic sum that starts with no value — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
// args: numbers(64), empty(64), 3
«→if (threadIdx.x == 0) y[0] = 0;»
__syncthreads();
atomicAdd(y, x[threadIdx.x]); // !

// # an exchange for a value that is not there yet — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
__shared__ int ticket;
«→if (threadIdx.x == 0) ticket = 0;»
__syncthreads();
if (threadIdx.x == 0) y[0] = atomicExch(&ticket, 1); // !

// # a tile of which the last element was never loaded — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
__shared__ float s[64];
if (threadIdx.x < «63→64») s[threadIdx.x] = x[threadIdx.x];
__syncthreads();
float v = s[63 - threadIdx.x]; // ?
y[threadIdx.x] = 2 * v; // !

// # dynamic shared memory that starts with no value — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
// shared: 256
extern __shared__ int bins[];
«→bins[threadIdx.x] = 0;»
__syncthreads();
atomicAdd(&bins[threadIdx.x % 4], 1); // !
__syncthreads();
if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];

// # a local array that is filled in part — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
float a[8];
for (int i = 0; i < «n→8»; ++i) a[(i * 5) % 8] = x[i];
float v = a[(n + threadIdx.x) % 8]; // ?
y[threadIdx.x] = v; // !

// # a variable that only some ways set — uninitialised read
// cause: VARIABLE_NOT_INITIALISED
float sum«→ = 0»;
for (int i = 0; i < n; ++i) sum += x[i];
y[threadIdx.x] = sum; // !

// # a branch on an uninitialised value — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
// args: numbers(64), empty(64), 3
if («y→x»[threadIdx.x] > 0) x[threadIdx.x] = 1; // !

// # an uninitialised index — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
// args: zeros(64), empty(64), 3
int i = ((int*)«y→x»)[threadIdx.x] & 63; // ?
x[i] = 0; // !

// # a shuffle from lanes that are not there — uninitialised read
// cause: LANE_NOT_IN_SHUFFLE
// thread: 32
// block: 48
float v = x[threadIdx.x];
v += __shfl_down_sync(~0u, v, «16→8»); // ?
if (threadIdx.x % 32 < 8) y[threadIdx.x] = v; // !

// # an uninitialised value that came by a shuffle — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// thread: 47
// other: 63
__shared__ float s[64];
if (threadIdx.x < «63→64») s[threadIdx.x] = 1;
__syncthreads();
float v = s[threadIdx.x]; // ?
v += __shfl_xor_sync(~0u, v, 16);
y[threadIdx.x] = v; // !

// # a tile for tensor cores that is filled in part — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// thread: 16
// block: 32
__shared__ alignas(128) u32 s[128];
if (threadIdx.x < «28→32»)
    for (int i = 0; i < 4; ++i) s[4 * threadIdx.x + i] = 0x3c003c00;
__syncthreads();
u32 a[4]; float d[4] = {0, 0, 0, 0};
ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(smem(&s[threadIdx.x % 32 * 4]))); // ?
ASM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
    "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
y[threadIdx.x] = d[2]; // !

// # a copy of uninitialised memory — uninitialised read
// cause: MEMORY_NOT_INITIALISED
// other: 0
__shared__ alignas(128) float s[64];
if (threadIdx.x < «60→64») s[threadIdx.x] = 1;
fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); bulk_wait(); } // !
