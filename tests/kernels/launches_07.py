"""How tests launch the kernels of chapter 07 that no benchmark measures, against float64."""

import numpy as np
from launchers import Chapter, draw, work

from course_utils import cp
from course_utils.benchmarks.case import Work
from course_utils.benchmarks.cases.matmul import from_bf16, to_bf16
from course_utils.benchmarks.cases.pytorch_extensions import attention

CHAPTER = Chapter("07_pytorch_extensions")
kernel = CHAPTER.kernel


# --- 01: activation ---


# --- 02: micrograd ---


# --- 03: normalisation ---


# --- 04: attention ---


@CHAPTER.launch("attention_scores", sizes=[(1, 1), (19, 3)])
def causal_scores(name, n, heads):
    q, k = draw((n, heads, 64)), draw((n, heads, 64), seed=1)
    scores = cp.empty((heads, n, n), cp.float32)
    expected = np.einsum("ihc,jhc->hij", q.astype(np.float64), k.astype(np.float64)) / 8
    expected[:, np.triu(np.ones((n, n), bool), 1)] = -np.inf
    side, scale = -(-n // 16), np.float32(1 / 8)
    launch = (side, side, heads), (16, 16), (cp.asarray(q), cp.asarray(k), scores, n, scale)
    return work(kernel(name, CAUSAL=1), *launch, scores, expected, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("flash_tiles", sizes=[(1, 1), (65, 2)])
def causal_tiles(name, n, heads):
    q, k, v = (draw((n, heads, 64), seed) for seed in range(3))
    o, scale = cp.empty((n, heads, 64), cp.float32), np.float32(1 / 8)
    parts = [
        attention.attention(*(x[:, head].astype(np.float64) for x in (q, k, v)), causal=True)[0]
        for head in range(heads)
    ]
    arguments = *map(cp.asarray, (q, k, v)), o, n, scale
    launch = (-(-n // 32), heads), 128, arguments
    expected = np.stack([cp.asnumpy(part) for part in parts], axis=1)
    return work(kernel(name, CAUSAL=1), *launch, o, expected, rtol=1e-4, atol=1e-5)


# Sequences of different lengths, heads that share keys, both widths.
PACKED = [
    ((1, 17, 66), 2, 1, 64, True),
    ((70,), 3, 3, 64, False),
    ((64, 0, 65), 2, 1, 128, False),
]


class PackedWork(Work):
    """Work that gives (O, lse) or (dQ, dK, dV), one after the other, of bf16 and fp32 numbers."""

    def numbers(self, result):
        return result if result.dtype != np.uint16 else from_bf16(result)


def packed(lengths, heads, kv_heads, d):
    """q, k, v and dO in bf16."""
    tokens = sum(lengths)
    arrays = (
        draw((tokens, h, d), seed) for seed, h in enumerate((heads, kv_heads, kv_heads, heads))
    )
    return [to_bf16(cp.asarray(x)) for x in arrays]


def each_head(found, lengths, arrays, outputs):
    """Add to each output (tokens, heads, d) what ``found`` gives for each sequence and head."""
    heads, starts = arrays[0].shape[1], attention.starts_of(lengths)
    exact = [cp.asnumpy(from_bf16(x)).astype(np.float64) for x in arrays]
    for first, end in zip(starts[:-1], starts[1:], strict=True):
        for head in range(heads if end > first else 0):
            of = [x[first:end, head * x.shape[1] // heads] for x in exact]
            for output, part in zip(outputs, found(*of), strict=True):
                output[first:end, head * output.shape[1] // heads] += cp.asnumpy(part).reshape(
                    end - first, -1
                )


@CHAPTER.launch("flash_mma", "flash_pipeline", sizes=PACKED)
def packed_attention(name, lengths, heads, kv_heads, d, causal):
    q, k, v, _ = packed(lengths, heads, kv_heads, d)
    o, lse = cp.empty_like(q), cp.empty((heads, sum(lengths)), cp.float32)
    o_exact, lse_exact = np.zeros(q.shape), np.zeros((*q.shape[:2], 1))

    def found(*of):
        return attention.attention(*map(cp.asarray, of), causal=causal)

    each_head(found, lengths, (q, k, v), (o_exact, lse_exact))
    call = attention.forward_call(name, q, k, v, o, lse, lengths, causal)

    class Both(PackedWork):
        def wrong(self, result=None):
            of_lse = Work((call,), lse, lambda: lse_exact[:, :, 0].T, rtol=1e-5, atol=1e-5)
            return super().wrong(result) or of_lse.wrong()

        def poison(self):
            super().poison()
            lse.fill(np.nan)

    return Both((call,), o, lambda: cp.asarray(o_exact), rtol=2**-7, atol=2**-6)


@CHAPTER.launch("flash_backward", sizes=[PACKED[0], PACKED[2]])
def packed_gradients(name, lengths, heads, kv_heads, d, causal):
    q, k, v, do = packed(lengths, heads, kv_heads, d)
    o, lse = cp.empty_like(q), cp.empty((heads, sum(lengths)), cp.float32)
    attention.forward_call("flash_mma", q, k, v, o, lse, lengths, causal)()
    shapes = (q.shape, k.shape, v.shape)
    exact = [np.zeros(shape) for shape in shapes]

    def found(*of):
        return attention.gradients_of(*map(cp.asarray, of), causal=causal)

    each_head(found, lengths, (q, k, v, do), exact)
    ends = np.cumsum([np.prod(shape) for shape in shapes]).tolist()
    flat = cp.empty(ends[-1], np.uint16)
    parts = [
        part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)
    ]
    sums = attention.dq_sums(sum(lengths), heads, len(lengths), d)
    calls = attention.backward_calls((q, k, v, o, do, lse), sums, tuple(parts), lengths, causal)
    expected = np.concatenate([x.ravel() for x in exact])
    return PackedWork(
        calls, flat, lambda: cp.asarray(expected), rtol=2**-6, atol=2**-5, cleared=(sums,)
    )
