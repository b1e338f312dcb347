// Asynchronous copies

// # cp.async and no wait — data race
// cause: COPY_NOT_AWAITED
// other: 63
// args: numbers(256), zeros(64), 0
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); // ?
«→wait_group<0>();»
__syncthreads();
y[threadIdx.x] = s[255 - threadIdx.x]; // !
«wait_group<0>();→»

// # cp.async waited for, but no barrier after it — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
// args: numbers(256), zeros(64), 0
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
commit(); wait_group<0>();
«→__syncthreads();»
y[threadIdx.x] = s[255 - threadIdx.x]; // !

// # cp.async waited for behind the barrier — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
// args: numbers(256), zeros(64), 0
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); // ?
«__syncthreads(); wait_group<0>();→wait_group<0>(); __syncthreads();»
y[threadIdx.x] = s[255 - threadIdx.x]; // !

// # cp.async in two stages, the wait of a step behind its barrier — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
// args: numbers(1024), empty(1024), 4
__shared__ alignas(16) float tile[2][256];
int t = threadIdx.x;
cp16(&tile[0][4 * t], x + 4 * t); commit(); // ?
for (int i = 0; i < n; ++i) {
    if (i + 1 < n) cp16(&tile[(i + 1) % 2][4 * t], x + (i + 1) * 256 + 4 * t);
    commit();
    «__syncthreads(); wait_group<1>();→wait_group<1>(); __syncthreads();»
    for (int j = 0; j < 4; ++j) y[i * 256 + j * 64 + t] = tile[i % 2][255 - j * 64 - t]; // !
    __syncthreads();
}

// # cp.async waited for, and at once read by another lane of the warp — data race
// cause: NO_ORDER_IN_WARP
// level: warning
// other: 31
// args: numbers(128), zeros(32), 0
// block: 32
__shared__ alignas(16) float s[128];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
commit(); wait_group<0>();
«→__syncwarp();»
y[threadIdx.x] = s[127 - threadIdx.x]; // !

// # cp.async that an mbarrier is told of, and a wait for one's own copies — data race
// cause: NO_ORDER_IN_BLOCK
// other: 63
// args: numbers(256), zeros(64), 0
// helper: tell
__shared__ alignas(16) float s[256]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 64);
__syncthreads();
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
tell(&bar); commit();
«wait_group<0>();→wait(&bar, 0);»
y[threadIdx.x] = s[255 - threadIdx.x]; // !

// # an ordinary arrival for cp.async, which does not wait for the copies — data race
// cause: COPY_NOT_AWAITED
// other: 63
// args: numbers(256), zeros(64), 0
// helper: tell
__shared__ alignas(16) float s[256]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 64);
__syncthreads();
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
«arrive→tell»(&bar);
wait(&bar, 0);
y[threadIdx.x] = s[255 - threadIdx.x]; // !
«commit(); wait_group<0>();→»

// # cp.async left behind at the end — copy in flight
// cause: COPY_IN_FLIGHT_AT_END
// level: warning
// args: numbers(256), zeros(64), 0
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); // !
«→wait_group<0>();»
y[threadIdx.x] = 1;

// # a bulk copy that nobody waits for — data race
// cause: COPY_NOT_AWAITED
// other: 0
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(s, x, 256, &bar); } // ?
«→wait(&bar, 0);»
y[threadIdx.x] = s[threadIdx.x]; // !
wait(&bar, 0);

// # the wrong parity — data race
// cause: COPY_NOT_AWAITED
// other: 0
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(s, x, 256, &bar); } // ?
wait(&bar, «1→0»);
y[threadIdx.x] = s[threadIdx.x]; // !
wait(&bar, 0);

// # a TMA load that nobody waits for — data race
// cause: COPY_NOT_AWAITED
// other: 0
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(64)
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, &map, 0, 0, &bar); } // ?
«→wait(&bar, 0);»
y[threadIdx.x] = s[threadIdx.x]; // !
wait(&bar, 0);

// # a TMA load that one thread waits for, and others do not — data race
// cause: COPY_NOT_AWAITED
// thread: 32
// other: 0
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(64)
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, &map, 0, 0, &bar); } // ?
«if (threadIdx.x < 32)→» wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x]; // !

