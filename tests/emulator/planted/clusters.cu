// Clusters

// # reaching into a block that may not have started — barrier misuse
// cause: BLOCK_NOT_STARTED
// thread: any
// also: data race
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
s[threadIdx.x] = threadIdx.x;
«→cluster_sync();»
y[blockIdx.x * 32 + threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1)); // !
cluster_sync(); // 3

// # an arrival for the cluster, and no wait before another block is reached — barrier misuse
// cause: BLOCK_NOT_STARTED
// thread: any
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
ASM("barrier.cluster.arrive.aligned;" ::: "memory");
for (int i = 0; i < n; ++i) __syncthreads();
«→ASM("barrier.cluster.wait.aligned;" ::: "memory");»
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], rank() ^ 1)), "f"(1.0f) : "memory"); // !
«ASM("barrier.cluster.wait.aligned;" ::: "memory");→»
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];

// # a copy that tells an mbarrier of another block than the one it fills — barrier misuse
// cause: COPY_SIGNALS_OTHER_BLOCK
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(128)
// grid: 2
// cluster: 2
// helper: load_and_tell
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
cluster_sync();
if (threadIdx.x == 0) {
    expect(&bar, 256);
    load_and_tell(s, &map, «map_rank(&bar, 0)→smem(&bar)»); // !
}
wait(&bar, 0);
y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
cluster_sync();

// # a block that may end while others read it — data race
// cause: BLOCK_MAY_END
// thread: any
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
s[threadIdx.x] = threadIdx.x;
cluster_sync(); // 1
y[blockIdx.x * 32 + threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1)); // !
«→cluster_sync();»

// # a block that may end before another arrives at its mbarrier — data race
// cause: BLOCK_MAY_END
// thread: any
// grid: 2
// block: 32
// cluster: 2
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
if (rank() == 1) {
    ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
        :: "r"(map_rank(&bar, 0)) : "memory"); // !
} else {
    y[threadIdx.x] = 1;
}
«→cluster_sync();»

// # reaching into a block that has ended — out of bounds
// cause: BLOCK_HAS_ENDED
// thread: any
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
s[threadIdx.x] = 1;
cluster_sync();
«if (rank() == 1) return;→»
for (int i = 0; i < 300 * n; ++i) __syncthreads();
if (rank() == 0) y[threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], 1)); // !
«→cluster_sync();»

// # a rank that the cluster does not have — out of bounds
// cause: RANK_NOT_IN_CLUSTER
// thread: any
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
s[threadIdx.x] = 1;
cluster_sync();
y[threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], «2→1»)); // !
cluster_sync();

// # writing what a neighbouring block still reads — data race
// cause: NO_ORDER_IN_CLUSTER
// thread: any
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
s[threadIdx.x] = 1; cluster_sync();
float v = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1)); // ?
«→cluster_sync();»
s[threadIdx.x] = 2; // !
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = v + s[threadIdx.x];

// # a relaxed arrival after what the other block reads — data race
// cause: ARRIVAL_RELAXED
// other: 0
// grid: 2
// block: 32
// cluster: 2
__shared__ float s[32];
cluster_sync();
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], rank() ^ 1)), "f"(1.0f) : "memory"); // ?
ASM("barrier.cluster.arrive.«relaxed→release».aligned;" ::: "memory");
ASM("barrier.cluster.wait.acquire.aligned;" ::: "memory");
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x]; // !

// # a relaxed arrival at an mbarrier, and a fence for too few — data race
// cause: ARRIVAL_RELAXED
// other: 0
// grid: 2
// block: 32
// cluster: 2
__shared__ u64 bar; __shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
if (rank() == 1) {
    ASM("st.shared::cluster.f32 [%0], %1;"
        :: "r"(map_rank(&s[threadIdx.x], 0)), "f"(1.0f) : "memory"); // ?
    ASM("fence.acq_rel.«cta→cluster»;" ::: "memory");
    ASM("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
        :: "r"(map_rank(&bar, 0)) : "memory");
} else {
    wait(&bar, 0);
    y[threadIdx.x] = s[threadIdx.x]; // !
}
cluster_sync();

// # waiting for the cluster without an arrival — barrier misuse
// cause: CLUSTER_WAIT_WITHOUT_ARRIVAL
// thread: any
// grid: 2
// block: 32
// cluster: 2
«→ASM("barrier.cluster.arrive;");»
ASM("barrier.cluster.wait;"); // !
y[blockIdx.x * 32 + threadIdx.x] = 1;

// # an arrival at the mbarrier of another block, with the scope of its own — barrier misuse
// cause: MBARRIER_SCOPE_TOO_NARROW
// level: warning
// grid: 2
// block: 32
// cluster: 2
__shared__ u64 bar; __shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
u32 other = rank() ^ 1;
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], other)), "f"(1.0f) : "memory");
ASM("mbarrier.arrive.release.«cta→cluster».shared::cluster.b64 _, [%0];" :: "r"(map_rank(&bar, other)) : "memory"); // !
wait(&bar, 0);
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
cluster_sync();

// # a wait with the scope of its block, for an arrival of another — barrier misuse
// cause: MBARRIER_SCOPE_TOO_NARROW
// level: warning
// grid: 2
// block: 32
// cluster: 2
__shared__ u64 bar; __shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
u32 other = rank() ^ 1, done = 0;
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], other)), "f"(1.0f) : "memory");
arrive_remote(map_rank(&bar, other));
while (!done)
    ASM("{ .reg .pred p; mbarrier.try_wait.parity.acquire.«cta→cluster».shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(smem(&bar)) : "memory"); // !
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
cluster_sync();
