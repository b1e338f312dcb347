"""What tokens on their way to experts cost, beside the products, on two GPUs or more:

    torchrun --standalone --nproc-per-node 2 time_exchange.py --into found.json

A rank has 8,192 tokens and an equal part of the experts, and each token chooses some of all at
random. Every result is compared with that of one GPU that has all experts. Without a GPU for each
rank the sizes are small and nothing is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The course's measurements are made without NVLink's multicast; take this out to have it.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

import torch
import torch.distributed as dist

TOKENS, WIDTH, INNER = 8192, 4096, 2048
SMALL = 96, 64, 32  # the same without GPUs
CASES = (8, 2), (64, 2), (64, 8)  # experts, and how many a token chooses
REPEATS, TURNS = 5, 5
Tensor = torch.Tensor


@dataclass
class Layer:
    """A rank's part: its tokens, and the weights of all experts, of which it uses its own."""

    x: Tensor
    up: Tensor
    down: Tensor
    scales: Tensor  # tokens x experts, 0 where a token hasn't chosen one
    rank: int
    ranks: int

    @property
    def own(self) -> int:
        """How many experts a rank has."""
        return len(self.up) // self.ranks

    def of_mine(self, weights: Tensor) -> Tensor:
        """The weights of this rank's experts."""
        return weights[self.rank * self.own :][: self.own]


def drawn_layer(experts: int, top: int, rank: int, ranks: int, device: torch.device) -> Layer:
    """Random tokens, other ones on each rank, and weights that are the same on all."""
    tokens, width, inner = (TOKENS, WIDTH, INNER) if device.type == "cuda" else SMALL
    same, other = (torch.Generator(device).manual_seed(seed) for seed in (0, 1 + rank))

    def normal(generator: torch.Generator, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device=device).bfloat16()

    up = normal(same, experts, 2 * inner, width) * width**-0.5
    down = normal(same, experts, width, inner) * inner**-0.5
    best, chosen = normal(other, tokens, experts).float().topk(top)
    scales = torch.zeros(tokens, experts, device=device).scatter_(1, chosen, best.softmax(1))
    return Layer(normal(other, tokens, width), up, down, scales.bfloat16(), rank, ranks)


