"""One step of training chapter 09's network in PyTorch, as fast as its user can make it.

A step loads a shuffled batch (images as bytes, labels and the order of an epoch all lie on the
GPU), goes forward and backward, updates every parameter by plain SGD, and leaves no gradient
behind. Nothing waits for the host between steps.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...data.image_sets import digits
from ...devices.selection import cp
from ...errors import LessonError
from ...observing.timing import Bench, bench
from ...paths import ROOT
from ..harness import sustained
from ..harness.case import need_torch, program, torch_on_gpu
from ..libraries.triton_comparison import MODE

PROGRAM = "09_mnist_cnn/torch_network.py"
SOURCES = (PROGRAM,)
IMAGES = 60_000
BATCHES = 64, 256, 1024
LAYOUTS = "NCHW", "channels_last"
RATE = 0.02
STEPS, BURSTS = 20, 11  # of one burst; and how many bursts the median is taken of
SECONDS = 2.0  # of steps back to back
EPOCHS = 3  # whole ones, timed by the host
LEARNT = 1.0  # the loss is below it after the bursts: at first it is log(10) = 2.3


@dataclass(frozen=True)
class StepPlan:
    """A way to do a step (one of WAYS), in a precision and a layout, with a batch size."""

    way: str
    precision: str
    layout: str
    batch: int


class Training:
    """A network and its data on a device; ``chosen(k)`` and the steps below work on them."""

    def __init__(self, plan: StepPlan, images: Any, labels: Any, device: str = "cuda") -> None:
        """images: uint8 (n, 28, 28), labels: int64 (n,), both on the device."""
        import torch

        self.torch, self.plan, self.images, self.labels = torch, plan, images, labels
        torch.manual_seed(1)
        self.net = program(PROGRAM, "network")().to(device)
        self.loss_of = program(PROGRAM, "loss_of")
        norms = [m for m in self.net.modules() if isinstance(m, torch.nn.BatchNorm2d)]
        for norm in norms:
            norm.num_batches_tracked = None  # a count that plain momentum does not use
        if plan.precision == "bf16":
            self.net.bfloat16()
            for norm in norms:
                norm.float()
        if plan.layout == "channels_last":
            self.net.to(memory_format=torch.channels_last)
        self.batches = len(images) // plan.batch
        self.order = torch.empty(self.batches, plan.batch, dtype=torch.int64, device=device)
        self.shuffle()
        self.position = torch.zeros(1, dtype=torch.int64, device=device)
        # One kernel updates all, and setting gradients to None clears them with none.
        self.optimiser = torch.optim.SGD(self.net.parameters(), lr=RATE, fused=device == "cuda")

    def shuffle(self) -> None:
        """Draw the order of an epoch: a row for each batch."""
        numbers = self.torch.randperm(len(self.images), device=self.order.device)
        self.order.copy_(numbers[: self.order.numel()].view_as(self.order))

    def forward(self, x: Any) -> Any:
        """The network's logits (batch, 10) of the images ``x``, in the plan's precision."""
        if self.plan.precision == "bf16":
            x = x.bfloat16()
        return self.net(x)

    def loss(self, chosen: Any) -> Any:
        """The mean loss of the images whose numbers are ``chosen``."""
        images = self.images.index_select(0, chosen)
        autocast: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
        if self.plan.precision == "bf16 autocast":
            kind = self.images.device.type
            autocast = self.torch.autocast(kind, self.torch.bfloat16, cache_enabled=False)
        with autocast:
            return self.loss_of(self.forward, images, self.labels.index_select(0, chosen))

    def next_on_device(self) -> Any:
        """The numbers of the next batch, found without the host."""
        chosen = self.order.index_select(0, self.position).view(-1)
        self.position.add_(1)
        return chosen


def eager(training: Training) -> Callable[[], Any]:
    """A step as PyTorch's tutorials write it."""
    return _loop(training, training.loss)


def compiled(mode: str) -> Callable[[Training], Callable[[], Any]]:
    """The same with batch, forward and backward compiled in a mode of torch.compile."""

    def way(training: Training) -> Callable[[], Any]:
        torch = training.torch
        loss = torch.compile(training.loss, dynamic=False, mode=mode)
        mark = torch.compiler.cudagraph_mark_step_begin
        return _loop(training, loss, mark)

    return way


def _loop(
    training: Training, loss_of: Callable[[Any], Any], begin: Callable[[], Any] = lambda: None
) -> Callable[[], Any]:
    optimiser, rows = training.optimiser, itertools.cycle(range(training.batches))

    def step() -> Any:
        begin()
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(training.order[next(rows)])
        loss.backward()
        optimiser.step()
        return loss.detach()

    return step


def captured(training: Training) -> Callable[[], Any]:
    """A whole step, the choice of the batch too, in one CUDA graph."""

    def step() -> Any:
        training.optimiser.zero_grad(set_to_none=True)
        loss = training.loss(training.next_on_device())
        loss.backward()
        training.optimiser.step()
        return loss.detach()

    return _graph(training, step)


