"""One step of training chapter 09's network in PyTorch, as fast as its user can make it.

A step loads a shuffled batch (images as bytes, labels and the order of an epoch all lie on the
GPU), goes forward and backward, updates every parameter by plain SGD, and leaves no gradient
behind. Nothing waits for the host between steps.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from ..data.image_sets import digits
from ..errors import LessonError
from ..observing.timing import bench
from ..paths import ROOT
from . import sustained
from .case import program, torch_on_gpu
from .profilers import step_spans
from .triton_comparison import MODE

PROGRAM = "09_mnist_cnn/torch_network.py"
SOURCES = (PROGRAM,)
IMAGES = 60_000
BATCHES = 64, 256, 1024
PRECISIONS = "fp32", "bf16", "bf16 autocast", "TF32"
LAYOUTS = "NCHW", "channels_last"
RATE = 0.02
STEPS, BURSTS = 20, 11  # of one burst; and how many bursts the median is taken of
SECONDS = 2.0  # of steps back to back
EPOCHS = 3  # whole ones, timed by the host
LEARNT = 1.0  # the loss is below it after the bursts: at first it is log(10) = 2.3


@dataclass(frozen=True)
class Plan:
    """A way to do a step (one of WAYS), in a precision and a layout, with a batch size."""

    way: str
    precision: str
    layout: str
    batch: int


class Training:
    """A network and its data on a device; ``chosen(k)`` and the steps below work on them."""

    def __init__(self, plan: Plan, images: Any, labels: Any, device: str = "cuda") -> None:
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
        if self.plan.precision == "bf16":
            x = x.bfloat16()
        return self.net(x)

    def loss(self, chosen: Any) -> Any:
        """The mean loss of the images whose numbers are ``chosen``."""
        images = self.images.index_select(0, chosen)
        autocast: contextlib.AbstractContextManager = contextlib.nullcontext()
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
    return training.torch.compile(one_function(training), dynamic=False, mode=mode, fullgraph=True)


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
RACED = "fp32", "bf16"  # precisions that are compiled, and measured for seconds


def plans() -> list[Plan]:
    """All that are measured, the shortest to prepare first. torch.compile chooses layouts itself
    and gets NCHW; steps in TF32 and autocast, no part of the race, are measured as graphs."""
    found = []
    for way in WAYS:
        layouts = LAYOUTS[:1] if way in COMPILED else LAYOUTS
        precisions = PRECISIONS if way == "CUDA graph" else RACED
        every = itertools.product(precisions, BATCHES, layouts)
        found += [Plan(way, precision, layout, batch) for precision, batch, layout in every]
    return found


def search(limit_s: float) -> list[Plan]:
    """Let each of the compiled plans fill the compiler's cache, in a process of its own, all at
    once; returns those that were ready within ``limit_s``.

    They share the GPU, so that a search may choose its second best.
    """
    end = time.perf_counter() + limit_s
    code = "from course_utils.benchmarks import mnist_step as m; m.prepare_alone(*{!r})"
    environment = {**os.environ, "TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONPATH": str(ROOT)}
    started = {
        plan: subprocess.Popen(
            [sys.executable, "-c", code.format(astuple(plan))],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for plan in plans()
        if plan.way in COMPILED
    }
    ready = []
    for plan, process in started.items():
        left = max(end - time.perf_counter(), 0.1)
        try:
            if process.wait(None if left == float("inf") else left) == 0:
                ready.append(plan)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return ready


def prepare_alone(*plan: Any) -> None:
    """What :func:`search` runs."""
    prepare(Plan(*plan), on_gpu(*data()[:2]))


def on_gpu(images: np.ndarray, labels: np.ndarray) -> tuple[Any, Any]:
    """Both as tensors on the GPU, labels as int64."""
    torch = torch_on_gpu()
    torch.backends.cudnn.benchmark = True
    return torch.from_numpy(images).cuda(), torch.from_numpy(labels.astype(np.int64)).cuda()


def data() -> tuple[np.ndarray, np.ndarray, str]:
    """60,000 images and labels, and in words what they are."""
    images, labels = digits()
    if len(images) >= IMAGES:
        return images[:IMAGES], labels[:IMAGES], "60,000 images of COURSE_MNIST"
    chosen = np.arange(IMAGES) % len(images)
    return images[chosen], labels[chosen], f"{len(images):,} digits, repeated to 60,000"


def measure(search_s: float = float("inf"), say: Callable[[str], Any] = print) -> dict[str, Any]:
    """Every plan on this GPU, and the fastest of each precision and batch once more, for seconds.
    Plans that are not compiled within ``search_s``, all at once, are left out and named.

    Raises LessonError where PyTorch cannot use a GPU.
    """
    torch = torch_on_gpu()
    if torch is None:
        raise LessonError("The benchmark called mnist_step needs PyTorch with CUDA.")
    images, labels, what = data()
    ready = search(search_s)
    given = on_gpu(images, labels)
    found, failed = [], []
    left_out = [plan for plan in plans() if plan.way in COMPILED and plan not in ready]
    for plan in plans():
        if plan in left_out:
            continue
        try:
            found.append(one(plan, given))
            say(row(found[-1]))
        except Exception as error:  # one way that fails must not cost the others
            failed.append({**vars(plan), "error": f"{type(error).__name__}: {error}"[:300]})
            say(f"{plan}: {failed[-1]['error']}")
    for (precision, _), run in fastest(found).items():
        if precision in RACED:
            run |= for_seconds(plan_of(run), given)
            say(f"{row(run)}; for seconds {run['sustained_us']} us; epoch {run['epoch_ms']} ms")
    return {
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "images": what,
        "steps_of_a_burst": STEPS,
        "bursts": BURSTS,
        "runs": found,
        "failed": failed,
        "left_out": [vars(plan) for plan in left_out],
        "timeline": timeline(given),
    }


def plan_of(run: dict[str, Any]) -> Plan:
    """The plan that a run of the record was measured by."""
    return Plan(*(run[field.name] for field in fields(Plan)))


def fastest(runs: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    """Of ``runs``, the one with the shortest step for each precision and batch."""
    best: dict[tuple[str, int], dict[str, Any]] = {}
    for run in runs:
        key = run["precision"], run["batch"]
        if key not in best or run["median_us"] < best[key]["median_us"]:
            best[key] = run
    return best


def prepare(plan: Plan, given: tuple[Any, Any]) -> tuple[Training, Callable[[], Any]]:
    """A training of the plan and its step, which has run a few times."""
    torch = torch_on_gpu()
    set_tf32(torch, plan.precision == "TF32")
    torch.compiler.reset()
    training = Training(plan, *given)
    step = WAYS[plan.way](training)
    burst(step)
    torch.cuda.synchronize()
    return training, step


def burst(step: Callable[[], Any]) -> None:
    for _ in range(STEPS):
        step()


def one(plan: Plan, given: tuple[Any, Any]) -> dict[str, Any]:
    """The figures of one plan. Raises LessonError where the network has learnt nothing."""
    torch = torch_on_gpu()
    gc.collect()
    torch.cuda.empty_cache()
    before, began = torch.cuda.memory_reserved(), time.perf_counter()
    training, step = prepare(plan, given)
    ready = time.perf_counter() - began
    torch.cuda.empty_cache()  # what only the search for algorithms and the compiler took
    times = bench(lambda: burst(step), repeats=BURSTS, flush_l2=False)
    loss = float(step())
    if not loss < LEARNT:
        raise LessonError(f"the loss is {loss} after {STEPS * (BURSTS + 4)} steps")
    return {
        **vars(plan),
        "median_us": round(1e3 * times.median_ms / STEPS, 2),
        "spread_us": round(1e3 * times.spread_ms / STEPS, 2),
        "reserved_mib": round((torch.cuda.memory_reserved() - before) / 2**20, 1),
        "ready_s": round(ready, 2),
    }


def for_seconds(plan: Plan, given: tuple[Any, Any]) -> dict[str, Any]:
    """The mean time of a step over seconds of them, with clock and power, and the time of a whole
    epoch: a fresh order, then every batch of it."""
    torch = torch_on_gpu()
    training, step = prepare(plan, given)
    turn = sustained.back_to_back(step, SECONDS)
    found: dict[str, Any] = {"sustained_us": round(1e3 * turn.ms, 2)}
    if turn.clock_and_power:
        found["mhz"], found["watts"] = turn.clock_and_power
    epochs = []
    for _ in range(EPOCHS):
        start = time.perf_counter()
        training.shuffle()
        for _ in range(training.batches):
            step()
        torch.cuda.synchronize()
        epochs.append(time.perf_counter() - start)
    return {**found, "epoch_ms": round(1e3 * statistics.median(epochs), 2)}


def timeline(given: tuple[Any, Any]) -> dict[str, Any]:
    """What the profiler sees of one step of the smallest batch, eager and as a CUDA graph."""
    torch = torch_on_gpu()
    from torch.profiler import ProfilerActivity, profile, record_function

    training, step = prepare(Plan("eager", "fp32", "NCHW", BATCHES[0]), given)
    _, replay = prepare(Plan("CUDA graph", "fp32", "NCHW", BATCHES[0]), given)

    def in_parts() -> None:
        with record_function("forward"):
            loss = training.loss(training.order[0])
        with record_function("backward"):
            loss.backward()
        with record_function("update"):
            training.optimiser.step()
            training.optimiser.zero_grad(set_to_none=True)

    def in_one() -> None:
        with record_function("replay"):
            replay()

    found = {}
    for name, run in (("eager", in_parts), ("CUDA graph", in_one)):
        step()  # gradients are there, and after the first run they are not
        training.optimiser.zero_grad(set_to_none=True)
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
            run()  # the profiler's own first moments fall in here
            torch.cuda.synchronize()
            with record_function("again"):
                run()
            torch.cuda.synchronize()
        events = seen.events()
        began = next(e.time_range.start for e in events if e.name == "again")
        later = [e for e in events if e.time_range.start >= began]
        found[name] = step_spans(later, ("forward", "backward", "update", "replay", "again"))
    return {name: [span for span in spans if span[1] != "again"] for name, spans in found.items()}


def set_tf32(torch: Any, allowed: bool) -> None:
    """Whether fp32 products may be rounded to TF32, by cuBLAS and cuDNN."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


def row(run: dict[str, Any]) -> str:
    """A run as a line of text."""
    return (
        f"{run['way']:<29}{run['precision']:<15}{run['layout']:<15}{run['batch']:>5}"
        f"{run['median_us']:>10.1f} us, spread {run['spread_us']:>6.1f}; "
        f"{run['reserved_mib']:>7.1f} MiB; ready in {run['ready_s']} s"
    )
