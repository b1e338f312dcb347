"""What profilers see of the programs of notebook 04/09: stalls of warps, and a timeline."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ...devices.properties import need_gpu
from .. import cases
from ..harness import nsight_compute
from ..harness.torch_runs import need_torch, torch_on_gpu
from .single_launch import launch_of

SIDE = 4096
KERNELS = (
    *(f"transpose_{name}" for name in ("naive", "shared", "padded")),
    "sgemm_naive",
    "sgemm_coalesced",
)
ROWS, WIDE, LAYERS = (2048, 8), 2048, 10
BACKWARD = "autograd::engine::evaluate_function: "
Span = tuple[str, str, float, float]
DURATION = "gpu__time_duration.sum"  # ns
# ncu's names of what a warp waits for, in the words of the notebook. A metric is the mean number of
# cycles of that wait for each instruction that is issued (Nsight Compute, "Metrics Reference").
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
REASONS = {
    "barrier": "barrier",
    "branch_resolve": "branch resolving",
    "dispatch_stall": "dispatch stall",
    "drain": "last stores (drain)",
    "imc_miss": "imc miss",
    "lg_throttle": "queue to global memory (LG throttle)",
    "long_scoreboard": "global memory (long scoreboard)",
    "math_pipe_throttle": "math pipe throttle",
    "membar": "memory barrier",
    "mio_throttle": "queue to shared memory (MIO throttle)",
    "misc": "miscellaneous",
    "no_instruction": "no instruction",
    "not_selected": "not selected",
    "selected": "selected",
    "short_scoreboard": "shared memory (short scoreboard)",
    "sleeping": "sleeping",
    "tex_throttle": "queue to textures (TEX throttle)",
    "wait": "fixed delay (wait)",
}


def sources() -> tuple[str, ...]:
    """The files of the kernels, below ``kernels/``."""
    return tuple(file for case in cases.CASES if case.name in KERNELS for file in case.files)


def measure() -> dict[str, Any]:
    """Both on this GPU. Raises LessonError without ncu and the right to count, or without torch."""
    need_gpu()
    torch = need_torch("profiling")
    size = {name: (SIDE, SIDE) if "transpose" in name else SIDE for name in KERNELS}
    metrics = [DURATION, *map(STALL.format, REASONS)]
    found = {}
    for name in KERNELS:
        (launch,) = nsight_compute.counts(*launch_of(name, size[name]), metrics, launches=1)
        found[name] = launch.metrics
    return {
        "ncu": nsight_compute.version(),
        "torch": torch.__version__,
        "kernel_ms": {name: round(counted[DURATION] / 1e6, 4) for name, counted in found.items()},
        "stalls": {name: stall_cycles(counted) for name, counted in found.items()},
        "timeline": {f"{rows} rows": layer_spans(rows) for rows in ROWS},
    }


def stall_cycles(counted: Mapping[str, float]) -> dict[str, float]:
    """Cycles for each issued instruction by what a warp waits for; those above 0.005."""
    cycles = {words: counted.get(STALL.format(name), 0.0) for name, words in REASONS.items()}
    return {words: round(value, 2) for words, value in cycles.items() if round(value, 2)}


def layer_spans(rows: int) -> list[Span]:
    """Spans of ten layers of 2048 features on a batch of ``rows``, as PyTorch's profiler saw them.

    A span is (row of the picture, label, start, end) in ms from the first layer on: the host's
    layers and waits, the GPU's kernels.
    """
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler prints no notes of its own
    warnings.filterwarnings("ignore", message="Warning: Profiler clears events")
    torch = torch_on_gpu()
    from torch.profiler import ProfilerActivity, profile, record_function

    torch.manual_seed(1)
    layers = [torch.nn.Linear(WIDE, WIDE, device="cuda") for _ in range(LAYERS)]
    x, wait = torch.randn(rows, WIDE, device="cuda"), torch.cuda.synchronize

    def forward() -> None:
        y = x
        for number, layer in enumerate(layers):
            with record_function(f"layer {number}"):
                y = torch.relu(layer(y))

    with torch.no_grad():
        forward()
        wait()
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            torch.relu(x)  # the profiler's own first moments fall in here
            wait()
            forward()
            wait()
    return spans(seen.events())


def spans(events: Iterable[Any]) -> list[Span]:
    """What :func:`layer_spans` says, of events of PyTorch's profiler."""
    events = list(events)
    first = min(event.time_range.start for event in events if event.name == "layer 0")
    found = []
    for event in events:
        if event.time_range.start < first:
            continue
        ends = (event.time_range.start, event.time_range.end)
        start, end = (round((time - first) / 1000, 4) for time in ends)
        on_gpu = _on_gpu(event)
        if event.name.startswith("layer"):
            if not on_gpu:
                found.append(("host: layers", event.name[6:], start, end))
        elif event.name == "cudaDeviceSynchronize":
            found.append(("host: waits", "", start, end))
        elif on_gpu:
            found.append(("GPU: kernels", "", start, end))
    return found


def step_spans(events: Iterable[Any], parts: Collection[str]) -> list[Span]:
    """Spans of the ``parts`` that ``record_function`` has named, from PyTorch's profiler's events.

    A span is (row of the picture, label, start, end) in ms from the first part on: the host's
    parts, then the GPU's kernels or, where there is none, the operators of the CPU.
    """
    events = sorted(events, key=lambda event: event.time_range.start)
    named = [event for event in events if event.name in parts and not _on_gpu(event)]
    first = named[0].time_range.start
    kernels = [event for event in events if _on_gpu(event) and event.name not in parts]
    operators = [e for e in events if e.cpu_parent in named or e.name.startswith(BACKWARD)]
    operators = [e for e in operators if e not in named]
    found = [("host", event.name, event.time_range) for event in named]
    if kernels:
        found += [("GPU", "", event.time_range) for event in kernels]
    else:
        found += [("operators", _short(event.name), event.time_range) for event in operators]
    return [
        (row, label, round((time.start - first) / 1e3, 4), round((time.end - first) / 1e3, 4))
        for row, label, time in found
        if time.start >= first
    ]


def _short(operator: str) -> str:
    """conv2d, or ConvolutionBackward0, without what PyTorch puts before it."""
    return operator.removeprefix(BACKWARD).removeprefix("aten::")


def _on_gpu(event: Any) -> bool:
    return str(event.device_type).endswith("CUDA")
