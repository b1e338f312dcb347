"""The network of chapter 09, trained by the fused kernels of ``fast/``: nine launches a step.

The images of the training set stay on the device as bytes; a step finds its batch there, counts
itself and lowers its own learning rate. So on a GPU one CUDA graph, captured once, is every step,
and the host has nothing to do but to start it. On the emulator the same kernels run one by one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np

from course_utils import cp, device, load

plain = SimpleNamespace(**run_path(str(Path(__file__).with_name("network.py"))))

FOLDER = "09_mnist_cnn/fast"
PIXELS, PIXELS1, INPUTS3, HIDDEN, TILE = 784, 196, 1568, 128, 98
PLANE, IMAGE_FLOATS = 16 * 18 + 1, 30 * 35  # as in batch.cuh
PADDED = 16 * 18  # pixels of mma_conv.cuh
MOMENTS, HEAD_SUMS, UPDATE_BLOCKS = 90, 1419, 402
FLOAT, HALF = 4, 2  # bytes
BF16 = (  # kernels that have a sibling for tensor cores
    "conv1_conv2",
    "pool2_linear3",
    "linear3_backward_weight",
    "linear3_backward_input",
    "conv2_backward_weight",
    "conv2_backward_input",
)


EARLY = "pool2_linear3", "head", "linear3_backward_input"


@dataclass(frozen=True)
class Tiles:
    """How the kernels share out the work of a batch."""

    parts: int = 1  # blocks of conv1_conv2 and conv2_backward_input that share an image, 1 or 2
    filter_parts: int = 1  # blocks of conv2_backward_weight that share conv2's filters, 1 or 2
    conv_rows: int = 1  # of 7 pixels that a thread computes; with 2 parts, 1
    rows3: int = 4  # linear3: images of a thread
    channels3: int = 1  # channels of a block
    head_images: int = 8  # of a block
    input_rows: int = 4  # images of a thread of linear3_backward_input
    input_depth: int = 64
    input_splits: int = 1  # groups of threads that share a sum
    weight_images: int = 32  # of a block of linear3_backward_weight
    weight_depth: int = 16
    groups: int = 7  # of threads of conv2_backward_weight
    conv_blocks: int = 2  # blocks for each multiprocessor: conv1_conv2,
    input_blocks: int = 2  # conv2_backward_input,
    weight_blocks: int = 1  # and conv2_backward_weight
    early_input: bool = False  # conv2_backward_input begins before the kernel before it ends


def tiles_for(batch: int, bf16: bool = False) -> Tiles:
    """What suits a batch of that size."""
    if bf16 and batch <= 128:
        return Tiles(
            filter_parts=2, rows3=1, channels3=2, head_images=2, input_rows=1,
            weight_images=32, weight_depth=32,
        )  # fmt: skip
    if bf16 and batch <= 512:
        return Tiles(
            rows3=1, channels3=2, head_images=2, input_rows=2, weight_images=64, weight_depth=32
        )
    if bf16:
        return Tiles(
            filter_parts=2, rows3=2, channels3=2, input_rows=2, weight_images=128, weight_depth=64,
            weight_blocks=2,
        )  # fmt: skip
    if batch <= 128:
        return Tiles(
            parts=2, filter_parts=2, rows3=4, head_images=1, input_rows=4, input_depth=128,
            input_splits=4,
        )  # fmt: skip
    if batch <= 512:
        return Tiles(head_images=2, input_rows=4, input_splits=2, weight_depth=32, early_input=True)
    return Tiles(
        filter_parts=2, rows3=8, head_images=4, input_depth=128, weight_images=128, weight_depth=32,
        weight_blocks=2, early_input=True,
    )  # fmt: skip


@cache
def _kernel(name: str, defines: tuple[tuple[str, int], ...]) -> Any:
    return load(f"{FOLDER}/{name}.cu", defines=dict(defines)).kernel


@dataclass(frozen=True)
class Launch:
    """One kernel of a step, and which branch of the graph it is in: those of branch 0 follow each
    other, one of another branch follows the launch before it, and update waits for all."""

    name: str
    kernel: Any
    grid: tuple[int, ...]
    block: int
    arguments: tuple[Any, ...]
    shared: int = 0
    branch: int = 0
    early: bool = False  # it waits for the one before by itself, and may begin earlier

    def __call__(self) -> None:
        self.kernel(self.grid, self.block, self.arguments, shared_mem=self.shared)

    def ready(self) -> Callable[[], None]:
        """A function that launches on a GPU's current stream and neither checks nor waits."""
        shape = (self.grid + (1, 1))[:3], (self.block, 1, 1)
        values = self.kernel.check(*shape, self.arguments, self.shared)
        raw = self.kernel.raw
        if self.early:
            return lambda: _launch_early(raw, *shape, values, self.shared)
        return lambda: raw(*shape, values, shared_mem=self.shared)


