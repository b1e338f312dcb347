"""Every engine that cuDNN has for a layer, beside the kernels of chapter 06: for chapter 05.

A layer is (images, channels, filters, height, width), with filters of 3 x 3, a stride of 1 and a
padding of 1, as in :mod:`.cases.convolution`.
"""

from __future__ import annotations

import time
from typing import Any

from ...devices.selection import cp
from ...errors import LessonError
from ...observing.timing import bench
from ..cases import convolution
from ..cases.convolution import FIRST, RESNET, SECOND, convolved
from ..harness.arrays import normal
from ..harness.case import Case
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.torch_runs import need_torch
from ..libraries.cudnn import MOST_WORKSPACE
from ..libraries.cudnn_graph import CudnnGraph, Engine, ExecutionPlan, Tensor

Layer = tuple[int, int, int, int, int]
ORDERS = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 2, 3, 1)}
OURS: dict[tuple[str, Layer], tuple[str, ...]] = {
    ("fp32", RESNET[:5]): ("conv_row_tile", "conv_winograd"),
    ("fp32", FIRST[-1][:5]): ("conv_row_tile", "conv_one_channel"),
    ("fp32", SECOND[-1][:5]): ("conv_row_tile", "conv_winograd_few", "conv_split_halves"),
    ("bf16", RESNET[:5]): ("conv_bf16_halo",),
}
CASES = {case.name: case for case in convolution.CASES}
SOURCES = tuple(dict.fromkeys(f for names in OURS.values() for n in names for f in CASES[n].files))
SOME = 2  # images whose results are compared
SLOW_MS = 20.0
LARGEST_ERROR = 2e-2


def measure() -> dict[str, Any]:
    """For each layer and type the engines in both layouts, those of the heuristics first; our
    kernels stand beside the second layout.

    Raises LessonError where PyTorch has no GPU, or a result is wrong.
    """
    need_torch("cudnn")
    layers: list[dict[str, Any]] = []
    for (kind, layer), names in OURS.items():
        for layout in ORDERS:
            engines = timed_engines(kind, layer, layout)
            layers.append({"kind": kind, "layer": layer, "layout": layout, "engines": engines})
        ours = {name: round(_ours_ms(CASES[name], (*layer, 3)), 5) for name in names}
        layers[-1]["ours"] = ours
    return {"layers": layers}


def described(kind: str, layer: Layer, layout: str) -> tuple[CudnnGraph, tuple[Tensor, ...]]:
    """The graph of a convolution, and its x, w and y."""
    images, channels, filters, height, width = layer
    graph, order = CudnnGraph(), ORDERS[layout]
    x = graph.tensor((images, channels, height, width), kind, order=order)
    w = graph.tensor((filters, channels, 3, 3), kind, order=order)
    y = graph.tensor((images, filters, height, width), kind, order=order)
    graph.convolution(x, w, pad=1, out=y)
    return graph, (x, w, y)


def timed_engines(kind: str, layer: Layer, layout: str) -> list[dict[str, Any]]:
    """Where each was found, its notes, its times and its error; those that fail are left out."""
    graph, tensors = described(kind, layer, layout)
    arrays, exact = _arrays(kind, layer, layout)
    bound = dict(zip(tensors, arrays, strict=True))
    found: list[tuple[str, Engine]] = []
    for mode in ("A", "B", "fallback"):
        found += [(mode, engine) for engine in graph.engines(mode)]
    known = {engine.number for _, engine in found}
    found += [("default", e) for e in graph.every_engine() if e.number not in known]
    timed = (_timed(where, engine, bound, exact, layout) for where, engine in found)
    return [each for each in timed if each]


def _timed(
    where: str, engine: Engine, bound: dict[Tensor, Any], exact: Any, layout: str
) -> dict[str, Any] | None:
    start = time.perf_counter()
    try:
        plan: ExecutionPlan = engine.plan()
        made_ms = 1e3 * (time.perf_counter() - start)
        if plan.workspace_bytes > MOST_WORKSPACE:
            return None
        run, (_, _, y) = plan.bound(bound), bound.values()
        y.view(cp.uint8)[...] = 255
        once = bench(run, warmup=0, repeats=1).median_ms
    except LessonError:  # listed, but not for this shape
        return None
    error = _error(y, exact, layout)
    if not error < LARGEST_ERROR:
        raise LessonError(f"cuDNN's engine {engine.number}: an error of {error:.1e}.")
    return {
        "from": where,
        "engine": engine.number,
        "notes": list(engine.notes),
        "behavior": list(engine.behavior),
        "made_ms": round(made_ms, 2),
        "workspace_bytes": plan.workspace_bytes,
        "median_ms": round(bench(run, repeats=3 if once > SLOW_MS else 15).median_ms, 5),
        "error": float(f"{error:.2e}"),
    }


def _arrays(kind: str, layer: Layer, layout: str) -> tuple[tuple[Any, Any, Any], Any]:
    """x, w and y as they lie in memory, and the first results in float64, axes N K H W."""
    images, channels, filters, height, width = layer
    given = [normal((images, channels, height, width)), normal((filters, channels, 3, 3), 1)]
    if kind == "bf16":
        given = [to_bf16(each) for each in given]
    plain = [from_bf16(each) for each in given] if kind == "bf16" else given
    exact = convolved(plain[0][:SOME], plain[1], 1)
    x, w = (cp.ascontiguousarray(each.transpose(ORDERS[layout])) for each in given)
    return (x, w, cp.empty((images, filters, height, width), x.dtype)), exact


def _error(y: Any, exact: Any, layout: str) -> float:
    """The rms of the error, over that of the results."""
    shape = tuple(exact.shape[axis] for axis in ORDERS[layout])
    part = y.ravel()[: exact.size].reshape(shape)
    got = (from_bf16(part) if y.dtype == cp.uint16 else part).astype(cp.float64)
    back = tuple(ORDERS[layout].index(axis) for axis in range(4))
    return float(cp.sqrt(((got.transpose(back) - exact) ** 2).mean() / (exact**2).mean()))


def _ours_ms(case: Case, size: tuple[int, ...]) -> float:
    """The time of our kernel. Raises LessonError where its result is wrong."""
    work = case.make(size)
    work.poison()
    calls = [item.ready() for item in work.launches]
    taken = bench(lambda: [call() for call in calls], repeats=15).median_ms
    if wrong := work.wrong():
        raise LessonError(f"{case.name} at {size}: {wrong}.")
    return taken
