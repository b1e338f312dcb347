"""%%exercise, hints, solutions, reset and progress, as a student meets them."""

import json
import os
from types import SimpleNamespace

import pytest

from course_utils.__main__ import main
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.exercises import answer, hint, progress, reset, restore, solution
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging import verification_cache, verify
from course_utils.exercises.judging.outcome import ExerciseFailed
from course_utils.exercises.student import magic as student
from course_utils.exercises.student import saved_answers
from course_utils.paths import CHAPTERS

SAXPY = find("04.saxpy")
WRONG = SAXPY.solution.replace("a * x", "x")


@pytest.fixture(autouse=True)
def on_the_emulator(monkeypatch):
    monkeypatch.setattr(student, "on_gpu", lambda: False)


def test_a_beginner_s_path_from_empty_cell_to_pass():
    path = [
        ("", kinds.EMPTY),
        (SAXPY.starter, kinds.NOT_STARTED),
        (SAXPY.solution.replace("y[i];", "y[i]"), kinds.COMPILE_ERROR),
        (SAXPY.solution.replace("i < n", "i <= n"), kinds.OUT_OF_BOUNDS),
        (SAXPY.solution.replace("i < n", "i < n - 1"), kinds.EDGES),
        (SAXPY.solution, kinds.PASS),
    ]
    for cell, kind in path:
        assert student.exercise("04.saxpy", cell).kind == kind
    line = next(line for line in progress().lines if line.id == "04.saxpy")
    assert (line.status, line.tries) == ("done", 4)


def test_an_unsolved_notebook_runs_to_its_end_unless_it_must_be_strict(monkeypatch):
    student.exercise("04.saxpy", WRONG)
    monkeypatch.setenv("COURSE_STRICT", "1")
    for cell in (SAXPY.starter, WRONG):
        with pytest.raises(ExerciseFailed) as failed:
            student.exercise("04.saxpy", cell)
        assert failed.value._render_traceback_()[0].startswith("04.saxpy: ")
    assert student.exercise("04.saxpy", SAXPY.solution).passed


def test_done_stays_done_after_a_later_mistake():
    student.exercise("04.saxpy", SAXPY.solution)
    student.exercise("04.saxpy", WRONG)
    assert "[x] 04.saxpy" in str(progress())


def test_progress_counts_by_chapter_and_names_the_next_exercise():
    student.exercise("00.double_it", find("00.double_it").solution)
    student.exercise("04.saxpy", WRONG)
    text = str(progress())
    assert "00_start_here: 1 of 1 done" in text and "[~] 04.saxpy" in text
    assert "Next: 01.compilations, in chapters/01_ecosystem/01_frameworks.ipynb." in text
    assert "04.saxpy" in progress()._repr_html_()


def test_only_the_chapter_with_the_next_exercise_is_unfolded():
    page = progress()._repr_html_()
    assert page.count("<details") == len(progress().chapters)
    assert page.count("<details open>") == 1
    assert page.startswith("<details open><summary>00_start_here: 0 of 1 done</summary>")
    assert "[ ] 00.double_it" in repr(progress()) and "04_first_kernels: 0 of" in repr(progress())
    assert "04.saxpy" not in repr(progress())


def test_a_starter_with_a_planted_bug_is_no_attempt_and_its_cure_is_done():
    race = find("04.find_the_race")
    assert student.exercise(race.id, race.starter).kind == race.bug
    assert restore(race.id).text.startswith("You have not tried")
    assert student.exercise(race.id, race.solution).passed
    assert str(restore(race.id)).endswith(race.solution)


def test_progress_leaves_out_exercises_whose_notebook_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(saved_answers, "CHAPTERS", tmp_path)
    assert progress().lines == () and "Everything is done" in str(progress())


def test_hints_come_one_at_a_time_and_the_last_one_stays():
    shown = [str(hint("04.saxpy")) for _ in range(len(SAXPY.hints) + 1)]
    assert shown[0].startswith("**Hint 1 of 4.** Block `b` starts")
    assert len(set(shown)) == len(SAXPY.hints) and shown[-1] == shown[-2]


def test_the_solution_comes_with_its_explanation():
    text = str(solution("04.saxpy"))
    assert SAXPY.solution.strip() in text and SAXPY.explanation.strip() in text


def test_reset_brings_the_starter_back_and_restore_the_last_try():
    student.exercise("04.saxpy", WRONG)
    assert str(restore("04.saxpy")) == f"%%exercise 04.saxpy\n{WRONG}"
    assert str(reset("04.saxpy")).startswith("%%exercise 04.saxpy\n" + SAXPY.starter[:40])
    assert "[ ] 04.saxpy" in str(progress())
    assert str(restore("04.clamp")) == "You have not tried 04.clamp yet."


def test_reset_and_restore_put_the_text_into_a_new_cell_of_a_notebook(monkeypatch):
    cells = []
    shell = SimpleNamespace(set_next_input=lambda text, replace: cells.append((text, replace)))
    student.exercise("04.saxpy", WRONG)
    monkeypatch.setattr(student, "running_shell", lambda: shell)
    assert str(restore("04.saxpy")) == "Your last try at 04.saxpy is in the cell below."
    assert str(reset("04.saxpy")).startswith("The starter of 04.saxpy is in the cell below.")
    last, starter = cells
    assert last == (f"%%exercise 04.saxpy\n{WRONG}", False)
    assert starter[0].startswith("%%exercise 04.saxpy\n" + SAXPY.starter[:40]) and not starter[1]


