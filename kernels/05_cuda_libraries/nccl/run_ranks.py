"""Runs parts of the lesson on several ranks, each a process of its own:

    torchrun --standalone --nproc-per-node 2 run_ranks.py collectives parallel_mlp

With a GPU for each rank they talk through NCCL, otherwise through gloo, on the CPU.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# The course's measurements are made without NVLink's multicast; take this out to have it.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

import torch
import torch.distributed as dist
from torch.distributed.elastic.multiprocessing.errors import record

PARTS = (
    "collectives",
    "parallel_mlp",
    "collective_times",
    "nccl_variants",
    "ddp_overlap",
    "data_is_missing",
)


@dataclass
class World:
    """Who runs: this process is ``rank`` of ``ranks`` and computes on ``device``."""

    rank: int
    ranks: int
    device: torch.device
    into: Path | None = None
    found: dict[str, Any] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Print once, not once for each rank."""
        if self.rank == 0:
            print(text, flush=True)

    def keep(self, name: str, value: Any) -> None:
        """Put a result into the file, so that it is there whatever comes after."""
        self.found[name] = value
        if self.rank == 0 and self.into:
            self.into.write_text(json.dumps(self.found), encoding="utf-8")


@record  # what ends a rank is in torchrun's last words
def main() -> None:
    """Every rank runs the parts that are named, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--into", type=Path, help="a JSON file for what was measured")
    asked = parser.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    on_gpus = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", local) if on_gpus else torch.device("cpu")
    if on_gpus:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpus else "gloo", device_id=device if on_gpus else None)
    world = World(dist.get_rank(), dist.get_world_size(), device, asked.into)
    for part in asked.parts:
        importlib.import_module(part).run(world)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
