"""A training step in PyTorch, prepared and measured here or in another process.

A compiled step takes minutes to prepare, so a :class:`Measurer` prepares it in another process and
answers one measurement at a time.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...data.image_sets import digits
from ...devices.selection import cp
from ...errors import LessonError
from ...observing.timing import Bench, bench
from ...paths import ROOT
from ..harness import sustained
from ..harness.torch_runs import need_torch, torch_on_gpu
from .mnist_ways import WAYS, StepPlan, Training

IMAGES = 60_000
STEPS, BURSTS = 20, 11  # of one burst, and bursts of a median
SECONDS = 2.0  # of steps back to back
EPOCHS = 3  # whole ones, timed by the host
LEARNT = 1.0  # the loss is below it after the bursts: at first it is log(10) = 2.3


def on_gpu(images: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
    """Both as tensors on the GPU, labels as int64. Raises LessonError where PyTorch has none."""
    torch = need_torch("mnist_step")
    torch.backends.cudnn.benchmark = True
    return torch.from_numpy(images).cuda(), torch.from_numpy(labels.astype(np.int64)).cuda()


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """60,000 images and labels, and a description of them."""
    images, labels = digits()
    if len(images) >= IMAGES:
        return images[:IMAGES], labels[:IMAGES], "60,000 images of COURSE_MNIST"
    chosen = np.arange(IMAGES) % len(images)
    return images[chosen], labels[chosen], f"{len(images):,} digits, repeated to 60,000"


def in_words(error: Exception) -> str:
    """The error's type and message, at most 300 characters."""
    return f"{type(error).__name__}: {error}"[:300]


@dataclass(frozen=True)
class Prepared:
    """A training and its step, which has run a few times."""

    plan: StepPlan
    training: Training
    step: Callable[[], Any]
    ready_s: float
    reserved_before: int

    @classmethod
    def of(cls, plan: StepPlan, given: tuple[Any, Any]) -> Prepared:
        """Prepare ``plan`` on the GPU for ``given``, the images and labels as tensors there."""
        torch = torch_on_gpu()
        gc.collect()
        torch.cuda.empty_cache()
        before, began = torch.cuda.memory_reserved(), time.perf_counter()
        set_tf32(torch, plan.precision == "TF32")
        torch.compiler.reset()
        training = Training(plan, *given)
        step = WAYS[plan.way](training)
        burst(step)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # memory that the search for algorithms took
        return cls(plan, training, step, time.perf_counter() - began, before)


def burst(step: Callable[[], Any]) -> None:
    """Start STEPS steps and wait for none."""
    for _ in range(STEPS):
        step()


def step_times_us(step: Callable[[], Any]) -> list[float]:
    """The mean time of a step in each of BURSTS bursts."""
    times = bench(lambda: burst(step), repeats=BURSTS, flush_l2=False).times_ms
    return [1e3 * ms / STEPS for ms in times]


def figures(given: Prepared) -> dict[str, Any]:
    """Time and memory of a step. Raises LessonError where the network has learnt nothing."""
    times = Bench(tuple(us / 1e3 for us in step_times_us(given.step)))
    loss = float(given.step())
    if not loss < LEARNT:
        raise LessonError(f"the loss is {loss} after {STEPS * (BURSTS + 4)} steps")
    reserved = torch_on_gpu().cuda.memory_reserved() - given.reserved_before
    return {
        **vars(given.plan),
        "median_us": round(1e3 * times.median_ms, 2),
        "spread_us": round(1e3 * times.spread_ms, 2),
        "reserved_mib": round(reserved / 2**20, 1),
        "ready_s": round(given.ready_s, 2),
    }


def for_seconds(given: Prepared, seconds: float = SECONDS) -> dict[str, Any]:
    """The mean time of a step over seconds of them, with clock and power, and the time of a whole
    epoch: a fresh order, then every batch of it."""
    turn = sustained.back_to_back(given.step, seconds)
    found: dict[str, Any] = {"sustained_us": round(1e3 * turn.ms, 2)}
    if turn.clock_and_power:
        found["mhz"], found["watts"] = turn.clock_and_power
    return {**found, **epoch_of(given)}


