"""The course's two long ladders as pictures, which ``bench --draw`` draws: one matrix product from
Python's loops to Hopper's tensor cores, and one training step of the network for digits."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import LessonError
from ..paths import CHAPTERS, ROOT, shown
from ..whole_files import write_whole
from .kernel_records import stored
from .ladder_svg import Axis, LadderBar, ladder_svg
from .measured_files import REFERENCE, measurements

FOLDER = ROOT / "assets" / "figures"
TRAINING = FOLDER / "training_step.svg"
HOST = CHAPTERS / "06_matmul_and_fft" / "01_matmul_python_to_c.ipynb"
# Lines that HOST printed: "C, blocks: 84 ms, 24.96 GFLOP/s", a row of the table of Python's loops.
_RATE = re.compile(r"^(C, [^:\n]+): \d+ ms, ([\d.]+) GFLOP/s$", re.M)
_ROW = re.compile(r"^(Python, [^\n]+?) {2,}[\d.]+ +([\d.]+)$", re.M)
_LIBRARY = re.compile(r"all cores (\d+) GFLOP/s")
_ALL_CORES = "NumPy, all cores"
# The library that does the work, where a record names what calls it.
_CALLED = {"cupy.matmul": "cuBLAS fp32"}


class LadderRung(NamedTuple):
    """A bar, the notebook that climbs to it, and what was measured: a line that :data:`HOST`
    printed, or a kernel and the n of its n x n matrices. A library's bar has no name: its rate is
    of the library that was fastest beside that kernel."""

    name: str
    notebook: str
    measured: str
    n: int = 0


MATMUL = (
    LadderRung("Python, three loops", "06/01", "Python, loops over arrays"),
    LadderRung("C, the same loops", "06/01", "C, ijk"),
    LadderRung("blocks for the cache", "06/01", "C, blocks"),
    LadderRung("packed operands, SIMD", "06/01", "C, packed"),
    LadderRung("16 threads", "06/01", "C, packed, 16 threads"),
    LadderRung("", "06/01", _ALL_CORES),
    LadderRung("GPU, a thread per element", "06/02", "sgemm_naive", 4096),
    LadderRung("coalesced", "06/02", "sgemm_coalesced", 4096),
    LadderRung("shared-memory tiles", "06/02", "sgemm_shared_32", 4096),
    LadderRung("register tiles", "06/03", "sgemm_conflict_free", 4096),
    LadderRung("warp tiles, two buffers", "06/04", "sgemm_double_buffer", 4096),
    LadderRung("pipelines and stream-K", "06/05", "sgemm_stream_k", 4096),
    LadderRung("", "06/05", "sgemm_stream_k", 4096),
    LadderRung("tensor cores, fp16", "06/06", "hgemm_swizzle", 8192),
    LadderRung("", "06/06", "hgemm_swizzle", 8192),
    LadderRung("CuTe, bf16", "08/07", "gemm_bf16_tiled", 8192),
    LadderRung("wgmma and TMA, bf16", "08/09", "gemm_hopper", 8192),
    LadderRung("", "08/09", "gemm_hopper", 8192),
)
AXIS = Axis(1e-3, 1e6, (1e-3, 1, 1e3, 1e6), is_logarithmic=True)
NOTEBOOKS = tuple(dict.fromkeys(rung.notebook for rung in MATMUL))


def draw() -> None:
    """Write every picture. Raises LessonError for a rung that wasn't measured."""
    for file, text in pictures():
        write_whole(file, text)


def pictures() -> Iterator[tuple[Path, str]]:
    """Each file with its SVG: a matmul's picture without a mark, one for each notebook, and the
    training step's."""
    bars = matmul_bars()
    for notebook in (None, *NOTEBOOKS):
        yield matmul_file(notebook), matmul_picture(bars, notebook)
    yield TRAINING, training_picture()


def matmul_file(notebook: str | None = None) -> Path:
    """The picture in which the rungs of ``notebook``, such as ``"06/03"``, are marked."""
    return FOLDER / f"matmul_ladder{'_' + notebook.replace('/', '_') if notebook else ''}.svg"


def matmul_picture(bars: list[LadderBar], notebook: str | None = None) -> str:
    """The product's ladder as SVG, with the rungs of ``notebook`` marked."""
    own = [bar.value for bar in bars if bar.notebook]
    return ladder_svg(
        f"One matrix product, {_power(own[-1] / own[0])} times faster",
        f"GFLOP/s of a CPU and an {REFERENCE}, logarithmic. Grey bars are libraries. "
        "× is the gain over our rung above.",
        bars,
        AXIS,
        notebook,
    )


