"""Every way to do a training step of chapter 09 in PyTorch, measured on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from ..harness.torch_runs import need_torch
from .mnist_measurer import (
    BURSTS,
    STEPS,
    Measurer,
    Prepared,
    data,
    figures,
    for_seconds,
    in_words,
    on_gpu,
    prepared_apart,
)
from .mnist_ways import COMPILED, PROGRAM, RACED, StepPlan, plans

SOURCES = (PROGRAM,)


def measure(
    compile_s: float = float("inf"), keep: Callable[[dict[str, Any]], Any] = lambda found: None
) -> dict[str, Any]:
    """Every plan on this GPU, and the fastest of each precision and batch for seconds as well.

    The compiled plans are prepared all at once, each in its own process, and then measured in turn.
    Plans that aren't ready after ``compile_s`` are named as left out. After each plan
    ``keep`` gets the figures so far. Raises LessonError where PyTorch cannot use a GPU.
    """
    torch = need_torch("mnist_step")
    images, labels, what = data()
    runs: list[dict[str, Any]] = []
    found: dict[str, Any] = {
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "images": what,
        "steps_of_a_burst": STEPS,
        "bursts": BURSTS,
        "runs": runs,
        "failed": [],
        "left_out": [],
    }

    def attempt(plan: StepPlan, run: Callable[[], Any]) -> None:
        try:
            run()
        except Exception as error:  # one way that fails must not cost the others
            found["failed"].append({**vars(plan), "error": in_words(error)})
        keep(found)

    def measured_here(plan: StepPlan) -> None:
        runs.append(figures(Prepared.of(plan, given)))

    def measured_apart(worker: Measurer) -> None:
        runs.append(worker.ask("figures"))

    with prepared_apart([p for p in plans() if p.way in COMPILED], compile_s) as workers:
        given = on_gpu(images, labels)
        for plan in plans():
            if plan.way not in COMPILED:
                attempt(plan, partial(measured_here, plan))
            elif not workers[plan].ready():
                found["left_out"].append({**vars(plan), "error": workers[plan].fault()})
            else:
                attempt(plan, partial(measured_apart, workers[plan]))
        for run in fastest(runs).values():
            plan = plan_of(run)

            def go_on(run: dict[str, Any] = run, plan: StepPlan = plan) -> None:
                if plan.way in COMPILED:
                    run |= workers[plan].ask("seconds")
                else:
                    run |= for_seconds(Prepared.of(plan, given))

            attempt(plan, go_on)
    return found


def plan_of(run: dict[str, Any]) -> StepPlan:
    """The plan that a run of the record was measured by."""
    return StepPlan(*(run[field.name] for field in fields(StepPlan)))


def fastest(runs: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    """Of ``runs``, the one with the shortest step for each precision of the race and batch."""
    best: dict[tuple[str, int], dict[str, Any]] = {}
    for run in runs:
        key = run["precision"], run["batch"]
        if key[0] in RACED and (key not in best or run["median_us"] < best[key]["median_us"]):
            best[key] = run
    return best
