"""What the tests of tcgen05 share: wrappers for the instructions, a launcher, CuTe's layouts."""

import numpy as np
import pytest
from asynchrony import PTX

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, KernelFault, Options

WRAPPERS = r"""
#define MEMORY ::: "memory"
template <int G = 1> __device__ inline void alloc(u32* to, u32 n) {
    if (G == 1) ASM("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                    :: "r"(smem(to)), "r"(n) : "memory");
    else ASM("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;"
             :: "r"(smem(to)), "r"(n) : "memory"); }
template <int G = 1> __device__ inline void dealloc(u32 a, u32 n) {
    if (G == 1) ASM("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" :: "r"(a), "r"(n));
    else ASM("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" :: "r"(a), "r"(n)); }
template <int G = 1> __device__ inline void relinquish() {
    if (G == 1) ASM("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    else ASM("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;"); }
__device__ inline void wait_ld() { ASM("tcgen05.wait::ld.sync.aligned;" MEMORY); }
__device__ inline void wait_st() { ASM("tcgen05.wait::st.sync.aligned;" MEMORY); }
__device__ inline void before() { ASM("tcgen05.fence::before_thread_sync;" MEMORY); }
__device__ inline void after() { ASM("tcgen05.fence::after_thread_sync;" MEMORY); }
__device__ inline void sync() { before(); __syncthreads(); after(); }
__device__ inline u32 ld1(u32 a) {
    u32 r; ASM("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(r) : "r"(a)); return r; }
__device__ inline void st1(u32 a, u32 r) {
    ASM("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" :: "r"(a), "r"(r) : "memory"); }
__device__ inline void commit_1(u64* b) {
    ASM("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
        :: "r"(smem(b)) : "memory"); }
__device__ inline void commit_2(u64* b) {
    ASM("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
        " [%0], %1;" :: "r"(smem(b)), "h"((unsigned short)3) : "memory"); }
// All of columns 0 to n - 1 as out[lane][column]; each of the first four warps its own lanes.
__device__ inline void dump(u32 taddr, u32* out, int n) {
    if (threadIdx.x >= 128) return;
    u32 own = taddr + (threadIdx.x / 32 * 32 << 16);
    for (int c = 0; c < n; ++c) {
        u32 value = ld1(own + c);
        wait_ld();
        out[threadIdx.x * n + c] = value;
    }
}
__device__ inline void fill(u32 taddr, const u32* in, int n) {
    if (threadIdx.x >= 128) return;
    u32 own = taddr + (threadIdx.x / 32 * 32 << 16);
    for (int c = 0; c < n; ++c) st1(own + c, in[threadIdx.x * n + c]);
    wait_st();
}
"""


def ptx(parameters, body, *, prefix="", before="", options=()):
    """The PTX of a kernel ``f`` for sm_100a, whose body begins on line 1 of kernel.cu."""
    signature = f'extern "C" __global__ void {prefix} f({parameters}) {{'
    head = f'#line 1 "/include/wrappers.cuh"\n{PTX}{WRAPPERS}{before}\n{signature}'
    source = f'{head}\n#line 1 "kernel.cu"\n{body}\n}}'
    return compile_ptx(source, filename="w.cu", arch="compute_100a", options=options)


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


def layout(shape, stride):
    """A CuTe layout as an array of addresses: nested shape : stride, the first mode fastest."""
    if isinstance(shape, int):
        return np.arange(shape) * stride
    modes = [layout(s, d) for s, d in zip(shape, stride, strict=True)]
    total = np.zeros(1, np.int64)
    for mode in modes:
        total = (total[None, :] + mode[:, None]).reshape(-1)
    return total