def epoch_of(given: Prepared) -> dict[str, Any]:
    """The time of a whole epoch."""
    training = given.training
    return {"epoch_ms": epoch_ms(training.shuffle, given.step, training.batches)}


def epoch_ms(shuffle: Callable[[], Any], step: Callable[[], Any], batches: int) -> float:
    """The median time of a whole epoch by the host's clock, its new order included."""
    found = []
    for _ in range(EPOCHS):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        shuffle()
        for _ in range(batches):
            step()
        cp.cuda.Device().synchronize()
        found.append(1e3 * (time.perf_counter() - start))
    return round(statistics.median(found), 2)


class Measurer:
    """A plan in another process, which prepares it and then measures whenever it is asked."""

    def __init__(self, plan: StepPlan, folder: Path) -> None:
        self._mark = folder / "-".join(map(str, astuple(plan))).replace(" ", "_")
        self._errors = self._mark.with_suffix(".errors")
        code = f"from {__name__} import serve; serve({str(self._mark)!r}, "
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"{code}*{astuple(plan)!r})"],
                env={**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def ready(self) -> bool:
        """Whether the plan is prepared."""
        return self._mark.exists()

    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def fault(self) -> str:
        """The last line that the process wrote about itself."""
        lines = self._errors.read_text(errors="replace").split("\n")
        return next((line[:300] for line in reversed(lines) if line.strip()), "not ready in time")

    def ask(self, what: str) -> dict[str, Any]:
        """The answer of one of ANSWERS. Raises LessonError where it fails."""
        assert self._process.stdin and self._process.stdout
        try:
            print(what, file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        answer: dict[str, Any] | None = json.loads(line or "null")
        if answer is None:
            raise LessonError(f"The process that measures has ended: {self.fault()}")
        if "error" in answer:
            raise LessonError(answer["error"])
        return answer

    def stop(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        self._process.wait()


@contextlib.contextmanager
def prepared_apart(
    wanted: Iterable[StepPlan],
    limit_s: float,
    meanwhile: Callable[[], None] = lambda: None,
) -> Iterator[dict[StepPlan, Measurer]]:
    """A worker for each of the plans. One that isn't ready after ``limit_s`` is stopped.
    ``meanwhile`` is done here while they prepare.

    They search at the same time, and share the GPU: a search may choose its second best.
    """
    end = time.perf_counter() + limit_s
    with tempfile.TemporaryDirectory() as folder:
        workers = {plan: Measurer(plan, Path(folder)) for plan in wanted}
        try:
            meanwhile()
            while not all(w.ready() or w.ended() for w in workers.values()):
                if time.perf_counter() > end:
                    break
                time.sleep(0.2)
            for worker in workers.values():
                if not worker.ready():
                    worker.stop()
            yield workers
        finally:
            for worker in workers.values():
                worker.stop()


ANSWERS: dict[str, Callable[[Prepared], dict[str, Any]]] = {
    "figures": figures,
    "seconds": for_seconds,
    "times": lambda given: {"times_us": step_times_us(given.step)},
    "epoch": epoch_of,
    "turn": lambda given: vars(sustained.back_to_back(given.step, sustained.SECONDS)),
}


def serve(mark: str, *plan: Any) -> None:
    """Prepare a plan, touch ``mark``, then answer each line of the input with a line of JSON."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # compilers print, too
    given = Prepared.of(StepPlan(*plan), on_gpu(*data()[:2]))
    Path(mark).touch()
    for line in sys.stdin:
        try:
            answer = ANSWERS[line.strip()](given)
        except Exception as error:  # the other process raises it
            answer = {"error": in_words(error)}
        print(json.dumps(answer), file=answers, flush=True)


def set_tf32(torch: Any, allowed: bool) -> None:
    """Whether fp32 products may be rounded to TF32, by cuBLAS and cuDNN."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
