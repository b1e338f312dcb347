"""NCCL's all-reduce when it is told by which algorithm, or by which protocol. Needs GPUs.

Left alone, NCCL chooses both for each size. It reads the two variables when a group is made.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from collective_times import SIZES, in_graph_us

VARIANTS = {
    "ring": ("NCCL_ALGO", "Ring"),
    "tree": ("NCCL_ALGO", "Tree"),
    "LL": ("NCCL_PROTO", "LL"),
    "LL128": ("NCCL_PROTO", "LL128"),
    "Simple": ("NCCL_PROTO", "Simple"),
}


def run(world: Any) -> None:
    times: dict[str, list[tuple[int, float]]] = {}
    for name, (variable, value) in VARIANTS.items():
        os.environ[variable] = value
        group = dist.new_group()
        times[name] = []
        for size in SIZES:
            x = torch.ones(size // 4, device=world.device)
            dist.all_reduce(x, group=group)
            if not bool((x == world.ranks).all()):
                raise ValueError(f"all-reduce by {name}: wrong on rank {world.rank}")
            x.zero_()
            took = in_graph_us(partial(dist.all_reduce, x, group=group), world)
            times[name].append((size, took))
        del os.environ[variable]
    world.keep("variants_us", times)
