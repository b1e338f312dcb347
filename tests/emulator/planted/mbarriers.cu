// mbarriers

// # an mbarrier used before its initialisation — barrier misuse
// cause: MBARRIER_NOT_INITIALISED
__shared__ u64 bar;
«→if (threadIdx.x == 0) init(&bar, 64);»
__syncthreads();
arrive(&bar); // !
wait(&bar, 0);
y[threadIdx.x] = 1;

// # an mbarrier initialised twice — barrier misuse
// cause: MBARRIER_INITIALISED_TWICE
// thread: 1
__shared__ u64 bar;
if (threadIdx.x < «2→1») init(&bar, 64); // !
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;

// # a warp that doesn't wait for the other's mbarrier — data race
// cause: MBARRIER_NOT_BETWEEN
// thread: 32
__shared__ u64 bar;
__shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 32);
__syncthreads();
if (threadIdx.x < 32) {
    s[threadIdx.x] = x[threadIdx.x]; // ?
    arrive(&bar);
} else {
    «→wait(&bar, 0);»
    y[threadIdx.x] = s[threadIdx.x - 32]; // !
}

// # an mbarrier for no arrivals — barrier misuse
// cause: MBARRIER_COUNT_INVALID
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, «0→64»); // !
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;

// # more arrivals than an mbarrier waits for — barrier misuse
// cause: MBARRIER_TOO_MANY_ARRIVALS
// thread: 1
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x < «2→1») expect(&bar, 256); // !
if (threadIdx.x == 0) bulk_load(s, x, 256, &bar);
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];

// # an arrival that is missing — deadlock
// cause: MBARRIER_ARRIVALS_MISSING
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, «65→64»);
__syncthreads();
arrive(&bar);
wait(&bar, 0); // !
y[threadIdx.x] = 1;

// # bytes announced that never come — deadlock
// cause: MBARRIER_BYTES_MISSING
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «512→256»); bulk_load(s, x, 256, &bar); }
wait(&bar, 0); // !
y[threadIdx.x] = s[threadIdx.x];

// # fewer bytes announced than come — deadlock
// cause: MBARRIER_BYTES_UNEXPECTED
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «128→256»); bulk_load(s, x, 256, &bar); }
wait(&bar, 0); // !
y[threadIdx.x] = s[threadIdx.x];

// # a producer that waits for the wrong parity in the first lap — deadlock
// cause: MBARRIER_ARRIVALS_MISSING
// thread: any
// args: numbers(320), zeros(320), 5
// block: 96
__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64)
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1«→ ^ 1»); // !
        expect(&full[i % 2], 256);
        bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
    }
else if (t < 64)
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }

// # consumers that do not say that a stage is empty — deadlock
// cause: MBARRIER_ARRIVALS_MISSING
// thread: any
// args: numbers(320), zeros(320), 5
// block: 96
__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64)
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1); // !
        expect(&full[i % 2], 256);
        bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
    }
else if (t < 64)
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        «→arrive(&empty[i % 2]);»
    }

// # bytes announced that nobody waits for and that never come — barrier misuse
// cause: EXPECTED_BYTES_NEVER_CAME
// thread: any
// budget: 1_000_000
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); } // !
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «512→256»); bulk_load(s, x, 256, &bar); }
«while (n < 60000) asm volatile("add.s32 %0, %0, 1;" : "+r"(n));→wait(&bar, 0);»
y[threadIdx.x] = 1;

// # bytes that come unannounced, for which nobody waits — barrier misuse
// cause: BYTES_NEVER_EXPECTED
// thread: any
// budget: 1000000
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); } // !
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «128→256»); bulk_load(s, x, 256, &bar); }
«while (n < 60000) asm volatile("add.s32 %0, %0, 1;" : "+r"(n));→wait(&bar, 0);»
y[threadIdx.x] = 1;

// # a producer that does not wait for an empty stage — barrier misuse
// cause: MBARRIER_TOO_MANY_ARRIVALS
// thread: 64
// args: numbers(320), zeros(320), 5
// block: 96
__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64)
    for (int i = 0; i < n; ++i) {
        «→wait(&empty[i % 2], i / 2 & 1 ^ 1);»
        expect(&full[i % 2], 256); // !
        bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
    }
else if (t < 64)
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }

// # waiting for the mbarrier of another block — barrier misuse
// cause: MBARRIER_OF_OTHER_BLOCK
// thread: any
// grid: 2
// cluster: 2
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 64);
cluster_sync();
arrive(&bar);
u32 a = «map_rank(&bar, rank() ^ 1)→smem(&bar)»; u32 done;
ASM("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
    "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(a) : "memory"); // !
cluster_sync();
y[threadIdx.x] = 1;

// # one lane that arrives for its whole warp — data race
// cause: ARRIVAL_OF_OTHER_LANE
// level: warning
// thread: 33
// other: 1
__shared__ float s[32]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1);
__syncthreads();
if (threadIdx.x < 32) {
    s[threadIdx.x] = 1; // ?
    «→__syncwarp();»
    if (threadIdx.x == 0) arrive(&bar);
} else {
    wait(&bar, 0);
    y[threadIdx.x] = s[threadIdx.x - 32]; // !
}

// # one lane that frees a tile which its warp still reads — data race
// cause: ARRIVAL_OF_OTHER_LANE
// level: warning
// thread: 33
// other: 1
__shared__ float s[32]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1);
s[threadIdx.x % 32] = 1;
__syncthreads();
if (threadIdx.x < 32) {
    y[threadIdx.x] = s[threadIdx.x]; // ?
    «→__syncwarp();»
    if (threadIdx.x == 0) arrive(&bar);
} else {
    wait(&bar, 0);
    s[threadIdx.x - 32] = 2; // !
}

// # one lane that has arrived before the others write — data race
// cause: ARRIVAL_OF_OTHER_LANE
// thread: 33
// other: 1
__shared__ float s[32]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1);
__syncthreads();
if (threadIdx.x < 32) {
    «if (threadIdx.x == 0) arrive(&bar); else s[threadIdx.x] = 1;→s[threadIdx.x] = 1; __syncwarp(); if (threadIdx.x == 0) arrive(&bar);» // ?
} else {
    wait(&bar, 0);
    if (threadIdx.x > 32) y[threadIdx.x] = s[threadIdx.x - 32]; // !
}
