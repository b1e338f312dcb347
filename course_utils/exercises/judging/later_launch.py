"""In which launch of a kernel a finding came, where the kernel is launched more than once."""

from __future__ import annotations

import numpy as np

from ...checking.indices import element
from ...checking.rows import number
from ...emulator import Finding
from ..authoring.emulated_runs import Run

LATER = "second", "third", "fourth", "later"


def in_later_launch(run: Run, finding: Finding) -> str:
    """The launch of ``finding`` in words, with the counters that the launches before it have
    changed. Empty in a kernel's first launch, whose inputs are those that the verdict shows."""
    at = next((k for k, one in enumerate(run.findings) if one is finding), len(run.findings))
    number_of = max((k for k, each in enumerate(run.begun) if each.findings <= at), default=0)
    begun = run.begun[number_of]
    same = [each for each in run.begun[: number_of + 1] if each.kernel == begun.kernel]
    if len(same) < 2:
        return ""
    changed = []
    for name, now in begun.counters.items():
        before = same[0].counters[name]
        for index in map(tuple, np.argwhere(now != before)):
            was = f"{number(before[index])} before the first"
            changed.append(f"{element(name, index)} is {number(now[index])} and was {was}")
    text = f"This is in the kernel's {LATER[min(len(same), len(LATER) + 1) - 2]} launch"
    return f"{text}: {', '.join(changed)}." if changed else f"{text}."
