"""The exercises of "Profiling"."""

from __future__ import annotations

from functools import cache

import numpy as np

from course_utils import ceil_div, measurements
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.claims import read_report
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    Target,
)
from course_utils.exercises.authoring.variants import Varied
from course_utils.exercises.authoring.vectors import (
    BLOCK,
    FULL,
    one_thread_each,
    spare_blocks,
)
from course_utils.exercises.authoring.worked import Worked


def counters_of(n: int, shift: int) -> dict[str, Ask]:
    """The questions about n elements, a multiple of 32 and 8 more, and about a shift below 8."""
    full = n // 32
    warps = full + 1
    return {
        "ffma": Ask(
            f"n = {n}, shift 0: smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
            (n, 0),
            lambda counts: counts.operations.get("ffma", 0),
            {
                BLOCK * ceil_div(n, BLOCK): "That is the number of threads, and the guard lets "
                "fewer of them through.",
                2 * n: "An FMA is one instruction for a product and a sum, and ncu counts it once.",
                warps: "Warps execute that many. `thread_inst` counts the threads that take part.",
            },
        ),
        "load_requests": Ask(
            f"n = {n}, shift 0: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            (n, 0),
            lambda counts: counts.global_load_requests,
            {
                warps: "Each warp loads from x and from y.",
                2 * full: "Round up: the last warp has 8 elements, and asks for them like any "
                "other.",
                2 * n: "A request is made by a whole warp, not by a thread.",
                64 * n: "A request is made by a whole warp, not by a thread.",
            },
        ),
        "load_sectors": Ask(
            f"n = {n}, shift 0: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            (n, 0),
            lambda counts: counts.global_load_sectors,
            {
                n // 8: "That is x alone.",
                8 * warps: "The last warp has 8 elements: how many sectors are those?",
                3 * n // 8: "Loads only: the store of y is another counter.",
            },
        ),
        "shifted_sectors": Ask(
            f"n = {n}, shift {shift}: the same counter",
            (n, shift),
            lambda counts: counts.global_load_sectors,
            {
                n // 4: f"The 32 floats of a warp now begin {4 * shift} bytes after an edge and "
                "end after one.",
                n // 4 + 1: "Every warp begins after an edge and ends after another, not just one.",
                5 * warps + n // 8: "The last warp has 8 elements only: 32 bytes, across one edge.",
                2 * (5 * full + 2): "Only x is shifted.",
            },
        ),
    }


PREDICT_COUNTERS = NumberExercise(
    source="04_first_kernels/exercises/shifted_axpy.cu",
    kernel="shifted_axpy",
    inputs=lambda rng, size: {
        "a": np.float32(2.0),
        "x": floats(rng, size[0] + size[1]),
        "y": floats(rng, size[0]),
        **int32s(shift=size[1], n=size[0]),
    },
    launch=lambda size: one_thread_each(size[0]),
    asks=counters_of(1000, 1),
    varied=Varied(
        {"n": (1000, 616, 744, 872, 1128, 1256), "shift": (1, 2, 3, 5, 6)},
        fields=lambda n, shift: {"asks": counters_of(n, shift)},
        texts=(
            "{n} elements are {full} full warps",
            "two loads, {warps} warps",
            "{n} floats are {bytes} bytes",
            "Shifted by {apart} bytes",
        ),
        words=lambda n, shift: {
            "full": n // 32,
            "warps": n // 32 + 1,
            "bytes": 4 * n,
            "apart": 4 * shift,
        },
    ),
)


def gelu(given: Given) -> dict[str, np.ndarray]:
    """GELU, by the formula with tanh."""
    v = given["x"].astype(np.float64)
    return {"y": 0.5 * v * (1 + np.tanh(0.7978846 * (v + 0.044715 * v**3)))}


def double_operations(counts: Counts) -> int:
    """Additions, multiplications and both in one, in float64, by all threads."""
    return sum(counts.operations.get(name, 0) for name in ("dadd", "dmul", "dfma"))


def wide_instructions(stats: LaunchStats) -> int:
    """All others in float64 too: conversions, comparisons, divisions."""
    return sum(n for name, n in stats.counts.opcodes.items() if ".f64" in name)


