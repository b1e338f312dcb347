"""How tests launch the kernels of chapter 08 that no benchmark measures."""

from dataclasses import replace

import numpy as np
from launchers import Chapter, InPlace, draw, work
from ml_dtypes import bfloat16

from course_utils import ceil_div, cp, tensor_map
from course_utils.benchmarks.cases import blackwell, block_scaled
from course_utils.benchmarks.cases.hopper import RUNGS, hopper_call, small_m_call
from course_utils.benchmarks.cases.hopper_attention import (
    attention_call,
    backward_calls,
    dq_sums,
)
from course_utils.benchmarks.cases.matmul import Bf16Work
from course_utils.benchmarks.cases.pytorch_extensions.attention import attention, gradients_of
from course_utils.benchmarks.harness.arrays import normal
from course_utils.benchmarks.harness.float_bits import from_bf16, to_bf16
from course_utils.benchmarks.harness.workload import Workload
from course_utils.layouts import Layout

CHAPTER = Chapter("08_cute_tma_blackwell")
kernel = CHAPTER.kernel


# --- layouts ---


@CHAPTER.launch("reorder_by_hand", "reorder_by_layout", sizes=[(1, 1), (8, 32), (37, 50)])
def reorder(name, rows, columns):
    x, y = draw((rows, columns)), cp.empty(rows * columns, cp.float32)
    launch = (ceil_div(columns, 32), ceil_div(rows, 8)), (32, 8), (cp.asarray(x), y, rows, columns)
    return work(kernel(name), *launch, y, x.T.ravel())


@CHAPTER.launch("layout_offsets", sizes=[32])
def offsets(name, n):
    out = cp.empty(n, cp.int32)
    return work(kernel(name), 1, 128, (out, n, 0, 0), out, Layout("(4,8):(8,1)").offsets())


# --- slicing ---


@CHAPTER.launch("slices", sizes=[96])
def slices(name, n):
    """A row and a column of the 8 x 12 matrix."""
    out = cp.empty((2, n), cp.int32)
    places = np.arange(n).reshape(8, 12)
    expected = np.full((2, n), -1)
    expected[0, :12], expected[1, :8] = places[2], places[:, 3]
    return work(kernel(name), 1, n, (cp.zeros(n, cp.float32), out), out, expected)


