"""One step of training chapter 09's network in PyTorch, in every way that may be fast.

A step loads a shuffled batch, goes forward and backward, updates every parameter by plain SGD, and
leaves no gradient. The images as bytes, the labels and an epoch's order are all on the GPU, so
nothing waits for the host between steps.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..harness.chapter_kernels import program
from ..libraries.triton_comparison import MODE

PROGRAM = "09_mnist_cnn/torch_network.py"
BATCHES = 64, 256, 1024
LAYOUTS = "NCHW", "channels_last"
RATE = 0.02


@dataclass(frozen=True)
class StepPlan:
    """A way to do a step (one of WAYS), in a precision and a layout, with a batch size."""

    way: str
    precision: str
    layout: str
    batch: int


class Training:
    """A network and its data on a device, for the steps below."""

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
    """``step`` in a CUDA graph that is replayed. After its last batch an epoch starts again."""
    torch, position = training.torch, training.position
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):  # the first steps allocate, search and compile
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
    torch.compile makes graphs itself it also chooses layouts. TF32 and autocast, which are
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
