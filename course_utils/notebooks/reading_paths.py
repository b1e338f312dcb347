"""Three ways through the course for readers who won't read all of it, as data.

README and ``make progress ARGS="--path weekend"`` draw them from here. A test walks each
path: a station needs nothing that the path hasn't shown yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import LessonError
from .lessons import Lesson, lessons_by_name


@dataclass(frozen=True)
class Station:
    """A notebook on a path, or a ``part`` of one.

    A part names its headings, and has its own ``minutes`` and ``exercises``. It doesn't use the
    notebooks in ``without``, which the whole notebook needs.
    """

    name: str  # "04_first_kernels/01_hello_threads"
    part: str = ""
    minutes: int = 0
    exercises: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadingPath:
    """A way through the course: for whom it is, where it ends, and its stations in order.

    Its reader knows the notebooks in ``known`` already.
    """

    name: str
    title: str
    goal: str
    stations: tuple[Station, ...]
    known: tuple[str, ...] = ()

    @property
    def minutes(self) -> int:
        """To read, run and solve all of it, by the notebooks' own estimates."""
        listed = lessons_by_name()
        return sum(minutes_of(station, listed) for station in self.stations)

    @property
    def hours(self) -> int:
        """The same in hours, rounded."""
        return round(self.minutes / 60)


def minutes_of(station: Station, listed: dict[str, Lesson]) -> int:
    """The minutes of a station, which a part has itself and a whole notebook estimates."""
    return station.minutes or listed[station.name].minutes


UP_TO_REGISTER_TILES = (
    Station(
        "06_matmul_and_fft/02_naive_to_shared",
        "without the review",
        55,
        exercises=("06.coalesced_matmul", "06.tiled_matmul"),
    ),
    Station(
        "06_matmul_and_fft/03_register_tiles",
        "without its last two exercises",
        95,
        exercises=(
            "06.four_vectors",
            "06.column_matmul",
            "06.predict_loads",
            "06.square_matmul",
            "06.fewer_wavefronts",
        ),
    ),
)

WEEKEND = ReadingPath(
    "weekend",
    "A weekend",
    "from your first kernel to a matrix product at four fifths of cuBLAS",
    (
        Station("00_start_here/01_this_machine"),
        Station("04_first_kernels/01_hello_threads"),
        Station("04_first_kernels/02_two_and_three_dimensions"),
        Station(
            "03_gpu_introduction/02_execution_model",
            'to the end of "How latency is hidden"',
            30,
            exercises=("03.warp_and_lane", "03.count_warps"),
            without=("03_gpu_introduction/01_why_gpus",),
        ),
        Station(
            "03_gpu_introduction/03_memory_hierarchy",
            'to the end of "How much per second? Bandwidth", then "Shared memory: fetch once, '
            'use often"',
            40,
        ),
        Station(
            "04_first_kernels/04_barriers_and_atomics",
            'to the end of "A barrier in a branch"',
            70,
            exercises=(
                "04.find_the_race",
                "04.scale_rows",
                "04.find_the_barrier_bug",
                "04.window_max",
            ),
            without=("04_first_kernels/03_moving_data",),
        ),
        Station(
            "04_first_kernels/05_coalescing_and_transpose",
            'all but "A column that is meant to be a bank" and "A tile of any length"',
            90,
            exercises=(
                "04.predict_sectors",
                "04.why_is_this_slow",
                "04.predict_wavefronts",
                "04.rotate_picture",
                "04.lengths",
            ),
        ),
        *UP_TO_REGISTER_TILES,
        Station("06_matmul_and_fft/04_warp_tiles"),
    ),
)

