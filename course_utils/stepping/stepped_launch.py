"""A small launch, line by line, as a picture that you move through."""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..devices.limits import LaunchError, dimensions
from ..emulator import (
    ALL_CHECKS,
    BARRIER,
    ERROR,
    READ,
    UPDATE,
    WRITE,
    Finding,
    KernelFault,
    LineStep,
    Options,
    StepRecorder,
)
from ..figures.style import png
from ..launching.arguments import bring_back, carry_over
from ..launching.emulation import emulated_call
from ..observing.unoptimised import copy_variables
from .frames import key_figure
from .text_form import as_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = Path(__file__).with_name("stepper.html")
MOST_BLOCKS, MOST_THREADS, MOST_STEPS = 4, 256, 5000
BUDGET = 200_000  # instructions of a launch
ORDERS = {"lockstep": "lockstep", "adversarial": "lanes", "warps": "warps"}
KINDS = {READ: 0, WRITE: 1, UPDATE: 2}
HEIGHT = 720  # pixels


@dataclass(frozen=True)
class SteppedFault:
    """A finding and its ``moments``: (label, step) of each access that it names."""

    text: str
    moments: tuple[tuple[str, int], ...]
    finding: Finding | None = None

    @property
    def barrier(self) -> bool:
        """Whether the kernel misuses a barrier there."""
        return self.finding is not None and self.finding.kind == BARRIER

    @property
    def headline(self) -> str:
        """The first line of the text as a sentence."""
        first = self.text.split("\n")[0].rstrip(" :;,")
        return first if first.endswith((".", "!", "?")) else f"{first}."