// # two TMA loads, and one warp that waits for its own alone — data race
// cause: COPY_COMPLETION_NOT_SEEN
// thread: 32
// other: 0
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(64)
__shared__ alignas(128) float s[2][64]; __shared__ u64 bar[2];
int warp = threadIdx.x / 32;
if (threadIdx.x == 0) { init(&bar[0], 1); init(&bar[1], 1); fence(); }
__syncthreads();
if (threadIdx.x % 32 == 0) {
    expect(&bar[warp], 256);
    load_2d(s[warp], &map, 0, 8 * warp, &bar[warp]); // ?
}
«→wait(&bar[1 - warp], 0);» wait(&bar[warp], 0);
y[threadIdx.x] = s[0][threadIdx.x]; // !

// # a TMA load whose bytes nobody announced — data race
// cause: COPY_NOT_AWAITED
// other: 0
// also: deadlock
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(64)
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { «arrive(&bar)→expect(&bar, 256)»; load_2d(s, &map, 0, 0, &bar); } // ?
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x]; // !
«wait(&bar, 1);→»

// # no fence between mbarrier.init and a TMA load — data race
// cause: MBARRIER_INIT_FENCE_MISSING
// other: 0
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(64)
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1); // ?
«→if (threadIdx.x == 0) fence();»
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, &map, 0, 0, &bar); } // !
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];

// # a TMA store whose group was not committed — copy in flight
// cause: COPY_IN_FLIGHT_AT_END
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); «→bulk_commit();» bulk_wait(); } // !

// # a TMA store that another thread waits for — data race
// cause: COPY_NOT_AWAITED
// other: 0
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); } // ?
if (threadIdx.x == «32→0») bulk_wait();
__syncthreads();
s[threadIdx.x] = 2; // !
if (threadIdx.x == 0) bulk_wait();

// # no fence.proxy.async before a TMA reduction — data race
// cause: PROXY_FENCE_MISSING
// other: 0
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
// helper: add_2d
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
«→fence();»
__syncthreads();
if (threadIdx.x == 0) { add_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); } // !

// # a multicast that the other block does not expect — data race
// cause: COPY_NOT_AWAITED
// thread: any
// also: copy in flight
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(128)
// grid: 2
// cluster: 2
// helper: load_for_both
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
cluster_sync(); // 1
if (threadIdx.x == 0) { if («rank() == 0→true») expect(&bar, 256); else arrive(&bar); }
if (threadIdx.x == 0 && rank() == 0) load_for_both(s, &map, &bar); // ?
wait(&bar, 0);
y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x]; // !
cluster_sync();

// # a multicast into a stage that the other block still reads — data race
// cause: COPY_NOT_AWAITED
// thread: any
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(128)
// grid: 2
// block: 96
// cluster: 2
// helper: load_for_both
__shared__ alignas(128) float s[64]; __shared__ u64 full, empty;
int t = threadIdx.x;
if (t == 0) { init(&full, 1); init(&empty, rank() == 0 ? «64→128» : 64); fence(); }
cluster_sync();
if (t == 64)
    for (int i = 0; i < 3; ++i) {
        wait(&empty, i & 1 ^ 1); expect(&full, 256);
        if (rank() == 0) load_for_both(s, &map, &full); // !
    }
else if (t < 64)
    for (int i = 0; i < 3; ++i) {
        wait(&full, i & 1);
        y[blockIdx.x * 64 + t] = s[63 - t];
        arrive(&empty);
        «→if (rank() == 1) arrive_remote(map_rank(&empty, 0));»
    }
cluster_sync();

// # a multicast to a block that may not have made its mbarrier — barrier misuse
// cause: BLOCK_NOT_STARTED
// thread: any
// also: data race
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(128)
// grid: 2
// cluster: 2
// helper: load_for_both
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
«__syncthreads();→cluster_sync();»
if (threadIdx.x == 0) { expect(&bar, 256); }
if (threadIdx.x == 0 && rank() == 0) load_for_both(s, &map, &bar); // !
wait(&bar, 0);
y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
cluster_sync();

// # a bulk store whose source is overwritten — data race
// cause: COPY_NOT_AWAITED
// other: 0
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); «→bulk_wait();» } // ?
__syncthreads();
s[threadIdx.x] = 2; // !
if (threadIdx.x == 0) bulk_wait();

// # a bulk store left behind at the end — copy in flight
// cause: COPY_IN_FLIGHT_AT_END
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); «→bulk_wait();» } // !

// # a bulk store that is read back once its source has been read — data race
// cause: COPY_NOT_AWAITED
// other: 0
// helper: written
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); «bulk_wait→written»(); } // ?
__syncthreads();
x[threadIdx.x] = y[threadIdx.x]; // !

