"""The meaning of each number of a task's size, for tasks whose sizes have several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SKEWED = "skewed or even"  # 1 or 0
MATRIX = ("rows", "columns")
PRODUCT = ("M", "N", "K")
IMAGES = ("images", "channels", "filters", "height", "width")
CONVOLUTION = (*IMAGES, "side of a filter")
SEQUENCES = ("sequences", "heads", "tokens")
PAGES = ("sequences", "heads", "heads of K and V", "tokens")
GROUPS = ("rows", "experts", "N", "K", SKEWED)
LOGITS = ("tokens", "width", "words")
CHOSEN = (*MATRIX, "k")
MANY = ("matrices", *MATRIX)

AXES = {
    "softmax of rows, fp32": MATRIX,
    "matrix times vector, fp32": MATRIX,
    "convolution 3 x 3, fp32": IMAGES[1:],
    "transpose, fp32": MATRIX,
    "conv 3x3, batchnorm, ReLU, pool": IMAGES,
    "filter over a signal, fp32": ("samples", "taps"),
    "filter over an image, fp32": ("side of the image", "side of the filter"),
    "GEMM with a long K, fp32": PRODUCT,
    "few rows times a matrix, fp32": PRODUCT,
    "few rows times a matrix, bf16": PRODUCT,
    "FFT, complex fp32": ("rows", "points"),
    "FFT, real fp32": ("rows", "points"),
    "FFT, complex fp32, two dimensions": MANY,
    "convolution, fp32": CONVOLUTION,
    "convolution, bf16": CONVOLUTION,
    "transposed matrix times vector, fp32": MATRIX,
    "gradient of softmax, fp32": MATRIX,
    "layer normalisation, fp32": MATRIX,
    "layer normalisation, bf16": MATRIX,
    "RMS normalisation, fp32": MATRIX,
    "RMS normalisation, bf16": MATRIX,
    "gradients of layer normalisation, fp32": MATRIX,
    "gradients of layer normalisation, bf16": MATRIX,
    "gradients of RMS normalisation, fp32": MATRIX,
    "gradients of RMS normalisation, bf16": MATRIX,
    "cross entropy and its gradient, fp32": MATRIX,
    "cross entropy and its gradient, bf16": MATRIX,
    "attention, fp32": SEQUENCES,
    "attention, bf16": SEQUENCES,
    "causal attention, bf16": SEQUENCES,
    "gradient of attention, bf16": SEQUENCES,
    "gradient of causal attention, bf16": SEQUENCES,
    "attention of one new token, bf16": PAGES,
    "attention of one new token, ragged lengths, bf16": PAGES,
    "grouped GEMM, bf16": GROUPS,
    "grouped GEMM with SwiGLU, bf16": GROUPS,
    "a layer of experts, bf16": ("tokens", "experts", "experts per token", "width", "inner width"),
    "a linear layer and its loss, bf16": LOGITS,
    "a linear layer and its loss and gradients, bf16": LOGITS,
    "the k largest of each row, fp32": CHOSEN,
    "a token from each row of logits, fp32": MATRIX,
    "a token from the nucleus of each row, fp32": CHOSEN,
    "weights of few bits times a vector": MANY,
    "QR of many matrices, fp32": MANY,
    "R of a tall matrix, fp32": MATRIX,
    "attention on wgmma, bf16": SEQUENCES,
    "causal attention on wgmma, bf16": SEQUENCES,
    "gradient of attention on wgmma, bf16": SEQUENCES,
    "gradient of causal attention on wgmma, bf16": SEQUENCES,
}


def axes(what: str) -> str:
    """The meanings of a size's numbers, in their order. KeyError: ``what`` isn't above."""
    return _joined(zip(AXES[what], AXES[what], strict=True))


def with_axes(what: str, size: int | Sequence[int]) -> str:
    """``size`` in words: "2 sequences × 16 heads × 8,192 tokens", "M 32 × N 64 × K 64". One number,
    of elements or the side of a square matrix, stays a number. KeyError: ``what`` isn't above."""
    if isinstance(size, int):
        return f"{size:,}"
    named = zip(AXES[what], size, strict=True)
    return _joined((name, _extent(number, name)) for name, number in named)


def _joined(named: Iterable[tuple[str, str]]) -> str:
    text = "".join((", " if name == SKEWED else " × ") + part for name, part in named)
    return text.removeprefix(" × ")


def _extent(number: int, name: str) -> str:
    if name == SKEWED:
        return "skewed" if number else "even"
    first, space, rest = name.partition(" ")
    if not first.endswith("s"):
        return f"{name} {number:,}"
    one = "matrix" if first == "matrices" else first.removesuffix("s")
    return f"{number:,} {one if number == 1 else first}{space}{rest}"
