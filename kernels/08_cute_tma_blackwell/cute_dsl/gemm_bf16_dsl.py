"""C = A B^T for row-major bf16 matrices, sums in fp32: gemm_bf16_tiled.cu in CUTLASS's Python DSL.

A is M x K, B is N x K, C is M x N; whole tiles only: M a multiple of BM, N of BN and K of BK; the
caller sees to it. Statement for statement the C++ kernel, under its names, so that the two can be
laid side by side. Limit: as there, the warps that multiply also issue the copies.
"""

import tempfile
from dataclasses import dataclass

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, warp


@dataclass(frozen=True)
class Plan:
    """What the C++ kernel has as macros: the compiler knows these numbers."""

    BM: int = 128  # of C: the block's tile
    BN: int = 128
    BK: int = 64  # elements of a row in shared memory: 128 bytes
    WARPS_M: int = 2  # the block's warps, down and across its tile
    WARPS_N: int = 2
    STAGES: int = 3
    BLOCKS: int = 2  # of a multiprocessor, at the same time
    BAND: int = 16  # rows of tiles that are visited together

    @property
    def threads(self) -> int:
        return self.WARPS_M * self.WARPS_N * 32


def ring(rows, plan):
    """The layout of the stages of rows x BK in shared memory, eight rows swizzled at a time."""
    eight_rows = cute.make_composed_layout(
        cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1))
    )
    return cute.tile_to_shape(eight_rows, (rows, plan.BK, plan.STAGES), (0, 1, 2))


