"""Attention of one new token against a cache of keys and values, beside PyTorch's SDPA, and beside
FlashInfer where the cache is in pages.

A size is (sequences, query heads, heads of keys, tokens in each cache, or at most). bf16 arrays
carry bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....devices.properties import sm_count
from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.float_bits import from_bf16, to_bf16
from ...harness.torch_runs import as_tensors, torch_on_gpu
from ...harness.workload import KernelCall, Workload
from ...libraries import rivals
from .attention import AttentionWork
from .operators import CHAPTER

WIDTH = 128  # numbers of a query, a key and a value
THREADS = 128
PAGE = 16  # tokens of a page
SLOTS = {"decode_mma": 2, "decode_paged": 2}  # blocks that an SM holds at once, else 8
FEWEST_KEYS = 256  # of a part: below that merging costs more
WARPS, STAGES = 8, 2  # of decode_persistent
MOST_HEADS = 4  # of keys that a block of it reads together
MOST_PARTS = 32  # into which it cuts sequences of one length
USUAL = 700  # tokens of a conversation, on average, where they differ
CacheSize = tuple[int, int, int, int]  # sequences, query heads, heads of keys, tokens


def parts_for(name: str, blocks: int, tokens: int) -> int:
    """Into how many parts the keys are cut: as many as fill this GPU once, with ``blocks`` each."""
    slots = SLOTS.get(name, 8) * sm_count()
    return max(1, min(slots // max(1, blocks), tokens // FEWEST_KEYS))


@dataclass(frozen=True)
class Cache:
    """Keys and values: ``k`` and ``v`` are (pages, kv_heads, PAGE, WIDTH) where there is a
    ``table`` (sequences, pages of one), and otherwise (sequences, capacity, kv_heads, WIDTH)."""

    k: Any
    v: Any
    lengths: Any
    table: Any = None


def decode_calls(
    name: str, q: Any, cache: Cache, o: Any, parts: int | None = None
) -> tuple[KernelCall, ...]:
    """``decode_one``, ``decode_persistent`` with as many blocks as ``parts``, or another of the
    kernels on ``parts`` and then the merge. ``q`` and ``o`` are (sequences, heads, WIDTH) in bf16.
    """
    sequences, heads, _ = q.shape
    kv_heads = cache.k.shape[2 if cache.table is None else 1]
    group, scale = heads // kv_heads, np.float32(WIDTH**-0.5)
    given = q, cache.k, cache.v
    if name == "decode_one":
        arguments = *given, o, cache.lengths, group, cache.k.shape[1], scale
        return (KernelCall(CHAPTER.kernel(name), (heads, sequences), THREADS, arguments),)
    if name == "decode_persistent":
        return (_persistent(q, cache, o, parts or sm_count()),)
    together = name != "decode_split"
    across = kv_heads if together else heads
    tokens = cache.k.shape[1] if cache.table is None else PAGE * cache.table.shape[1]
    parts = parts or parts_for(name, across * sequences, tokens)
    part_o = cp.empty((sequences, heads, parts, WIDTH), cp.float32)
    lse = cp.empty((sequences, heads, parts), cp.float32)
    place = (cache.table, cache.table.shape[1]) if cache.table is not None else (tokens,)
    arguments = (
        *given,
        o,
        part_o,
        lse,
        cache.lengths,
        *(() if together else (group,)),
        *place,
        scale,
    )
    defines = {"GROUP": group} if together else {}
    grid = across, sequences, parts
    call = KernelCall(CHAPTER.kernel(name, **defines), grid, THREADS, arguments)
    if parts == 1:
        return (call,)
    merge = part_o, lse, o, parts
    return call, KernelCall(CHAPTER.kernel("decode_merge"), (heads, sequences), THREADS, merge)


def heads_together(sequences: int, kv_heads: int, blocks: int) -> int:
    """How many heads of keys a block of ``decode_persistent`` reads together: fewer where there are
    few sequences, so that none is cut into many parts."""
    most = min(MOST_HEADS, MOST_PARTS * sequences * kv_heads // blocks)
    return max(h for h in (1, 2, 4, 8) if h == 1 or (h <= most and kv_heads % h == 0))


def _persistent(q: Any, cache: Cache, o: Any, blocks: int) -> KernelCall:
    sequences, heads, _ = q.shape
    kv_heads, pages = cache.k.shape[1], cache.table.shape[1]
    group, together = heads // kv_heads, heads_together(sequences, kv_heads, blocks)
    part_o = cp.empty((blocks, 2, together * group, WIDTH), cp.float32)
    part_sums = cp.empty((blocks, 2, together * group, 2), cp.float32)
    arrived = cp.zeros(sequences * kv_heads // together, cp.int32)
    place = cache.lengths, cache.table, pages, sequences, kv_heads
    return KernelCall(
        CHAPTER.kernel("decode_persistent", GROUP=group, HEADS=together),
        blocks,
        32 * WARPS,
        (q, cache.k, cache.v, o, part_o, part_sums, arrived, *place, np.float32(WIDTH**-0.5)),
        WARPS * (STAGES * 8192 + 512 * group),
    )


def attention_of(q: Any, k: Any, v: Any, lengths: Sequence[int]) -> Any:
    """The reference in float64. ``q`` is (sequences, heads, WIDTH), ``k`` and ``v`` are (sequences,
    tokens, kv_heads, WIDTH). A sequence without tokens gives zeros."""
    group = q.shape[1] // k.shape[2]
    found = cp.zeros(q.shape, np.float64)
    for s, length in enumerate(lengths):
        for head in range(q.shape[1] if length else 0):
            keys, values = (double(x[s, :length, head // group]) for x in (k, v))
            scores = keys @ double(q[s, head]) * WIDTH**-0.5
            weights = np.exp(scores - scores.max())
            found[s, head] = weights @ values / weights.sum()
    return found


def in_pages(k: Any, v: Any, lengths: Any, seed: int | None = 0) -> Cache:
    """The same cache in pages, in an order drawn with ``seed``, or one after the other."""
    sequences, tokens, kv_heads, _ = k.shape
    of_one = ceil_div(tokens, PAGE)
    order = np.arange(sequences * of_one, dtype=np.int32)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(order)
    place = cp.asarray(order)

    def paged(rows: Any) -> Any:
        whole = cp.zeros((sequences, of_one * PAGE, kv_heads, WIDTH), rows.dtype)
        whole[:, :tokens] = rows
        pages = cp.zeros((len(order), kv_heads, PAGE, WIDTH), rows.dtype)
        pages[place] = whole.reshape(-1, PAGE, kv_heads, WIDTH).transpose(0, 2, 1, 3)
        return pages

    table = cp.asarray(order.reshape(sequences, of_one))
    return Cache(paged(k), paged(v), cp.asarray(lengths, np.int32), table)


def alike(n: CacheSize) -> list[int]:
    """Sequences that all have the most tokens."""
    return [n[3]] * n[0]


def ragged(n: CacheSize) -> list[int]:
    """Random lengths from 1 to the most tokens, many short and a few long."""
    drawn = np.random.default_rng(2).geometric(1 / USUAL, n[0])
    return [int(length) for length in np.minimum(drawn, n[3])]


def work_on(
    name: str,
    n: CacheSize,
    lengths: Sequence[int],
    parts: int | None = None,
    seed: int | None = 0,
) -> Workload:
    """The kernel ``name`` on sequences of these ``lengths``, each at most ``n[3]``, their keys cut
    into ``parts``. A ``seed`` draws the order of the pages, if there are any."""
    sequences, heads, kv_heads, tokens = n
    q = to_bf16(normal((sequences, heads, WIDTH)))
    k, v = (to_bf16(normal((sequences, tokens, kv_heads, WIDTH), seed)) for seed in (1, 2))
    whole = Cache(k, v, cp.asarray(lengths, np.int32))
    paged = name in ("decode_paged", "decode_persistent")
    cache = in_pages(k, v, lengths, seed) if paged else whole
    libraries = _sdpa(q, k, v) if set(lengths) == {tokens} else {}
    if paged and min(lengths):
        libraries |= rivals.decoding(q, cache.k, cache.v, cache.lengths, cache.table)
    o = cp.empty(q.shape, np.uint16)
    return AttentionWork(
        decode_calls(name, q, cache, o, parts),
        output=o,
        expected=lambda: attention_of(from_bf16(q), from_bf16(k), from_bf16(v), lengths),
        rtol=1e-2,
        atol=2e-3,
        same_bits=False,  # __expf is the hardware's
        libraries=libraries,
    )


def _sdpa(q: Any, k: Any, v: Any) -> dict[str, Callable[[], Any]]:
    torch = torch_on_gpu()
    if torch is None:
        return {}
    functional = torch.nn.functional
    query, keys, values = as_tensors(q, k, v)
    query = query[:, :, None]  # (sequences, heads, one token, numbers)
    keys, values = keys.transpose(1, 2), values.transpose(1, 2)
    return {
        "torch SDPA": lambda: functional.scaled_dot_product_attention(
            query, keys, values, enable_gqa=True
        )
    }


def _case(
    kernel: str,
    *more: str,
    name: str = "",
    what: str = "attention of one new token, bf16",
    lengths: Callable[[CacheSize], list[int]] = alike,
    seed: int | None = 0,
    sizes: tuple[CacheSize, ...] = ((64, 32, 8, 8192), (1, 32, 8, 8192), (64, 32, 8, 512)),
) -> Case:
    def moved(n: CacheSize) -> int:
        sequences, heads, kv_heads, _ = n
        return 2 * WIDTH * (2 * sum(lengths(n)) * kv_heads + 2 * sequences * heads)

    return Case(
        name or kernel,
        what,
        CHAPTER.files(kernel, *more),
        lambda n: work_on(kernel, n, lengths(n), seed=seed),
        bytes=moved,
        flops=lambda n: 4 * WIDTH * sum(lengths(n)) * n[1],
        gpu_sizes=sizes,
        test_sizes=((1, 4, 1, 1), (2, 8, 2, 33), (3, 4, 1, 600)),
        ceiling="read",
    )


def _ragged(kernel: str, *more: str) -> Case:
    name, what = f"{kernel}_ragged", "attention of one new token, ragged lengths, bf16"
    return _case(kernel, *more, name=name, what=what, lengths=ragged, sizes=((64, 32, 8, 8192),))


CASES = (
    _case("decode_one"),
    _case("decode_split", "decode_merge"),
    _case("decode_grouped", "decode_merge"),
    _case("decode_mma", "decode_merge"),
    _case("decode_paged", "decode_merge"),
    _case("decode_persistent"),
    _case("decode_persistent", name="decode_persistent_in_order", seed=None),
    _ragged("decode_paged", "decode_merge"),
    _ragged("decode_persistent"),
)
