"""A step of DistributedDataParallel, whose all-reduces run beside the backward pass, and the same
step with all of them behind it. Needs a GPU for each rank."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

LAYERS, WIDTH, BATCH = 8, 4096, 1024  # a weight, and so a bucket of gradients, has 64 MiB
STEPS = 21
SHORTEST = 5.0  # µs of a kernel that is drawn


def run(world: Any) -> None:
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(0)
    layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS)]
    net = nn.Sequential(*(p for layer in layers for p in (layer, nn.ReLU()))).to(world.device)
    parallel = DistributedDataParallel(deepcopy(net), bucket_cap_mb=64)
    x = torch.randn(BATCH, WIDTH, device=world.device, generator=_generator(world))

    def behind() -> None:
        """What each rank does by itself, then the mean of all gradients."""
        net.zero_grad(set_to_none=True)
        (net(x) ** 2).mean().backward()
        for weight in reversed(list(net.parameters())):
            dist.all_reduce(weight.grad, op=dist.ReduceOp.AVG)

    def beside() -> None:
        """A bucket is reduced as soon as its last gradient is there."""
        parallel.zero_grad(set_to_none=True)
        (parallel(x) ** 2).mean().backward()

    panels, steps_ms, gradients = {}, {}, {}
    ways = {"all-reduce behind": (behind, net), "DDP": (beside, parallel)}
    for name, (step, trained) in ways.items():
        for _ in range(5):
            step()
        gradients[name] = [weight.grad.clone() for weight in trained.parameters()]
        steps_ms[name] = _step_ms(step, world)
        panels[name] = _spans(step)
    scale = max(float(gradient.abs().max()) for gradient in gradients["DDP"])
    errors = [float((a - b).abs().max()) for a, b in zip(*gradients.values(), strict=True)]
    if not max(errors) < 1e-3 * scale:
        raise ValueError(f"DDP's gradients are off by {max(errors):.2g}, of {scale:.2g}")
    world.keep(
        "ddp",
        {
            "layers": LAYERS,
            "width": WIDTH,
            "batch": BATCH,
            "step_ms": steps_ms,
            "panels": panels,
        },
    )
    for name, took in steps_ms.items():
        world.say(f"a step with {name}: {took:.3f} ms")


def _generator(world: Any) -> torch.Generator:
    return torch.Generator(world.device).manual_seed(world.rank)


def _step_ms(step: Callable[[], Any], world: Any) -> float:
    """The median of some steps, of the slowest rank."""
    times = []
    for _ in range(STEPS):
        dist.barrier()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        step()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    slowest = torch.tensor([statistics.median(times)], device=world.device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return round(float(slowest), 4)


def _spans(step: Callable[[], Any]) -> list[tuple[str, str, float, float]]:
    """The kernels of one step on this rank's GPU: row, no label, start and end in ms."""
    dist.barrier()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        for _ in range(2):  # the second one is drawn
            step()
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        seen.export_chrome_trace(str(file))
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    kernels.sort(key=lambda event: event["ts"])
    kernels = kernels[len(kernels) // 2 :]
    begin = kernels[0]["ts"]
    return [
        (
            "all-reduce" if "nccl" in event["name"].lower() else "computation",
            "",
            round((event["ts"] - begin) / 1e3, 4),
            round((event["ts"] - begin + event["dur"]) / 1e3, 4),
        )
        for event in kernels
        if event["dur"] >= SHORTEST
    ]
