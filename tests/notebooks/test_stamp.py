"""The stamp goes stale when code or kernels change, and only then."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_output

from course_utils.notebooks.canonical import canonical
from course_utils.notebooks.stamp import (
    fingerprints,
    keep_current,
    runs_anywhere,
    sources,
    stamp,
    violations,
)


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


def of_both(repository, good) -> list[str]:
    """The fingerprints of the cell that loads a kernel and of the one that draws."""
    return fingerprints(good, repository.root)


def test_a_fingerprint_is_16_hexadecimal_digits(repository, good):
    for found in of_both(repository, good):
        assert len(found) == 16 and set(found) <= set("0123456789abcdef")


def test_an_edited_cell_changes_its_own_fingerprint_alone(repository, good):
    loads, draws = of_both(repository, good)
    good.cells[2].source = "draw(2)"
    assert of_both(repository, good)[0] == loads
    assert of_both(repository, good)[1] != draws


def test_a_cell_that_builds_on_an_edited_one_changes_with_it(repository, good):
    good.cells[2].source = "draw(module)"
    loads, draws = of_both(repository, good)
    good.cells[1].source += "\nmodule.kernel"
    assert not {loads, draws} & set(of_both(repository, good))


def test_an_exercise_has_no_stamp_and_changes_none(repository, good):
    before = of_both(repository, good)
    good.cells.append(new_code_cell("%%exercise 01.b\nint x;"))
    assert of_both(repository, good) == before


@pytest.mark.parametrize("file", ["01_first/add.cu", "common/more.cuh"])
def test_a_kernel_or_a_header_of_its_header_changes_the_cell_that_names_it(repository, good, file):
    loads, draws = of_both(repository, good)
    repository.write(f"kernels/{file}", "int another;")
    assert of_both(repository, good)[0] != loads
    assert of_both(repository, good)[1] == draws


@pytest.mark.parametrize(
    "shown, changes", [("module.kernel", False), ("module.source", True), ("show(module)", True)]
)
def test_a_comment_counts_only_where_the_cell_shows_the_source(repository, good, shown, changes):
    good.cells[1].source += f"\n{shown}"
    repository.write("kernels/01_first/add.cu", "int a;\nint b;\n")
    before = of_both(repository, good)
    repository.write("kernels/01_first/add.cu", "// one\n\nint a;\nint b; /* of two */\n")
    assert (of_both(repository, good) != before) is changes


@pytest.mark.parametrize("shows", ["print(module.source)", "sanitize(module, 1, 32, ())"])
def test_a_comment_counts_for_a_later_cell_that_shows_it(repository, good, shows):
    good.cells[2].source = shows
    repository.write("kernels/01_first/add.cu", "int a;\n")
    loads, later = of_both(repository, good)
    repository.write("kernels/01_first/add.cu", "// one\nint a;\n")
    assert of_both(repository, good)[0] == loads
    assert of_both(repository, good)[1] != later


def test_a_comment_is_free_for_a_cell_that_builds_on_one_that_shows_it(repository, good):
    good.cells[1].source += "\nshow(module)"
    good.cells[2].source = "bench(module)"
    repository.write("kernels/01_first/add.cu", "int a;\n")
    shows, measures = of_both(repository, good)
    repository.write("kernels/01_first/add.cu", "// one\nint a;\n")
    assert of_both(repository, good)[0] != shows
    assert of_both(repository, good)[1] == measures
    repository.write("kernels/01_first/add.cu", "int b;\n")
    assert of_both(repository, good)[1] != measures


def test_prose_outputs_and_another_kernel_change_nothing(repository, good):
    before = of_both(repository, good)
    good.cells[0].source += " More words."
    good.cells[1].outputs = []
    repository.write("kernels/01_first/other.cu", "// another")
    assert of_both(repository, good) == before


def test_line_endings_change_nothing(repository, good):
    before = of_both(repository, good)
    for cell in good.cells:
        cell.source = cell.source.replace("\n", "\r\n")
    assert of_both(repository, canonical(good)) == before


def test_a_fresh_stamp_from_a_gpu_is_accepted(repository, good):
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    assert violations(good, repository.root) == []
    assert set(good.cells[1].metadata.course) == {
        *("device", "cuda", "date", "fingerprint", "anywhere")
    }
    assert "course" not in good.cells[4].metadata  # an exercise
    assert canonical(good).cells[1].metadata == good.cells[1].metadata


def test_no_stamp_a_stale_one_and_a_measurement_of_the_emulator_are_told_apart(repository, good):
    assert "no stamp" in str(violations(good, repository.root))
    good.cells[2].source = "bench(draw)"
    good.cells[2].outputs = []
    stamp(good, "emulator", "12.9", repository.root)
    (found,) = violations(good, repository.root)
    assert found.cell == 3 and "made on the emulator" in found.message
    good.cells[1].source += "\nmodule.kernel"
    (found, _) = violations(good, repository.root)
    assert found.cell == 2 and "stale" in found.message


@pytest.mark.parametrize(
    "source, expected",
    [
        ("bench(lambda: kernel(1, 32, (x,)))", True),
        ("%%needs gpu\nprint(1)", True),
        ("%%needs sm_90a torch\nprint(1)", True),
        ("start = time.perf_counter()", True),
        ("%%needs torch\nprint(1)", False),
        ("print(check(y, x))", False),
        ('measurements("scan")', False),
        ('print(record["ours"]["median_ms"], f"on {record[\'device\']}")', False),
        ('print(bench(run).median_ms / record["ours"]["median_ms"])', True),
        ("n = size(gpu=9, emulator=2)", True),
    ],
)
def test_a_new_cell_that_measures_is_known(source, expected):
    assert runs_anywhere(new_code_cell(source)) is not expected


def test_what_was_the_same_on_both_devices_may_run_anywhere_from_then_on(repository, good):
    good.cells[2].source = "bench(draw)"
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    assert [runs_anywhere(cell) for cell in good.cells[1:3]] == [True, False]
    good.cells[1].metadata.course.pop("anywhere")
    again = executed(good, "emulator", "PASS\n", repository.root)
    keep_current(again, canonical(good), "emulator", root=repository.root)
    assert [runs_anywhere(cell) for cell in again.cells[1:3]] == [True, False]
    assert again.cells[1].metadata.course.device == "NVIDIA H200"


def test_a_gpu_that_gives_what_the_emulator_gave_settles_a_cell_that_may_measure(repository, good):
    good.cells[1].source += "\nsize(gpu=2, emulator=1)"
    stamp(good, "emulator", "12.9", repository.root)
    assert [found.cell for found in violations(good, repository.root)] == [2]
    again = executed(good, "NVIDIA H200", "PASS\n", repository.root)
    keep_current(again, canonical(good), "NVIDIA H200", root=repository.root)
    assert violations(again, repository.root) == []


def executed(nb, device, text, root):
    """A copy of ``nb`` as another run leaves it: every cell printed ``text``."""
    again = canonical(nb)
    for cell in again.cells:
        if cell.cell_type == "code" and "exercise" not in cell.source:
            cell.outputs = [new_output("stream", text=text)]
    stamp(again, device, "12.9", root)
    return again


def printed(nb) -> list[str]:
    return [cell.outputs[0].get("text", "picture") for cell in (nb.cells[1], nb.cells[2])]


def test_a_gpu_s_outputs_stay_beside_what_was_not_touched(repository, good):
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    for device in ("emulator", "NVIDIA H200"):
        again = executed(good, device, "new\n", repository.root)
        assert keep_current(again, canonical(good), device, root=repository.root) == []
        assert printed(again) == ["PASS\n", "picture"]
        assert again.cells[1].metadata.course.device == "NVIDIA H200"


def test_an_edited_cell_gets_the_emulator_s_outputs_where_it_runs_anywhere(repository, good):
    good.cells[2].source = "bench(draw)"
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    for position in (1, 2):
        good.cells[position].source += "\ndraw"
    again = executed(good, "emulator", "new\n", repository.root)
    assert keep_current(again, canonical(good), "emulator", root=repository.root) == [3]
    assert printed(again) == ["new\n", "picture"]
    assert [found.cell for found in violations(again, repository.root)] == [3]


def test_a_cell_that_ran_anywhere_does_so_no_longer_once_it_measures(repository, good):
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    assert runs_anywhere(good.cells[2])
    good.cells[2].source = "bench(draw)"
    again = executed(good, "emulator", "new\n", repository.root)
    assert keep_current(again, canonical(good), "emulator", root=repository.root) == [3]
    assert printed(again)[1] == "picture"


def test_a_measured_cell_with_other_words_waits_for_a_gpu(repository, good):
    good.cells[2].source = "draw(bench)"
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    good.cells[2].source = "draw()"
    again = executed(good, "emulator", "new\n", repository.root)
    assert keep_current(again, canonical(good), "emulator", root=repository.root) == [3]


def test_the_emulator_never_replaces_what_a_gpu_measured(repository, good):
    good.cells[2].source = "bench(draw)"
    stamp(good, "NVIDIA H200", "12.9", repository.root)
    again = executed(good, "emulator", "new\n", repository.root)
    keep_current(again, canonical(good), "emulator", renew=True, root=repository.root)
    assert printed(again) == ["new\n", "picture"]


def test_a_gpu_renews_the_emulator_s_outputs_and_all_when_asked(repository, good):
    stamp(good, "emulator", "12.9", repository.root)
    again = executed(good, "NVIDIA H200", "new\n", repository.root)
    keep_current(again, canonical(good), "NVIDIA H200", root=repository.root)
    assert printed(again) == ["new\n", "new\n"]
    newer = executed(again, "NVIDIA H200", "newer\n", repository.root)
    keep_current(newer, again, "NVIDIA H200", renew=True, root=repository.root)
    assert printed(newer) == ["newer\n", "newer\n"]


def test_a_notebook_with_no_code_needs_no_stamp(repository, good):
    good.cells = [cell for cell in good.cells if cell.cell_type == "markdown"]
    assert violations(canonical(good), repository.root) == []
