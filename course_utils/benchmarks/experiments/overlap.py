"""Copies and kernels that overlap: when each piece of a pipeline ran on this GPU, from events.

``measure()["panels"]`` is what ``figures.timeline`` draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.modules import load

KERNEL = "04_first_kernels/threads/fade.cu"
SOURCES = (KERNEL,)
ROWS = ("copy in", "kernel", "copy out")
N, ROUNDS = 1 << 26, 1000
PLANS = {"1 chunk, 1 stream": (1, 1), "8 chunks, 4 streams": (8, 4)}

Span = tuple[str, str, float, float]


def measure(n: int = N, rounds: int = ROUNDS) -> dict[str, Any]:
    """The sizes, and in ``panels`` for each of :data:`PLANS` its spans (row, chunk, start, end) in
    milliseconds, warmed up."""
    memory = cp.cuda.alloc_pinned_memory(4 * n)
    host = np.frombuffer(memory, np.float32, n)
    host[:] = 0
    x = cp.empty(n, cp.float32)
    fade = load(KERNEL).kernel.raw  # does not wait
    panels = {}
    for name, (chunks, count) in PLANS.items():
        for _ in range(2):  # the first run warms up
            spans = round_trip(fade, host, x, rounds, chunks, count)
        panels[name] = spans
    return {"elements": n, "rounds": rounds, "panels": panels}


def round_trip(
    fade: Any, host: np.ndarray, x: Any, rounds: int, chunks: int, count: int
) -> list[Span]:
    """One trip of ``host`` to the device, through ``fade`` and back, in ``chunks`` pieces.

    An event tells when a stream got that far. Its next piece of work begins there, or when the
    engine that does such work has ended the chunk before: one engine copies in, one copies out.
    """
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(count)]
    per_chunk = ceil_div(len(host), chunks)
    marks = []
    for chunk in range(chunks):
        stream = streams[chunk % count]
        part = slice(chunk * per_chunk, min((chunk + 1) * per_chunk, len(host)))
        here = part.stop - part.start
        events = [cp.cuda.Event() for _ in range(len(ROWS) + 1)]
        with stream:
            events[0].record()
            x[part].set(host[part], stream=stream)
            events[1].record()
            fade((ceil_div(here, 256),), (256,), (x[part], np.int32(here), np.int32(rounds)))
            events[2].record()
            x[part].get(stream=stream, out=host[part], blocking=False)
            events[3].record()
        marks.append(events)
    for stream in streams:
        stream.synchronize()
    zero = marks[0][0]
    return spans_of([[cp.cuda.get_elapsed_time(zero, event) for event in row] for row in marks])


def spans_of(times: list[list[float]]) -> list[Span]:
    """The spans of chunks whose four marks were reached at these ``times``, in milliseconds."""
    spans: list[Span] = []
    ended = [0.0] * len(ROWS)
    for chunk, reached in enumerate(times):
        for number, row in enumerate(ROWS):
            start = max(reached[number], ended[number])
            # Two streams note their marks apart: where the GPU is shared, the later chunk's may be
            # the earlier one by a little.
            end = max(start, reached[number + 1])
            spans.append((row, str(chunk), round(start, 4), round(end, 4)))
            ended[number] = end
    return spans
