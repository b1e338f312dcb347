"""The network of chapter 09 in PyTorch, and its training: the same layers, batches and rates as
``network.py``, so that both can start from the same weights and be compared number by number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

PLACES = {  # the names of network.py, and where the network below keeps what they stand for
    "conv1": "0.weight",
    "gamma1": "1.weight",
    "beta1": "1.bias",
    "mean1": "1.running_mean",
    "variance1": "1.running_var",
    "conv2": "4.weight",
    "gamma2": "5.weight",
    "beta2": "5.bias",
    "mean2": "5.running_mean",
    "variance2": "5.running_var",
    "weight3": "9.weight",
    "bias3": "9.bias",
    "weight4": "11.weight",
    "bias4": "11.bias",
}


def network() -> nn.Sequential:
    """Images N x 1 x 28 x 28 to logits N x 10."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def prepared(images: torch.Tensor) -> torch.Tensor:
    """uint8 images N x 28 x 28 as fp32 N x 1 x 28 x 28, mean near 0 and deviation near 1."""
    return images.unsqueeze(1).mul(1 / (255 * 0.3081)).sub_(0.1307 / 0.3081)


def loss_of(net: Callable, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean cross entropy of a batch: uint8 images, int64 labels."""
    return functional.cross_entropy(net(prepared(images)).float(), labels)


def put(net: nn.Module, arrays: dict[str, Any]) -> None:
    """Copy NumPy arrays, named as in PLACES, into the network."""
    state = net.state_dict()
    for name, array in arrays.items():
        state[PLACES[name]].copy_(torch.from_numpy(np.asarray(array)))


def train(
    net: nn.Module,
    images: np.ndarray,
    labels: np.ndarray,
    epochs: int,
    batch: int,
    rate: float,
    seed: int = 0,
) -> list[float]:
    """Plain SGD, the batches and the falling rate those of ``Network.train``; returns the loss of
    each step. images are uint8 (n, 28, 28), labels uint8 (n,)."""
    device = next(net.parameters()).device
    x = torch.from_numpy(images).to(device)
    known = torch.from_numpy(labels.astype(np.int64)).to(device)
    optimiser = torch.optim.SGD(net.parameters(), lr=rate)
    steps = len(images) // batch
    losses = []
    net.train()
    for epoch in range(epochs):
        order = np.random.default_rng((seed, epoch)).permutation(len(images))
        order = torch.from_numpy(order[: steps * batch].reshape(steps, batch)).to(device)
        for k, chosen in enumerate(order):
            optimiser.param_groups[0]["lr"] = rate * (1 - (epoch * steps + k) / (epochs * steps))
            optimiser.zero_grad()
            loss = loss_of(net, x[chosen], known[chosen])
            loss.backward()
            optimiser.step()
            losses.append(loss.detach())
    return [float(loss) for loss in losses]


@torch.no_grad()
def classify(net: nn.Module, images: np.ndarray) -> np.ndarray:
    """The digit that each of the uint8 images (n, 28, 28) is taken for."""
    device = next(net.parameters()).device
    net.eval()
    return net(prepared(torch.from_numpy(images).to(device))).argmax(1).cpu().numpy()
