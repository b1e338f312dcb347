"""The network of chapter 09, trained by the course's own kernels.

(3 x 3 convolution -> batch norm -> ReLU -> 2 x 2 max pool) twice, then linear -> ReLU -> linear,
plain stochastic gradient descent. No kernel adds with atomics, so the same start and the same
batches give the same bits each time. The network starts the kernels of ``layers.KERNELS``, which is
this program's own.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_utils import cp
from course_utils.errors import LessonError

layers = SimpleNamespace(**run_path(str(Path(__file__).with_name("layers.py"))))

SHAPES = {
    "conv1": (16, 1, 3, 3),
    "gamma1": (16,),
    "beta1": (16,),
    "conv2": (32, 16, 3, 3),
    "gamma2": (32,),
    "beta2": (32,),
    "weight3": (128, 32 * 7 * 7),
    "bias3": (128,),
    "weight4": (10, 128),
    "bias4": (10,),
}
RUNNING = {"mean1": (16,), "variance1": (16,), "mean2": (32,), "variance2": (32,)}


def prepared(images: np.ndarray) -> Any:
    """uint8 images (n, 28, 28) as the network wants them: fp32 (n, 1, 28, 28), mean near 0 and
    deviation near 1, on the device."""
    scaled = (images.astype(np.float32) / 255 - 0.1307) / 0.3081  # MNIST's mean and deviation
    return cp.asarray(np.ascontiguousarray(scaled[:, None]))


class Network:
    """``parameters`` are fp32 arrays on the device, named and shaped as in SHAPES; ``running`` are
    the means and variances that stand in for a batch's own when no training is going on. ``steps``
    counts the batches seen."""

    def __init__(self, seed: int = 0) -> None:
        """Weights drawn evenly from +-1 / sqrt(inputs of a neuron), as PyTorch draws them."""
        rng = np.random.default_rng(seed)
        self.parameters: dict[str, Any] = {}
        for name, shape in SHAPES.items():
            if name.startswith(("gamma", "beta")):
                values = np.full(shape, float(name.startswith("gamma")))
            else:
                bound = np.prod(SHAPES[name.replace("bias", "weight")][1:]) ** -0.5
                values = rng.uniform(-bound, bound, shape)
            self.parameters[name] = cp.asarray(values.astype(np.float32))
        self.running = {
            name: cp.asarray(np.full(shape, name.startswith("variance"), np.float32))
            for name, shape in RUNNING.items()
        }
        self.steps = 0

    def forward(self, x: Any, training: bool = False) -> dict[str, Any]:
        """Every tensor on the way from images x, N x 1 x 28 x 28, to ``logits``, N x 10.

        In training the batch's own mean and variance are used, and the running ones moved.
        """
        p, at = self.parameters, {"pool0": x}
        for k in (1, 2):
            c = at[f"conv{k}"] = layers.conv(at[f"pool{k - 1}"], p[f"conv{k}"])
            mean, variance = self.running[f"mean{k}"], self.running[f"variance{k}"]
            if training:
                at[f"mean{k}"], at[f"rstd{k}"] = layers.statistics(c, mean, variance)
            else:
                at[f"mean{k}"], at[f"rstd{k}"] = mean, (variance + layers.EPS) ** -0.5
            of_batch = at[f"mean{k}"], at[f"rstd{k}"]
            at[f"norm{k}"] = layers.norm(c, *of_batch, p[f"gamma{k}"], p[f"beta{k}"])
            at[f"relu{k}"] = layers.relu(at[f"norm{k}"])
            at[f"pool{k}"] = layers.pool(at[f"relu{k}"])
        at["flat"] = at["pool2"].reshape(len(x), -1)
        at["linear3"] = layers.linear(at["flat"], p["weight3"], p["bias3"])
        at["relu3"] = layers.relu(at["linear3"])
        at["logits"] = layers.linear(at["relu3"], p["weight4"], p["bias4"])
        return at

    def backward(self, at: dict[str, Any], labels: Any) -> dict[str, Any]:
        """The gradient of the batch's mean loss for each parameter, after ``forward`` in training.

        ``labels`` are uint8 on the device.
        """
        p, d = self.parameters, {}
        flow = layers.cross_entropy_backward(at["logits"], labels)
        flow, d["weight4"], d["bias4"] = layers.linear_backward(flow, at["relu3"], p["weight4"])
        flow = layers.relu_backward(flow, at["relu3"])
        flow, d["weight3"], d["bias3"] = layers.linear_backward(flow, at["flat"], p["weight3"])
        flow = flow.reshape(at["pool2"].shape)
        for k in (2, 1):
            flow = layers.pool_backward(flow, at[f"relu{k}"])
            flow = layers.relu_backward(flow, at[f"relu{k}"])
            of_batch = at[f"mean{k}"], at[f"rstd{k}"]
            flow, d[f"gamma{k}"], d[f"beta{k}"] = layers.norm_backward(
                flow, at[f"conv{k}"], *of_batch, p[f"gamma{k}"]
            )
            flow, d[f"conv{k}"] = layers.conv_backward(
                flow, at[f"pool{k - 1}"], p[f"conv{k}"], want_input=k > 1
            )
        return d

    def step(self, x: Any, labels: Any, rate: float) -> float:
        """Train on one batch; returns its mean loss before the step."""
        at = self.forward(x, training=True)
        loss = float(layers.cross_entropy(at["logits"], labels).mean())
        for name, gradient in self.backward(at, labels).items():
            layers.sgd(self.parameters[name], gradient, rate)
        self.steps += 1
        return loss

    def train(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        epochs: int,
        batch: int,
        rate: float,
        seed: int = 0,
        until: int | None = None,
    ) -> list[float]:
        """Go on until ``epochs`` are complete, or ``until`` steps have been made in all; returns
        the loss of each step made now.

        images are uint8 (n, 28, 28), labels uint8 (n,). The learning rate falls evenly from
        ``rate`` to 0. The order of an epoch depends on ``seed`` and on its number alone, so a
        network that was saved and loaded goes on as if it had never stopped. Images that do not
        fill a last batch are left out of that epoch.
        """
        per_epoch = len(images) // batch
        if not per_epoch:
            raise LessonError(f"{len(images)} images do not fill a batch of {batch}.")
        total = epochs * per_epoch
        last = total if until is None else min(until, total)
        losses = []
        while self.steps < last:
            epoch, k = divmod(self.steps, per_epoch)
            if k == 0 or not losses:  # an epoch begins, or is taken up again
                order = np.random.default_rng((seed, epoch)).permutation(len(images))
            chosen = order[k * batch : (k + 1) * batch]
            now = rate * (1 - self.steps / total)
            losses.append(self.step(prepared(images[chosen]), cp.asarray(labels[chosen]), now))
        return losses

    def classify(self, images: np.ndarray) -> np.ndarray:
        """The digit that each of the uint8 images (n, 28, 28) is taken for."""
        return cp.asnumpy(self.forward(prepared(images))["logits"]).argmax(1)

    def save(self, path: Path | str) -> None:
        """Write parameters, running statistics and the number of steps into an .npz file."""
        arrays = {name: cp.asnumpy(array) for name, array in self._arrays().items()}
        np.savez(path, steps=self.steps, **arrays)

    def load(self, path: Path | str) -> None:
        """Take up what ``save`` wrote. Raises LessonError, and changes nothing, where the file is
        not such a one or holds a number that is not finite."""
        found = _checked(Path(path), {**SHAPES, **RUNNING})
        for name, array in self._arrays().items():
            array[...] = cp.asarray(found[name])
        self.steps = int(found["steps"])

    def _arrays(self) -> dict[str, Any]:
        return {**self.parameters, **self.running}


def _checked(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, each there, fp32, finite and of its shape."""
    try:
        with np.load(path, allow_pickle=False) as file:
            found = dict(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise LessonError(f"{path} cannot be read as a saved network: {error}") from None
    for name, shape in {**shapes, "steps": ()}.items():
        if name not in found:
            raise LessonError(f"{path} has no {name}: it is not a saved network of this chapter.")
        array = found[name]
        if array.shape != shape:
            raise LessonError(f"{path}: {name} has shape {array.shape}, wanted {shape}.")
        kind = "i" if name == "steps" else "f"
        if array.dtype.kind != kind or (kind == "f" and array.dtype != np.float32):
            wanted = "an integer" if kind == "i" else "float32"
            raise LessonError(f"{path}: {name} holds {array.dtype}, wanted {wanted}.")
        never_negative = name == "steps" or name.startswith("variance")
        if not np.isfinite(array).all() or (never_negative and (array < 0).any()):
            raise LessonError(f"{path}: {name} has values that no training gives.")
    return found
