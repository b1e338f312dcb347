"""D = A B^T for row-major bf16 matrices, sums in tensor memory: umma_stages.cu in the Python DSL.

A is M x K, B is N x K, D is M x N in bf16; M a multiple of 128, N of BN, K of 8. One warp loads a
ring of stages by TMA, one multiplies by tcgen05, four fetch the sums of their 32 lanes. It's
compiled for sm_100a and read: the course's GPU is too old to run it.
Limit: as there, the tensor cores wait while D is stored.
"""

import tempfile
from dataclasses import dataclass

import cutlass
import cutlass.cute as cute
from cutlass._mlir.dialects import nvvm
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05

LOADER, MULTIPLIER = 4, 5  # warps; 0 to 3 store
PIECE = 32  # columns of the sums that a thread fetches at once


@dataclass(frozen=True)
class Plan:
    """The constants of the C++ kernel."""

    BM: int = 128
    BN: int = 256
    BK: int = 64
    STAGES: int = 4
    ordered: bool = True  # False leaves out the fences and waits: nothing adds them by itself


def mma_of(plan):
    """tcgen05.mma of a whole tile, issued by one thread: operands in shared memory."""
    op = tcgen05.MmaF16BF16Op(
        cutlass.BFloat16,
        cutlass.Float32,
        (plan.BM, plan.BN, 16),
        tcgen05.CtaGroup.ONE,
        tcgen05.OperandSource.SMEM,
        OperandMajorMode.K,
        OperandMajorMode.K,
    )
    return cute.make_tiled_mma(cute.make_mma_atom(op))


def ring(shape, plan):
    """The stages of an operand in shared memory, in the swizzle of 128 bytes."""
    kind = tcgen05.SmemLayoutAtomKind.K_SW128
    eight_rows = tcgen05.make_smem_layout_atom(kind, cutlass.BFloat16)
    return tcgen05.tile_to_mma_shape(eight_rows, cute.append(shape, plan.STAGES), (0, 1, 2))


def rings(mma, plan):
    """Those of A and of B."""
    a = mma.partition_shape_A((plan.BM, plan.BK))
    b = mma.partition_shape_B((plan.BN, plan.BK))
    return ring(a, plan), ring(b, plan)


@cute.jit
def after_a_wait(plan: cutlass.Constexpr):
    """tcgen05.fence::after_thread_sync: the work of others before a barrier comes first."""
    if cutlass.const_expr(plan.ordered):
        nvvm.tcgen05_fence(nvvm.Tcgen05FenceKind.AFTER_THREAD_SYNC)


