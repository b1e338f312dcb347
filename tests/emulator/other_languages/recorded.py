"""What the languages' compilers wrote for some of the cases, so that they run where none is.

``python -m tests.emulator.other_languages.recorded`` records it anew, with Triton and Numba
installed: the PTX without its tables for debuggers, and the launch in the emulator's terms.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from course_utils.emulator.findings.language_words import Language
from course_utils.emulator.languages import (
    numba_launches,
    prepared_launch,
    triton_launches,
)
from course_utils.emulator.languages.prepared_launch import PreparedLaunch, PythonSource, entry_of
from course_utils.emulator.memory.address_space import address_of

from .cases import CASES, HERE, Arrays, Case

FOLDER = HERE / "recorded"
NAMES = (
    "triton_add_90",
    "triton_softmax_80",
    "triton_product_80",
    "triton_product_90",
    "triton_squares_90",
    "triton_no_mask_90",
    "triton_two_to_one_90",
    "numba_saxpy_90",
    "numba_total_90",
    "numba_row_sums_90",
    "numba_no_guard_90",
    "numba_no_barrier_90",
)


def prepared(case: Case, arrays: Arrays) -> PreparedLaunch:
    """The launch of a case, by the compiler of its language."""
    args = tuple(arrays[value] if isinstance(value, str) else value for value in case.args)
    if case.language == "triton":
        return triton_launches.prepared_triton(
            case.function(), case.grid, args, case.meta, case.arch
        )
    return numba_launches.prepared_numba(
        case.function(), case.grid, case.block, args, arch=case.arch
    )


def replayed(case: Case, arrays: Arrays) -> PreparedLaunch:
    """The same launch, as it was recorded."""
    ptx = (FOLDER / f"{case.name}.ptx").read_text()
    facts = json.loads((FOLDER / f"{case.name}.json").read_text())

    def value(stored: Any) -> Any:
        if isinstance(stored, str):
            return arrays[stored]
        return np.dtype(stored[0]).type(stored[1])

    return PreparedLaunch(
        case.kernel,
        entry_of(ptx),
        tuple(facts["grid"]),
        tuple(facts["block"]),
        tuple(map(value, facts["args"])),
        tuple(facts["names"]),
        PythonSource.of(str(case.file)),
        facts["shared"],
        compilers_memory="global_smem" if case.language == "triton" else "none",
        language=Language[case.language.upper()],
    )


def record() -> None:
    FOLDER.mkdir(exist_ok=True)
    texts: list[str] = []
    cleaned = prepared_launch.with_lines_of_source

    def noted(ptx: str, own: str = "") -> str:
        texts.append(cleaned(ptx, own))
        return texts[-1]

    prepared_launch.with_lines_of_source = noted
    for name in NAMES:
        case = CASES[name]
        arrays = case.made()
        launch = prepared(case, arrays)
        known = {address_of(array): own for own, array in arrays.items()}
        args = [
            known[address_of(value)] if value.ndim else [value.dtype.name, value.item()]
            for value in launch.args
        ]
        facts = {
            "grid": launch.grid,
            "block": launch.block,
            "shared": launch.shared,
            "names": launch.names,
            "args": args,
        }
        (FOLDER / f"{name}.json").write_text(json.dumps(facts) + "\n")
        text = texts.pop()
        cut = re.sub(r"^\s*\.section\b.*\Z", "", text, flags=re.M | re.S).rstrip()
        files = [line for line in re.findall(r"^\s*\.file.*$", text, re.M) if line not in cut]
        (FOLDER / f"{name}.ptx").write_text("\n".join([cut, *files, ""]))


if __name__ == "__main__":
    record()