@CHAPTER.launch("takers", sizes=[(1, 1), (8, 16), (10, 24), (37, 50)])
def takers(name, rows, columns):
    """The threads of a block are 4 x 8, row by row; its tile is 8 x 16."""
    grid = ceil_div(columns, 16), ceil_div(rows, 8)
    found = cp.empty((2, rows, columns), cp.int32)
    i, j = np.indices((rows, columns))
    expected = np.array([i // 8 * grid[0] + j // 16, i % 4 * 8 + j % 8])
    arguments = found[0], found[1], rows, columns, 4, 8, 8, 1
    return work(kernel(name), grid, 32, arguments, found, expected)


@CHAPTER.launch("bias_by_hand", "bias_by_tiles", sizes=[(1, 1), (32, 64), (37, 101)])
def biased(name, rows, columns):
    x, bias = draw((rows, columns)), draw(columns, seed=1)
    y = cp.empty((rows, columns), cp.float32)
    grid = ceil_div(columns, 64), ceil_div(rows, 32)
    arguments = cp.asarray(x), cp.asarray(bias), y, rows, columns
    return work(kernel(name), grid, 256, arguments, y, x + bias)


# --- copies ---


@CHAPTER.launch("common_vectors", sizes=[1])
def common(name, n):
    """Of eight floats to eight floats."""
    out = cp.empty(n, cp.int32)
    return work(kernel(name), 1, 1, (out, 1), out, np.array([8]))


@CHAPTER.launch("pieces_scalar", "pieces_copied", sizes=[4, 1000, 2052])
def pieces(name, n):
    x, y = draw(n), cp.empty(n, cp.float32)
    columns = () if name == "pieces_scalar" else (n,)
    arguments = cp.asarray(x), y, n, *columns
    return work(kernel(name), ceil_div(n, 1024), 256, arguments, y, x)


@CHAPTER.launch("pixels_by_hand", "pixels_by_layout", sizes=[256, 1280])
def pixels(name, n):
    planes, found = draw((3, n)), cp.empty(3 * n, cp.float32)
    arguments = cp.asarray(planes), found, n
    return work(kernel(name), n // 256, 192, arguments, found, planes.T.ravel())


# --- tiled_copy ---


@CHAPTER.launch("copy_layouts", sizes=[64])
def copy_layouts(name, n):
    """16 threads, 4 x 4 by rows, of four values in a row: a tile of 4 x 16."""
    out, sides = cp.empty(n, cp.int32), cp.empty(2, cp.int32)
    expected = Layout("((4,4),4):((16,1),4)").offsets()
    return work(kernel(name), 1, 128, (out, sides), out, expected)


@CHAPTER.launch("tile_by_hand", "tile_by_copies", sizes=[(1, 4), (64, 64), (70, 100)])
def tiles(name, rows, columns):
    x, y = draw((rows, columns)), cp.empty((rows, columns), cp.float32)
    grid = ceil_div(columns, 64), ceil_div(rows, 64)
    return work(kernel(name), grid, 256, (cp.asarray(x), y, rows, columns), y, x)


# --- swizzle ---


@CHAPTER.launch("chunk_columns", "chunk_columns_by_layout", sizes=[0, 1])
def chunk_columns(name, seed):
    x, y = draw((32, 64), seed).astype(np.float16), cp.empty((8, 32, 8), np.float16)
    given = cp.asarray(x)
    return work(kernel(name), 1, 32, (given, y), y, x.reshape(32, 8, 8).transpose(1, 0, 2))


# --- mma ---


@CHAPTER.launch("mma_by_hand", "mma_by_layout", sizes=[(16, 8, 16, 32)])
@CHAPTER.launch("block_by_hand", "block_by_layout", sizes=[(64, 64, 32, 128)])
def tile(name, m, n, k, threads):
    a, b = (draw(shape, seed).astype(np.float16) for seed, shape in enumerate(((m, k), (n, k))))
    c = cp.empty((m, n), cp.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    launch = 1, threads, (cp.asarray(a), cp.asarray(b), c)
    return work(kernel(name), *launch, c, exact, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("mma_layouts", sizes=[0])
def mma_layouts(name, _):
    """C's layout of the whole tile; the notebook draws the other five."""
    tables = [cp.empty(n, cp.int32) for n in (256, 128, 128, 1024, 1024, 1024)]
    tiled = Layout("((4,8,2,2),(2,2,2)):((64,1,16,256),(32,8,512))")
    return work(kernel(name), 1, 32, tuple(tables), tables[5], tiled.offsets())


# --- tma ---


@CHAPTER.launch("box_copied", sizes=[(0, 0, None), (48, -3, 128)])
def box_copied(name, column, row, swizzle):
    """A box of 8 x 32 of a 20 x 60 matrix, which may lie outside of it in part."""
    x, out = draw((20, 60)), cp.empty(256, cp.float32)
    around = np.zeros((60, 160), np.float32)
    around[20:40, 40:100] = x
    box = around[20 + row :, 40 + column :][:8, :32].reshape(8, 8, 4)
    chunks = np.arange(8) ^ (np.arange(8)[:, None] if swizzle else 0)
    expected = np.take_along_axis(box, np.broadcast_to(chunks, (8, 8))[..., None], 1)
    arguments = (
        tensor_map(cp.asarray(x), (8, 32), swizzle=swizzle),
        out.view(cp.uint32),
        column,
        row,
    )
    return work(kernel(name), 1, 128, arguments, out, expected.ravel())


@CHAPTER.launch("column_sums", sizes=[(1, 4), (33, 36), (100, 64)])
def column_sums(name, rows, columns):
    x, sums = draw((rows, columns)), cp.empty(columns, cp.float32)
    arguments = tensor_map(cp.asarray(x), (16, 32)), sums, rows, columns
    exact = x.astype(np.float64).sum(axis=0)
    launch = ceil_div(columns, 32), 64, arguments
    return work(kernel(name), *launch, sums, exact, rtol=1e-5, atol=1e-4)


@CHAPTER.launch("weighted_sum", sizes=[(1, 1, 4), (3, 20, 36)])
def weighted_sum(name, images, rows, columns):
    x, weight, before = draw((images, rows, columns)), draw(images, 1), draw((rows, columns), 2)
    y = cp.asarray(before)
    maps = tensor_map(cp.asarray(x), (1, 16, 32)), tensor_map(y, (16, 32))
    grid = ceil_div(columns, 32), ceil_div(rows, 16), images
    exact = before + np.einsum("b,bij->ij", weight.astype(np.float64), x)
    return work(
        kernel(name),
        grid,
        128,
        (maps[0], cp.asarray(weight), maps[1]),
        y,
        exact,
        InPlace,
        start=before,
        rtol=1e-5,
        atol=1e-5,
        same_bits=False,  # atomics add in any order
    )


@CHAPTER.launch("matvec_by_roles", sizes=[4, 8, 12, 100])
def matvec_by_roles(name, k):
    a, x, y = draw((8, k)), draw(k, 1), cp.empty(8, cp.float32)
    arguments = tensor_map(cp.asarray(a), (8, 4)), cp.asarray(x), y, k
    return work(kernel(name), 1, 65, arguments, y, a.astype(np.float64) @ x, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("tile_loader", sizes=[(1, 1, 8), (64, 128, 64), (70, 33, 264)])
def tile_loader(name, m, n, k):
    a, b = (draw((rows, k), seed).astype(bfloat16) for seed, rows in enumerate((m, n)))
    c = cp.empty((m, n), cp.float32)
    maps = [tensor_map(cp.asarray(x.view(np.uint16)), (64, 64), swizzle=128) for x in (a, b)]
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    return work(
        kernel(name),
        (ceil_div(n, 64), ceil_div(m, 64)),
        160,
        (*maps, c, m, n, k),
        c,
        exact,
        shared_mem=3 * 16384,
        rtol=1e-4,
        atol=1e-3,
    )


@CHAPTER.launch("shared_pattern", sizes=[2, 6])
def shared_pattern(name, images):
    x, pattern = draw((images * 32, 32)), draw((32, 32), 1)
    y = cp.empty((images * 32, 32), cp.float32)
    boxes = (cp.asarray(x), 32), (cp.asarray(pattern), 16), (y, 32)
    maps = [tensor_map(array, (rows, 32)) for array, rows in boxes]
    expected = x + np.tile(pattern, (images, 1))
    return work(kernel(name), images, 256, tuple(maps), y, expected)


@CHAPTER.launch("row_maximum", sizes=[(1, 1), (3, 100), (2, 1031)])
def row_maximum(name, rows, columns):
    x, largest = draw((rows, columns)), cp.empty(rows, cp.float32)
    arguments = cp.asarray(x), largest, columns
    return work(kernel(name), 4 * rows, 32, arguments, largest, x.max(axis=1))


# --- hopper_gemm ---


@CHAPTER.launch("one_wgmma", sizes=[0, 1])
def one_wgmma(name, seed):
    """Both tiles by the fields of a swizzle of 128 bytes, and each sum where wgmma leaves it."""
    a, b = (draw((rows, 64), seed + rows).astype(bfloat16) for rows in (64, 16))
    held = cp.empty((128, 8), cp.float32)
    maps = [
        tensor_map(cp.asarray(x.view(np.uint16)), (rows, 64), swizzle=128)
        for x, rows in ((a, 64), (b, 16))
    ]
    thread, number = np.indices((128, 8))
    row = thread // 32 * 16 + thread % 32 // 4 + number // 2 % 2 * 8
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    return work(
        kernel(name, arch="sm_90a"),
        1,
        128,
        (*maps, held, np.uint64(1 << 62 | 1024 // 16 << 32)),
        held,
        exact[row, number // 4 * 8 + thread % 4 * 2 + number % 2],
        rtol=1e-4,
        atol=1e-4,
    )


@CHAPTER.launch("wgmma_rate", sizes=[(32, 0, 1), (64, 0, 2), (256, 0, 1), (32, 1, 1), (256, 1, 2)])
def wgmma_rate(name, n, in_registers, groups):
    held, clocks = cp.empty((2, 128 * groups), cp.float32), cp.empty(2 * groups, np.int64)
    defines = {"N": n, "A_IN_REGISTERS": in_registers, "GROUPS": groups}
    return work(
        kernel(name, arch="sm_90a", **defines),
        2,
        128 * groups,
        (held, clocks, 3),
        held,
        np.full((2, 128 * groups), 64.0 * 3),
        shared_mem=128 * (64 * groups + max(n, 64)),
    )


@CHAPTER.launch("wgmma_beside_tma", sizes=[(64, 1, 0), (64, 2, 4), (256, 1, 2)])
def wgmma_beside_tma(name, n, groups, depth):
    held, clocks = cp.empty((2, 128 * groups), cp.float32), cp.empty(2 * groups, np.int64)
    source, loads = cp.ones(8192, cp.float32), cp.empty(2, np.int32)
    return work(
        kernel(name, arch="sm_90a", N=n, GROUPS=groups),
        2,
        128 * groups + 32,
        (held, clocks, 3, source, loads, depth),
        held,
        np.full((2, 128 * groups), 64.0 * 3),
        shared_mem=128 * (64 * groups + max(n, 64)) + 128 + 4 * 8192,
    )


@CHAPTER.launch("gemm_wgmma", "gemm_stages", sizes=[(1, 8, 8), (70, 136, 72), (65, 40, 328)])
def whole_gemm(name, m, n, k):
    a, b = (draw((rows, k), seed).astype(bfloat16) for seed, rows in enumerate((m, n)))
    c = cp.empty((m, n), cp.uint16)
    rows, stages = {"gemm_wgmma": (64, 1), "gemm_stages": (128, 3)}[name]
    maps = [
        tensor_map(cp.asarray(x.view(np.uint16)), (high, 64), swizzle=128)
        for x, high in ((a, rows), (b, 128))
    ]
    return work(
        kernel(name, arch="sm_90a"),
        (ceil_div(n, 128), ceil_div(m, rows)),
        128,
        (*maps, c, m, n, k),
        c,
        a.astype(np.float64) @ b.astype(np.float64).T,
        Bf16Work,
        shared_mem=stages * (rows + 128) * 128,
        rtol=2**-8,
        atol=k * 2**-20,
    )


@CHAPTER.launch("cute_wgmma", "cute_pipeline", sizes=[(1, 8, 8), (70, 136, 72), (130, 40, 456)])
def gemm_in_cute(name, m, n, k):
    """As the kernels by hand have them; the last one has more steps than its ring has stages."""
    a, b = (to_bf16(cp.asarray(draw((rows, k), seed))) for seed, rows in enumerate((m, n)))
    c = cp.empty((m, n), cp.uint16)
    rows, stages, threads = {"cute_wgmma": (64, 1, 128), "cute_pipeline": (128, 5, 256)}[name]
    maps = [tensor_map(x, (high, 64), swizzle=128) for x, high in ((a, rows), (b, 128))]
    exact = from_bf16(a.get()).astype(np.float64) @ from_bf16(b.get()).astype(np.float64).T
    return work(
        kernel(name, arch="sm_90a"),
        (ceil_div(n, 128), ceil_div(m, rows)),
        threads,
        (*maps, c, m, n, k),
        c,
        exact,
        Bf16Work,
        shared_mem=stages * (rows + 128) * 128,
        rtol=2**-8,
        atol=k * 2**-20,
    )


@CHAPTER.launch("fragment_words", sizes=[128])
def fragment_words(name, rows):
    """The first word of each swizzle, and what is added for each 64 rows and each 16 columns."""
    words = cp.empty((4, 2, 8), np.uint64)
    expected = np.empty((4, 2, 8), np.uint64)
    for at, span in enumerate((128, 64, 32, 16)):
        box, inside = np.divmod(32 * np.arange(8), span)
        step = (64 * span * np.arange(2)[:, None] + rows * span * box + inside) // 16
        fields = {128: 1, 64: 2, 32: 3, 16: 0}[span] << 62 | 8 * span // 16 << 32
        fields |= {128: 1, 64: 1, 32: 1, 16: rows}[span] << 16
        expected[at] = step + np.uint64(fields)
    return work(kernel(name, arch="sm_90a"), 1, 1, (words,), words, expected, shared_mem=32768)


@CHAPTER.launch(
    "gemm_producer",
    "gemm_two_consumers",
    "gemm_persistent",
    "gemm_multicast",
    "gemm_hopper",
    "gemm_ping_pong",
    sizes=[(1, 8, 8), (70, 264, 72), (260, 40, 200)],
)
def rung_of_gemm(name, m, n, k):
    """Odd shapes, as gemm_wgmma has them; the last one has three tiles below each other."""
    a, b = (draw((rows, k), seed).astype(bfloat16) for seed, rows in enumerate((m, n)))
    c = cp.empty((m, n), cp.uint16)
    factors = (cp.asarray(x.view(np.uint16)) for x in (a, b))
    call = hopper_call(name, *factors, c, cluster=RUNGS[name].cluster)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    return Bf16Work((call,), c, lambda: exact, rtol=2**-8, atol=k * 2**-20)


@CHAPTER.launch(
    "gemm_small_m",
    sizes=[
        (1, 8, 8, {}),
        (5, 1000, 136, {"CLUSTER": 1, "STAGES": 2}),  # tile after tile, with stages left over
        (16, 200, 520, {"CLUSTER": 2, "STAGES": 2}),
        (8, 72, 264, {"CLUSTER": 4}),  # fewer pairs of sums than blocks; steps for some only
        (70, 264, 520, {"CLUSTER": 4, "BN": 128, "STAGES": 2}),
    ],
)
def few_rows(name, m, n, k, tried):
    a, b = (draw((rows, k), seed).astype(bfloat16) for seed, rows in enumerate((m, n)))
    c = cp.empty((m, n), cp.uint16)
    call = small_m_call(*(cp.asarray(x.view(np.uint16)) for x in (a, b)), c, **tried)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    return Bf16Work((call,), c, lambda: exact, rtol=2**-8, atol=k * 2**-20)


# --- hopper_attention ---


def attention_work(name, size, causal=False, **defines):
    """Of (sequences, tokens, heads, d): the output, and the log of the sum of exponentials."""
    sequences, tokens, heads, _ = size
    q, k, v = (to_bf16(normal(size, seed)) for seed in range(3))
    o, lse = cp.empty_like(q), cp.empty((sequences, heads, tokens), cp.float32)
    o_exact, lse_exact = np.zeros(size), np.zeros(lse.shape)
    for place in np.ndindex(sequences, heads):
        of_head = (from_bf16(x)[place[0], :, place[1]].astype(np.float64) for x in (q, k, v))
        o_head, lse_head = attention(*of_head, causal=causal)
        o_exact[place[0], :, place[1]], lse_exact[place] = map(cp.asnumpy, (o_head, lse_head))
    call = attention_call(name, q, k, v, o, lse, causal, **defines)

    class Both(Bf16Work):
        def wrong(self, result=None):
            of_lse = Workload((call,), lse, lambda: lse_exact, rtol=1e-5, atol=1e-5)
            return super().wrong(result) or of_lse.wrong()

        def poison(self):
            super().poison()
            lse.fill(np.nan)

    return Both((call,), o, lambda: o_exact, rtol=2**-7, atol=2**-6, same_bits=False)


@CHAPTER.launch("attention_wgmma", sizes=[(1, 1, 1, 64), (1, 70, 1, 128)])
def attention_of_one_group(name, *size):
    return attention_work(name, size)


@CHAPTER.launch(
    "attention_producer",
    "attention_two_groups",
    "attention_overlap",
    "attention_turns",
    "attention_hopper",
    sizes=[(2, 70, 1, 64)],
)
def rung_of_attention(name, *size):
    """Three tiles of 32 keys, of which the last one is not full."""
    return attention_work(name, size, BN=32)


@CHAPTER.launch("attention_hopper", sizes=[(1, 1, 1, 64), (1, 133, 2, 64), (1, 70, 1, 128)])
def causal_attention(name, *size):
    """Blocks of 128 queries, of which the first ones see fewer keys."""
    return attention_work(name, size, causal=True, BN=32)


@CHAPTER.launch("attention_hopper", sizes=[(1, 261, 1, 64)])
def causal_attention_without_masks_in_the_loop(name, *size):
    """Tiles as large as the blocks: one of each block has a mask, the first one that it meets."""
    return attention_work(name, size, causal=True)


@CHAPTER.launch("attention_backward", sizes=[(1, 133, 2, 64)])
def causal_gradients(name, *size):
    """With all three kernels: dQ, dK and dV, one after the other. Three blocks have four works."""
    q, k, v, do = (to_bf16(normal(size, seed)) for seed in range(4))
    o, lse = cp.empty_like(q), cp.empty((size[0], size[2], size[1]), cp.float32)
    attention_call("attention_hopper", q, k, v, o, lse, causal=True, BN=32)()
    found, sums = cp.empty((3, *size), np.uint16), dq_sums(size)
    exact = np.zeros(found.shape)
    for place in np.ndindex(size[0], size[2]):
        at = place[0], slice(None), place[1]
        of_head = (from_bf16(x)[at].astype(np.float64) for x in (q, k, v, do))
        exact[(slice(None), *at)] = [cp.asnumpy(x) for x in gradients_of(*of_head, causal=True)]
    calls = backward_calls((q, k, v, o, do, lse), sums, tuple(found), causal=True)
    more = {"rtol": 2**-6, "atol": 2**-5, "same_bits": False}
    return Bf16Work(calls, found, lambda: exact, **more)


# --- blackwell_gemm ---


@CHAPTER.launch("umma_tile", sizes=[32, 64])
def umma_tile(name, columns):
    return blackwell.tile_work(columns)


@CHAPTER.launch("cute_umma", sizes=[32, 64])
def cute_umma(name, columns):
    """The tile of umma_tile, by the kernel in CuTe."""
    by_hand = blackwell.tile_work(columns)
    folder = blackwell.FOLDER.replace("blackwell_gemm", "cute_blackwell")
    by_cute = blackwell.blackwell_kernel("01_cute_umma.cu", folder, COLUMNS=columns)
    return replace(by_hand, launches=(replace(by_hand.launches[0], kernel=by_cute),))


@CHAPTER.launch("tmem_cells", sizes=[128, 256])
def tmem_cells(name, threads):
    """Warps whose numbers are equal modulo 4 reach the same lanes."""
    cells = cp.empty((threads, 16), cp.uint32)
    thread, column = np.indices((threads, 16))
    kernel = blackwell.blackwell_kernel("tmem_cells.cu")
    return work(kernel, 1, threads, (cells,), cells, thread % 128 << 16 | column)


@CHAPTER.launch("umma_stages", "umma_pair", sizes=[(1, 8, 8), (130, 72, 136)])
def umma_product(name, m, n, k):
    """Tiles of 64 columns, and three steps of K through two stages."""
    return blackwell.product_work(name, (m, n, k), bn=64, stages=2)


@CHAPTER.launch("umma_persistent", sizes=[(1, 8, 8, 1), (130, 72, 72, 1), (258, 40, 136, 2)])
def umma_persistent(name, m, n, k, pairs):
    return blackwell.product_work(name, (m, n, k), bn=32, stages=3, pairs=pairs)


@CHAPTER.launch("umma_boxes", sizes=[(1, 8, 8, 1), (130, 72, 72, 1)])
def umma_boxes(name, m, n, k, pairs):
    """A box of 64 columns that the matrix ends in, and rows of a warp that aren't there."""
    return blackwell.product_work(name, (m, n, k), bn=64, stages=3, pairs=pairs)


@CHAPTER.launch("umma_clc", sizes=[(1, 8, 8), (258, 136, 72)])
def umma_clc(name, m, n, k):
    """One tile, with no other to ask for; and six, of which two pairs start."""
    return blackwell.product_work(name, (m, n, k), bn=64, stages=3)


# --- block_scaled ---


@CHAPTER.launch("mxfp8_tile", "nvfp4_tile", sizes=[32, 128])
def scaled_tile(name, columns):
    return block_scaled.scaled_tile_work(name.removesuffix("_tile"), columns)


@CHAPTER.launch("scaled_gemm", sizes=[("mxfp8", 130, 72, 160), ("nvfp4", 3, 72, 544)])
def scaled_gemm(name, form, m, n, k):
    """Tiles of 64 columns, the second with the upper half of a tile of scales; a ring of two
    stages, and a last step with few of its blocks."""
    return block_scaled.scaled_work(form, (m, n, k), bn=64, stages=2)


@CHAPTER.launch("scaled_pair", sizes=[("mxfp8", 130, 72, 160), ("nvfp4", 3, 260, 544)])
def scaled_pair(name, form, m, n, k):
    """Tiles of 64 columns as above; and one of 256, with two tiles of scales to a block of K."""
    bn = 64 if form == "mxfp8" else 256
    return block_scaled.scaled_work(form, (m, n, k), pair=True, bn=bn, stages=2)


@CHAPTER.launch("scale_cells", sizes=[4])
def scale_cells(name, tiles):
    """Lane i, columns 4 t to 4 t + 3: bytes 16 (i % 32) on of tile t."""
    scales = np.random.default_rng(0).integers(0, 256, (tiles, 32, 4, 4), np.uint8)
    cells = cp.empty((128, 16), cp.uint32)
    expected = np.tile(scales.view(np.uint32)[..., 0].transpose(1, 0, 2).reshape(32, 16), (4, 1))
    kernel = blackwell.blackwell_kernel("scale_cells.cu", block_scaled.FOLDER)
    return work(kernel, 1, 128, (cp.asarray(scales.ravel()), cells), cells, expected)


@CHAPTER.launch("quantise_nvfp4_cvt", sizes=[(3, 96), (129, 32)])
def quantise_nvfp4_cvt(name, rows, columns):
    """The codes, and then the scales in their tiles; the last block of a row is one of zeros."""
    formats = block_scaled.reference_formats()
    x = draw((rows, columns))
    x[:, -16:] = 0
    numbers, steps, whole = formats.nvfp4(x)
    codes = formats.codes_of(numbers, "E2M1") | (np.signbit(x) << 3).astype(np.uint8)
    want = np.full(x.size // 2 + formats.room_for_scales(rows, columns // 16), 255, np.uint8)
    want[: x.size // 2] = (codes[:, ::2] | codes[:, 1::2] << 4).ravel()
    places = x.size // 2 + formats.scale_places(rows, columns // 16)
    want[places] = formats.codes_of(steps, "E4M3")
    room = cp.empty(want.size, np.uint8)
    arguments = cp.asarray(x), room[: x.size // 2].view(np.uint16), room[x.size // 2 :], whole
    kernel = blackwell.blackwell_kernel("quantise_nvfp4_cvt.cu", block_scaled.FOLDER)
    return work(kernel, ceil_div(x.size, 1024), 256, (*arguments, rows, columns), room, want)
