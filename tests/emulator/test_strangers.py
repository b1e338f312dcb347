"""Small kernels in the styles that strangers write: right, and clean under every check.

Each file of ``strangers/`` is written for the course after a style that is common in public code:
its headers, macros, templates and idioms, not its lines.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from course_utils import ceil_div
from course_utils.compiling.nvrtc import compile_source
from course_utils.devices import emulated_cupy as cp
from course_utils.emulator import ALL_CHECKS, EmulatedModule, Options

FOLDER = Path(__file__).parent / "strangers"
F16, F32, F64, I32, U32, U8 = np.float16, np.float32, np.float64, np.int32, np.uint32, np.uint8


@cache
def module(file: str, *names: str) -> tuple[EmulatedModule, dict[str, str]]:
    compiled = compile_source(
        (FOLDER / file).read_text(), filename=file, arch="compute_90a", names=names
    )
    return EmulatedModule(compiled.ptx), compiled.mangled


def launch(file, kernel, grid, block, args, shared=0, schedule="lockstep"):
    """Run a kernel, or an instance of a template, under every check, and demand a clean report."""
    names = (kernel,) if "<" in kernel else ()
    loaded, mangled = module(file, *names)
    options = Options(checks=ALL_CHECKS, schedule=schedule)
    result = loaded.entry(mangled.get(kernel, kernel)).launch(
        grid, block, args, shared=shared, options=options
    )
    assert [finding.message for finding in result.findings] == []
    return result


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def test_quantised_matrix_times_vector(rng):
    rows, blocks = 10, 12
    scale_w, scale_x = (
        rng.uniform(0.1, 1, shape).astype(F16) for shape in ((rows, blocks), blocks)
    )
    q = rng.integers(0, 16, (rows, blocks, 32))
    p = rng.integers(-128, 128, (blocks, 32)).astype(np.int8)
    w = np.zeros((rows, blocks, 18), U8)
    w[..., :2] = scale_w[..., None].view(U8)
    w[..., 2:] = q[..., :16] | q[..., 16:] << 4
    x = np.zeros((blocks, 34), U8)
    x[:, :2], x[:, 2:] = scale_x[:, None].view(U8), p.view(U8)
    y = np.zeros(rows, F32)
    args = (w, x, y, I32(32 * blocks), I32(rows))
    launch("quantised_matvec.cu", "mul_mat_vec_q4_q8", 3, (32, 4), args)
    real_w, real_x = (q - 8) * scale_w[..., None].astype(F64), p * scale_x[:, None].astype(F64)
    np.testing.assert_allclose(y, np.einsum("rbi,bi->r", real_w, real_x), rtol=1e-4, atol=1)


def test_paged_attention(rng):
    heads, size, page, lens = 2, 32, 8, np.array([19, 5, 40], I32)
    pages = 5
    q = rng.standard_normal((3, heads, size), F32)
    k, v = rng.standard_normal((2, 16, heads, page, size), F32)
    tables = rng.permutation(16)[:15].reshape(3, pages).astype(I32)
    out = np.zeros_like(q)
    args = (out, q, k, v, tables, lens, I32(pages), F32(size**-0.5))
    launch("paged_attention.cu", "paged_attention_h32_p8", (heads, 3), 128, args, 4 * page * pages)
    for s, n in enumerate(lens):
        for h in range(heads):
            keys = k[tables[s], h].reshape(-1, size)[:n].astype(F64)
            values = v[tables[s], h].reshape(-1, size)[:n].astype(F64)
            p = np.exp(keys @ q[s, h] * size**-0.5)
            np.testing.assert_allclose(out[s, h], p @ values / p.sum(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("k", [1, 37])
def test_radix_select(rng, k):
    x = rng.standard_normal((3, 300), F32)
    x[1, ::7] = x[1, 0]
    found = np.zeros(3, F32)
    launch("radix_select.cu", "gather_kth_value", 3, 256, (x, I32(300), I32(k), found))
    assert np.array_equal(found, np.sort(x, axis=1)[:, -k])


def test_needleman_wunsch(rng):
    n, penalty = 48, 3
    likeness = rng.integers(-4, 10, (n + 1, n + 1)).astype(I32)
    matrix = np.zeros((n + 1, n + 1), I32)
    matrix[0], matrix[:, 0] = -penalty * np.arange(n + 1), -penalty * np.arange(n + 1)
    expected = matrix.copy()
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            diagonal = expected[i - 1, j - 1] + likeness[i, j]
            gap = max(expected[i, j - 1], expected[i - 1, j]) - penalty
            expected[i, j] = max(diagonal, gap)
    width = n // 16
    steps = [(i, 1) for i in range(1, width + 1)] + [(i, 2) for i in range(width - 1, 0, -1)]
    for i, which in steps:
        args = likeness, matrix, I32(n + 1), I32(penalty), I32(i), I32(width), I32(which)
        launch("needleman_wunsch.cu", "needle_cuda_shared", i, 16, args)
    assert np.array_equal(matrix, expected)


@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_onesweep_with_decoupled_look_back(rng, schedule):
    size, tiles = 1400, 3
    keys = rng.integers(0, 256, size).astype(U32)
    for shift in (0, 4):
        digits = keys >> shift & 15
        first = np.concatenate([[0], np.cumsum(np.bincount(digits, minlength=16))[:-1]])
        sorted_keys, status, ticket = (
            np.zeros(size, U32),
            np.zeros(16 * tiles, U32),
            np.zeros(1, U32),
        )
        args = keys, sorted_keys, first.astype(U32), status, ticket, U32(size), U32(shift)
        launch("onesweep.cu", "digit_binning_pass", tiles, 128, args, schedule=schedule)
        assert np.array_equal(sorted_keys, keys[np.argsort(digits, kind="stable")])
        keys = sorted_keys
    assert (np.diff(keys.astype(I32)) >= 0).all()


def test_pipeline_with_memcpy_async(rng):
    x = rng.integers(0, 9, (2, 5, 256)).astype(F32)
    out = np.zeros((2, 64), F32)
    launch("pipeline.cu", "sums_with_pipeline", 2, 64, (x, out, I32(5)))
    at = (np.arange(64)[:, None] * 4 + np.arange(4) * 65) % 256
    assert np.array_equal(out, x.sum(axis=1)[:, at].sum(axis=2))


def test_producer_and_consumers_with_cuda_barriers(rng):
    x = rng.standard_normal((5, 96), F32)
    out = np.zeros_like(x)
    launch("pipeline.cu", "scale_by_producer", 1, 128, (x, out, I32(5)))
    assert np.array_equal(out, 2 * x[:, ::-1])


def test_reductions_of_cooperative_groups(rng):
    x = rng.integers(0, 100, (3, 128)).astype(I32)
    of_tiles, of_block, odd = np.zeros(48, I32), np.zeros(3, I32), np.zeros(1, I32)
    launch("pipeline.cu", "sums_of_groups", 3, 128, (x, of_tiles, of_block, odd))
    assert np.array_equal(of_tiles, x.reshape(48, 8).sum(axis=1))
    assert np.array_equal(of_block, x.max(axis=1)) and odd[0] == (x & 1).sum()


def test_warp_specialised_ring_of_bulk_copies(rng):
    x = rng.integers(0, 9, (2, 7, 128)).astype(F32)
    out = np.zeros((2, 128), F32)
    launch("ring_buffer.cu", "warp_specialised_sum", 2, 160, (x, out, I32(7)))
    assert np.array_equal(out, (x * np.arange(1, 8)[:, None]).sum(axis=1)[:, ::-1])


def test_hash_table_with_compare_and_swap(rng):
    keys, values = rng.integers(0, 90, 300).astype(U32), rng.integers(0, 99, 300).astype(U32)
    table = np.full((128, 2), 0xFFFFFFFF, U32)
    table[:, 1] = 0
    pairs = np.stack([keys, values], axis=1)
    args = table, U32(128), pairs, U32(300)
    launch("hash_table.cu", "gpu_hashtable_insert", 3, 128, args)
    asked = np.stack([np.arange(100), np.zeros(100)], axis=1).astype(U32)
    args = table, U32(128), asked, U32(100)
    launch("hash_table.cu", "gpu_hashtable_lookup", 1, 64, args)
    sums = np.bincount(keys, values, minlength=100)
    expected = np.where(np.isin(np.arange(100), keys), sums, 0xFFFFFFFF)
    assert np.array_equal(asked[:, 1], expected.astype(U32))

    words = np.full(101, 2**64 - 1, np.uint64)
    launch("hash_table.cu", "insert_pairs", 3, 128, (words, U32(101), pairs, I32(300)))
    found = words[words != 2**64 - 1]
    inserted = {int(v) << 32 | int(k) for k, v in pairs}
    assert (
        sorted(found & np.uint64(0xFFFFFFFF)) == sorted(set(keys))
        and set(map(int, found)) <= inserted
    )


def test_stencil_with_a_halo(rng):
    x = rng.standard_normal((21, 37), F32)
    y = np.zeros_like(x)
    launch("stencil.cu", "stencil_2d", (3, 3), (16, 8), (y, x, I32(37), I32(21)))
    p = np.pad(x, 2).astype(F64)
    expected = -0.5 * x
    for r, c in ((1, 0.25), (2, -0.0625)):
        across = p[2:-2, 2 - r : 39 - r] + p[2:-2, 2 + r : 39 + r]
        expected = expected + c * (across + p[2 - r : 23 - r, 2:-2] + p[2 + r : 23 + r, 2:-2])
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


def test_segmented_scan(rng):
    x, head = rng.integers(0, 9, 300).astype(F64), (rng.random(300) < 0.05).astype(U8)
    out = np.zeros(300)
    launch("segmented_scan.cu", "segmented_scan<double, 4>", 1, 128, (x, head, out, I32(300)))
    sums = np.cumsum(x)
    begins = np.maximum.accumulate(np.where(head, np.arange(300), 0))
    assert np.array_equal(out, sums - (sums - x)[begins])


def test_breadth_first_search_with_a_frontier(rng):
    n = 120
    links = rng.random((n, n)) < 0.03
    offsets = np.concatenate([[0], np.cumsum(links.sum(axis=1))]).astype(I32)
    columns = np.nonzero(links)[1].astype(I32)
    arrays = cp.asarray(offsets), cp.asarray(columns)
    graph = np.array([array.data.ptr for array in arrays], np.uint64).tobytes()
    graph += np.array([n, 0], I32).tobytes()  # struct CSR
    distance, frontier, following = np.full(n, -1, I32), np.zeros(n, I32), np.zeros(n, I32)
    distance[0], size, level, seen = 0, 1, 0, {0}
    while size:
        level, count = level + 1, np.zeros(1, I32)
        args = graph, frontier, I32(size), following, count, distance, I32(level)
        launch("bfs.cu", "bfs_expand", ceil_div(size, 64), 64, args)
        frontier, following, size = following, frontier, int(count[0])
    expected, wave = np.full(n, -1), {0}
    expected[0], step = 0, 0
    while wave:
        step += 1
        wave = {int(u) for v in wave for u in np.flatnonzero(links[v])} - seen
        seen |= wave
        expected[list(wave)] = step
    assert np.array_equal(distance, expected) and expected.max() > 2


def test_philox_dropout(rng):
    n, seed, keep = 512, 0x123456789ABC, 0.7
    x = rng.standard_normal(n, F32)
    y, mask = np.zeros(n, F32), np.zeros(n, U8)
    args = x, y, mask, I32(n), F32(keep), np.uint64(seed)
    launch("philox_dropout.cu", "fused_dropout_kernel_vec", 1, 64, args)
    drawn = philox(seed, np.arange(n // 4))
    kept = (drawn >> 8).astype(F32) / F32(2**24) < F32(keep)
    assert np.array_equal(mask, kept.ravel().astype(U8)) and 0.6 < kept.mean() < 0.8
    np.testing.assert_allclose(y, x * mask / keep, rtol=1e-6)


def philox(seed: int, subsequences: np.ndarray) -> np.ndarray:
    """Four 32-bit numbers for each subsequence at offset 0. Source: Salmon et al., "Parallel Random
    Numbers: As Easy as 1, 2, 3", 2011 (Philox 4x32-10)."""
    low = np.uint64(0xFFFFFFFF)
    s = subsequences.astype(np.uint64)
    c = [np.zeros_like(s), np.zeros_like(s), s & low, s >> np.uint64(32)]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        k = [np.uint64(key) for key in keys]
        c = [b >> np.uint64(32) ^ c[1] ^ k[0], b & low, a >> np.uint64(32) ^ c[3] ^ k[1], a & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=1).astype(U32)


