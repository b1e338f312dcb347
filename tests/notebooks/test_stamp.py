"""The stamp goes stale when code or kernels change, and only then."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell

from course_utils.notebooks.canonical import canonical
from course_utils.notebooks.stamp import notebook_hash, sources, stamp, violations


def test_the_kernels_named_and_what_they_include_are_the_sources(repository, good):
    names = [
        path.relative_to(repository.root).as_posix() for path in sources(good, repository.root)
    ]
    assert names == [
        "kernels/01_first/add.cu",
        "kernels/common/more.cuh",
        "kernels/common/tile.cuh",
    ]


def test_an_include_without_a_space_counts(repository, good):
    before = sources(good, repository.root)
    repository.write("kernels/common/tile.cuh", '#pragma once\n#include"more.cuh"\n')
    assert sources(good, repository.root) == before


def named(repository, good, *names: str, source: str) -> list[str]:
    """Those of the files ``names``, made below `kernels`, that a cell with ``source`` adds."""
    for name in names:
        repository.write(f"kernels/{name}", "// code")
    before = set(sources(good, repository.root))
    good.cells.append(new_code_cell(source))
    more = sorted(set(sources(good, repository.root)) - before)
    return [path.relative_to(repository.root / "kernels").as_posix() for path in more]


@pytest.mark.parametrize(
    "source",
    [
        'load("01_first/sub.cu")',
        'Path("../../kernels/01_first/sub.cu").read_text()',
        'folder = "01_first"\nload(f"{folder}/sub.cu")',
        'for name in ("plus", "sub"):\n    load(f"01_first/{name}.cu")',
        'build("sub")  # f"{name}.cu"',
    ],
)
def test_a_kernel_counts_however_its_name_is_written(repository, good, source):
    files = ("01_first/sub.cu", "01_first/other.cu")
    assert named(repository, good, *files, source=source) == ["01_first/sub.cu"]


def test_the_rungs_of_a_ladder_count_and_no_others(repository, good):
    files = [f"01_first/0{rung}_sum_{name}.cu" for rung, name in enumerate("abcd")]
    source = (
        'for rung, name in enumerate(("a", "c")):\n    load(f"01_first/{rung:02}_sum_{name}.cu")'
    )
    assert named(repository, good, *files, source=source) == [files[0], files[2]]


@pytest.mark.parametrize("file", ["01_first/host/sub.c", "01_first/sub.py", "common/sub.cuh"])
def test_programs_and_headers_count(repository, good, file):
    source = f'run("{file.rpartition("/")[2]}")'
    assert named(repository, good, file, source=source) == [file]


def test_data_and_transcripts_count(repository, good):
    data = repository.write("assets/data/digits.csv", "1")
    transcript = repository.write("assets/transcripts/triton_add.ptx.txt", "add")
    cell = 'data = "../../assets/data/digits.csv"\nshow("add.ptx")  # triton_{name}.txt'
    good.cells.append(new_code_cell(cell))
    assert {data, transcript} <= set(sources(good, repository.root))


def test_the_solution_of_an_exercise_counts_only_where_a_cell_loads_it(repository, good):
    file = "01_first/exercises/add_two.cu"
    assert named(repository, good, file, source='%%exercise 01.add_two\n"add_two.cu"') == []
    assert named(repository, good, file, source='build("add_two")  # {name}.cu') == []
    assert named(repository, good, file, source=f'load("{file}")') == [file]


def test_the_hash_is_16_hexadecimal_digits(repository, good):
    found = notebook_hash(good, repository.root)
    assert len(found) == 16 and set(found) <= set("0123456789abcdef")


def test_changing_a_code_cell_changes_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    good.cells[2].source = "draw(2)"
    assert notebook_hash(good, repository.root) != before


def test_an_exercise_does_not_count(repository, good):
    before = notebook_hash(good, repository.root)
    good.cells.append(new_code_cell("%%exercise 01.b\nint x;"))
    assert notebook_hash(good, repository.root) == before


def test_changing_a_kernel_changes_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    repository.write("kernels/01_first/add.cu", "int another;")
    assert notebook_hash(good, repository.root) != before


def test_a_comment_counts_only_where_it_moves_a_line(repository, good):
    repository.write("kernels/01_first/add.cu", "int a; // one\nint b;\n")
    before = notebook_hash(good, repository.root)
    repository.write("kernels/01_first/add.cu", "int a;\nint b; /* of two */\n")
    assert notebook_hash(good, repository.root) == before
    repository.write("kernels/01_first/add.cu", "// one\nint a;\nint b;\n")
    assert notebook_hash(good, repository.root) != before


def test_changing_a_header_of_a_header_changes_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    repository.write("kernels/common/more.cuh", "int another;")
    assert notebook_hash(good, repository.root) != before


def test_changing_prose_or_outputs_or_another_kernel_keeps_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    good.cells[0].source += " More words."
    good.cells[1].outputs = []
    repository.write("kernels/01_first/other.cu", "// another")
    assert notebook_hash(good, repository.root) == before


def test_the_hash_does_not_depend_on_line_endings(repository, good):
    before = notebook_hash(good, repository.root)
    for cell in good.cells:
        cell.source = cell.source.replace("\n", "\r\n")
    assert notebook_hash(canonical(good), repository.root) == before


def test_a_fresh_stamp_from_a_gpu_is_accepted(repository, good):
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    assert violations(good, repository.root) == []
    assert set(good.metadata.course) == {"device", "cuda", "date", "source_hash"}


def test_no_stamp_a_stale_one_and_one_of_the_emulator_are_told_apart(repository, good):
    assert "no stamp" in str(violations(good, repository.root))
    stamp(good, "emulator", "12.9", repository.root)
    assert "made on the emulator" in str(violations(good, repository.root))
    good.cells[2].source = "draw(2)"
    assert "stale" in str(violations(good, repository.root))


def test_a_notebook_with_no_code_needs_no_stamp(repository, good):
    good.cells = [cell for cell in good.cells if cell.cell_type == "markdown"]
    assert violations(canonical(good), repository.root) == []
