"""A training step of chapter 09's fused kernels on a few digits, and what each must give.

The expected values are computed in float64 from the arrays that a kernel was given, so that a test
sees its own error alone.
"""

from __future__ import annotations

from functools import cache, cached_property
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
from taps_09 import convolved, taps

from course_utils import cp, digits
from course_utils.paths import KERNELS

FAST = SimpleNamespace(**run_path(str(KERNELS / "09_mnist_cnn" / "fast_network.py")))
IMAGES, LABELS = digits()
ROWS, COLUMNS = np.arange(196) // 14 * 2, np.arange(196) % 14 * 2  # corners of pool1's windows


class FastStep:
    """The first step on ``n`` digits; everything but ``update`` has run."""

    def __init__(self, n: int, bf16: bool, tiles: Any) -> None:
        self.n, self.bf16 = n, bf16
        self.network = FAST.FastNetwork(3)
        for name in ("gamma1", "beta1", "gamma2", "beta2"):  # not all alike
            self.network.parameters[name][...] = self.start(name)
        pixels = cp.asarray(IMAGES[:n].reshape(n, -1))
        self.step = FAST.Step(self.network, pixels, cp.asarray(LABELS[:n]), n, 0.5, 10, tiles, bf16)
        order = np.random.default_rng(1).permutation(n).astype(np.int32)
        launches = self.step.first, self.step.prepare, *self.step.launches
        self.order, self.launches = order, {launch.name: launch for launch in launches}
        self.step.order[...] = cp.asarray(np.tile(order, (11, 1)))
        self.step.begin(0)
        for launch in self.step.launches[:-1]:
            launch()

    @staticmethod
    def start(name: str) -> Any:
        """The numbers that batch norm's ``name`` begins with."""
        size, middle = FAST.plain.SHAPES[name], float(name.startswith("gamma"))
        values = np.random.default_rng(size[0]).uniform(middle - 0.3, middle + 0.3, size)
        return cp.asarray(values.astype(np.float32))

    def given(self, name: str) -> dict[str, np.ndarray]:
        """The arguments of a kernel by name, arrays as float64 on the host."""
        launch = self.launches[name]
        names = (parameter.name for parameter in launch.kernel.signature.parameters)
        return dict(zip(names, map(_on_host, launch.arguments), strict=True))

    @cached_property
    def x(self) -> np.ndarray:
        images = IMAGES[self.order].astype(np.float64)
        return ((images / 255 - 0.1307) / 0.3081)[:, None]

    @cached_property
    def conv1(self) -> np.ndarray:
        return convolved(self.x, self.given("conv1_conv2")["conv1"])

    def moments(self) -> np.ndarray:
        under = np.stack([pixels[:, 0] for _, pixels in taps(self.x)], -1).reshape(-1, 9)
        return np.concatenate([(under.T @ under).ravel(), under.sum(0)])

    def pool1(self) -> np.ndarray:
        p, c = self.given("conv1_conv2"), self.conv1
        mean, rstd = c.mean((0, 2, 3)), (c.var((0, 2, 3)) + 1e-5) ** -0.5
        scale = (p["gamma1"] * rstd)[:, None, None]
        normalised = scale * (c - mean[:, None, None]) + p["beta1"][:, None, None]
        windows = normalised.reshape(self.n, 16, 14, 2, 14, 2)
        return np.maximum(windows.max((3, 5)), 0).reshape(self.n, 16, 196)

    def factors3(self) -> np.ndarray:
        """linear3's weights in float64, as linear_layers wants them: eight blocks' columns."""
        weights = self.given("update")["weight3"].reshape(128, 8, 196).transpose(1, 0, 2)
        return np.pad(weights, ((0, 0), (0, 0), (0, 20)))

    def factors3_found(self, found: np.ndarray) -> np.ndarray:
        return self.of_halves(found.reshape(8, -1, 128, 216), 64)

    def of_halves(self, found: np.ndarray, scale: float) -> np.ndarray:
        """The numbers whose halves lie along the second axis."""
        if self.bf16:
            return _from_bf16(found[:, 0])
        return found.astype(np.uint16).view(np.float16).astype(np.float64).sum(1) / scale

    def conv2(self) -> np.ndarray:
        conv2 = self.given("update")["conv2"]
        return convolved(self.pool1_found().reshape(self.n, 16, 14, 14), conv2)

    def pool1_found(self) -> np.ndarray:
        """pool1 as the kernel rounded it, N x 16 x 196."""
        found = self.given("conv1_conv2")["pool1"]  # padded, eight channels change places
        found = found.reshape(self.n, -1, 288, 2, 8)
        swapped = np.arange(288) // 4 % 2 == 1
        found[:, :, swapped] = found[:, :, swapped][:, :, :, ::-1]
        found = found.reshape(self.n, -1, 16, 18, 16)[:, :, 1:15, 1:15]
        values = self.of_halves(found, 16)
        return values.reshape(self.n, 196, 16).transpose(0, 2, 1)

    def c2_found(self) -> np.ndarray:
        """conv2's results as the kernel rounded them, N x 32 x 196."""
        found = self.given("conv1_conv2")["c2"]
        if self.bf16:
            found = np.stack([_from_bf16(found & 0xFFFF), _from_bf16(found >> 16)], -1)
        found = found.reshape(self.n, 2, 196, 16)
        return found.transpose(0, 1, 3, 2).reshape(self.n, 32, 196)

    def best2(self) -> np.ndarray:
        """Each window's largest, or smallest, of what conv2 must give."""
        gamma = self.given("conv1_conv2")["gamma2"]
        windows = self.conv2().reshape(self.n, 32, 7, 2, 7, 2).transpose(0, 1, 2, 4, 3, 5)
        windows = windows.reshape(self.n, 32, 49, 4) * np.sign(gamma)[:, None, None]
        return (windows.max(-1) * np.sign(gamma)[:, None]).reshape(self.n, -1)

    def statistics2(self) -> np.ndarray:
        """conv2's means and variances from the parts that its blocks wrote."""
        p = self.given("linear_layers")
        blocks = p["means"].shape[1]
        images = np.bincount(np.arange(self.n) % blocks, minlength=blocks)
        mean = p["means"] @ images / self.n
        spread = p["squares"] + (p["means"] - mean[:, None]) ** 2 * images * 196
        return np.stack([mean, spread.sum(1) / (self.n * 196)])

    def conv2_statistics(self) -> np.ndarray:
        """What they must be."""
        return np.stack([self.conv2().mean((0, 2, 3)), self.conv2().var((0, 2, 3))])

    def scale2(self) -> np.ndarray:
        p, (mean, variance) = self.given("linear_layers"), self.statistics2()
        rstd = (variance + 1e-5) ** -0.5
        scale = p["gamma2"] * rstd
        return np.stack([mean, rstd, scale, p["beta2"] - mean * scale, variance])

    def pool2_found(self) -> np.ndarray:
        """The pooled pixels, N x 1568, from what the kernels stored."""
        p = self.given("linear_layers")
        scale, shift = (np.repeat(p["scale2"][k], 49) for k in (2, 3))
        return np.maximum(scale * p["best2"] + shift, 0)

    @cached_property
    def linear(self) -> dict[str, np.ndarray]:
        """What linear_layers must give."""
        p, pool2 = self.given("linear_layers"), self.pool2_found()
        weight3 = self.given("update")["weight3"]
        hidden = np.maximum(pool2 @ weight3.T + p["bias3"], 0)
        z = hidden @ p["weight4"].T + p["bias4"]
        power = np.exp(z - z.max(1, keepdims=True))
        probability = power / power.sum(1, keepdims=True)
        label = LABELS[self.order]
        dz = (probability - np.eye(10)[label]) / self.n
        dz3 = np.where(hidden > 0, dz @ p["weight4"], 0)
        loss = -np.log(probability[np.arange(self.n), label]).sum()
        sums = [(dz.T @ hidden).ravel(), dz3.sum(0), dz.sum(0), [loss]]
        dy2 = np.where(pool2 > 0, dz3 @ weight3, 0)
        of_channel, best2 = (each.reshape(self.n, 32, 49) for each in (dy2, p["best2"]))
        h = (best2 - p["scale2"][0][:, None]) * p["scale2"][1][:, None]
        sums2 = np.stack([of_channel.sum((0, 2)), (of_channel * h).sum((0, 2))])
        dweight3 = dz3.T @ pool2
        return {"sums": np.concatenate(sums), "dy2": dy2, "sums2": sums2, "dweight3": dweight3}

    @cached_property
    def dc2(self) -> np.ndarray:
        p = self.given("conv2_backward")
        dy = np.zeros((self.n, 32, 14, 14))
        code = _bytes(p["code2"]).transpose(0, 1, 3, 2).reshape(self.n, 32, 7, 7)
        dy2 = p["dy2"].reshape(self.n, 32, 7, 7)
        for k in range(4):
            dy[:, :, k // 2 :: 2, k % 2 :: 2] = np.where(code == k, dy2, 0)
        mean, rstd, scale = (row[:, None, None] for row in p["scale2"][:3])
        h = (self.c2_found().reshape(dy.shape) - mean) * rstd
        of_beta, of_gamma = (row[:, None, None] for row in p["sums2"].sum(0))
        return scale * (dy - (of_beta + h * of_gamma) / (self.n * 196))

    def dconv2(self) -> np.ndarray:
        x = self.pool1_found().reshape(self.n, 16, 14, 14)
        return np.stack([np.einsum("nfhw,nchw->fc", self.dc2, p) for _, p in taps(x)], -1)

    def dweight3_sums(self) -> np.ndarray:
        """dweight3 in the order of weight_of_sum3 in prepared.cuh: by block, tile of 8 columns of
        a warp, which half of the columns, row / 16, row % 8, column % 8 / 2, row % 16 / 8 and the
        rest of the column; 0 where there is no weight."""
        columns = self.linear["dweight3"].reshape(128, 8, 196)
        columns = np.pad(columns, ((0, 0), (0, 0), (0, 28))).reshape(8, 2, 8, 8, 2, 14, 4, 2)
        return columns.transpose(3, 5, 4, 0, 2, 6, 1, 7)

    def dconv2_sums(self) -> np.ndarray:
        """dconv2 in the order of weight_of_sum in prepared.cuh: by part, tap, channel / 8 (of two
        parts it comes after the next two), filter % 16 / 8, channel % 2, filter / 16, filter % 8
        and the rest of the channel."""
        _, parts = self.launches["conv2_backward"].grid
        of_part = self.dconv2().reshape(parts, 32 // parts // 16, 2, 8, 2, 4, 2, 9)
        middle = (4, 2, 6) if parts == 1 else (2, 6, 4)
        return of_part.transpose(0, 7, *middle, 1, 3, 5).ravel()

    def sums1(self) -> np.ndarray:
        p = self.given("conv2_backward")
        turned = np.flip(self.given("update")["conv2"], (2, 3)).transpose(1, 0, 2, 3)
        dy1 = convolved(self.dc2, turned).reshape(self.n, 16, 196)
        code = _bytes(p["code1"]).reshape(self.n, 4, 196, 4)
        code = code.transpose(0, 1, 3, 2).reshape(self.n, 16, 196)
        around = np.pad(self.x[:, 0], ((0, 0), (1, 1), (1, 1)))
        found = np.zeros((16, 10))
        for k in range(4):
            gradient = np.where(code == 0x80 >> k, dy1, 0)
            for t in range(9):
                under = around[:, ROWS + k // 2 + t // 3, COLUMNS + k % 2 + t % 3]
                found[:, t] += np.einsum("ncp,np->c", gradient, under)
            found[:, 9] += gradient.sum((0, 2))
        return found


def _bytes(words: np.ndarray) -> np.ndarray:
    """The four bytes of each word, side by side."""
    return np.ascontiguousarray(words).view(np.uint8)


def _from_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _on_host(value: Any) -> Any:
    if not hasattr(value, "dtype") or not getattr(value, "shape", ()):
        return value
    array = cp.asnumpy(value)
    return array.astype(np.float64) if array.dtype == np.float32 else array


@cache
def fast_step(n: int, bf16: bool = False) -> FastStep:
    """The step on n digits: an odd n in the tiles of small batches, any other in those of large."""
    return FastStep(n, bf16, FAST.tiles_for(64 if n % 2 else 1024, bf16))