def grouped(rows: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """Rows sorted by expert times the weights of these. Expert e's rows end at ``ends[e]``."""
    if rows.device.type == "cpu":
        sizes = torch.diff(ends, prepend=ends.new_zeros(1)).tolist()
        return torch.cat([r @ w.T for r, w in zip(rows.split(sizes), weights, strict=True)])
    multiply = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    return multiply(rows, weights.transpose(1, 2), offs=ends)


def products(rows: Tensor, up: Tensor, down: Tensor, ends: Tensor, weight: Tensor) -> Tensor:
    """The experts on rows sorted by expert, each result times its token's ``weight``."""
    return grouped(gated(grouped(rows, up, ends)) * weight, down, ends)


def summed(rows: Tensor, index: Tensor, count: int) -> Tensor:
    """``count`` rows in bf16: row i is the sum of those with ``index`` i."""
    sums = torch.zeros(count, rows.shape[1], device=rows.device)
    return sums.index_add_(0, index, rows.float()).bfloat16()


def gated(both: Tensor) -> Tensor:
    """silu(gate) * the other half."""
    gate, up = both.chunk(2, dim=-1)
    return torch.nn.functional.silu(gate) * up


@dataclass
class Plan:
    """Where the rows of some tokens go: known before the clock starts."""

    tokens: Tensor  # of the rows sent, rank after rank
    sent: list[int]
    received: list[int]
    row: Tensor  # of the rows received, for each pair of a row and an expert here, sorted by expert
    weight: Tensor  # of each pair
    ends: Tensor  # of each expert's pairs


def planned(layer: Layer, first: int, end: int, per_expert: bool) -> Plan:
    """For tokens ``first`` to ``end`` - 1, a copy for each expert or one for each rank."""
    ranks, own, device = layer.ranks, layer.own, layer.x.device
    of_rank = layer.scales[first:end].view(-1, ranks, own)
    tokens, weights = [], []
    for to in range(ranks):
        there = of_rank[:, to]
        if per_expert:
            token, expert = there.nonzero(as_tuple=True)
            weight = torch.zeros(len(token), own, device=device, dtype=there.dtype)
            weight[torch.arange(len(token), device=device), expert] = there[token, expert]
        else:
            token = there.any(1).nonzero()[:, 0]
            weight = there[token]
        tokens.append(token + first)
        weights.append(weight)
    sent = [len(each) for each in tokens]
    counts = torch.tensor(sent, device=device)
    theirs = torch.empty_like(counts)
    dist.all_to_all_single(theirs, counts)
    received = theirs.tolist()
    scales = exchanged(torch.cat(weights), sent, received)
    expert, row = scales.T.nonzero(as_tuple=True)
    ends = torch.bincount(expert, minlength=own).cumsum(0).int()
    return Plan(torch.cat(tokens), sent, received, row, scales[row, expert, None], ends)


def exchanged(rows: Tensor, sent: list[int], received: list[int]) -> Tensor:
    """The rows that arrive here, rank after rank."""
    found = rows.new_empty(sum(received), rows.shape[1])
    dist.all_to_all_single(found, rows.contiguous(), received, sent)
    return found


def there(layer: Layer, plan: Plan) -> tuple[Tensor, Any]:
    """Tokens begin to travel to their experts: where they arrive, and what to wait for."""
    got = layer.x.new_empty(sum(plan.received), layer.x.shape[1])
    rows = layer.x[plan.tokens]
    return got, dist.all_to_all_single(got, rows, plan.received, plan.sent, async_op=True)


def at_experts(layer: Layer, plan: Plan, got: Tensor) -> Tensor:
    """One row of results for each row received: the sum over its experts here."""
    mine = layer.of_mine(layer.up), layer.of_mine(layer.down)
    return summed(products(got[plan.row], *mine, plan.ends, plan.weight), plan.row, len(got))


def back(plan: Plan, results: Tensor) -> tuple[Tensor, Any]:
    """Results begin to travel home."""
    home = results.new_empty(sum(plan.sent), results.shape[1])
    return home, dist.all_to_all_single(home, results, plan.sent, plan.received, async_op=True)


def whole_layer(layer: Layer, plans: list[Plan]) -> Tensor:
    """The layer's output. With several plans a part travels while another is multiplied."""
    on_the_way = [there(layer, plan) for plan in plans]
    coming = []
    for plan, (got, arrival) in zip(plans, on_the_way, strict=True):
        arrival.wait()
        coming.append(back(plan, at_experts(layer, plan, got)))
    for _, arrival in coming:
        arrival.wait()
    homes, tokens = torch.cat([home for home, _ in coming]), torch.cat([p.tokens for p in plans])
    return summed(homes, tokens, len(layer.x))


def alone(layer: Layer) -> Tensor:
    """The same by all experts on this rank."""
    expert, token = layer.scales.T.nonzero(as_tuple=True)
    ends = torch.bincount(expert, minlength=len(layer.up)).cumsum(0).int()
    weight = layer.scales[token, expert, None]
    rows = products(layer.x[token], layer.up, layer.down, ends, weight)
    return summed(rows, token, len(layer.x))


def microseconds(run: Callable[[], Any]) -> float:
    """The median of some turns of ``run``, a few in a row, on the slowest rank."""
    times = []
    for turn in range(1 + TURNS):
        dist.barrier()
        torch.cuda.synchronize()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(REPEATS):
            run()
        end.record()
        end.synchronize()
        times += [1e3 * start.elapsed_time(end) / REPEATS] if turn else []
    slowest = torch.tensor(statistics.median(times), device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return round(float(slowest), 1)


def neighbour(rows: int, layer: Layer) -> Callable[[], None]:
    """As many rows to the next rank and from the one before, twice: the baseline."""
    most = torch.tensor(rows, device=layer.x.device)
    dist.all_reduce(most, op=dist.ReduceOp.MAX)  # a message is as long as its receiver expects
    rows = int(most)
    out, into = (layer.x.new_zeros(rows, layer.x.shape[1]) for _ in range(2))
    to, of = (layer.rank + 1) % layer.ranks, (layer.rank - 1) % layer.ranks

    def run() -> None:
        for _ in range(2):
            both = [dist.P2POp(dist.isend, out, to), dist.P2POp(dist.irecv, into, of)]
            for message in dist.batch_isend_irecv(both):
                message.wait()

    return run


def case(experts: int, top: int, rank: int, ranks: int, device: torch.device) -> dict[str, Any]:
    """Check a layer, and time its parts."""
    layer = drawn_layer(experts, top, rank, ranks, device)
    tokens = len(layer.x)
    whole = {what: planned(layer, 0, tokens, what == "a copy per expert") for what in COPIES}
    halves = [planned(layer, at, at + tokens // 2, False) for at in (0, tokens // 2)]
    right = alone(layer)
    layouts = {**{what: [plan] for what, plan in whole.items()}, "in halves": halves}
    for what, plans in layouts.items():
        error = float((whole_layer(layer, plans) - right).abs().max())
        if not error < 0.1:  # bf16 sums of about 1, in another order
            raise ValueError(f"{experts} experts, top {top}, {what}: off by {error:.2g}")
    found: dict[str, Any] = {"experts": experts, "top": top, "exchange": {}}
    for what, plan in whole.items():
        away = sum(plan.sent) - plan.sent[rank]
        rows, got = layer.x[plan.tokens], layer.x.new_empty(sum(plan.received), layer.x.shape[1])
        found["exchange"][what] = {"rows": away}
        if device.type == "cuda":

            def both_ways(plan: Plan = plan, rows: Tensor = rows, got: Tensor = got) -> None:
                dist.all_to_all_single(got, rows, plan.received, plan.sent)
                dist.all_to_all_single(rows, got, plan.sent, plan.received)

            found["exchange"][what] |= {
                "us": microseconds(both_ways),
                "send_recv_us": microseconds(neighbour(away, layer)),
            }
    if device.type == "cuda":
        plan = whole["a copy per GPU"]
        got = layer.x.new_ones(sum(plan.received), layer.x.shape[1])
        pairs, mine = got[plan.row], (layer.of_mine(layer.up), layer.of_mine(layer.down))
        found["pairs"] = len(pairs)
        found["products_us"] = microseconds(lambda: products(pairs, *mine, plan.ends, plan.weight))
        found["layer_us"] = {
            what: microseconds(lambda plans=plans: whole_layer(layer, plans))
            for what, plans in layouts.items()
        }
    return found


COPIES = "a copy per expert", "a copy per GPU"


def main() -> None:
    """Every rank runs all cases, and rank 0 prints and keeps them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, help="a JSON file for what was measured")
    into = parser.parse_args().into
    local = int(os.environ["LOCAL_RANK"])
    on_gpus = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", local) if on_gpus else torch.device("cpu")
    if on_gpus:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpus else "gloo", device_id=device if on_gpus else None)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    found: dict[str, Any] = {"ranks": ranks, "tokens": TOKENS, "width": WIDTH, "inner": INNER}
    if on_gpus:
        found["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
    found["cases"] = []
    for experts, top in CASES:
        found["cases"].append(case(experts, top, rank, ranks, device))
        if rank == 0:
            print(json.dumps(found["cases"][-1]), flush=True)
            if into:
                into.write_text(json.dumps(found), encoding="utf-8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