@pytest.mark.parametrize("kernel", ["rope_f16", "rope_bf16"])
def test_rotary_positions(rng, kernel):
    tokens, heads, pairs = 5, 3, 16
    real = rng.standard_normal((tokens, heads, pairs, 2), F32)
    if kernel == "rope_f16":
        x = real.astype(F16)
        real = x.astype(F32)
    else:
        x = (real.view(U32) + 0x8000 >> 16).astype(np.uint16)
        real = (x.astype(U32) << 16).view(F32)
    positions = np.array([0, 3, 4, 90, 7], I32)
    args = x, positions, I32(heads), I32(pairs), F32(10000)
    launch("rope.cu", kernel, (tokens, heads), 32, args)
    angle = positions[:, None, None] * 10000.0 ** (-np.arange(pairs) / pairs)
    turned = (real[..., 0] + 1j * real[..., 1]) * np.exp(1j * angle)
    got = x.astype(F32) if kernel == "rope_f16" else (x.astype(U32) << 16).view(F32)
    expected = np.stack([turned.real, turned.imag], axis=-1)
    np.testing.assert_allclose(got, expected, atol=4e-3 if kernel == "rope_f16" else 2e-2)


def test_top_k_of_each_row(rng):
    x = rng.permutation(5 * 130).reshape(5, 130).astype(F32)
    values, indices = np.zeros((5, 4), F32), np.zeros((5, 4), I32)
    launch("topk.cu", "topk4", 2, 128, (x, values, indices, I32(130), I32(5)))
    order = np.argsort(-x, axis=1)[:, :4]
    assert np.array_equal(indices, order)
    assert np.array_equal(values, np.take_along_axis(x, order, axis=1))


