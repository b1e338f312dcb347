"""How tests launch the kernels of chapter 05 that no benchmark measures."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from launchers import Chapter, draw

from course_utils import cp, pointers
from course_utils.benchmarks.case import KernelCall, Work

CHAPTER = Chapter("05_cuda_libraries")
kernel = CHAPTER.kernel


# --- several ranks, whose memory lies on one GPU here ---


@dataclass(frozen=True)
class EachRank(Work):
    """Work whose result every rank has, as a row of the output."""

    start: Any = None

    def poison(self) -> None:
        super().poison()
        if self.start is not None:  # in place
            self.output[...] = cp.asarray(self.start)


@CHAPTER.launch(
    "all_reduce_push", "all_reduce_slices", "all_reduce_flagged", sizes=[(1, 1, 4), (3, 2, 308)]
)
def all_reduce(name, ranks, blocks, n):
    x, words = draw((ranks, n)), cp.empty((ranks, 2 * ranks * n), cp.uint64)
    result, boxes = cp.empty((ranks, n), cp.float32), cp.empty((ranks, ranks * n), cp.float32)
    flags, turns = (cp.empty((ranks, blocks * k), cp.uint32) for k in (ranks, 1))
    given = {
        "all_reduce_push": (cp.asarray(x), result, boxes, flags, turns),
        "all_reduce_slices": (result, flags, turns),
        "all_reduce_flagged": (cp.asarray(x), result, words, turns),
    }[name]
    sizes = (n, n) if name == "all_reduce_flagged" else (n,)
    call = KernelCall(kernel(name), (blocks, ranks), 64, (*map(pointers, given), 0, ranks, *sizes))
    expected = np.broadcast_to(x.astype(np.float64).sum(axis=0), (ranks, n))
    start = x if name == "all_reduce_slices" else None
    error = {"rtol": 1e-5, "atol": 1e-5, "cleared": (flags, turns, words), "start": start}
    return EachRank((call,), result, lambda: expected, **error)