class SteppedLaunch:
    """A recorded launch. A notebook shows it as a page with a slider, and its text lists the steps.

    ``steps``, ``arrays`` and ``barriers`` (mbarriers) are the recording, ``findings`` as in
    ``sanitize``. ``source``: the text that is shown, by default the kernel's own.
    """

    def __init__(
        self,
        kernel: Any,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        recorder: StepRecorder,
        findings: list[Finding],
        source: str | None = None,
    ) -> None:
        self.kernel, self.grid, self.block = kernel, grid, block
        self.source = kernel.source if source is None else source
        self.steps, self.arrays = recorder.steps, recorder.arrays
        self.barriers = recorder.barriers
        self.findings = tuple(findings)
        self.faults = tuple(self._fault(finding) for finding in findings)

    @property
    def main_fault(self) -> SteppedFault | None:
        """The fault that a picture shows: the first error, otherwise the first warning."""
        shown = [fault for fault in self.faults if fault.moments]
        errors = [f for f in shown if f.finding is None or f.finding.level == ERROR]
        return next(iter(errors or shown), None)

    def _fault(self, finding: Finding) -> SteppedFault:
        places = [("first access", finding.other_location, finding.other_thread)]
        places += [
            (
                "second access" if finding.other_location else "here",
                finding.location,
                finding.thread,
            )
        ]
        moments: list[tuple[str, int]] = []
        for label, place, thread in places:
            if place is None:
                continue
            lines = [
                n
                for n, step in enumerate(self.steps)
                if (step.file, step.line) == (place.file, place.line)
            ]
            mine = [
                n for n in lines if thread is None or self._touches(self.steps[n], finding, thread)
            ]
            if finding.kind == BARRIER:  # where threads wait, rather than where others pass by
                mine = [n for n in mine or lines if self.steps[n].waits] or mine
            if lines:
                moments.append((label, (mine or lines)[-1]))
        moments.sort(key=lambda moment: moment[1])
        return SteppedFault(finding.message, tuple(moments), finding)

    def _touches(self, step: LineStep, finding: Finding, thread: tuple[int, int, int]) -> bool:
        x, y, z = thread
        bx, by, _ = self.block
        number, threads = x + bx * (y + by * z), math.prod(self.block)
        return any(
            lane % threads == number and (finding.index is None or element == finding.index)
            for reach in step.reaches
            if self.arrays[reach.array].name == finding.array
            for lane, element in zip(reach.lanes, reach.elements, strict=True)
        ) or (finding.array is None and any(lane % threads == number for lane in step.lanes))

    # --- data for the page ---

    def data(self) -> dict[str, Any]:
        """The recording as the page reads it, small enough to be kept in a notebook."""
        files = [self.kernel.filename]
        for step in self.steps:
            if step.file not in files:
                files.append(step.file)
        return {
            "kernel": self.kernel.name,
            "files": [Path(file).name for file in files],
            "source": self.source.splitlines(),
            "threads": math.prod(self.block),
            "blocks": math.prod(self.grid),
            "arrays": [
                {
                    "name": a.name,
                    "space": a.space,
                    "block": a.block,
                    "type": a.dtype.name,
                    "size": a.dtype.itemsize,
                    "first": [_value(v) for v in a.first],
                }
                for a in self.arrays
            ],
            "barriers": [[b.name, b.block, b.arrivals] for b in self.barriers],
            "steps": [_compact(step, files) for step in self.steps],
            "faults": [
                {
                    "text": f.text,
                    "headline": f.headline,
                    "barrier": f.barrier,
                    "moments": [list(moment) for moment in f.moments],
                }
                for f in self.faults
            ],
            "begin": max((m for f in self.faults for _, m in f.moments), default=0),
        }

    def page(self, begin: int | None = None) -> str:
        """One HTML document with everything in it, ready for a browser. It opens at the step
        ``begin``, counted from 0. Without one it opens where a fault happens, or at the first."""
        data = self.data()
        if begin is not None:
            data["begin"] = begin
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        return PAGE.read_text(encoding="utf-8").replace("$data", text.replace("</", "<\\/"))

    def save(self, path: str | Path, begin: int | None = None) -> Path:
        """Write :meth:`page` to a file, and return its path."""
        path = Path(path)
        path.write_text(self.page(begin), encoding="utf-8")
        return path

    def frames(self, numbers: Sequence[int] = ()) -> Figure:
        """The steps ``numbers``, counted from 0, as a picture. Without them at most three: a
        fault's two moments, or the beginning, a wait and the end. Raises ValueError for others."""
        return key_figure(self, numbers)

    def _repr_html_(self) -> str:
        """The page in a frame. The picture after it is for where frames aren't shown, as in a
        notebook that isn't trusted. The page hides it."""
        name, picture = html.escape(self.kernel.name), base64.b64encode(png(self.frames())).decode()
        return (
            f'<iframe title="Steps of {name}" style="width:100%;height:{HEIGHT}px;border:0" '
            f'srcdoc="{html.escape(self.page())}"></iframe>'
            f'<img alt="Key steps of {name}" src="data:image/png;base64,{picture}">'
        )

    def __repr__(self) -> str:
        return as_text(self)


def _value(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def _spans(numbers: Any) -> Any:
    """Rising numbers as text, "0-3,8", and others as a list."""
    numbers = list(numbers)
    if any(b <= a for a, b in zip(numbers, numbers[1:], strict=False)):
        return numbers
    pieces: list[list[int]] = []
    for n in numbers:
        if pieces and n == pieces[-1][1] + 1:
            pieces[-1][1] = n
        else:
            pieces.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in pieces)


def _compact(step: LineStep, files: list[str]) -> dict[str, Any]:
    changes: dict[int, dict[int, Any]] = {}
    for array, element, value in step.changes:
        changes.setdefault(array, {})[element] = _value(value)
    made = {
        "file": files.index(step.file),
        "line": step.line,
        "lanes": _spans(step.lanes),
        "changes": [
            [array, _spans(sorted(found)), [found[e] for e in sorted(found)]]
            for array, found in changes.items()
        ],
        "reaches": [
            [r.array, KINDS[r.kind], _spans(r.lanes), _spans(r.elements)] for r in step.reaches
        ],
        "waits": [[what, _spans(lanes)] for what, lanes in step.waits],
        "goes": [_spans(lanes) for lanes in step.goes],
        "ended": [_spans(lanes) for lanes in step.ended],
        "starts": [[array, _spans(elements)] for array, elements in step.starts],
        "lands": [[array, _spans(elements)] for array, elements in step.lands],
        "phases": [list(phase) for phase in step.phases],
    }
    return {
        name: value for name, value in made.items() if value or name in ("file", "lanes", "changes")
    }


