// Tensor memory of Blackwell

// # columns of tensor memory that are not given back — tensor memory misuse
// says: were never given back
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) {
    alloc(&a, 64); // !
    __syncwarp();
    «→dealloc(a, 64);»
}

// # a number of columns that is no power of two — tensor memory misuse
// says: must be a power of two
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) {
    alloc(&a, «48→64»); // !
    __syncwarp();
    dealloc(a, «48→64»);
}

// # columns that one thread allocates — tensor memory misuse
// says: all of them execute it together
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < «1→32») alloc(&a, 32); // !
sync();
if (threadIdx.x < 32) dealloc(a, 32);

// # columns that one thread gives back — tensor memory misuse
// says: executes a tcgen05.dealloc with 1 of the 32 threads of its warp there
// target: sm_100a
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
if (threadIdx.x < «1→32») dealloc(a, 32); // !

// # the lanes of another warp — tensor memory misuse
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
// says: allocated columns 0 to 31
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
