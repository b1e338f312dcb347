"""The stamp goes stale when code or kernels change, and only then."""

from __future__ import annotations

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


def test_changing_a_code_cell_changes_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    good.cells[2].source = "draw(2)"
    assert notebook_hash(good, repository.root) != before


def test_changing_a_kernel_changes_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    repository.write("kernels/01_first/add.cu", "// another")
    assert notebook_hash(good, repository.root) != before


def test_changing_a_header_of_a_header_changes_the_hash(repository, good):
    before = notebook_hash(good, repository.root)
    repository.write("kernels/common/more.cuh", "// another")
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
