from tests.notebooks.drawn import case, milliseconds

ROWS = [16384, 4096]


def quack(kernel):
    """How many times as long as ours QuACK takes."""
    found = case(kernel, ROWS)["libraries"]
    return next(ms for name, ms in found.items() if name.startswith("QuACK")) / milliseconds(
        kernel, ROWS
    )


LOGITS = [4096, 131072]


def loss(kernel, rival, beside=None):
    """How many times as long as ours, or as another library, the ``rival`` takes."""
    found = case(kernel, LOGITS)["libraries"]
    return found[rival] / (found[beside] if beside else milliseconds(kernel, LOGITS))


QUOTES = {
    "that's 1.10 times faster in fp32": lambda: loss(
        "cross_entropy_fused", "torch.compile", "torch.compile, one graph"
    ),
    "take 1.73 times as long as": lambda: loss("cross_entropy_fused_bf16", "Liger 0.8.5"),
    "takes 1.02 to 1.05 times as long as ours": lambda: [
        quack("rms_norm_bf16"),
        quack("layer_norm_vector"),
    ],
}
TRIAL = "a trial on one H200, 2026-11-30, all in turns; no record"
FACTS = {
    "as our kernel was | 0.131 ms |": TRIAL,
    "| no hint | no hint | 0.129 ms |": TRIAL,
    "| evict first | no hint | 0.135 ms |": TRIAL,
    "| **evict last** | no hint | 0.124 ms |": TRIAL,
    "instead of registers | no hint | 0.124 ms |": TRIAL,
    "a row ahead | no hint | 0.142 ms |": TRIAL,
    "It was 5 % faster than our kernel": "record of 2026-11-28: 0.1305 ms, torch.compile 0.1239 ms",
}
GIVEN = (
    "Compare with float64, within 1 % of the largest",
    "Where the mean is ten thousand times the spread",
    "its mean may be a hundred times its spread",
    "grown to 256 times its next term",
    "is 2.3 times faster than PyTorch's own kernels (443 → 194 µs)",
    "and 1.10 times faster than the",
    "the floor is only 1.13 times faster",
    "store a 0: 0 times NaN is NaN",
    "whatever was in memory, and 0 times NaN",
    "no digit is right where the mean is ten thousand times the spread",
)
