"""A layer of experts on several ranks, each with some of the experts and some of the tokens:

    torchrun --standalone --nproc-per-node 2 exchange_tokens.py

A token travels once to each rank that has one of its experts, with its weights there, and one row
comes back. With a GPU for each rank they talk through NCCL, otherwise through gloo, on the CPU.
"""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

EXPERTS, TOP, TOKENS, WIDTH = 8, 2, 48, 32


def drawn(seed: int, *shape: int) -> torch.Tensor:
    """Random numbers, the same on every rank."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def exchange(rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
    """Send the first ``sent[0]`` rows to rank 0, the next ones to rank 1 and so on."""
    found = rows.new_empty(sum(received), rows.shape[1])
    dist.all_to_all_single(found, rows.contiguous(), received, sent)
    return found


def run(rank: int, ranks: int, device: torch.device) -> str:
    """The rank's part of the layer, and what came of it."""
    own = EXPERTS // ranks  # rank r has experts r * own and the next ones
    matrices = drawn(0, EXPERTS, WIDTH, WIDTH).to(device)
    x = drawn(1 + rank, TOKENS, WIDTH).to(device)
    best, chosen = drawn(101 + rank, TOKENS, EXPERTS).to(device).topk(TOP)
    weights = torch.zeros(TOKENS, EXPERTS, device=device).scatter_(1, chosen, best.softmax(1))

    # Who needs which token: its row, and its weights for the experts there.
    of_rank = weights.view(TOKENS, ranks, own)
    tokens = [of_rank[:, to].any(1).nonzero()[:, 0] for to in range(ranks)]
    sent = [len(each) for each in tokens]
    rows = torch.cat([torch.cat([x[t], of_rank[t, to]], 1) for to, t in enumerate(tokens)])

    counts = torch.tensor(sent, device=device)
    theirs = torch.empty_like(counts)
    dist.all_to_all_single(theirs, counts)  # first how many, so that memory can be allocated
    received = theirs.tolist()
    got = exchange(rows, sent, received)
    inputs, scales = got[:, :WIDTH], got[:, WIDTH:]
    results = torch.zeros_like(inputs)
    for e in range(own):
        results += scales[:, e : e + 1] * (inputs @ matrices[rank * own + e].T)
    home = exchange(results, received, sent)

    y = torch.zeros_like(x)
    for t, part in zip(tokens, home.split(sent), strict=True):
        y[t] += part  # no token twice: no atomics
    alone = torch.einsum("te,eoi,ti->to", weights, matrices, x)
    torch.testing.assert_close(y, alone, rtol=1e-4, atol=1e-4)
    return f"rank {rank} sends {sent} rows and receives {received}: the same result as on one rank"


def main() -> None:
    """Every rank runs its part, and rank 0 prints them all."""
    local = int(os.environ["LOCAL_RANK"])
    on_gpus = torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])
    device = torch.device("cuda", local) if on_gpus else torch.device("cpu")
    if on_gpus:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if on_gpus else "gloo", device_id=device if on_gpus else None)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    lines = [""] * ranks
    dist.all_gather_object(lines, run(rank, ranks, device))
    if rank == 0:
        print(*lines, sep="\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