// # a bulk store whose thread alone knows that it is written — data race
// cause: NO_ORDER_IN_WARP
// thread: 1
// other: 0
// helper: written
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); written(); } // ?
«→__syncthreads();»
x[threadIdx.x] = y[threadIdx.x]; // !

// # two TMA stores that overlap — data race
// cause: COPY_NOT_AWAITED
// other: 0
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
// helper: written
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); «bulk_wait→written»(); } // ?
if (threadIdx.x == 0) { store_2d(&map, 0, 4, s); bulk_commit(); bulk_wait(); } // !

// # two blocks whose TMA stores overlap — data race
// cause: COPIES_OVERLAP
// other: 0
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
// grid: 2
__shared__ alignas(128) float s[64];
s[threadIdx.x] = blockIdx.x; fence(); __syncthreads();
if (threadIdx.x == 0) {
    store_2d(&map, 0, «4→8» * blockIdx.x, s); // !
    bulk_commit(); bulk_wait();
}

// # a bulk load of what a bulk store is still writing — data race
// cause: COPY_NOT_AWAITED
// other: 0
// helper: written
__shared__ alignas(128) float s[64], t[64]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1);
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) {
    bulk_store(y, s, 256); // ?
    bulk_commit(); «bulk_wait→written»();
    expect(&bar, 256);
    bulk_load(t, y, 256, &bar); // !
}
__syncthreads();
wait(&bar, 0);
x[threadIdx.x] = t[threadIdx.x];

// # no fence.proxy.async before a bulk store — data race
// cause: PROXY_FENCE_MISSING
// other: 0
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
«→fence();»
__syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); bulk_wait(); } // !

// # no fence.proxy.async before a TMA store — data race
// cause: PROXY_FENCE_MISSING
// other: 0
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
«→fence();»
__syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); } // !

// # a fence of the storing thread alone, before the others have written — data race
// cause: PROXY_FENCE_MISSING
// other: 32
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
«if (threadIdx.x == 0) fence();→»
__syncthreads();
«→if (threadIdx.x == 0) fence();»
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); } // !

// # a bulk copy that starts at an odd place — misaligned access
// cause: COPY_MISALIGNED
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y + «1→4», s, 128); bulk_commit(); bulk_wait(); } // !

// # a bulk copy past the end of its source — out of bounds
// cause: COPY_OUTSIDE_ARRAY
__shared__ alignas(128) float s[128]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, «512→256»); bulk_load(s, x, «512→256», &bar); } // !
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];

// # a column taken for a byte of a surface — misaligned access
// cause: SURFACE_MISALIGNED
// thread: 1
// parameters: cudaTextureObject_t t, cudaSurfaceObject_t s, float* x, float* y
// args: texture(), surface(), zeros(64), zeros(64)
surf2Dwrite(x[threadIdx.x], s, «threadIdx.x→threadIdx.x * 4», 1); // !
y[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f);

// # a write past the last row of a surface — out of bounds
// cause: OUTSIDE_SURFACE
// parameters: cudaTextureObject_t t, cudaSurfaceObject_t s, float* x, float* y
// args: texture(), surface(), zeros(64), zeros(64)
surf2Dwrite(1.0f, s, threadIdx.x * 4, «2→1»); // !
y[threadIdx.x] = tex2D<float>(t, 0.5f, 0.5f);

// # a surface where a texture is wanted — bad texture or surface
// cause: TEXTURE_INVALID
// parameters: cudaTextureObject_t t, cudaSurfaceObject_t s, float* x, float* y
// args: texture(), surface(), zeros(64), zeros(64)
y[threadIdx.x] = tex2D<float>(«s→t», threadIdx.x, 0); // !

// # no tensor map where one should be — bad tensor map
// cause: TENSOR_MAP_INVALID
// parameters: const __grid_constant__ TensorMap map, float* y
// args: tensor_map(), zeros(64)
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
const TensorMap* m = «(const TensorMap*)y→&map»;
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, m, 0, 0, &bar); } // !
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];

// # a tensor map of other dimensions — bad tensor map
// cause: TENSOR_MAP_INVALID
// parameters: const __grid_constant__ TensorMap map
// args: tensor_map()
// helper: store_1d
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) {
    «store_1d(&map, 0, s)→store_2d(&map, 0, 0, s)»; // !
    bulk_commit(); bulk_wait();
}
