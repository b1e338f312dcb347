// mbarriers

// # an mbarrier used before its initialisation — barrier misuse
// says: was never initialised
__shared__ u64 bar;
«→if (threadIdx.x == 0) init(&bar, 64);»
__syncthreads();
arrive(&bar); // !
wait(&bar, 0);
y[threadIdx.x] = 1;

// # an mbarrier initialised twice — barrier misuse
// says: in use already
// thread: 1
__shared__ u64 bar;
if (threadIdx.x < «2→1») init(&bar, 64); // !
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;

// # an mbarrier for no arrivals — barrier misuse
// says: for 0 arrivals
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, «0→64»); // !
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;

// # more arrivals than an mbarrier waits for — barrier misuse
// says: its phase waits for 0 more of 1 arrivals
// thread: 1
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x < «2→1») expect(&bar, 256); // !
if (threadIdx.x == 0) bulk_load(s, x, 256, &bar);
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];

// # an arrival that is missing — deadlock
// says: missing: 1 of 65 arrivals
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, «65→64»);
__syncthreads();
arrive(&bar);
wait(&bar, 0); // !
y[threadIdx.x] = 1;

// # bytes announced that never come — deadlock
// says: 256 more bytes
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «512→256»); bulk_load(s, x, 256, &bar); }
wait(&bar, 0); // !
y[threadIdx.x] = s[threadIdx.x];

// # fewer bytes announced than come — deadlock
// says: of the mbarrier bar: 128 bytes announced at kernel.cu:4, 256 bytes copied at kernel.cu:4
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «128→256»); bulk_load(s, x, 256, &bar); }
wait(&bar, 0); // !
y[threadIdx.x] = s[threadIdx.x];

// # a producer that waits for the wrong parity in the first lap — deadlock
// says: for the mbarrier empty[0] (byte 0) (missing: 64 of 64 arrivals)
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
// says: for the mbarrier empty[0] (byte 0) (missing: 64 of 64 arrivals)
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
// says: 256 bytes were announced that never came
// thread: any
// budget: 1_000_000
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); } // !
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «512→256»); bulk_load(s, x, 256, &bar); }
«while (n++ < 60000) __syncthreads();→wait(&bar, 0);»
y[threadIdx.x] = 1;

// # a producer that does not wait for an empty stage — barrier misuse
// says: full[0]
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
// says: mbarrier of another block
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
