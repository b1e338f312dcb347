// Clusters

// # reaching into a block that may not have started — barrier misuse
// says: before it is certain that this block has started
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
// says: before it is certain that this block has started
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
// says: starts a copy into block (1, 0, 0) that tells an mbarrier of block (0, 0, 0)
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
// says: may end, and its s with it
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
// says: may end, and its bar with it
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
// says: which has ended
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
// says: of rank 2, but its cluster has 2 blocks
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
// says: write after read
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
// says: Let it be barrier.cluster.arrive.release, or put a fence.acq_rel.cluster before it.
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
// says: Let it be mbarrier.arrive.release, or put a fence.acq_rel.cluster before it.
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
// says: without having arrived
// thread: any
// grid: 2
// block: 32
// cluster: 2
«→ASM("barrier.cluster.arrive;");»
ASM("barrier.cluster.wait;"); // !
y[blockIdx.x * 32 + threadIdx.x] = 1;