def copier_of(plan):
    """Who copies what of a tile: eight threads a row, 16 bytes each, by cp.async."""
    piece = cute.make_copy_atom(
        cpasync.CopyG2SOp(cache_mode=cpasync.LoadCacheMode.GLOBAL),
        cutlass.BFloat16,
        num_bits_per_copy=128,
    )
    threads = cute.make_layout((plan.threads // 8, 8), stride=(8, 1))
    return cute.make_tiled_copy_tv(piece, threads, cute.make_layout((1, 8)))


def mma_of(plan):
    """Who multiplies what: one instruction a warp, repeated over the warps."""
    return cute.make_tiled_mma(
        warp.MmaF16BF16Op(cutlass.BFloat16, cutlass.Float32, (16, 8, 16)),
        cute.make_layout((plan.WARPS_M, plan.WARPS_N, 1)),
        permutation_mnk=(plan.WARPS_M * 16, plan.WARPS_N * 16, 16),
    )


@cute.kernel
def gemm_bf16_dsl(
    A: cute.Pointer,
    B: cute.Pointer,
    C: cute.Pointer,
    M: cutlass.Int32,
    N: cutlass.Int32,
    K: cutlass.Int32,
    plan: cutlass.Constexpr,
):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    BM, BN, BK, STAGES, BAND = plan.BM, plan.BN, plan.BK, plan.STAGES, plan.BAND
    tiles_n, tiles_m = N // BN, M // BM
    band = BAND * tiles_n
    head = block // band * BAND
    height = cutlass.min(tiles_m - head, BAND)
    tile_m, tile_n = head + block % band % height, block % band // height

    # Level 1, the block: its tiles in global memory and its stages in shared memory.
    N, K = cute.assume(N, divby=BN), cute.assume(K, divby=BK)  # a row begins at 16 bytes
    all_a = cute.make_tensor(A, cute.make_layout((M, K), stride=(K, 1)))
    all_b = cute.make_tensor(B, cute.make_layout((N, K), stride=(K, 1)))
    all_c = cute.make_tensor(C, cute.make_layout((M, N), stride=(N, 1)))
    global_a = cute.local_tile(all_a, (BM, BK), (tile_m, None))
    global_b = cute.local_tile(all_b, (BN, BK), (tile_n, None))
    global_c = cute.local_tile(all_c, (BM, BN), (tile_m, tile_n))
    memory = cutlass.utils.SmemAllocator()
    shared_a = memory.allocate_tensor(cutlass.BFloat16, ring(BM, plan), byte_alignment=1024)
    shared_b = memory.allocate_tensor(cutlass.BFloat16, ring(BN, plan), byte_alignment=1024)

    # Level 2, the thread that copies: eight threads a row, 16 bytes each.
    copier = copier_of(plan)
    copies = copier.get_slice(thread)
    from_a = copies.partition_S(global_a)  # (copy, rows, 1, steps)
    from_b = copies.partition_S(global_b)
    to_a = copies.partition_D(shared_a)  # (copy, rows, 1, stages)
    to_b = copies.partition_D(shared_b)

    # Level 3, the thread that multiplies: its fragments, and what ldmatrix fills them from.
    mma = mma_of(plan)
    products = mma.get_slice(thread)
    a = mma.make_fragment_A(products.partition_A(shared_a[None, None, 0]))  # (registers, tiles, k)
    b = mma.make_fragment_B(products.partition_B(shared_b[None, None, 0]))
    part_c = products.partition_C(global_c)  # (registers, tiles down, tiles across)
    total = mma.make_fragment_C(part_c)
    ldmatrix = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), cutlass.BFloat16)
    reader_a = cute.make_tiled_copy_A(ldmatrix, mma)
    reader_b = cute.make_tiled_copy_B(ldmatrix, mma)
    rows_a = reader_a.get_slice(thread).partition_S(shared_a)
    rows_b = reader_b.get_slice(thread).partition_S(shared_b)
    filled_a, filled_b = reader_a.retile(a), reader_b.retile(b)  # the same registers

    steps = K // BK
    for s in cutlass.range_constexpr(STAGES - 1):
        if s < steps:
            cute.copy(copier, from_a[None, None, None, s], to_a[None, None, None, s])
            cute.copy(copier, from_b[None, None, None, s], to_b[None, None, None, s])
        cute.arch.cp_async_commit_group()
    total.fill(0.0)
    stage, free_stage = cutlass.Int32(0), cutlass.Int32(STAGES - 1)
    cute.arch.cp_async_wait_group(STAGES - 2)
    cute.arch.sync_threads()  # the first stage is complete
    cute.copy(reader_a, rows_a[None, None, 0, 0], filled_a[None, None, 0])
    cute.copy(reader_b, rows_b[None, None, 0, 0], filled_b[None, None, 0])
    for step in cutlass.range(steps, unroll=1):
        ahead = step + STAGES - 1
        if ahead < steps:
            cute.copy(copier, from_a[None, None, None, ahead], to_a[None, None, None, free_stage])
            cute.copy(copier, from_b[None, None, None, ahead], to_b[None, None, None, free_stage])
        cute.arch.cp_async_commit_group()
        for k in cutlass.range_constexpr(BK // 16):
            if cutlass.const_expr(k == BK // 16 - 1):  # the next fragments lie in the next stage
                cute.arch.cp_async_wait_group(STAGES - 2)
                cute.arch.sync_threads()
                free_stage = stage
                stage = 0 if stage + 1 == STAGES else stage + 1
            after = (k + 1) % (BK // 16)  # of no use after the last step
            cute.copy(reader_a, rows_a[None, None, after, stage], filled_a[None, None, after])
            cute.copy(reader_b, rows_b[None, None, after, stage], filled_b[None, None, after])
            cute.gemm(mma, total, a[None, None, k], b[None, None, k], total)
    rounded = cute.make_fragment_like(total, cutlass.BFloat16)
    rounded.store(total.load().to(cutlass.BFloat16))
    pair = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.BFloat16, num_bits_per_copy=32)
    cute.copy(pair, rounded, part_c)


@cute.jit
def launch(
    A: cute.Pointer,
    B: cute.Pointer,
    C: cute.Pointer,
    M: cutlass.Int32,
    N: cutlass.Int32,
    K: cutlass.Int32,
    plan: cutlass.Constexpr,
):
    """A block for each tile of C."""
    gemm_bf16_dsl(A, B, C, M, N, K, plan).launch(
        grid=(M // plan.BM * (N // plan.BN), 1, 1),
        block=(plan.threads, 1, 1),
        min_blocks_per_mp=plan.BLOCKS,
        preferred_smem_carveout=100,  # percent; without it the compiler asks the GPU at hand
    )


def arguments_of(a, b, c, m, n, k, plan):
    """What `launch` takes, for three addresses in global memory."""
    pointers = (
        cute.runtime.make_ptr(cutlass.BFloat16, at, cute.AddressSpace.gmem, assumed_align=16)
        for at in (a, b, c)
    )
    return *pointers, *map(cutlass.Int32, (m, n, k)), plan


def compiled(plan=None):
    """The product for the GPU at hand: run(a, b, c, m, n, k), by addresses."""
    plan = plan or Plan()
    function = cute.compile(launch, *arguments_of(0, 0, 0, 0, 0, 0, plan))

    def run(a, b, c, m, n, k):
        function(*arguments_of(a, b, c, m, n, k, plan)[:-1])

    return run


def ptx(plan=None, arch="sm_90a"):
    """The PTX that the DSL makes of it for `arch`; it asks for no GPU."""
    arguments = arguments_of(0, 0, 0, 0, 0, 0, plan or Plan())
    with tempfile.TemporaryDirectory() as folder:  # for the file that the compiler writes
        options = f"--gpu-arch {arch} --keep-ptx --dump-dir {folder}"
        return cute.compile(launch, *arguments, options=options).__ptx__
