"""C = A B^T for row-major bf16 matrices, sums in fp32: a Hopper GEMM in CUTLASS's Python DSL.

A is M x K, B is N x K, C is M x N. Any M, N and K multiples of 8. A thread of the producer
warpgroup has TMA fill a ring of stages, on through all tiles of C that the block has. Two consumer
warpgroups multiply by wgmma, 64 x BN results each, and store boxes of 64 x 64 by TMA. The loops are
those in hopper_gemm/06_gemm_persistent.cu, the stores those in 08_gemm_hopper.cu.
Limit: a tile's results leave before the next tile's products begin.
"""

import tempfile
from dataclasses import dataclass

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync, warp, warpgroup

GROUP = 128  # threads of a warpgroup
BOX = 64  # rows and columns of C that one TMA store moves


@dataclass(frozen=True)
class Plan:
    """The constants of the C++ kernel: the compiler knows these numbers."""

    BM: int = 128  # of C: the block's tile
    BN: int = 256
    BK: int = 64  # elements of a row in shared memory: 128 bytes
    STAGES: int = 4
    BAND: int = 16  # rows of tiles that are visited together
    through_cluster: bool = False  # frees a stage by its address in a cluster of one block

    @property
    def consumers(self) -> int:
        return self.BM // 64 * GROUP


def swizzled(rows, columns, count):
    """The layout of `count` tiles in shared memory, row by row, in the swizzle of 128 bytes."""
    kind = warpgroup.SmemLayoutAtomKind.K_SW128
    eight_rows = warpgroup.make_smem_layout_atom(kind, cutlass.BFloat16)
    return cute.tile_to_shape(eight_rows, (rows, columns, count), (0, 1, 2))


def allocated(memory, layout):
    """Tiles in shared memory: the pointer carries the swizzle, as the tensor cores want it."""
    return memory.allocate_tensor(cutlass.BFloat16, layout.outer, 1024, swizzle=layout.inner)


def mma_of(columns, groups):
    """wgmma of 64 x columns x 16, a warpgroup each, one group below the other."""
    k_major = warpgroup.OperandMajorMode.K
    op = warpgroup.MmaF16BF16Op(
        cutlass.BFloat16,
        cutlass.Float32,
        (64, columns, 16),
        warpgroup.OperandSource.SMEM,
        k_major,
        k_major,
    )
    return cute.make_tiled_mma(cute.make_mma_atom(op), (groups, 1, 1))


@cute.jit
def place_of(tile, down, across, plan: cutlass.Constexpr):
    """The row and the column of a tile: BAND rows of tiles together, column by column."""
    band = plan.BAND * across
    head = tile // band * plan.BAND
    height = cutlass.min(down - head, plan.BAND)
    return head + tile % band % height, tile % band // height