def test_batched_cholesky_of_4_by_4(rng):
    m = rng.standard_normal((50, 4, 4))
    a = m @ m.transpose(0, 2, 1) + 0.5 * np.eye(4)
    a[7, 2, 2] = -1
    b = rng.standard_normal((50, 4))
    solved, info = np.ascontiguousarray(b.T), np.zeros(50, I32)
    args = np.ascontiguousarray(a.reshape(50, 16).T), solved, info, I32(50)
    launch("cholesky.cu", "potrs_4x4", 1, 64, args)
    good = np.arange(50) != 7
    assert np.array_equal(info, ~good)
    expected = np.linalg.solve(a[good], b[good][..., None])[..., 0]
    np.testing.assert_allclose(solved.T[good], expected, rtol=1e-9)


@pytest.mark.parametrize("up", [0, 1])
def test_bitonic_sort(rng, up):
    keys = rng.permutation(512).reshape(2, 256).astype(U32)
    values = keys + 1000
    to_keys, to_values = np.zeros_like(keys), np.zeros_like(keys)
    args = to_keys, to_values, keys, values, U32(256), U32(up)
    launch("bitonic.cu", "bitonicSortShared", 2, 128, args)
    assert np.array_equal(to_keys, np.sort(keys, axis=1)[:, :: 1 if up else -1])
    assert np.array_equal(to_values, to_keys + 1000)


