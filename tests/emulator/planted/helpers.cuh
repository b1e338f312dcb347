// Functions that some of the kernels call, besides those of asynchrony.py and blackwell.py

// # store_1d
__device__ void store_1d(const TensorMap* m, int x, const void* from) {
    ASM("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
        :: "l"(m), "r"(smem(from)), "r"(x) : "memory"); }

// # add_2d
__device__ void add_2d(const TensorMap* m, int x, int y, const void* from) {
    ASM("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
        " [%0, {%2, %3}], [%1];"
        :: "l"(m), "r"(smem(from)), "r"(x), "r"(y) : "memory"); }

// # written
__device__ void written() { ASM("cp.async.bulk.wait_group 0;" ::: "memory"); }

// # load_and_tell
__device__ void load_and_tell(void* to, const TensorMap* m, u32 barrier) {
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {0, 0}], [%2];" :: "r"(smem(to)), "l"(m), "r"(barrier) : "memory"); }

// # load_for_both
__device__ void load_for_both(void* to, const TensorMap* m, u64* b) {
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {0, 0}], [%2], 3;"
        :: "r"(smem(to)), "l"(m), "r"(smem(b)) : "memory"); }

// # wgmma
__device__ inline void mma(float (&d)[4], const void* tile) {
    ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"((u64)(smem(tile) >> 4))); }
__device__ inline void swizzled(float (&d)[4], const void* tile, int further = 0) {
    const u64 descriptor = (1ull << 62 | 64ull << 32 | smem(tile) >> 4) + further;
    ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor)); }
__device__ inline void times(float (&d)[4], const u32 (&a)[4], const void* tile) {
    ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%5,%6,%7}, %8,"
        " 1, 1, 1, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"((u64)(smem(tile) >> 4))); }
#define FENCE ASM("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT ASM("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT ASM("wgmma.wait_group.sync.aligned 0;" ::: "memory")

// # mma_of_a_warp
__device__ inline void mma(float (&d)[4]) {
    ASM("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
        " {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(0x3c003c00)); }

// # tell
__device__ inline void tell(u64* b) {
    ASM("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(smem(b)) : "memory"); }

// # cooperative
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// # pair
struct Pair { char tag; float value; };

// # launch_control
#define TRY "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
#define QUERY "clusterlaunchcontrol.query_cancel."
__device__ inline void made() {
    ASM("fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void ask_at(u32 answer, u64* bar) {
    ASM(TRY ".b128 [%0], [%1];" :: "r"(answer), "r"(smem(bar)) : "memory"); }
__device__ inline void ask(void* answer, u64* bar) { ask_at(smem(answer), bar); }
__device__ inline bool granted(const void* answer) {
    u32 yes;
    ASM("{.reg .b128 w; .reg .pred p; ld.shared.b128 w, [%1];"
        QUERY "is_canceled.pred.b128 p, w; selp.u32 %0, 1, 0, p;}"
        : "=r"(yes) : "r"(smem(answer)) : "memory");
    return yes; }
__device__ inline u32 index_x(const void* answer) {
    u32 x;
    ASM("{.reg .b128 w; ld.shared.b128 w, [%1];"
        QUERY "get_first_ctaid::x.b32.b128 %0, w;}" : "=r"(x) : "r"(smem(answer)) : "memory");
    return x; }
