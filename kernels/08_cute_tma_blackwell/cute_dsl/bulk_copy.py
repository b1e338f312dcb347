"""y = 2 x for rows of 1024 floats: each block copies its row by one bulk copy, with no tensor map.

The grid has no clusters, and still the copy's destination becomes an address of a cluster: see the
opcodes. Grid: a block of 128 threads for each row.
"""

import tempfile

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync

ROW, THREADS = 1024, 128


@cute.kernel
def bulk_copy(X: cute.Pointer, Y: cute.Pointer, rows: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    row = memory.allocate_tensor(cutlass.Float32, cute.make_layout(ROW), 128)
    arrived = memory.allocate_array(cutlass.Int64, 1)
    x = cute.make_tensor(X, cute.make_layout((ROW, rows), stride=(1, ROW)))
    y = cute.make_tensor(Y, cute.make_layout((ROW, rows), stride=(1, ROW)))
    if thread == 0:
        cute.arch.mbarrier_init(arrived, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    if thread == 0:
        cute.arch.mbarrier_arrive_and_expect_tx(arrived, 4 * ROW)
        bulk = cute.make_copy_atom(cpasync.CopyBulkG2SOp(), cutlass.Float32)
        cute.copy(bulk, x[None, block], row, mbar_ptr=arrived)
    cute.arch.mbarrier_wait(arrived, 0)
    for i in cutlass.range_constexpr(ROW // THREADS):
        y[i * THREADS + thread, block] = 2 * row[i * THREADS + thread]


@cute.jit
def launch(X: cute.Pointer, Y: cute.Pointer, rows: cutlass.Int32):
    """A block for each row."""
    bulk_copy(X, Y, rows).launch(grid=(rows, 1, 1), block=(THREADS, 1, 1))


def ptx(arch="sm_90a"):
    """The PTX that the DSL makes of it for `arch`, without a GPU."""
    pointer = cute.runtime.make_ptr(cutlass.Float32, 0, cute.AddressSpace.gmem, assumed_align=16)
    with tempfile.TemporaryDirectory() as folder:  # for the file that the compiler writes
        options = f"--gpu-arch {arch} --keep-ptx --dump-dir {folder}"
        return cute.compile(launch, pointer, pointer, cutlass.Int32(0), options=options).__ptx__
