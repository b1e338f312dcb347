"""What happens when one rank fails: the last one finds no data, the others wait for it."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist


def run(world: Any) -> None:
    if world.rank == world.ranks - 1:
        raise FileNotFoundError(f"rank {world.rank} of {world.ranks} finds no part of the data")
    dist.all_reduce(torch.ones(1, device=world.device))  # which the last never comes to
    if world.device.type == "cuda":
        torch.cuda.synchronize()