def step_kernel(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: tuple[Any, ...],
    *,
    shared_mem: int = 0,
    order: str = "lockstep",
    seed: int = 0,
    optimised: bool = False,
    **meta: Any,
) -> SteppedLaunch:
    """Run a small launch on the emulator and record it line by line: see :class:`SteppedLaunch`.

    ``kernel``, ``grid``, ``block`` and ``args`` as for :func:`~course_utils.sanitize`, with at most
    4 blocks, 256 threads and 5,000 steps. ``order``: "lockstep" for all warps in step, "warps" for
    half of each block's warps ahead, in which a race between warps goes wrong, "adversarial" for
    half of each warp's lanes ahead, in which one within a warp does too. ``seed`` draws which get
    ahead. The kernel
    is compiled with ``-G``, so that lines run in the order in which they are written; ``optimised``
    takes it as it is otherwise run. A fault ends the recording and is shown.

    Raises :class:`~course_utils.devices.limits.LaunchError` for a launch that is too large, and as
    ``sanitize`` does.
    """
    values, copies = carry_over(args)
    call = emulated_call(kernel, grid, block, values, shared_mem, meta)
    shape = dimensions(call.grid, "grid"), dimensions(call.block, "block")
    check_size(call.kernel.name, *shape)
    chosen = call.kernel
    if call.compiled_again and not optimised:
        chosen = _without_optimiser(chosen)
    recorder = StepRecorder(chosen.filename, MOST_STEPS)
    options = step_options(recorder, order, seed)
    try:
        result = chosen.launch(*shape, call.args, shared_mem=call.shared_mem, options=options)
        findings = list(result.findings)
    except KernelFault as fault:
        findings = [*fault.earlier, fault.finding]
    check_complete(call.kernel.name, recorder)
    bring_back(copies)
    return SteppedLaunch(chosen, *shape, recorder, findings)


def check_size(name: str, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    """Raise :class:`~course_utils.devices.limits.LaunchError` for a launch that is too large."""
    blocks, threads = math.prod(grid), math.prod(block)
    if blocks > MOST_BLOCKS or blocks * threads > MOST_THREADS:
        raise LaunchError(
            f"{name}: {blocks} blocks of {threads} threads are too many to look at. A recording "
            f"takes at most {MOST_BLOCKS} blocks and {MOST_THREADS} threads together: make the "
            "grid, the block and the arrays smaller."
        )


def step_options(recorder: StepRecorder, order: str, seed: int) -> Options:
    """The options of a launch that ``recorder`` records, under every check. Raises
    :class:`~course_utils.devices.limits.LaunchError` for an order that there isn't."""
    if order not in ORDERS:
        raise LaunchError(f"order is one of {', '.join(ORDERS)}, not {order!r}.")
    return Options(
        checks=ALL_CHECKS,
        recorder=recorder,
        schedule=ORDERS[order],
        seed=seed,
        budget=BUDGET,
        quiet=True,
    )


def check_complete(name: str, recorder: StepRecorder) -> None:
    """Raise :class:`~course_utils.devices.limits.LaunchError` where there were more steps."""
    if not recorder.complete:
        raise LaunchError(
            f"{name}: more than {MOST_STEPS:,} steps. Make a loop shorter or the arrays smaller."
        )


def _without_optimiser(kernel: Any) -> Any:
    module = getattr(kernel.module, "unoptimised", None)
    if module is None:  # of a PTX file
        return kernel
    twin = module[kernel.name]
    copy_variables(kernel, twin)
    return twin