@cute.kernel
def gemm_hopper_dsl(
    load_a: cute.CopyAtom,
    A: cute.Tensor,
    load_b: cute.CopyAtom,
    B: cute.Tensor,
    store_c: cute.CopyAtom,
    C: cute.Tensor,
    plan: cutlass.Constexpr,
):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    blocks, _, _ = cute.arch.grid_dim()
    warp_index = cute.arch.make_warp_uniform(thread // 32)
    group = cute.arch.make_warp_uniform(thread // GROUP)
    BM, BN, BK, STAGES = plan.BM, plan.BN, plan.BK, plan.STAGES

    memory = cutlass.memory.SmemAllocator()
    shared_a = allocated(memory, swizzled(BM, BK, STAGES))
    shared_b = allocated(memory, swizzled(BN, BK, STAGES))
    boxes = allocated(memory, swizzled(BOX, BOX, 2 * BM // BOX))
    full = memory.allocate_array(cutlass.Int64, STAGES)
    empty = memory.allocate_array(cutlass.Int64, STAGES)
    if thread == 0:
        cpasync.prefetch_descriptor(load_a)
        cpasync.prefetch_descriptor(load_b)
        for i in cutlass.range_constexpr(STAGES):
            cute.arch.mbarrier_init(full + i, 1)
            cute.arch.mbarrier_init(empty + i, plan.consumers // GROUP)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()

    tiles_a = cute.local_tile(A, (BM, BK), (None, None))  # (BM, BK, tiles down, steps)
    tiles_b = cute.local_tile(B, (BN, BK), (None, None))
    down, across = cute.size(tiles_a, mode=[2]), cute.size(tiles_b, mode=[2])
    steps = cute.size(tiles_a, mode=[3])
    stage, phase = cutlass.Int32(0), cutlass.Int32(0)

    if group == plan.consumers // GROUP:  # the producer
        cute.arch.setmaxregister_decrease(40)
        if warp_index == plan.consumers // 32:
            alone = 0, cute.make_layout(1)  # of a cluster of one block
            to_a, from_a = cpasync.tma_partition(
                load_a, *alone, cute.group_modes(shared_a, 0, 2), cute.group_modes(tiles_a, 0, 2)
            )
            to_b, from_b = cpasync.tma_partition(
                load_b, *alone, cute.group_modes(shared_b, 0, 2), cute.group_modes(tiles_b, 0, 2)
            )
            for tile in cutlass.range(block, down * across, blocks, unroll=1):
                row, column = place_of(tile, down, across, plan)
                for step in cutlass.range(steps, unroll=1):
                    cute.arch.mbarrier_wait(empty + stage, phase ^ 1)  # passes in the first phase
                    with cute.arch.elect_one():
                        bytes_of_stage = (BM + BN) * BK * 2
                        cute.arch.mbarrier_arrive_and_expect_tx(full + stage, bytes_of_stage)
                    arrived = {"tma_bar_ptr": full + stage}
                    cute.copy(load_a, from_a[None, row, step], to_a[None, stage], **arrived)
                    cute.copy(load_b, from_b[None, column, step], to_b[None, stage], **arrived)
                    stage += 1
                    if stage == STAGES:
                        stage, phase = cutlass.Int32(0), phase ^ 1
    else:  # the consumers
        cute.arch.setmaxregister_increase(232)
        mma = mma_of(BN, BM // 64)
        products = mma.get_slice(thread)
        a = mma.make_fragment_A(products.partition_A(shared_a))  # descriptors: (1, 1, k, stages)
        b = mma.make_fragment_B(products.partition_B(shared_b))
        total = cute.make_rmem_tensor(mma.partition_shape_C((BM, BN)), cutlass.Float32)

        in_group = thread % GROUP
        atom = cute.make_copy_atom(warp.StMatrix8x8x16bOp(False, 4), cutlass.BFloat16)
        writer = cute.make_tiled_copy_C(atom, mma_of(BOX, 1)).get_slice(in_group)
        own = cute.local_tile(boxes, (BOX, BOX, 2), (0, 0, group))
        rows_of_boxes = writer.partition_D(own)
        tiles_c = cute.local_tile(C, (BOX, BOX), (None, None))
        from_box, to_c = cpasync.tma_partition(
            store_c,
            0,
            cute.make_layout(1),
            cute.group_modes(own, 0, 2),
            cute.group_modes(tiles_c, 0, 2),
        )
        for tile in cutlass.range(block, down * across, blocks, unroll=1):
            before = cutlass.Int32(0)
            mma.set(warpgroup.Field.ACCUMULATE, False)
            for step in cutlass.range(steps, unroll=1):
                cute.arch.mbarrier_wait(full + stage, phase)
                warpgroup.fence()
                for k in cutlass.range_constexpr(BK // 16):
                    cute.gemm(mma, total, a[None, None, k, stage], b[None, None, k, stage], total)
                    mma.set(warpgroup.Field.ACCUMULATE, True)
                warpgroup.commit_group()
                warpgroup.wait_group(1)
                if step > 0:
                    release(empty + before, in_group, plan)
                before = stage
                stage += 1
                if stage == STAGES:
                    stage, phase = cutlass.Int32(0), phase ^ 1
            warpgroup.wait_group(0)
            release(empty + before, in_group, plan)

            row, column = place_of(tile, down, across, plan)
            for i in cutlass.range_constexpr(BN // BOX):
                part = cute.make_tensor(total.iterator + i * BOX // 2, layout_of_box())
                rounded = cute.make_rmem_tensor(layout_of_box(), cutlass.BFloat16)
                rounded.store(part.load().to(cutlass.BFloat16))
                if warp_index % 4 == 0:
                    cute.arch.cp_async_bulk_wait_group(1, read=True)  # the box may be overwritten
                cute.arch.barrier(barrier_id=group + 1, number_of_threads=GROUP)
                cute.copy(writer, writer.retile(rounded), rows_of_boxes[None, None, None, i % 2])
                cute.arch.fence_proxy("async.shared", space="cta")
                cute.arch.barrier(barrier_id=group + 1, number_of_threads=GROUP)
                if warp_index % 4 == 0:
                    at = row * (BM // BOX) + group, column * (BN // BOX) + i
                    cute.copy(store_c, from_box[None, i % 2], to_c[None, *at])
                    cute.arch.cp_async_bulk_commit_group()
        if warp_index % 4 == 0:
            cute.arch.cp_async_bulk_wait_group(0, read=True)


def layout_of_box():
    """A thread's 32 results of a box: 2 neighbours, 8 rows further down, 8 columns further on."""
    return cute.make_layout(((2, 2, BOX // 8), 1, 1), stride=((1, 2, 4), 0, 0))


@cute.jit
def release(barrier, in_group, plan: cutlass.Constexpr):
    """One thread of the warpgroup says that the stage may be filled again."""
    if in_group == 0:
        if cutlass.const_expr(plan.through_cluster):
            cute.arch.mbarrier_arrive(barrier, cute.arch.block_idx_in_cluster())
        else:
            cute.arch.mbarrier_arrive(barrier)


@cute.jit
def launch(
    A: cute.Pointer,
    B: cute.Pointer,
    C: cute.Pointer,
    M: cutlass.Int32,
    N: cutlass.Int32,
    K: cutlass.Int32,
    blocks: cutlass.Int32,
    plan: cutlass.Constexpr,
):
    """The tensor maps, and `blocks` blocks that take tile after tile."""
    N, K = cute.assume(N, divby=8), cute.assume(K, divby=8)  # rows begin at 16 bytes
    a = cute.make_tensor(A, cute.make_layout((M, K), stride=(K, 1)))
    b = cute.make_tensor(B, cute.make_layout((N, K), stride=(K, 1)))
    c = cute.make_tensor(C, cute.make_layout((M, N), stride=(N, 1)))
    load, store = cpasync.CopyBulkTensorTileG2SOp(), cpasync.CopyBulkTensorTileS2GOp()

    def tma(op, matrix, rows, columns):
        one = cute.slice_(swizzled(rows, columns, 1), (None, None, 0))
        return cpasync.make_tiled_tma_atom(op, matrix, one, (rows, columns))

    load_a, a = tma(load, a, plan.BM, plan.BK)
    load_b, b = tma(load, b, plan.BN, plan.BK)
    store_c, c = tma(store, c, BOX, BOX)
    gemm_hopper_dsl(load_a, a, load_b, b, store_c, c, plan).launch(
        grid=(blocks, 1, 1), block=(plan.consumers + GROUP, 1, 1), min_blocks_per_mp=1
    )


def arguments_of(a, b, c, m, n, k, blocks, plan):
    """The arguments of `launch`, for three addresses in global memory."""
    pointers = (
        cute.runtime.make_ptr(cutlass.BFloat16, at, cute.AddressSpace.gmem, assumed_align=16)
        for at in (a, b, c)
    )
    return *pointers, *map(cutlass.Int32, (m, n, k, blocks)), plan


def compiled(plan=None):
    """The product for the GPU at hand: a function of addresses, sizes and blocks."""
    plan = plan or Plan()
    function = cute.compile(launch, *arguments_of(0, 0, 0, 128, 256, 64, 1, plan))

    def run(a, b, c, m, n, k, blocks):
        function(*arguments_of(a, b, c, m, n, k, blocks, plan)[:-1])

    return run


def ptx(plan=None, arch="sm_90a"):
    """The PTX that the DSL makes of it for `arch`, without a GPU."""
    arguments = arguments_of(0, 0, 0, 128, 256, 64, 1, plan or Plan())
    with tempfile.TemporaryDirectory() as folder:  # for the file that the compiler writes
        options = f"--gpu-arch {arch} --keep-ptx --dump-dir {folder}"
        return cute.compile(launch, *arguments, options=options).__ptx__