@cute.kernel
def gemm_blackwell_dsl(
    mma: cute.TiledMma,
    load_a: cute.CopyAtom,
    A: cute.Tensor,
    load_b: cute.CopyAtom,
    B: cute.Tensor,
    D: cute.Tensor,
    ring_a: cute.ComposedLayout,
    ring_b: cute.ComposedLayout,
    plan: cutlass.Constexpr,
):
    thread, _, _ = cute.arch.thread_idx()
    across, down, _ = cute.arch.block_idx()
    warp = cute.arch.make_warp_uniform(thread // 32)
    BM, BN, BK, STAGES = plan.BM, plan.BN, plan.BK, plan.STAGES

    memory = cutlass.memory.SmemAllocator()
    shared_a = memory.allocate_tensor(cutlass.BFloat16, ring_a.outer, 1024, swizzle=ring_a.inner)
    shared_b = memory.allocate_tensor(cutlass.BFloat16, ring_b.outer, 1024, swizzle=ring_b.inner)
    full = memory.allocate_array(cutlass.Int64, STAGES)
    empty = memory.allocate_array(cutlass.Int64, STAGES)
    done = memory.allocate_array(cutlass.Int64, 1)
    allocated = memory.allocate_array(cutlass.Int32, 1)
    if thread == 0:
        for i in cutlass.range_constexpr(STAGES):
            cute.arch.mbarrier_init(full + i, 1)
            cute.arch.mbarrier_init(empty + i, 1)
        cute.arch.mbarrier_init(done, 1)
    cute.arch.mbarrier_init_fence()
    if warp == MULTIPLIER:
        cute.arch.alloc_tmem(BN, allocated)
    cute.arch.sync_threads()

    products = mma.get_slice(0)
    tiles_a = products.partition_A(cute.local_tile(A, (BM, BK), (down, None)))
    tiles_b = products.partition_B(cute.local_tile(B, (BN, BK), (across, None)))
    tile_d = products.partition_C(cute.local_tile(D, (BM, BN), (down, across)))
    alone = 0, cute.make_layout(1)
    to_a, from_a = cpasync.tma_partition(
        load_a, *alone, cute.group_modes(shared_a, 0, 3), cute.group_modes(tiles_a, 0, 3)
    )
    to_b, from_b = cpasync.tma_partition(
        load_b, *alone, cute.group_modes(shared_b, 0, 3), cute.group_modes(tiles_b, 0, 3)
    )
    steps = cute.size(from_a, mode=[1])
    a, b = mma.make_fragment_A(shared_a), mma.make_fragment_B(shared_b)  # descriptors
    sums_at = cute.arch.retrieve_tmem_ptr(cutlass.Float32, 16, allocated)
    total = mma.make_fragment_C(mma.partition_shape_C((BM, BN)))
    total = cute.make_tensor(sums_at, total.layout)

    if warp == LOADER:
        stage, phase = cutlass.Int32(0), cutlass.Int32(0)
        for step in cutlass.range(steps, unroll=1):
            cute.arch.mbarrier_wait(empty + stage, phase ^ 1)
            with cute.arch.elect_one():
                cute.arch.mbarrier_arrive_and_expect_tx(full + stage, (BM + BN) * BK * 2)
            cute.copy(load_a, from_a[None, step], to_a[None, stage], tma_bar_ptr=full + stage)
            cute.copy(load_b, from_b[None, step], to_b[None, stage], tma_bar_ptr=full + stage)
            stage += 1
            if stage == STAGES:
                stage, phase = cutlass.Int32(0), phase ^ 1
    if warp == MULTIPLIER:
        stage, phase = cutlass.Int32(0), cutlass.Int32(0)
        mma.set(tcgen05.Field.ACCUMULATE, False)
        for _ in cutlass.range(steps, unroll=1):
            cute.arch.mbarrier_wait(full + stage, phase)
            after_a_wait(plan)
            for k in cutlass.range_constexpr(BK // 16):
                cute.gemm(mma, total, a[None, None, k, stage], b[None, None, k, stage], total)
                mma.set(tcgen05.Field.ACCUMULATE, True)
            with cute.arch.elect_one():
                tcgen05.commit(empty + stage)  # once they have read the stage
            stage += 1
            if stage == STAGES:
                stage, phase = cutlass.Int32(0), phase ^ 1
        with cute.arch.elect_one():
            tcgen05.commit(done)
    if warp < 4:
        cute.arch.mbarrier_wait(done, 0)
        after_a_wait(plan)
        fetch = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition(PIECE)), cutlass.Float32)
        pieces = cute.zipped_divide(total[(None, None), 0, 0], (BM, PIECE))
        pieces_d = cute.zipped_divide(tile_d[(None, None), 0, 0], (BM, PIECE))
        fetcher = tcgen05.make_tmem_copy(fetch, pieces[None, 0])
        own = fetcher.get_slice(thread)
        from_sums, to_d = own.partition_S(pieces), own.partition_D(pieces_d)
        part = cute.make_rmem_tensor(to_d[None, None, 0].shape, cutlass.Float32)
        rounded = cute.make_rmem_tensor(part.shape, cutlass.BFloat16)
        for i in cutlass.range_constexpr(BN // PIECE):
            cute.copy(fetcher, from_sums[None, None, i], part)
            if cutlass.const_expr(plan.ordered):
                cute.arch.fence_view_async_tmem_load()  # tcgen05.wait::ld: they have arrived
            rounded.store(part.load().to(cutlass.BFloat16))
            cute.autovec_copy(rounded, to_d[None, None, i])
    cute.arch.sync_threads()
    if warp == MULTIPLIER:
        cute.arch.dealloc_tmem(sums_at, BN)


@cute.jit
def launch(
    A: cute.Pointer,
    B: cute.Pointer,
    D: cute.Pointer,
    M: cutlass.Int32,
    N: cutlass.Int32,
    K: cutlass.Int32,
    plan: cutlass.Constexpr,
):
    """A block for each tile of D."""
    M, N, K = cute.assume(M, divby=plan.BM), cute.assume(N, divby=plan.BN), cute.assume(K, divby=8)
    a = cute.make_tensor(A, cute.make_layout((M, K), stride=(K, 1)))
    b = cute.make_tensor(B, cute.make_layout((N, K), stride=(K, 1)))
    d = cute.make_tensor(D, cute.make_layout((M, N), stride=(N, 1)))
    mma = mma_of(plan)
    ring_a, ring_b = rings(mma, plan)
    tile, load = (plan.BM, plan.BN, plan.BK), cpasync.CopyBulkTensorTileG2SOp()
    one_a, one_b = (cute.select(each, mode=[0, 1, 2]) for each in (ring_a, ring_b))
    load_a, a = cute.nvgpu.make_tiled_tma_atom_A(load, a, one_a, tile, mma)
    load_b, b = cute.nvgpu.make_tiled_tma_atom_B(load, b, one_b, tile, mma)
    gemm_blackwell_dsl(mma, load_a, a, load_b, b, d, ring_a, ring_b, plan).launch(
        grid=(N // plan.BN, M // plan.BM, 1), block=(192, 1, 1)
    )


def ptx(plan=None, arch="sm_100a"):
    """The PTX that the DSL makes of it for `arch`, without a GPU."""
    pointer = cute.runtime.make_ptr(cutlass.BFloat16, 0, cute.AddressSpace.gmem, assumed_align=16)
    size = cutlass.Int32(0)
    arguments = pointer, pointer, pointer, size, size, size, plan or Plan()
    with tempfile.TemporaryDirectory() as folder:  # for the file that the compiler writes
        options = f"--gpu-arch {arch} --keep-ptx --dump-dir {folder}"
        return cute.compile(launch, *arguments, options=options).__ptx__