def test_histogram_with_private_copies(rng):
    data, hist = rng.integers(0, 256, 4000).astype(U8), np.zeros(64, U32)
    launch("histogram.cu", "histogram64", 3, 128, (data, hist, I32(1000)))
    assert np.array_equal(hist, np.bincount(data >> 2, minlength=64))


@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_stream_compaction(rng, schedule):
    x = rng.standard_normal(600, F32)
    out, chain, ticket = np.zeros(600, F32), np.full(6, -1, I32), np.zeros(1, I32)
    chain[0] = 0
    args = x, out, I32(600), chain, ticket
    launch("compaction.cu", "copy_if_positive", 5, 128, args, schedule=schedule)
    kept = x[x > 0]
    assert chain[-1] == len(kept)
    assert np.array_equal(out[: len(kept)], kept) and not out[len(kept) :].any()


def test_dynamic_shared_memory_cut_into_parts(rng):
    x, rows = rng.standard_normal((6, 75)).astype(F16), np.array([5, 0, 3], I32)
    y = np.zeros((3, 75), F16)
    bytes_ = 8 * ceil_div(2 * 75, 8) + 2 * 8 + 2 * 4
    launch("shared_carving.cu", "softmax_of_gathered", 3, 64, (x, rows, y, I32(75)), bytes_)
    e = np.exp(x[rows].astype(F64))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=2e-3)


def test_a_copy_with_cache_policies(rng):
    x = rng.integers(0, 2**32, (150, 4), dtype=U32)
    y = np.zeros_like(x)
    launch("streaming_copy.cu", "streaming_copy", 2, 32, (x, y, I32(150)))
    assert np.array_equal(y, x[:, ::-1])
