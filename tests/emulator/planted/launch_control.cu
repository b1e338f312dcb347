// Cluster launch control

// # the index of a cluster that wasn't cancelled — launch control misuse
// cause: INDEX_OF_REFUSAL
// thread: any
// target: sm_100a
// helper: launch_control
__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); }
wait(&bar, 0);
«→if (granted(answer))»
y[index_x(answer)] = 1; // !

// # a request after one that was seen refused — launch control misuse
// cause: CANCEL_AFTER_REFUSAL
// target: sm_100a
// helper: launch_control
__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
__syncthreads();
for (int turn = 0; turn < n; ++turn) {
    if (threadIdx.x == 0) { expect(&bar, 16); }
    if (threadIdx.x == 0) ask(answer, &bar); // !
    wait(&bar, turn % 2);
    if («granted(answer)→!granted(answer)») «y[0] = index_x(answer)→break»;
    __syncthreads();
}

// # an answer that is read before it has come — data race
// cause: COPY_NOT_AWAITED
// thread: any
// also: launch control misuse
// target: sm_100a
// helper: launch_control
__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
if (threadIdx.x < 4) answer[threadIdx.x] = 0;
fence(); __syncthreads();
if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); } // ?
«→wait(&bar, 0);»
if (granted(answer)) y[0] = 1; // !
«wait(&bar, 0);→»

// # an answer that goes to another block — launch control misuse
// cause: ANSWER_TO_OTHER_BLOCK
// target: sm_100a
// helper: launch_control
// cluster: 2
// grid: 2
__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
cluster_sync();
if (threadIdx.x == 0) { expect(&bar, 16); ask_at(map_rank(answer, «1→rank()»), &bar); } // !
wait(&bar, 0);
cluster_sync();

// # a second answer in the place of one that others still read — data race
// cause: NO_ORDER_IN_BLOCK
// thread: any
// grid: 8
// target: sm_100a
// helper: launch_control
__shared__ alignas(16) u32 answer[4]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); made(); }
__syncthreads();
for (int turn = 0;; ++turn) {
    if (threadIdx.x == 0) { expect(&bar, 16); ask(answer, &bar); } // !
    wait(&bar, turn % 2);
    if (!granted(answer)) break; // ?
    «fence();→fence(); __syncthreads();»
}
