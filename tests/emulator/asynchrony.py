"""What the tests of asynchronous copies, mbarriers and clusters share: wrappers and a launcher."""

import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, KernelFault, Options

SEEDS = (0, 1, 2, 3)

PTX = r"""
typedef unsigned int u32; typedef unsigned long long u64;
struct alignas(64) TensorMap { u64 opaque[16]; };
__device__ inline u32 smem(const void* p) { return (u32)__cvta_generic_to_shared(p); }
#define ASM asm volatile
__device__ inline void init(u64* b, u32 n) {
    ASM("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(smem(b)), "r"(n) : "memory"); }
__device__ inline void expect(u64* b, u32 n) {
    ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
        :: "r"(smem(b)), "r"(n) : "memory"); }
__device__ inline void arrive(u64* b) {
    ASM("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(smem(b)) : "memory"); }
__device__ inline void wait(u64* b, u32 parity) {
    ASM("{\n.reg .pred P1;\nLAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
        "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" :: "r"(smem(b)), "r"(parity) : "memory"); }
__device__ inline void cp16(void* to, const void* from) {
    ASM("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(smem(to)), "l"(from) : "memory"); }
__device__ inline void commit() { ASM("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ inline void wait_group() {
    ASM("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
__device__ inline void bulk_load(void* to, const void* from, u32 n, u64* b) {
    ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :: "r"(smem(to)), "l"(from), "r"(n), "r"(smem(b)) : "memory"); }
__device__ inline void bulk_store(void* to, const void* from, u32 n) {
    ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
        :: "l"(to), "r"(smem(from)), "r"(n) : "memory"); }
__device__ inline void bulk_commit() { ASM("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ inline void bulk_wait() { ASM("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ inline void fence() { ASM("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void load_2d(void* to, const TensorMap* m, int x, int y, u64* b) {
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4}], [%2];"
        :: "r"(smem(to)), "l"(m), "r"(smem(b)), "r"(x), "r"(y) : "memory"); }
__device__ inline void store_2d(const TensorMap* m, int x, int y, const void* from) {
    ASM("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
        :: "l"(m), "r"(smem(from)), "r"(x), "r"(y) : "memory"); }
__device__ inline void cluster_sync() {
    ASM("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); }
__device__ inline u32 rank() { u32 r; ASM("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ inline u32 map_rank(const void* p, u32 r) {
    u32 a; ASM("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(smem(p)), "r"(r)); return a; }
__device__ inline float load_remote(u32 a) {
    float v; ASM("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(a) : "memory"); return v; }
__device__ inline void arrive_remote(u32 a) {
    ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(a) : "memory"); }
"""


def ptx(parameters, body, *, prefix="", before=""):
    """The PTX of a kernel ``f`` whose body begins on line 1 of kernel.cu."""
    signature = f'extern "C" __global__ void {prefix} f({parameters}) {{'
    head = f'#line 1 "/include/wrappers.cuh"\n{PTX}{before}\n{signature}'
    source = f'{head}\n#line 1 "kernel.cu"\n{body}\n}}'
    return compile_ptx(source, filename="wrappers.cu")


def module(parameters, body, **parts):
    return EmulatedModule(ptx(parameters, body, **parts))


def run(parameters, body, grid, block, args, shared=0, prefix="", before="", **options):
    kernel = module(parameters, body, prefix=prefix, before=before).entry("f")
    names = [p.split()[-1].strip("*") for p in parameters.split(",")]
    return kernel.launch(grid, block, args, shared, names=names, options=Options(**options))


def fault(*args, **kwargs):
    with pytest.raises(KernelFault) as caught:
        run(*args, **kwargs)
    return caught.value.finding
