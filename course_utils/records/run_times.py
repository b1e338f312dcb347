"""What kernels take: measured on the GPU at hand, or looked up where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..devices.properties import device_name
from ..devices.selection import ON_GPU
from ..observing.timing import bench
from .kernel_records import stored_times


def timed(
    runs: Mapping[str, Callable[[], Any]], size: int | tuple[int, ...], **options: Any
) -> tuple[dict[str, float], str]:
    """Milliseconds of each of ``runs`` by its name, and the name of the GPU they come from.

    With a GPU each is called and measured, by ``bench(run, **options)``. Without one nothing is
    called: these are the stored times of the benchmark cases with those names, at ``size``. Raises
    LessonError for one that was not measured.
    """
    if ON_GPU:
        return {name: bench(run, **options).median_ms for name, run in runs.items()}, device_name()
    return stored_times(list(runs), size)
