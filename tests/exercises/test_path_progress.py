"""``progress --path``: the stations of a path, what is done there, and the next one."""

import pytest

from course_utils.__main__ import main
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.student.path_progress import path_progress
from course_utils.notebooks.reading_paths import EXPERT, WEEKEND


@pytest.fixture
def solve(tmp_path, monkeypatch):
    """A function that marks exercises as solved in a folder of the test's own."""
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))

    def as_solved(*exercises):
        for exercise in exercises:
            suffix = {"python": "py", "c": "c"}.get(exercise.language, "cu")
            (tmp_path / f"{exercise.id}.passed.{suffix}").write_text("solved")

    return as_solved


def of(*notebooks):
    return [each for each in all_exercises() if each.notebook in notebooks]


def test_a_new_reader_begins_with_the_first_station(solve):
    text = path_progress(WEEKEND)
    assert text.startswith(f"A weekend, about {WEEKEND.hours} hours: from your first kernel")
    assert "[ ] 00/01 This machine" in text and "0 of 1 exercises done" in text
    assert text.endswith("Next: This machine, in chapters/00_start_here/01_this_machine.ipynb.")


def test_a_notebook_is_done_with_all_its_exercises_and_a_part_with_its_own(solve):
    whole = of("00_start_here/01_this_machine", "04_first_kernels/01_hello_threads")
    solve(*whole[:-1])
    assert "[ ] 04/01" in path_progress(WEEKEND)
    solve(*whole, find("03.warp_and_lane"), find("03.waves"))
    text = path_progress(WEEKEND)
    assert "[x] 04/01" in text and "[ ] 03/02" in text and "1 of 2 exercises done" in text
    assert text.endswith("in chapters/04_first_kernels/02_two_and_three_dimensions.ipynb.")
    solve(find("03.count_warps"))
    text = path_progress(WEEKEND)
    assert "[x] 03/02" in text and 'to the end of "How latency is hidden"' in text
    (row,) = (line for line in text.splitlines() if "03/03" in line)
    assert row.endswith("40 min  to read")


def test_notebooks_to_read_come_with_the_next_one_that_has_exercises(solve):
    solve(*of("00_start_here/01_this_machine", "04_first_kernels/01_hello_threads"))
    solve(
        *of("04_first_kernels/02_two_and_three_dimensions"),
        *of("03_gpu_introduction/02_execution_model"),
    )
    assert path_progress(WEEKEND).endswith(
        "Next: The memory hierarchy (to read), then Barriers and atomics, "
        "in chapters/04_first_kernels/04_barriers_and_atomics.ipynb."
    )


def test_the_end_of_a_path_is_said(solve):
    solve(*of(*(station.name for station in EXPERT.stations)))
    assert path_progress(EXPERT).endswith("Every exercise of this path is done.")


def test_the_command_shows_a_path_and_refuses_an_unknown_one(solve, capsys):
    assert main(["progress", "--path", "weekend"]) == 0
    assert "06/03 Register tiles" in capsys.readouterr().out
    assert main(["progress", "--path", "monday"]) == 1
    assert "There are: weekend, four-weeks, expert." in capsys.readouterr().err
