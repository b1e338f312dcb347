"""The network of chapter 09, trained by the fused kernels of ``fast/``: four launches a step.

The images of the training set stay on the device as bytes; a step finds its batch there, counts
itself and lowers its own learning rate. So on a GPU one CUDA graph, captured once, is every step,
and the host has nothing to do but to start it. On the emulator the same kernels run one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_utils import ceil_div, cp, device, load
from course_utils.devices.properties import sm_count
from course_utils.launching.early_launch import launch_early
from course_utils.launching.older_gpus import GpuTooOld

plain = SimpleNamespace(**run_path(str(Path(__file__).with_name("network.py"))))

FOLDER = "09_mnist_cnn/fast"
PIXELS, PIXELS1, INPUTS3, HIDDEN = 784, 196, 1568, 128
PADDED = 16 * 18  # pixels of pool1 and of dc2, with zeros around
PAIR_WORDS = 30 * 41 + 2  # of an image in shared memory
MOMENTS, HEAD_SUMS, UPDATE_BLOCKS = 90, 1419, 430
FLOAT, HALF = 4, 2  # bytes
CLUSTER = 8  # blocks of linear_layers


@dataclass(frozen=True)
class Tiles:
    """How the kernels share out the work of a batch."""

    parts: int = 1  # blocks of conv1_conv2 that share an image, 1 or 2
    back_parts: int = 1  # and of conv2_backward
    conv_blocks: int = 2  # of conv1_conv2 for each multiprocessor
    rows3: int = 1  # sixteens of images that a cluster of linear_layers has at a time, 1 or 2
    beside: bool = True  # whether update may begin while conv2_backward still runs


def tiles_for(batch: int, bf16: bool = False) -> Tiles:
    """What suits a batch of that size, as measured on an H200."""
    if batch <= 512:
        parts = 1 if bf16 and batch > 128 else 2
        return Tiles(parts, back_parts=1 if bf16 else 2, rows3=1 if batch <= 128 else 2)
    return Tiles(rows3=2, beside=False)


@cache
def _kernel(name: str, defines: tuple[tuple[str, int], ...]) -> Any:
    return load(f"{FOLDER}/{name}.cu", defines=dict(defines)).kernel


@dataclass(frozen=True)
class Launch:
    """One kernel of a step."""

    name: str
    kernel: Any
    grid: tuple[int, ...]
    block: int
    arguments: tuple[Any, ...]
    shared: int = 0
    early: bool = True  # whether it may begin while the one before still runs

    def __call__(self) -> None:
        self.kernel(self.grid, self.block, self.arguments, shared_mem=self.shared)

    def ready(self, early: bool = False) -> Callable[[], None]:
        """A function that launches on a GPU's current stream and neither checks nor waits;
        ``early``: the kernel may begin while the one before still runs, and waits by itself.
        Raises GpuTooOld where the emulator would run it."""
        if self.kernel.is_beyond_gpu(self.shared):
            raise GpuTooOld(f"{self.name} cannot be timed here: this GPU is too old for it.")
        shape = (self.grid + (1, 1))[:3], (self.block, 1, 1)
        values = self.kernel.check(*shape, self.arguments, self.shared)
        raw = self.kernel.raw
        if early:
            return lambda: launch_early(raw, *shape, values, self.shared)
        return lambda: raw(*shape, values, shared_mem=self.shared)


def _shared_out(n: int, at_once: int) -> int:
    """Of up to ``at_once`` workers, as few as do n pieces of work in the same number of rounds."""
    return ceil_div(n, ceil_div(n, at_once))


def _clusters_at_once(kernel: Any, shared: int) -> int:
    """How many clusters of linear_layers the device runs at the same time: the multiprocessors of
    a cluster have to lie close to each other, so some may be left over."""
    if device() != "cuda" or kernel.is_beyond_gpu(shared):
        return max(1, sm_count() // CLUSTER)
    from cuda.bindings import driver

    kernel.raw.max_dynamic_shared_size_bytes = shared
    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ = CLUSTER, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 512, 1, 1
    config.sharedMemBytes = shared
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    attribute.value.clusterDim.x = CLUSTER
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1
    config.attrs, config.numAttrs = [attribute], 1
    error, clusters = driver.cuOccupancyMaxActiveClusters(
        driver.CUfunction(kernel.raw.kernel.ptr), config
    )
    if error:
        raise RuntimeError(f"cuOccupancyMaxActiveClusters: {error.name}")
    return clusters


class Step:
    """The launches of one training step for batches of ``batch``, with all the memory they need.

    ``network`` gives parameters and running statistics, ``images`` (n, 784) and ``labels`` (n,) are
    uint8 on the device. ``order`` (total + 1, batch) takes the image numbers of each step,
    ``losses`` (total) get their mean losses. The learning rate falls evenly from ``rate`` to 0 in
    ``total`` steps.
    """

    def __init__(
        self,
        network: Any,
        images: Any,
        labels: Any,
        batch: int,
        rate: float,
        total: int,
        tiles: Tiles | None = None,
        bf16: bool = False,
    ) -> None:
        n, t = batch, tiles or tiles_for(batch, bf16)
        self.order = cp.zeros((total + 1, batch), cp.int32)  # the last step looks one ahead
        self.losses = cp.empty(total, cp.float32)
        self.clock = cp.zeros(2, cp.int32)
        self.moments = cp.zeros((3, MOMENTS), cp.int64)
        self.arrived = cp.zeros(1, cp.int32)
        sms = sm_count()
        conv_blocks = _shared_out(n, ceil_div(sms * t.conv_blocks, t.parts))
        back_blocks = _shared_out(n, ceil_div(sms, t.back_parts))
        images3, halves = 16 * t.rows3, 1 if bf16 else 2
        linear_shared = halves * HALF * (HIDDEN * 216 + images3 * (216 + 136))
        sums = 2 * 16 // t.rows3 * images3 // 8  # rows that blocks of a cluster send and get
        linear_shared += FLOAT * (images3 * 196 + (sums + 11) * HIDDEN + 16)
        defines3 = {"ROWS": t.rows3, "BF16": int(bf16)}
        kernel3 = _kernel("linear_layers", tuple(defines3.items()))
        clusters = _shared_out(ceil_div(n, images3), _clusters_at_once(kernel3, linear_shared))

        def floats(*shape: int) -> Any:
            return cp.empty(shape, cp.float32)

        def codes(*shape: int) -> Any:  # bytes, of four channels each
            return cp.empty(shape, cp.uint32)

        pool1 = cp.zeros((n, halves, PADDED, 16), cp.uint16)
        c2 = cp.empty((n, 2, PIXELS1, 8), cp.uint32) if bf16 else floats(n, 2, PIXELS1, 16)
        code1, code2, best2 = codes(n, 4, PIXELS1), codes(n, 2, 49, 4), floats(n, INPUTS3)
        means, squares, scale2 = floats(32, conv_blocks), floats(32, conv_blocks), floats(5, 32)
        head_sums, dy2 = floats(clusters * CLUSTER, HEAD_SUMS), floats(n, INPUTS3)
        sums2, dweight3 = floats(clusters, 2, 32), floats(clusters, CLUSTER, 14, 512, 4)
        sums1 = floats(16, 10, back_blocks, t.back_parts)
        dconv2 = floats(back_blocks, 32, 16, 9)
        forward = 9 * (32 // t.parts * 24 + 8)  # elements of a part, and of a block
        turned, linear3 = 9 * 16 * (32 // t.back_parts + 8), HIDDEN * 216
        forward2 = cp.zeros(t.parts * halves * forward, cp.uint16)
        turned2 = cp.zeros(t.back_parts * halves * turned, cp.uint16)
        factors3 = cp.zeros(CLUSTER * halves * linear3, cp.uint16)
        p, running = network.parameters, network.running
        batch_of = images, self.order, self.clock
        self.launches: list[Launch] = []

        def add(
            name: str,
            grid: tuple[int, ...],
            block: int,
            arguments: tuple[Any, ...],
            shared: int = 0,
            **defines: int,
        ) -> None:
            defines["BF16"] = int(bf16)
            kernel = _kernel(name, tuple(defines.items()))
            early = t.beside or name != "update"
            self.launches.append(Launch(name, kernel, grid, block, arguments, shared, early))

        moment_blocks = min(ceil_div(n, 2), sms)
        first = *batch_of, self.moments, n
        self.first = Launch(
            "input_moments", _kernel("input_moments", ()), (moment_blocks,), 256, first
        )
        factors = forward2, turned2, factors3
        defines = {"PARTS": t.parts, "BACK_PARTS": t.back_parts, "BF16": int(bf16)}
        kernel = _kernel("prepare", tuple(defines.items()))
        self.prepare = Launch("prepare", kernel, (sms,), 256, (p["conv2"], p["weight3"], *factors))
        shared = HALF * (forward + PADDED * 24) + FLOAT * PAIR_WORDS
        add(
            "conv1_conv2", (conv_blocks, t.parts), 224,
            (*batch_of, self.moments, p["conv1"], p["gamma1"], p["beta1"], forward2, p["gamma2"],
             pool1, code1, c2, best2, code2, means, squares, n),
            halves * shared, PARTS=t.parts,
        )  # fmt: skip
        add(
            "linear_layers", (CLUSTER, clusters), 512,
            (best2, means, squares, p["gamma2"], p["beta2"], factors3, p["bias3"], p["weight4"],
             p["bias4"], labels, self.order, self.clock, scale2, dy2, sums2, dweight3, head_sums,
             self.arrived, conv_blocks, n),
            linear_shared, ROWS=t.rows3,
        )  # fmt: skip
        filters = 32 // t.back_parts
        shared = halves * (HALF * (PADDED * (filters + 8 + 2 * 16) + turned) + FLOAT * 30 * 32)
        shared += PIXELS1 * filters * (HALF if bf16 else FLOAT) + filters * 49
        shared += PIXELS + 2 * PIXELS1 * 16
        add(
            "conv2_backward", (back_blocks, t.back_parts), 448,
            (*batch_of, c2, dy2, code2, scale2, sums2, turned2, pool1, code1, sums1, dconv2,
             self.arrived, clusters, n),
            max(shared, FLOAT * (7 * 72 // t.back_parts * 65 + 14 * 8 * 32)),
            BACK_PARTS=t.back_parts,
        )  # fmt: skip
        add(
            "update", (moment_blocks + UPDATE_BLOCKS,), 256,
            (*p.values(), *running.values(), self.moments, sums1, back_blocks * t.back_parts,
             scale2, sums2, clusters, dconv2, back_blocks, head_sums, clusters * CLUSTER, dweight3,
             clusters, self.arrived, *factors, self.losses, *batch_of, rate, total, moment_blocks,
             n),
            PARTS=t.parts, BACK_PARTS=t.back_parts,
        )  # fmt: skip

    def begin(self, steps: int) -> None:
        """Go on after ``steps`` steps."""
        self.clock[...] = steps
        self.moments[...] = 0
        self.arrived[...] = 0
        self.first()
        self.prepare()

    def __call__(self) -> None:
        """Launch after launch."""
        for launch in self.launches:
            launch()

    def graph(self, stream: Any, steps: int = 1) -> Any:
        """Some steps as a CUDA graph, for a GPU: ``graph.launch(stream)`` starts it."""
        launches = self.launches * steps
        functions = [launch.ready(launch.early and i > 0) for i, launch in enumerate(launches)]
        with stream:
            stream.begin_capture()
            for function in functions:
                function()
            return stream.end_capture()


def _order(n: int, epochs: int, batch: int, seed: int) -> np.ndarray:
    """The numbers of the images of every batch, as ``Network.train`` draws them."""
    kept = n // batch * batch
    shuffled = (np.random.default_rng((seed, epoch)).permutation(n) for epoch in range(epochs))
    return np.concatenate([order[:kept] for order in shuffled]).reshape(-1, batch).astype(np.int32)


class FastNetwork(plain.Network):
    """``Network`` with another way to train, on tensor cores: with ``bf16`` from bf16 factors,
    else from fp32 numbers as two halves each; sums and weights are fp32. It classifies, is saved
    and loaded in the same way."""

    def __init__(self, seed: int = 0, bf16: bool = False) -> None:
        super().__init__(seed)
        self.bf16 = bf16

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
        """As ``Network.train``, with the same batches and learning rates."""
        per_epoch = len(images) // batch
        if not per_epoch:
            raise plain.LessonError(f"{len(images)} images do not fill a batch of {batch}.")
        total = epochs * per_epoch
        last = total if until is None else min(until, total)
        first = self.steps
        if first >= last:
            return []
        pixels = np.ascontiguousarray(images).reshape(len(images), PIXELS)
        on_device = cp.asarray(pixels), cp.asarray(labels)
        tiles = None if device() == "cuda" else Tiles()  # fewest instructions for the emulator
        step = Step(self, *on_device, batch, rate, total, tiles, self.bf16)
        step.order[:-1] = cp.asarray(_order(len(images), epochs, batch, seed))
        step.begin(first)
        stream, start = cp.cuda.Stream(), step
        if device() == "cuda":
            graph = step.graph(stream)

            def start() -> None:
                graph.launch(stream)

        with stream:
            for _ in range(last - first):
                start()
        stream.synchronize()
        self.steps = last
        return cp.asnumpy(step.losses)[first:last].tolist()