def one_function(training: Training) -> Callable[[], Any]:
    """A whole step, its gradients by torch.func, as one function that torch.compile may fuse from
    end to end."""
    torch = training.torch
    parameters = {k: p.detach() for k, p in training.net.named_parameters()}
    buffers = dict(training.net.named_buffers())
    net, convert = training.net, training.plan.precision == "bf16"

    def loss_with(given: dict[str, Any], images: Any, labels: Any) -> Any:
        def forward(x: Any) -> Any:
            x = x.bfloat16() if convert else x
            return torch.func.functional_call(net, (given, buffers), (x,))

        return training.loss_of(forward, images, labels)

    def step() -> Any:
        chosen = training.next_on_device()
        batch = (t.index_select(0, chosen) for t in (training.images, training.labels))
        gradients, loss = torch.func.grad_and_value(loss_with)(parameters, *batch)
        for name, parameter in parameters.items():
            parameter.sub_(gradients[name], alpha=RATE)
        return loss

    return step


def compiled_whole(training: Training) -> Callable[[], Any]:
    """:func:`one_function` compiled without a search, in one CUDA graph."""
    return _graph(training, _whole(training, "default"))


def searched_whole(training: Training) -> Callable[[], Any]:
    """:func:`one_function` compiled with the longest search, in one CUDA graph."""
    return _graph(training, _whole(training, MODE))


def _whole(training: Training, mode: str) -> Callable[[], Any]:
    step = one_function(training)
    compiled: Callable[[], Any] = training.torch.compile(
        step, dynamic=False, mode=mode, fullgraph=True
    )
    return compiled


def _graph(training: Training, step: Callable[[], Any]) -> Callable[[], Any]:
    """``step`` in a CUDA graph that is replayed; an epoch begins anew by itself."""
    torch, position = training.torch, training.position
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):  # what is allocated, searched and compiled at first
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(other)
    training.optimiser.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    position.zero_()
    left = training.batches

    def replay() -> Any:
        nonlocal left
        if not left:
            position.zero_()
            left = training.batches
        left -= 1
        graph.replay()
        return loss

    return replay


WAYS: dict[str, Callable[[Training], Callable[[], Any]]] = {
    "eager": eager,
    "CUDA graph": captured,
    "compiled step in a graph": compiled_whole,
    "reduce-overhead": compiled("reduce-overhead"),
    "max-autotune": compiled("max-autotune"),
    "max-autotune step in a graph": searched_whole,
}
COMPILED = tuple(WAYS)[2:]  # those with a search take minutes
GRAPHS = "CUDA graph", "compiled step in a graph", "max-autotune step in a graph"
RACED = "fp32", "bf16"  # the precisions of the race


def plans() -> list[StepPlan]:
    """All that are measured: eager steps in NCHW, graphs of whole steps in both layouts. Where
    torch.compile makes graphs itself it chooses layouts itself, too. TF32 and autocast, which are
    no part of the race, are measured as graphs."""
    found = []
    for way in WAYS:
        layouts = LAYOUTS if way in GRAPHS else LAYOUTS[:1]
        every = itertools.product(RACED, BATCHES, layouts)
        found += [StepPlan(way, precision, layout, batch) for precision, batch, layout in every]
        if way == "CUDA graph":
            others = itertools.product(("bf16 autocast", "TF32"), BATCHES)
            found += [StepPlan(way, precision, LAYOUTS[1], batch) for precision, batch in others]
    return found


def on_gpu(images: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
    """Both as tensors on the GPU, labels as int64. Raises LessonError where PyTorch has none."""
    torch = need_torch("mnist_step")
    torch.backends.cudnn.benchmark = True
    return torch.from_numpy(images).cuda(), torch.from_numpy(labels.astype(np.int64)).cuda()


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """60,000 images and labels, and in words what they are."""
    images, labels = digits()
    if len(images) >= IMAGES:
        return images[:IMAGES], labels[:IMAGES], "60,000 images of COURSE_MNIST"
    chosen = np.arange(IMAGES) % len(images)
    return images[chosen], labels[chosen], f"{len(images):,} digits, repeated to 60,000"


def measure(
    compile_s: float = float("inf"), keep: Callable[[dict[str, Any]], Any] = lambda found: None
) -> dict[str, Any]:
    """Every plan on this GPU, and the fastest of each precision and batch for seconds as well.

    The compiled plans are prepared all at once, each in a process of its own, and then measured one
    after the other; those that are not ready after ``compile_s`` are named as left out. What is
    known so far goes to ``keep`` after each plan. Raises LessonError where PyTorch cannot use a
    GPU.
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
            found["failed"].append({**vars(plan), "error": _in_words(error)})
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


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


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
        torch.cuda.empty_cache()  # what only the search for algorithms and the compiler took
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
    """A plan in a process of its own, which prepares it and then measures whenever it is asked."""

    def __init__(self, plan: StepPlan, folder: Path) -> None:
        self._mark = folder / "-".join(map(str, astuple(plan))).replace(" ", "_")
        self._errors = self._mark.with_suffix(".errors")
        code = "from course_utils.benchmarks.experiments import mnist_step as m; "
        code += f"m.serve({str(self._mark)!r}, "
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
    """A worker for each of the plans; those that are not ready after ``limit_s`` are stopped.
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
    """What a worker's process runs: prepare, then an answer in JSON to each line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what compilers print is no answer
    given = Prepared.of(StepPlan(*plan), on_gpu(*data()[:2]))
    Path(mark).touch()
    for line in sys.stdin:
        try:
            answer = ANSWERS[line.strip()](given)
        except Exception as error:  # whoever asked hears of it
            answer = {"error": _in_words(error)}
        print(json.dumps(answer), file=answers, flush=True)


def set_tf32(torch: Any, allowed: bool) -> None:
    """Whether fp32 products may be rounded to TF32, by cuBLAS and cuDNN."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed
