"""Chapter 09's race: a training step of its fused kernels beside PyTorch's fastest.

Both are measured in turn, PyTorch's in a process of its own. Which way of PyTorch's is the fastest
for a batch and a precision is known from :mod:`.mnist_step`, whose record has to be there.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import cache
from runpy import run_path
from typing import Any

import numpy as np

from ...data.image_sets import digits
from ...devices.selection import cp
from ...errors import LessonError
from ...paths import KERNELS
from ...records.measured_files import measurements
from ..harness import sustained
from ..harness.chapter_kernels import program
from ..harness.torch_runs import need_torch, torch_on_gpu
from . import mnist_measurer, mnist_step
from .mnist_measurer import Measurer
from .mnist_ways import BATCHES, PROGRAM, RACED, RATE, StepPlan

FAST = "09_mnist_cnn/fast_network.py"
FOLDER = KERNELS / "09_mnist_cnn/fast"
KERNEL_FILES = sorted(file.relative_to(KERNELS).as_posix() for file in FOLDER.rglob("*.cu"))
SOURCES = (FAST, PROGRAM, *KERNEL_FILES)
PRECISIONS = RACED
ROUNDS = 3  # of bursts of ours and of theirs
AHEAD = 16  # epochs whose order is drawn before the first step
SEEDS, ACCURACY_EPOCHS, ACCURACY_BATCH, ACCURACY_RATE = (1, 2, 3, 4, 5), 5, 64, 0.08


@cache
def fast_program() -> dict[str, Any]:
    """The names of the program that trains with the course's kernels."""
    return run_path(str(KERNELS / FAST))


class Ours:
    """A FastNetwork and its step as a CUDA graph; calling it starts one step. After the last of
    ``epochs`` the first follows again."""

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        batch: int,
        precision: str,
        rate: float = RATE,
        epochs: int = AHEAD,
        seed: int = 1,
    ) -> None:
        self.network = fast_program()["FastNetwork"](seed=seed)
        self.images, self.batches = len(images), len(images) // batch
        self.total, self._done = epochs * self.batches, 0
        pixels = cp.asarray(np.ascontiguousarray(images).reshape(len(images), -1))
        data = pixels, cp.asarray(labels)
        pool = cp.get_default_memory_pool()
        pool.free_all_blocks()
        before = pool.total_bytes()
        bf16 = precision == "bf16"
        self.step = fast_program()["Step"](self.network, *data, batch, rate, self.total, bf16=bf16)
        for epoch in range(epochs):
            self._shuffle(epoch, np.random.default_rng((seed, epoch)).permutation(len(images)))
        self.step.begin(0)
        self.graph = self.step.graph(cp.cuda.Stream(non_blocking=True))
        self.bytes = pool.total_bytes() - before

    def _shuffle(self, epoch: int, order: Any) -> None:
        first, (_, batch) = epoch * self.batches, self.step.order.shape
        rows = cp.asarray(order[: self.batches * batch]).reshape(self.batches, batch)
        self.step.order[first : first + self.batches] = rows.astype(cp.int32)

    def shuffle(self) -> None:
        """Begin anew, with another order of the first epoch, drawn on the GPU."""
        self._shuffle(0, cp.random.permutation(self.images))
        self.step.begin(0)
        self._done = 0

    def __call__(self) -> None:
        if self._done == self.total:
            self.step.begin(0)
            self._done = 0
        self.graph.launch(cp.cuda.Stream.null)
        self._done += 1

    def last_loss(self) -> float:
        """The mean loss of the last step's batch, read from the GPU."""
        return float(self.step.losses[self._done - 1])


def opponent(precision: str, batch: int) -> StepPlan:
    """PyTorch's fastest way in the record of mnist_step. Raises LessonError where there is none."""
    runs = mnist_step.fastest(measurements("mnist_step")["runs"])
    if (precision, batch) not in runs:
        raise LessonError(f"mnist_step has no run in {precision} at batch {batch}: measure it.")
    return mnist_step.plan_of(runs[precision, batch])


def compared(ours: Ours, theirs: Measurer) -> dict[str, Any]:
    """Times of both in turn: bursts, seconds back to back, and an epoch.
    Raises LessonError if ours did not learn."""
    bursts: dict[str, list[float]] = {"ours": [], "theirs": []}
    ours()
    for _ in range(ROUNDS):
        bursts["ours"] += mnist_measurer.step_times_us(ours)
        bursts["theirs"] += theirs.ask("times")["times_us"]
    both = sustained.sustained(ours, theirs, in_turn)
    if not ours.last_loss() < mnist_measurer.LEARNT:
        raise LessonError(f"ours: the loss is {ours.last_loss()}")
    return {
        **{f"{who}_us": round(statistics.median(times), 2) for who, times in bursts.items()},
        **{f"{who}_range_us": round(max(times) - min(times), 2) for who, times in bursts.items()},
        "ours_sustained_us": round(1e3 * both["ours_ms"], 2),
        "theirs_sustained_us": round(1e3 * both["library_ms"], 2),
        "sustained": both,
        "ours_epoch_ms": mnist_measurer.epoch_ms(ours.shuffle, ours, ours.batches),
        "theirs_epoch_ms": theirs.ask("epoch")["epoch_ms"],
        "ours_mib": round(ours.bytes / 2**20, 1),
        "theirs_mib": theirs.ask("figures")["reserved_mib"],
    }


def in_turn(work: Ours | Measurer, seconds: float) -> sustained.Turn:
    """A turn of ours here, or of theirs in its own process."""
    if not isinstance(work, Measurer):
        return sustained.back_to_back(work, seconds)
    turn = work.ask("turn")
    known = turn["clock_and_power"]
    return sustained.Turn(turn["ms"], tuple(known) if known else None)


def accuracy(seed: int, precision: str) -> tuple[int, float, float]:
    """The seed, and which share of the test digits ours and PyTorch's network get right, trained
    from the same weights on the same batches with the same rates."""
    torch = torch_on_gpu()
    images, labels = digits()
    tests, answers = digits("test")
    how = ACCURACY_BATCH, precision, ACCURACY_RATE, ACCURACY_EPOCHS, seed
    ours = Ours(images, labels, *how)
    net = program(PROGRAM, "network")().cuda()
    arrays = {**ours.network.parameters, **ours.network.running}
    program(PROGRAM, "put")(net, {k: cp.asnumpy(v) for k, v in arrays.items()})
    for _ in range(ours.total):
        ours()
    bf16 = precision == "bf16"  # its weights are converted anew in every step: no cache
    with torch.autocast("cuda", torch.bfloat16, enabled=bf16, cache_enabled=False):
        program(PROGRAM, "train")(
            net, images, labels, ACCURACY_EPOCHS, ACCURACY_BATCH, ACCURACY_RATE, seed
        )
    theirs = program(PROGRAM, "classify")(net, tests)
    return (
        seed,
        float((ours.network.classify(tests) == answers).mean()),
        float((theirs == answers).mean()),
    )


def measure(keep: Callable[[dict[str, Any]], Any] = lambda found: None) -> dict[str, Any]:
    """The whole race on this GPU; what is known so far goes to ``keep`` after each pair.

    Raises LessonError where PyTorch cannot use a GPU, or where there is no record of mnist_step.
    """
    torch = need_torch("mnist_race")
    images, labels, what = mnist_measurer.data()
    found: dict[str, Any] = {
        "torch": torch.__version__,
        "images": what,
        "steps": [],
        "epochs": ACCURACY_EPOCHS,
        "trained_on": len(digits()[0]),
        "tests": len(digits("test")[0]),
        "accuracies": {},
    }
    mnist_measurer.set_tf32(torch, False)

    def accuracies() -> None:
        for precision in PRECISIONS:
            found["accuracies"][precision] = [accuracy(seed, precision) for seed in SEEDS]
            keep(found)

    plans = {(p, batch): opponent(p, batch) for p in PRECISIONS for batch in BATCHES}
    with mnist_measurer.prepared_apart(plans.values(), float("inf"), accuracies) as workers:
        for (precision, batch), plan in plans.items():
            ours = Ours(images, labels, batch, precision)
            times = compared(ours, workers[plan])
            about = {"precision": precision, "batch": batch, "way": plan.way}
            found["steps"].append({**about, "layout": plan.layout, **times})
            keep(found)
    return found
