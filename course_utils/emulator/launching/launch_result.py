"""The result of a launch: counts, findings, printed text, and its recorders' data."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..findings.report import Counts, Finding
from ..recording.async_recorder import Span
from ..recording.counters import CounterRecorder, InstructionCounts
from ..recording.first_nan import Made
from ..recording.thread_stats import ThreadStats
from ..recording.trace_recorder import TraceRecorder


@dataclass
class LaunchResult:
    """The result of a launch that ran to its end: counts, findings (races) and printf's text.

    ``trace`` holds the steps of one warp where ``Options.trace`` asked for them, and ``spans`` the
    work beside the threads of its block. ``tally`` and ``instructions`` count each
    instruction's work where ``Options.counters`` asked for it, and ``threads`` each
    thread's where ``Options.threads`` did. ``unchanged``: writes that would be races had
    they changed the value in memory. ``made``: the operation that ``Options.first_nan`` asked for.
    """

    counts: Counts
    findings: list[Finding] = field(default_factory=list)
    printed: str = ""
    trace: TraceRecorder | None = None
    spans: list[Span] = field(default_factory=list)
    tally: CounterRecorder | None = None
    instructions: list[InstructionCounts] = field(default_factory=list)
    threads: ThreadStats | None = None
    unchanged: int = 0
    made: Made | None = None