def _launch_early(
    raw: Any, grid: tuple[int, ...], block: tuple[int, ...], values: Any, shared: int
) -> None:
    """Launch with programmatic stream serialization, which CuPy has no word for."""
    from cuda.bindings import driver

    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    config.sharedMemBytes = shared
    config.hStream = driver.CUstream(cp.cuda.get_current_stream().ptr)
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    config.attrs, config.numAttrs = [attribute], 1
    arrays = [hasattr(value, "data") and hasattr(value.data, "ptr") for value in values]
    pairs = list(zip(values, arrays, strict=True))
    numbers = tuple(value.data.ptr if array else value.item() for value, array in pairs)
    types = tuple(
        ctypes.c_void_p if array else np.ctypeslib.as_ctypes_type(value.dtype)
        for value, array in pairs
    )
    (error,) = driver.cuLaunchKernelEx(
        config, driver.CUfunction(raw.kernel.ptr), (numbers, types), 0
    )
    if error:
        raise RuntimeError(f"cuLaunchKernelEx: {error.name}")


def multiprocessors() -> int:
    return cp.cuda.Device().attributes["MultiProcessorCount"]


def _ceil(n: int, d: int) -> int:
    return -(-n // d)


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
        sms = multiprocessors()
        conv_blocks = min(n, _ceil(sms * t.conv_blocks, t.parts))
        input_blocks = min(n, _ceil(sms * t.input_blocks, t.parts))
        weight_blocks = min(n, _ceil(sms * t.weight_blocks, t.filter_parts))
        parts3 = 32 // t.channels3
        input_images = 16 * t.input_rows // (1 if bf16 else t.input_splits)
        input_tiles = _ceil(n, input_images)
        head_blocks, weight_parts = _ceil(n, t.head_images), _ceil(n, t.weight_images)

        def floats(*shape: int) -> Any:
            return cp.empty(shape, cp.float32)

        def codes(*shape: int) -> Any:
            return cp.empty(shape, cp.uint8)

        pool1 = cp.empty((n, 16, PIXELS1), cp.uint16 if bf16 else cp.float32)
        code1 = codes(n, 16, PIXELS1)
        c2, means, squares = floats(n, 32, PIXELS1), floats(32, n, t.parts), floats(32, n, t.parts)
        best2, code2, scale2 = floats(n, INPUTS3), codes(n, INPUTS3), floats(5, 32)
        parts, dz3 = floats(parts3, n, HIDDEN), floats(n, HIDDEN)
        head_sums, dy2 = floats(head_blocks, HEAD_SUMS), floats(n, INPUTS3)
        sums2, dweight3 = floats(input_tiles, 2, 32), floats(weight_parts, HIDDEN, INPUTS3)
        sums1, dconv2 = floats(16, 10, input_blocks, t.parts), floats(weight_blocks, 32, 16, 9)
        p, running = network.parameters, network.running
        batch_of = images, self.order, self.clock
        self.launches: list[Launch] = []

        def add(
            name: str,
            grid: tuple[int, ...],
            block: int,
            arguments: tuple[Any, ...],
            shared: int = 0,
            branch: int = 0,
            **defines: int,
        ) -> None:
            file = f"bf16/{name}_bf16" if bf16 and name in BF16 else name
            kernel = _kernel(file, tuple(defines.items()))
            early = name in EARLY or (name == "conv2_backward_input" and t.early_input)
            launch = Launch(name, kernel, grid, block, arguments, shared, branch, early)
            self.launches.append(launch)

        blocks, rows = (min(n, 4 * sms),), 14 // t.parts
        first = (*batch_of, self.moments, 0, n)
        self.first = Launch("input_moments", _kernel("input_moments", ()), blocks, 256, first)
        grid = conv_blocks, t.parts
        arguments = (
            *batch_of, self.moments, p["conv1"], p["gamma1"], p["beta1"], p["conv2"],
            pool1, code1, c2, means, squares, n,
        )  # fmt: skip
        if bf16:
            shared = FLOAT * (32 * PIXELS1 + IMAGE_FLOATS) + HALF * PADDED * 24
            add("conv1_conv2", grid, 224, arguments, shared, PARTS=t.parts)
        else:
            shared = 144 * (32 + 4) + 32 * 14 * rows + 16 * PLANE + IMAGE_FLOATS
            add(
                "conv1_conv2", grid, 224, arguments, FLOAT * shared,
                ROWS=t.conv_rows, PARTS=t.parts, SPLITS=t.conv_rows * t.parts,
            )  # fmt: skip
        ahead = (*batch_of, self.moments, 1, n)
        add("input_moments", blocks, 256, ahead, branch=3)
        images3 = (16 if bf16 else 8) * t.rows3
        add(
            "pool2_linear3", (_ceil(n, images3), parts3), 256,
            (c2, means, squares, p["gamma2"], p["beta2"], p["weight3"], best2, code2, parts,
             scale2, n * t.parts, n),
            HALF * (images3 + HIDDEN) * 120 if bf16 else 0, ROWS=t.rows3, CHANNELS=t.channels3,
        )  # fmt: skip
        add(
            "head", (head_blocks,), 256,
            (parts, p["bias3"], p["weight4"], p["bias4"], labels, self.order, self.clock, dz3,
             head_sums, n),
            IMAGES=t.head_images, PARTS=parts3,
        )  # fmt: skip
        add(
            "linear3_backward_weight", (weight_parts, 16), 224, (dz3, best2, scale2, dweight3, n),
            FLOAT * HIDDEN * TILE, branch=1, IMAGES=t.weight_images, DEPTH=t.weight_depth,
        )  # fmt: skip
        if bf16:
            shared, depth = HALF * (input_images * 136 + HIDDEN * 120), {}
        else:
            shared = FLOAT * t.input_depth * (input_images + 4 + TILE)
            depth = {"DEPTH": t.input_depth, "SPLITS": t.input_splits}
        add(
            "linear3_backward_input", (input_tiles, 16), 224,
            (dz3, p["weight3"], best2, scale2, dy2, sums2, n),
            max(shared, FLOAT * input_images * TILE), ROWS=t.input_rows, **depth,
        )  # fmt: skip
        of_batch2 = c2, dy2, code2, scale2, sums2
        grid, arguments = (
            (weight_blocks, t.filter_parts),
            (*of_batch2, pool1, dconv2, input_tiles, n),
        )
        if bf16:
            shared, threads, groups = HALF * PADDED * (40 + 24), 448 // t.filter_parts, {}
        else:
            shared = FLOAT * (32 // t.filter_parts * (PIXELS1 + 1) + 16 * PLANE)
            threads, groups = 64 // t.filter_parts * t.groups, {"GROUPS": t.groups}
        group = 64 // t.filter_parts  # threads, each with 72 sums
        shared = max(shared, FLOAT * threads // group * 72 * (group + 1))
        add(
            "conv2_backward_weight", grid, threads, arguments, shared,
            branch=2, PARTS=t.filter_parts, **groups,
        )  # fmt: skip
        shared = FLOAT * (16 * PIXELS1 + IMAGE_FLOATS)
        if bf16:
            shared, splits = shared + HALF * PADDED * 40, {}
        else:
            shared += FLOAT * (32 * 9 * 16 + 32 * PLANE)
            splits = {"ROWS": t.conv_rows, "SPLITS": 2 * t.conv_rows * t.parts}
        add(
            "conv2_backward_input", (input_blocks, t.parts), 224,
            (*batch_of, *of_batch2, p["conv2"], code1, sums1, input_tiles, n),
            shared, PARTS=t.parts, **splits,
        )  # fmt: skip
        add(
            "update", (UPDATE_BLOCKS,), 256,
            (*p.values(), *running.values(), self.moments, sums1, input_blocks * t.parts, scale2,
             sums2, input_tiles, dconv2, weight_blocks, head_sums, head_blocks, dweight3,
             weight_parts, self.losses, self.clock, rate, total, n),
        )  # fmt: skip

    def begin(self, steps: int) -> None:
        """Go on after ``steps`` steps."""
        self.clock[...] = steps
        self.moments[...] = 0
        self.first()

    def __call__(self) -> None:
        """Launch after launch."""
        for launch in self.launches:
            launch()

    def graph(self, stream: Any) -> Any:
        """The step as a CUDA graph, for a GPU: ``graph.launch(stream)`` starts it."""
        functions = [launch.ready() for launch in self.launches]
        sides: dict[int, Any] = {}
        with stream:
            stream.begin_capture()
            for launch, function in zip(self.launches, functions, strict=True):
                if launch.branch:
                    side = sides[launch.branch] = cp.cuda.Stream(non_blocking=True)
                    side.wait_event(stream.record(cp.cuda.Event(disable_timing=True)))
                    with side:
                        function()
                    continue
                if launch.name == "update":
                    for side in sides.values():
                        stream.wait_event(side.record(cp.cuda.Event(disable_timing=True)))
                function()
            return stream.end_capture()


def _order(n: int, epochs: int, batch: int, seed: int) -> np.ndarray:
    """The numbers of the images of every batch, as ``Network.train`` draws them."""
    kept = n // batch * batch
    shuffled = (np.random.default_rng((seed, epoch)).permutation(n) for epoch in range(epochs))
    return np.concatenate([order[:kept] for order in shuffled]).reshape(-1, batch).astype(np.int32)


class FastNetwork(plain.Network):
    """``Network`` with another way to train, with ``bf16`` on tensor cores: bf16 factors, fp32 sums
    and weights. It classifies, is saved and loaded in the same way."""

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
        step = Step(self, *on_device, batch, rate, total, bf16=self.bf16)
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
