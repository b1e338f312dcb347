"""One MLP trained in parallel three ways; each must have the gradients of a single process.

Data parallel: every rank has all weights and a part of the batch. Tensor parallel: every rank has a
part of each weight. Pipeline: every rank has some of the layers.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import nn

TOLERANCE = 1e-12  # of float64 gradients around 1: the order of additions, nothing else


def network(ranks: int, device: torch.device) -> nn.Sequential:
    """Two layers for each rank; the same weights on all."""
    torch.manual_seed(0)
    width = 8 * ranks
    layers = [nn.Linear(width, width, bias=False, dtype=torch.float64) for _ in range(2 * ranks)]
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.Tanh()))).to(device)


def batch(ranks: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs and targets, the same on all ranks."""
    torch.manual_seed(1)
    shape = 8 * ranks, 8 * ranks
    return tuple(torch.randn(shape, dtype=torch.float64).to(device) for _ in range(2))


def loss_of(output: torch.Tensor, target: torch.Tensor, examples: int) -> torch.Tensor:
    """The sum of squares over all examples of the whole batch."""
    return ((output - target) ** 2).sum() / examples


def single(world: Any) -> list[torch.Tensor]:
    """The gradient of each weight, with no other rank."""
    net, (x, target) = network(world.ranks, world.device), batch(world.ranks, world.device)
    loss_of(net(x), target, len(x)).backward()
    return [layer.weight.grad for layer in net if isinstance(layer, nn.Linear)]


def data_parallel(world: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Each rank its part of the batch, and the mean of the gradients over all ranks.

    PyTorch's DistributedDataParallel does the same while the backward pass runs: ddp_overlap.py.
    """
    net = network(world.ranks, world.device)
    x, target = (part.chunk(world.ranks)[world.rank] for part in batch(world.ranks, world.device))
    loss_of(net(x), target, len(x)).backward()
    got = [layer.weight.grad for layer in net if isinstance(layer, nn.Linear)]
    for gradient in got:
        dist.all_reduce(gradient)
        gradient /= world.ranks
    return list(zip(got, single(world), strict=True))


class SumOfRanks(torch.autograd.Function):
    """Forward: the sum of all ranks' parts. Backward: each part counts once."""

    @staticmethod
    def forward(context: Any, part: torch.Tensor) -> torch.Tensor:
        whole = part.clone()
        dist.all_reduce(whole)
        return whole

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class SameOnRanks(torch.autograd.Function):
    """Forward: nothing. Backward: what all ranks did with it adds up."""

    @staticmethod
    def forward(context: Any, whole: torch.Tensor) -> torch.Tensor:
        return whole.clone()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        whole = gradient.clone()
        dist.all_reduce(whole)
        return whole


def tensor_parallel(world: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Layers in pairs: the first by its outputs, the second by its inputs, then one all-reduce."""
    net, (x, target) = network(world.ranks, world.device), batch(world.ranks, world.device)
    whole = [layer.weight.detach() for layer in net if isinstance(layer, nn.Linear)]
    axes = [number % 2 for number in range(len(whole))]  # a weight has outputs, then inputs
    parts = [w.chunk(world.ranks, a)[world.rank].clone() for w, a in zip(whole, axes, strict=True)]
    for part in parts:
        part.requires_grad_()
    hidden = x
    for first, second in zip(parts[::2], parts[1::2], strict=True):
        own = torch.tanh(SameOnRanks.apply(hidden) @ first.T)  # some of the hidden units
        hidden = torch.tanh(SumOfRanks.apply(own @ second.T))
    loss_of(hidden, target, len(x)).backward()
    cut = [
        gradient.chunk(world.ranks, axis)[world.rank]
        for gradient, axis in zip(single(world), axes, strict=True)
    ]
    return [(part.grad, expected) for part, expected in zip(parts, cut, strict=True)]


def pipeline_parallel(world: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Two layers a rank. Parts of the batch go through one after the other, and back again."""
    rank, ranks, device = world.rank, world.ranks, world.device
    stage = network(ranks, device)[4 * rank : 4 * rank + 4]  # two layers and their tanh
    x, target = batch(ranks, device)
    steps = []
    for part, goal in zip(x.chunk(ranks), target.chunk(ranks), strict=True):
        given = part.clone() if rank == 0 else torch.empty_like(part)
        if rank > 0:
            dist.recv(given, rank - 1)
        given.requires_grad_()
        output = stage(given)
        if rank < ranks - 1:
            dist.send(output.detach(), rank + 1)
        steps.append((given, output, goal))
    for given, output, goal in steps:
        if rank == ranks - 1:
            loss_of(output, goal, len(x)).backward()
        else:
            gradient = torch.empty_like(output)
            dist.recv(gradient, rank + 1)
            output.backward(gradient)
        if rank > 0:
            dist.send(given.grad, rank - 1)
    got = [layer.weight.grad for layer in stage if isinstance(layer, nn.Linear)]
    return list(zip(got, single(world)[2 * rank : 2 * rank + 2], strict=True))


def run(world: Any) -> None:
    for way in data_parallel, tensor_parallel, pipeline_parallel:
        pairs = way(world)
        error = max(float((got - expected).abs().max()) for got, expected in pairs)
        weights = sum(got.numel() for got, _ in pairs)
        seen: list[Any] = [None] * world.ranks
        dist.all_gather_object(seen, (error, weights))
        worst, held = max(error for error, _ in seen), [weights for _, weights in seen]
        if not worst < TOLERANCE:
            raise ValueError(f"{way.__name__}: a gradient is off by {worst:.2g}")
        verdict = f"gradients as of one process, within {TOLERANCE:g}"
        world.say(f"{way.__name__.replace('_', ' '):<18} weights of each rank {held}: {verdict}")