FIND_THE_DOUBLES = KernelExercise(
    source="04_first_kernels/exercises/gelu.cu",
    kernel="gelu",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=gelu,
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    worked=Worked(size=5, values={"x": (3, 1, 2, 4, 5)}),
    full=FULL,
    reduction=lambda n: 16,
    bug=kinds.TARGET_MISSED,
    contract=Domain(
        # Of negative numbers alone, equal or few, 1 + tanh leaves no six digits.
        sizes=domain.lengths(least=31),
        launches=spare_blocks,
        values=(
            domain.data(
                "x",
                domain.ZEROS,
                domain.POSITIVE,
                domain.NEGATIVE,
                domain.TIES,
                domain.RISING,
                domain.MIDDLING,
                domain.LARGE,
                domain.SMALL,
                domain.SOME_NAN,
            ),
        ),
    ),
    method=(
        Requirement(
            "instructions on 64-bit floating-point numbers",
            wide_instructions,
            at_most=0,
            advice="A conversion or a comparison of doubles is also 64-bit work: `0.5f`, `tanhf`.",
            size=1024,
        ),
        method.one_store_per_result(),
        method.balanced_work(size=1024),
    ),
    target=Target(
        label="operations in float64, by all threads",
        measure=double_operations,
        at_most=0,
        advice="What type has a number such as `0.5` in C++?",
        size=1000,
    ),
)


REPORTS = {  # the letter on the page: the kernel of the H200's record, and its largest cost
    "A": ("transpose_32", "bank conflicts"),
    "B": ("local_array", "local memory"),
    "C": ("stencil", "nothing"),
    "D": ("row_sums", "uncoalesced loads"),
    "E": ("lane_loop", "divergence"),
}
LOADS, SECTORS = "t_requests_pipe_lsu_mem_global_op_ld", "t_sectors_pipe_lsu_mem_global_op_ld"
THREADS = "smsp__thread_inst_executed_per_inst_executed.ratio"
RATIOS = {  # the counters that make the number of each name
    "uncoalesced loads": (f"l1tex__{SECTORS}.sum", f"l1tex__{LOADS}.sum"),
    "nothing": (f"l1tex__{SECTORS}.sum", f"l1tex__{LOADS}.sum"),
    "bank conflicts": (
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    ),
    "local memory": (
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    ),
    "divergence": (THREADS, None),
}


@cache
def report(letter: str) -> dict[str, float]:
    """ncu's counts on the H200, by metric."""
    kernel, _ = REPORTS[letter]
    counted: dict[str, float] = measurements("ncu", "NVIDIA H200")["kernels"][kernel]
    return counted


def number_behind(letter: str) -> float:
    """The number that proves the largest cost of a report's kernel."""
    of, each = RATIOS[REPORTS[letter][1]]
    return report(letter)[of] / (report(letter)[each] if each else 1)


READ_FIVE_REPORTS = read_report(
    REPORTS,
    lambda letter: (REPORTS[letter][1], number_behind(letter)),
    RATIOS,
    example='("nothing", 4.0)',
    other_name="Work out the ratio that belongs to this name, and compare it with its best. Which "
    "of the report's other ratios is further from its own best?",
    other_number="The name is right. Which ratio belongs to it?",
    function="diagnosis",
)


WALK_TOGETHER = KernelExercise(
    kernel="row_sums",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0] * size[1]),
        "sums": empty(size[0]),
        **int32s(rows=size[0], columns=size[1]),
    },
    reference=lambda given: {
        "sums": given["x"].astype(np.float64).reshape(given["rows"], given["columns"]).sum(axis=1)
    },
    launch=lambda size: Launch((ceil_div(size[0], 256),), (256,)),
    small=((3, 100), (257, 33), (100, 7), (1, 1)),
    worked=Worked(size=(2, 4), values={"x": (3, 1, 2, 4, 5, 1, 0, 2)}),
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            rows=(2, 7, 33, 255, 256, 300), columns=(1, 2, 31, 32, 33, 65, 257, 300)
        ).with_outlier(columns=4099),
        values=(
            domain.data(
                "x",
                domain.POSITIVE,
                domain.NEGATIVE,
                domain.EQUAL,
                domain.TIES,
                domain.SMALL,
                domain.SOME_NAN,
                domain.LAST_INFINITE,
            ),
        ),
    ),
    method=(
        method.one_store_per_result(size=(257, 33)),
        method.balanced_loads(1.5, size=(256, 320)),
        method.reads_each_once(4 * 256 * 320, at_most=1.1, size=(256, 320)),
    ),
    target=Target(
        label="sectors of a request that loads, for 100 rows of 128 floats",
        measure=lambda counts: counts.global_load_sectors / max(counts.global_load_requests, 1),
        at_most=5.0,
        advice="Which elements do the 32 lanes of a warp load at once? Lanes "
        "that are neighbours should load neighbours.",
        size=(100, 128),
    ),
)
