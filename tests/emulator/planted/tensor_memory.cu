// Tensor memory of Blackwell

// # columns of tensor memory that are not given back — tensor memory misuse
// cause: COLUMNS_NOT_FREED
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) {
    alloc(&a, 64); // !
    __syncwarp();
    «→dealloc(a, 64);»
}

// # a number of columns that is no power of two — tensor memory misuse
// cause: COLUMN_COUNT_INVALID
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) {
    alloc(&a, «48→64»); // !
    __syncwarp();
    dealloc(a, «48→64»);
}

// # columns that one thread allocates — tensor memory misuse
// cause: WARP_INCOMPLETE
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < «1→32») alloc(&a, 32); // !
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # columns that one thread gives back — tensor memory misuse
// cause: WARP_INCOMPLETE
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
if (threadIdx.x < «1→32») dealloc(a, 32); // !

// # the lanes of another warp — tensor memory misuse
// cause: LANES_OF_OTHER_WARP
// thread: any
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
u32 where = a + threadIdx.x / 32 * 0x200000, v = threadIdx.x;
st1(where, 7); wait_st();
v = ld1(«a + 0x200000→where»); // !
wait_ld(); y[threadIdx.x] = v;
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # columns beyond those that were allocated — out of bounds
// cause: OUTSIDE_ALLOCATED_COLUMNS
// thread: any
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
u32 where = a + threadIdx.x / 32 * 0x200000, v = threadIdx.x;
st1(where + «32→31», 7); wait_st(); // !
y[threadIdx.x] = v;
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # a value used before tcgen05.wait::ld — data race
// cause: REGISTER_READ_BEFORE_WAIT
// thread: any
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
u32 where = a + threadIdx.x / 32 * 0x200000, v = threadIdx.x;
st1(where, 7); wait_st();
v = ld1(where); // ?
«→wait_ld();»
y[threadIdx.x] = v; // !
«wait_ld();→»
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # a column read before tcgen05.wait::st — data race
// cause: TENSOR_MEMORY_WAIT_MISSING
// thread: any
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
u32 where = a + threadIdx.x / 32 * 0x200000, v = threadIdx.x;
st1(where, 7); // ?
«→wait_st();»
v = ld1(where); // !
«wait_st();→» wait_ld();
y[threadIdx.x] = v;
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # a column written by one warp and read by another, with no tcgen05.fence — data race
// cause: TENSOR_MEMORY_FENCE_MISSING
// level: warning
// thread: 128
// other: 0
// args: zeros(64), zeros(160), 3
// block: 160
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
u32 v = threadIdx.x;
if (threadIdx.x < 32) { st1(a, v); wait_st(); } // ?
«__syncthreads→sync»();
if (threadIdx.x >= 128) { v = ld1(a); wait_ld(); } // !
y[threadIdx.x] = v;
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # columns of a pair allocated before the other block has started — tensor memory misuse
// cause: BLOCK_NOT_STARTED
// target: sm_100a
// cluster: 2
// grid: 2
__shared__ u32 a;
«→cluster_sync();»
if (threadIdx.x < 32) alloc<2>(&a, 32); // !
cluster_sync();
if (threadIdx.x < 32) dealloc<2>(a, 32);

// # columns that are allocated after the permit is given up — tensor memory misuse
// cause: ALLOCATION_RELINQUISHED
// target: sm_100a
__shared__ u32 a, b;
if (threadIdx.x < 32) {
    alloc(&a, 32);
    «relinquish();→»
    alloc(&b, 32); // !
    «→relinquish();»
    __syncwarp();
    dealloc(a, 32);
    dealloc(b, 32);
}

// # more columns than the allocation before — tensor memory misuse
// cause: COLUMNS_INCREASE
// target: sm_100a
__shared__ u32 a, b;
if (threadIdx.x < 32) {
    alloc(&a, «32→64»);
    alloc(&b, «64→32»); // !
    __syncwarp();
    dealloc(a, «32→64»);
    dealloc(b, «64→32»);
}

// # the permit of a pair given up for one block — tensor memory misuse
// cause: CTA_GROUPS_MIXED
// target: sm_100a
// cluster: 2
// grid: 2
__shared__ u32 a;
cluster_sync();
if (threadIdx.x < 32) {
    alloc<2>(&a, 32);
    relinquish<«1→2»>(); // !
}
cluster_sync();
if (threadIdx.x < 32) dealloc<2>(a, 32);