def test_lines_are_counted_as_the_notebook_s_cell_shows_them():
    """Below the line of ``%%exercise``, which is the first."""
    source = SAXPY.solution.replace("y[i];", "y[i]")
    line = next(n for n, text in enumerate(source.splitlines(), 2) if text.endswith("+ y[i]"))
    said = str(student.exercise("04.saxpy", source))
    assert f"04.saxpy.cu:{line + 1}: error" in said  # the next one, where the semicolon is missed
    python = find("04.blocks_for")
    name = python.solution.split("(")[0]
    said = str(student.exercise(python.id, f"{name}(n, threads):\n    return n // 0"))
    assert "->   3 |     return n // 0" in said


def test_an_exercise_that_does_not_exist_is_a_readable_error():
    for name, words in (("04.saxpi", "did you mean 04.saxpy"), (" ", "Name the exercise")):
        with pytest.raises(LessonError, match=words):
            student.exercise(name, "")


def test_the_commands_list_verify_and_show_progress(capsys):
    assert main(["exercises", "00.double_it"]) == 0
    assert "your first line of CUDA" in capsys.readouterr().out
    assert main(["exercises", "--verify", "00.double_it"]) == 0
    mutants = len(find("00.double_it").mutants)
    held = f"1 exercises, {mutants} mutants: {mutants + 2} of {mutants + 2} hold"
    assert held in capsys.readouterr().out
    assert main(["exercises", "nothing"]) == 2
    assert "nothing" in capsys.readouterr().out
    if not ON_GPU:
        assert main(["exercises", "--verify", "--device", "cuda"]) == 2
        assert "needs a CUDA GPU" in capsys.readouterr().out
    assert main(["progress"]) == 0
    assert "In all: 0 of" in capsys.readouterr().out


def test_the_help_says_what_each_command_of_the_exercises_does(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "exercises list, prove or write the exercises" in said
    assert "progress what is done, and what comes next" in said
    assert "grade judge students' notebooks" in said


def test_verify_prints_a_proof_that_fails_with_its_detail_and_no_other(monkeypatch, capsys):
    held = verify.Proof(
        "00.double_it", "the solution", kinds.PASS, kinds.PASS, "as it should be", 0.1
    )
    failed = verify.Proof(
        "00.double_it", "no guard", kinds.OUT_OF_BOUNDS, kinds.PASS, "c[1000]", 0.1
    )
    monkeypatch.setattr(verify, "proofs_of_many", lambda chosen, gpu: iter([held, failed]))
    assert main(["exercises", "--verify", "00.double_it"]) == 1
    printed = capsys.readouterr().out
    assert "00.double_it, no guard: expected out of bounds" in printed.lower()
    assert "c[1000]" in printed
    assert "as it should be" not in printed


def test_to_note_the_proofs_of_an_exercise_all_of_its_notebook_is_verified(monkeypatch):
    tried, stored = [], []
    monkeypatch.setattr(verify, "proofs_of_many", lambda chosen, gpu: tried.extend(chosen) or ())
    monkeypatch.setattr(verification_cache, "is_verified", lambda exercise: False)
    monkeypatch.setattr(verification_cache, "store", stored.append)
    assert main(["exercises", "--verify", "04.saxpy"]) == 0
    assert tried == [SAXPY] and not stored
    tried.clear()
    assert main(["exercises", "--verify", "--store", "04.saxpy"]) == 0
    assert {e.notebook for e in tried} == {SAXPY.notebook} and len(tried) > 1
    assert stored == [[]]


def test_an_interrupted_exercise_is_one_line_and_no_attempt(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(student, "run_source", interrupted)
    shell = InteractiveShell()
    shell.register_magic_function(student.exercise, "cell", "exercise")
    with capture_output() as said:
        shell.run_cell(f"%%exercise 04.saxpy\n{WRONG}")
    assert said.stdout.strip() == (
        "Interrupted: 04.saxpy was not judged, and this try does not count."
    )
    assert "[ ] 04.saxpy" in str(progress())


def test_the_magic_works_in_ipython():
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    shell = InteractiveShell()
    shell.register_magic_function(student.exercise, "cell", "exercise")
    with capture_output():
        result = shell.run_cell(f"%%exercise 04.saxpy\n{SAXPY.starter}")
    assert result.success and str(result.result).startswith("NOT STARTED: this is the starter")
    assert os.environ.get("COURSE_STRICT") is None


def test_a_byte_order_mark_before_a_magic_is_dropped(monkeypatch):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    import course_utils

    shell = InteractiveShell()
    monkeypatch.setattr(course_utils, "running_shell", lambda: shell)
    course_utils._teach_ipython()
    with capture_output():
        result = shell.run_cell(f"\ufeff%%exercise 04.saxpy\n{SAXPY.starter}")
    assert result.success and str(result.result).startswith("NOT STARTED")


def test_an_answer_is_what_passed_last_whatever_was_tried_after_it():
    assert answer("04.saxpy") is None
    student.exercise("04.saxpy", WRONG)
    assert answer("04.saxpy") is None
    student.exercise("04.saxpy", SAXPY.solution)
    student.exercise("04.saxpy", WRONG)
    assert answer("04.saxpy") == SAXPY.solution
    assert str(restore("04.saxpy")).endswith(WRONG)


def test_progress_is_in_the_order_of_the_notebooks_cells():
    told: dict[str, list[str]] = {}
    for line in progress().lines:
        told.setdefault(line.notebook, []).append(line.id)
    assert list(told) == sorted(told)
    for notebook, names in told.items():
        cells = json.loads((CHAPTERS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]
        first_lines = ("".join(cell["source"]).split("\n")[0] for cell in cells)
        written = [line.split()[1] for line in first_lines if line.startswith("%%exercise ")]
        assert names == written, notebook