FOUR_WEEKS = ReadingPath(
    "four-weeks",
    "Four weeks",
    "a network trained on your own kernels",
    (
        Station("00_start_here/01_this_machine"),
        Station("03_gpu_introduction/01_why_gpus"),
        Station("03_gpu_introduction/02_execution_model"),
        Station("03_gpu_introduction/03_memory_hierarchy"),
        Station("03_gpu_introduction/04_roofline"),
        Station("04_first_kernels/01_hello_threads"),
        Station("04_first_kernels/02_two_and_three_dimensions"),
        Station("04_first_kernels/03_moving_data"),
        Station("04_first_kernels/04_barriers_and_atomics"),
        Station("04_first_kernels/05_coalescing_and_transpose"),
        Station("04_first_kernels/06_reductions"),
        Station("04_first_kernels/07_divergence_and_fusion"),
        Station("04_first_kernels/08_occupancy"),
        Station("04_first_kernels/09_profiling"),
        Station("04_first_kernels/10_debugging"),
        *UP_TO_REGISTER_TILES,
        Station(
            "06_matmul_and_fft/04_warp_tiles",
            'all but "From an empty cell"',
            40,
            exercises=("06.two_buffers",),
        ),
        Station("06_matmul_and_fft/05_pipelines_and_stream_k"),
        Station("06_matmul_and_fft/06_tensor_cores"),
        Station("07_pytorch_extensions/01_custom_operator"),
        Station("09_mnist_cnn/01_data"),
        Station("09_mnist_cnn/02_pytorch"),
        Station("09_mnist_cnn/04_forward_kernels"),
        Station("09_mnist_cnn/05_backward_kernels"),
        Station("09_mnist_cnn/06_faster"),
        Station("09_mnist_cnn/07_the_race"),
    ),
)

EXPERT = ReadingPath(
    "expert",
    "The expert",
    "TMA, Hopper, attention and Blackwell, for readers who have written fast CUDA kernels",
    (
        Station(
            "00_start_here/01_this_machine",
            'from "With a GPU, and without" on',
            15,
            exercises=("00.double_it",),
        ),
        Station(
            "06_matmul_and_fft/06_tensor_cores",
            'from "Which lane holds what?" to the end of "Fourth rung: the swizzle"',
            50,
            exercises=("06.fragment_place", "06.mma_product", "06.swizzled_rows"),
        ),
        Station(
            "07_pytorch_extensions/04_flash_attention",
            'only "The online softmax"',
            20,
            exercises=("07.online_softmax",),
        ),
        Station(
            "07_pytorch_extensions/06_low_precision",
            'only "A scale for each block"',
            30,
            exercises=("07.mxfp4_blocks",),
        ),
        Station("08_cute_tma_blackwell/01_layouts"),
        Station("08_cute_tma_blackwell/05_swizzle"),
        Station("08_cute_tma_blackwell/08_tma"),
        Station("08_cute_tma_blackwell/09_hopper_gemm"),
        Station(
            "08_cute_tma_blackwell/10_blackwell_gemm",
            'to the end of "Tiles leave by TMA"',
            155,
            exercises=(
                "08.cell_of_sum",
                "08.instruction_word",
                "08.tile_word",
                "08.fetched_sums",
                "08.multiplying_thread",
                "08.two_halves",
                "08.early_columns",
                "08.early_reuse",
                "08.boxed_tile",
            ),
        ),
        Station(
            "08_cute_tma_blackwell/11_block_scaled",
            'to the end of "Any size"',
            112,
            exercises=(
                "08.packed_fours",
                "08.shared_scale",
                "08.scale_cell",
                "08.scaled_word",
                "08.rows_of_scales",
                "08.early_scales",
            ),
        ),
        Station("08_cute_tma_blackwell/12_hopper_attention"),
    ),
    known=(
        "06_matmul_and_fft/02_naive_to_shared",
        "06_matmul_and_fft/04_warp_tiles",
        "06_matmul_and_fft/05_pipelines_and_stream_k",
        "06_matmul_and_fft/07_number_formats",
        "06_matmul_and_fft/10_gemv_and_softmax",
    ),
)

PATHS = (WEEKEND, FOUR_WEEKS, EXPERT)


def named_path(name: str) -> ReadingPath:
    """The path of that name. Raises LessonError, with the names there are, for any other."""
    for path in PATHS:
        if path.name == name.lower():
            return path
    names = ", ".join(path.name for path in PATHS)
    raise LessonError(f"No path is called {name}. There are: {names}.")
