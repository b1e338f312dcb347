"""The records of kernels beside libraries, a file a GPU: merged with new ones, and looked up."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..errors import LessonError
from .measured_files import candidates, file_of, measurements, write

NAME = "kernels"
CEILINGS = "copy_bytes_per_second", "read_bytes_per_second"
Size = int | tuple[int, ...]
Sizes = Mapping[str, Collection[Size]]  # by kernel


def records_of(device: str) -> list[dict[str, Any]]:
    """The records of a GPU, one for each kernel and size. A GPU with no file has none."""
    records: list[dict[str, Any]] = _content(device)["records"]
    return records


def _content(device: str) -> dict[str, Any]:
    return measurements(NAME, device) if file_of(NAME, device).is_file() else {"records": []}


def merged(
    old: list[dict[str, Any]], new: list[dict[str, Any]], sizes: Sizes
) -> list[dict[str, Any]]:
    """The newer record of each kernel and size of ``sizes``, in its order of kernels. The others
    are dropped."""
    places = {name: place for place, name in enumerate(sizes)}
    wanted = {(name, _stored(size)) for name in sizes for size in sizes[name]}
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for record in (*old, *new):
        key = record["kernel"], str(record["size"])
        if key not in wanted:
            continue
        if key not in newest or record["measured"] >= newest[key]["measured"]:
            newest[key] = record
    return sorted(newest.values(), key=lambda r: (places[r["kernel"]], r["bytes"]))


def _stored(size: Size) -> str:
    """``size`` as a record's ``size``, a number or a list, is written."""
    return str(list(size) if isinstance(size, tuple) else size)


def write_merged(content: dict[str, Any], sizes: Sizes) -> Path:
    """Merge one GPU's records into its file, and into no other; returns the file.

    Of its ceilings the larger stay: the most that memory was ever seen to do. What a record says of
    its own roofline is of its own run.
    """
    device = content["device"]
    old = _content(device)
    most = {name: max(content[name], old.get(name, 0)) for name in CEILINGS if name in content}
    records = merged(old["records"], content["records"], sizes)
    return write(NAME, content | most | {"records": records})


def stored(
    kernels: list[str],
    size: Size,
    what: str = "flops",
    device: str | None = None,
) -> tuple[dict[str, float], tuple[str, float] | None, str]:
    """Measured figures for machines that cannot measure, or have measured before.

    ``what`` is "flops" for GFLOP/s or "bytes" for GB/s, from the least that has to be computed or
    moved. Returns the rate by kernel, (the last kernel's fastest library, its rate) or None where
    no library was measured, and the name of the GPU they come from: ``device`` or, without one, the
    GPU at hand where all of ``kernels`` were measured on it, otherwise the course's reference.
    Raises LessonError for a kernel or size that was not measured.
    """
    found, gpu = _found(kernels, size, device)

    def rate(record: dict[str, Any], milliseconds: float) -> float:
        return float(record[what] / milliseconds / 1e6)

    bars = {name: rate(found[name], found[name]["ours"]["median_ms"]) for name in kernels}
    last = found[kernels[-1]]
    library = last["baseline"]
    line = (library["name"], rate(last, library["median_ms"])) if library else None
    return bars, line, gpu


def stored_times(
    kernels: list[str], size: Size, device: str | None = None
) -> tuple[dict[str, float], str]:
    """Like :func:`stored`: the milliseconds of each kernel, and the GPU they come from."""
    found, gpu = _found(kernels, size, device)
    return {name: float(record["ours"]["median_ms"]) for name, record in found.items()}, gpu


def _found(
    kernels: list[str], size: Size, device: str | None
) -> tuple[dict[str, dict[str, Any]], str]:
    """The record of each kernel at ``size``, and the first GPU for which all were measured."""
    wanted = list(size) if isinstance(size, tuple) else size
    for candidate in candidates(device):
        found = {r["kernel"]: r for r in records_of(candidate) if r["size"] == wanted}
        missing = [name for name in kernels if name not in found]
        if not missing:
            return {name: found[name] for name in kernels}, candidate
    raise LessonError(
        f"{', '.join(missing)} at size {size} is not in {file_of(NAME, candidate).name}: "
        "`python -m course_utils bench --only NAME` measures it on a GPU."
    )
