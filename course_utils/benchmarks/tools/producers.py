"""What makes each file of ``assets/benchmarks``, and whether a file is still of today's sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...devices.properties import need_gpu
from ...records.measured_files import file_of, measurements, with_origin, write
from ...records.sources import changed, hashes
from ..experiments import (
    autotune,
    cooperation,
    cudnn_engines,
    cute_dsl,
    cutlass_builder,
    execution,
    hardware,
    lies,
    litmus,
    mnist_race,
    mnist_step,
    ncu_counts,
    one_cause_away,
    overlap,
    profilers,
    several_gpus,
    six_ways,
    sums,
    tile_orders,
    wgmma_rates,
)
from ..libraries import triton_comparison


@dataclass(frozen=True)
class Producer:
    """What ``bench`` calls ``name`` and measures into the file of that name.

    ``what`` says it in a line. ``measure()`` returns the figures; ``sources()`` the hash of each
    source that they depend on, as it is today. ``on_request``: only where ``bench`` is asked for
    it by name, because it takes minutes or a permission.
    """

    name: str
    what: str
    measure: Callable[[], dict[str, Any]]
    sources: Callable[[], dict[str, str]]
    on_request: bool = False

    def write(self) -> Path:
        """Measure the GPU at hand into its file; returns the file.

        Raises LessonError where there is no GPU, or not what else the measurement needs.
        """
        need_gpu()
        return write(self.name, with_origin(self.measure(), self.sources()))


def stale(name: str, sources: dict[str, str], device: str) -> list[str]:
    """What of the file called ``name`` of ``device`` was measured with other ``sources``, sorted.

    A file that does not exist is not stale.
    """
    exists = file_of(name, device).is_file()
    return changed(measurements(name, device), sources) if exists else []


PRODUCERS = (
    Producer(
        "hardware",
        "latencies, bandwidths, peaks, transfers, launches, registers",
        hardware.measure,
        partial(hashes, hardware.SOURCES),
    ),
    Producer(
        "execution",
        "latency hidden by more warps, and the waves of a grid",
        execution.measure,
        partial(hashes, execution.SOURCES),
    ),
    Producer(
        "overlap",
        "copies and kernels that overlap in streams",
        overlap.measure,
        partial(hashes, overlap.SOURCES),
    ),
    Producer(
        "litmus",
        "litmus tests of the memory model, and how often each weak outcome occurred",
        litmus.measure,
        partial(hashes, litmus.SOURCES),
    ),
    Producer(
        "cooperation",
        "steps of a whole grid four ways, windows of the L2 cache, memory of the host in kernels",
        cooperation.measure,
        partial(hashes, cooperation.SOURCES),
    ),
    Producer(
        "nccl",
        "collectives on several GPUs beside all-reduces of our own, and what DDP overlaps",
        several_gpus.measure,
        partial(hashes, several_gpus.SOURCES),
        on_request=True,
    ),
    Producer(
        "exchange",
        "tokens that travel to experts on other GPUs, beside the products of the layer",
        several_gpus.measure_experts,
        partial(hashes, several_gpus.EXPERT_SOURCES),
        on_request=True,
    ),
    Producer(
        "reductions",
        "what bounds the sums of chapter 04 (with ncu and nvdisasm)",
        sums.measure,
        partial(hashes, sums.SOURCES),
        on_request=True,
    ),
    Producer(
        "profiling",
        "stalls of warps (with ncu), and a timeline of PyTorch",
        profilers.measure,
        partial(hashes, profilers.sources()),
        on_request=True,
    ),
    Producer(
        "triton",
        "Triton beside CUDA, and the PTX that it writes",
        triton_comparison.measure,
        partial(hashes, triton_comparison.SOURCES),
    ),
    Producer(
        "six_ways",
        "one softmax in six ways, from a Python loop to CUDA C++",
        six_ways.measure,
        partial(hashes, six_ways.SOURCES),
    ),
    Producer(
        "lies",
        "how a benchmark lies: the clock, the caches, the inputs, the precision",
        lies.measure,
        partial(hashes, lies.SOURCES),
    ),
    Producer(
        "cudnn",
        "every engine of cuDNN for a few layers, beside our convolutions",
        cudnn_engines.measure,
        partial(hashes, cudnn_engines.SOURCES),
    ),
    Producer(
        cute_dsl.NAME,
        "products in CUTLASS's Python DSL beside the same in C++ (with its package)",
        cute_dsl.measure,
        partial(hashes, cute_dsl.SOURCES),
        on_request=True,
    ),
    Producer(
        "cutlass",
        "chapter 08's kernels in CuTe beside those by hand, and CUTLASS's builder beside ours",
        cutlass_builder.measure,
        partial(hashes, cutlass_builder.FILES),
    ),
    Producer(
        "mnist_step",
        "a step of training chapter 09's network, by PyTorch at its fastest",
        mnist_step.measure,
        partial(hashes, mnist_step.SOURCES),
        on_request=True,
    ),
    Producer(
        "mnist_race",
        "the fused step of chapter 09 beside the fastest of mnist_step, and both accuracies",
        mnist_race.measure,
        partial(hashes, mnist_race.SOURCES),
        on_request=True,
    ),
    Producer(
        ncu_counts.NAME,
        "what Nsight Compute counts of small launches, which the emulator's counters are held to",
        ncu_counts.measure,
        ncu_counts.sources,
        on_request=True,
    ),
    Producer(
        "tile_orders",
        "a product whose tiles are visited in several orders: time, and bytes of DRAM (with ncu)",
        tile_orders.measure,
        partial(hashes, tile_orders.SOURCES),
        on_request=True,
    ),
    Producer(
        "wgmma",
        "how fast wgmma instructions follow each other, by shape and by the place of A",
        wgmma_rates.measure,
        partial(hashes, wgmma_rates.SOURCES),
        on_request=True,
    ),
    Producer(
        "causes",
        "why kernels take their time: the same kernels with one cause taken away",
        one_cause_away.measure,
        partial(hashes, one_cause_away.SOURCES),
        on_request=True,
    ),
    Producer(
        "autotune",
        "the search for the tiles of sgemm_autotuned.cu",
        autotune.measure,
        partial(hashes, autotune.SOURCES),
        on_request=True,
    ),
)
