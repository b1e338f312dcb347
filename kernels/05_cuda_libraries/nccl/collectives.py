"""The five patterns in which ranks exchange tensors, each before and after, and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist


def broadcast(x: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """Everybody has what rank 0 has."""
    dist.broadcast(x, src=0)
    return x


def all_reduce(x: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """Everybody has the sum."""
    dist.all_reduce(x, op=dist.ReduceOp.SUM)
    return x


def reduce_scatter(x: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """Rank r has piece r of the sum."""
    piece = torch.empty_like(x[: len(x) // ranks])
    dist.reduce_scatter(piece, list(x.chunk(ranks)))
    return piece


def all_gather(x: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """Everybody has the first piece of each, one after the other."""
    mine = x[: len(x) // ranks].clone()
    pieces = [torch.empty_like(mine) for _ in range(ranks)]
    dist.all_gather(pieces, mine)
    return torch.cat(pieces)


def send_recv(x: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """Everybody has what the rank to the left had: one message leaves, one arrives, at once."""
    got = torch.empty_like(x)
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    both = [dist.P2POp(dist.isend, x, right), dist.P2POp(dist.irecv, got, left)]
    for message in dist.batch_isend_irecv(both):
        message.wait()
    return got


def wanted(name: str, rank: int, starts: torch.Tensor) -> torch.Tensor:
    """What ``rank`` must have afterwards; ``starts`` has a row for each rank."""
    ranks = len(starts)
    piece = starts.shape[1] // ranks
    return {
        "broadcast": starts[0],
        "all_reduce": starts.sum(0),
        "reduce_scatter": starts.sum(0)[rank * piece : (rank + 1) * piece],
        "all_gather": starts[:, :piece].reshape(-1),
        "send_recv": starts[(rank - 1) % ranks],
    }[name]


WAYS: tuple[Callable[[torch.Tensor, int, int], torch.Tensor], ...] = (
    broadcast,
    all_reduce,
    reduce_scatter,
    all_gather,
    send_recv,
)


def run(world: Any) -> None:
    rank, ranks = world.rank, world.ranks
    starts = torch.stack([torch.arange(2.0 * ranks) + 10 * r for r in range(ranks)])
    world.say(f"{ranks} ranks through {dist.get_backend()}")
    for way in WAYS:
        name = way.__name__
        got = way(starts[rank].to(world.device).clone(), rank, ranks).cpu()
        if not torch.equal(got, wanted(name, rank, starts)):
            raise ValueError(f"{name}: rank {rank} has {got.tolist()}")
        seen: list[Any] = [None] * ranks
        dist.all_gather_object(seen, got.int().tolist())
        for r in range(ranks):
            label = name if r == 0 else ""
            world.say(f"{label:<15} rank {r}: {starts[r].int().tolist()} -> {seen[r]}")