def matmul_bars() -> list[LadderBar]:
    """A bar for each rung of :data:`MATMUL`, in GFLOP/s."""
    host = _host_rates()
    bars: list[LadderBar] = []
    before = 0.0
    for rung in MATMUL:
        name, rate = _measured(rung, host)
        gain = f"  ×{_gain(rate / before)}" if rung.name and before else ""
        bars.append(
            LadderBar(name, rate, _figure(rate) + gain, rung.notebook if rung.name else None)
        )
        before = rate if rung.name else before
    return bars


def training_picture() -> str:
    """A step of training on 64 images in fp32, from eager PyTorch to our kernels. Raises
    LessonError where a record is missing."""
    ways = {
        run["way"]: run["median_us"]
        for run in measurements("mnist_step", REFERENCE)["runs"]
        if (run["precision"], run["layout"], run["batch"]) == ("fp32", "NCHW", 64)
    }
    races = [
        step
        for step in measurements("mnist_race", REFERENCE)["steps"]
        if (step["precision"], step["batch"]) == ("fp32", 64)
    ]
    if missing := {"eager", "CUDA graph"} - ways.keys():
        raise LessonError(
            f"No step was measured as {', '.join(missing)}: `bench --only mnist_step`"
        )
    if not races:
        raise LessonError("No race was measured in fp32 on 64 images: `bench --only mnist_race`")
    eager, race = ways["eager"], races[0]
    bars = [
        LadderBar("PyTorch, eager", eager, f"{eager:,.0f}", "09/02"),
        *(
            LadderBar(
                name, time, f"{time:,.{0 if time > 100 else 1}f}  ×{_gain(eager / time)}", number
            )
            for name, time, number in (
                ("its kernels in a CUDA graph", ways["CUDA graph"], "09/02"),
                ("torch.compile, " + race["way"].partition(" ")[0], race["theirs_us"], None),
                ("our kernels", race["ours_us"], "09/06"),
            )
        ),
    ]
    return ladder_svg(
        f"One training step, {eager / race['ours_us']:.0f} times faster",
        f"µs for 64 digits in fp32 on an {REFERENCE}. × is the gain over the first bar.",
        bars,
        Axis(0, 2000, (0, 500, 1000, 1500, 2000)),
    )


def _measured(rung: LadderRung, host: dict[str, float]) -> tuple[str, float]:
    """A rung's label and its GFLOP/s."""
    if not rung.n:
        if rung.measured not in host:
            raise LessonError(f"{shown(HOST)} has no output of “{rung.measured}”. Run its cells.")
        return rung.name or rung.measured, host[rung.measured]
    ours, library, _ = stored([rung.measured], rung.n, device=REFERENCE)
    if rung.name:
        return rung.name, ours[rung.measured]
    if library is None:
        raise LessonError(f"No library was measured beside {rung.measured} at n = {rung.n}.")
    name = re.sub(r" \(\w+\)$", "", library[0])
    return _CALLED.get(name, name), library[1]


def _host_rates() -> dict[str, float]:
    """The GFLOP/s that :data:`HOST` printed, by the names of its lines."""
    cells = json.loads(HOST.read_text(encoding="utf-8"))["cells"]
    printed = "\n".join(
        "".join(output["text"])
        for cell in cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    )
    found = [*_RATE.findall(printed), *_ROW.findall(printed)]
    found += [(_ALL_CORES, rate) for rate in _LIBRARY.findall(printed)]
    return {name: float(rate) for name, rate in found}


def _figure(rate: float) -> str:
    """Three digits: ``0.007``, ``2.65``, ``498``, ``37,400``."""
    if rate < 1:
        return f"{rate:.1g}"
    return f"{float(f'{rate:.3g}'):,.{2 if rate < 10 else 1 if rate < 100 else 0}f}"


def _gain(gain: float) -> str:
    return f"{gain:.2f}" if gain < 2 else f"{gain:.1f}" if gain < 10 else f"{gain:.0f}"


def _power(factor: float) -> str:
    """``10⁸`` or ``3 × 10⁸``."""
    digit, power = f"{factor:.0e}".split("e+")
    raised = str(int(power)).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if digit == "1" else f"{digit} × 10{raised}"
