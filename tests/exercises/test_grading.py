"""``python -m course_utils grade``: an instructor's view of students' notebooks."""

import json
import re
import shutil
from xml.etree import ElementTree

import pytest

from course_utils.__main__ import main
from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.student import grading, sandbox
from course_utils.exercises.student.class_tables import (
    class_table,
    exercise_table,
    student_names,
    to_csv,
)
from course_utils.paths import ROOT

ID, OTHER = "04.saxpy", "04.clamp"


def notebook(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    code = [{"cell_type": "code", "source": text.splitlines(True)} for text in cells]
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": "x"}, *code]}))
    return path


def answer(name, text=None):
    return f"%%exercise {name}\n{find(name).solution if text is None else text}"


def graded(place, *names, points=None):
    return grading.grade(place, [find(name) for name in names], points)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not like"),
        ("[1]", "is not like"),
        ('{"04.saxpy": "two"}', "is not like"),
        ('{"04.saxpy": 2, "04.saxpi": 1}', "names no exercise: 04.saxpi"),
    ],
)
def test_points_that_make_no_sense_are_told_and_nothing_is_graded(text, words, tmp_path, capsys):
    place = notebook(tmp_path / "ana" / "work.ipynb", answer(ID))
    points = tmp_path / "points.json"
    points.write_text(text)
    assert main(["grade", str(place), "--points", str(points)]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.out == ""


def test_a_right_answer_has_its_points_and_a_missing_one_none(tmp_path):
    place = notebook(tmp_path / "ana" / "work.ipynb", "x = 1", answer(ID))
    report = graded(place.parent, ID, OTHER, points={ID: 2.5})
    assert (report.student, report.points, report.of) == ("ana", 2.5, 3.5)
    right, missing = report.grades
    assert right.kind == "pass" and right.as_published and right.hints is None
    assert missing.kind == grading.NO_ANSWER and missing.points == 0


def test_an_id_in_capitals_is_graded_as_a_notebook_judges_it(tmp_path, capsys):
    place = notebook(tmp_path / "a.ipynb", f"%%exercise {ID.upper()}\n{find(ID).solution}")
    report = graded(place, ID)
    assert report.points == 1 and not report.remarks
    points = tmp_path / "points.json"
    points.write_text(json.dumps({ID.upper(): 2}))
    assert main(["grade", str(place), "--only", ID.upper(), "--points", str(points)]) == 0
    assert "2 of 2 points" in capsys.readouterr().out


def test_words_of_ones_own_are_no_published_solution(tmp_path):
    own = find(ID).solution.replace("i < n", "n > i")
    assert own != find(ID).solution
    (found,) = graded(notebook(tmp_path / "a.ipynb", answer(ID, own)), ID).grades
    assert found.points == 1 and not found.as_published


def test_a_wrong_answer_has_its_verdict_and_an_untouched_starter_is_none(tmp_path):
    wrong = find(ID).solution.replace("i < n", "i <= n")
    place = notebook(tmp_path / "a.ipynb", answer(ID, wrong), answer(OTHER, find(OTHER).starter))
    bad, untouched = graded(place, ID, OTHER).grades
    assert bad.points == 0 and bad.kind == "out of bounds"
    assert untouched.kind == grading.NO_ANSWER


def test_of_several_cells_a_right_one_counts(tmp_path):
    place = notebook(tmp_path / "a.ipynb", answer(ID), answer(ID, "nonsense"))
    assert graded(place, ID).points == 1


def test_a_changed_spec_is_told_and_has_no_effect(tmp_path):
    spec = "chapters/04_first_kernels/exercises/01_hello_threads.py"
    for name in (spec, "course_utils/errors.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / spec).write_text("raise SystemExit")
    (tmp_path / "course_utils/extra.py").write_text("")
    notebook(tmp_path / "chapters/04_first_kernels/01_hello_threads.ipynb", answer(ID, "even = 1"))
    report = graded(tmp_path, ID)
    assert set(report.changed) == {spec, "course_utils/extra.py"} and report.points == 0
    assert "not used here" in str(report)


def test_hints_are_those_of_the_copy(tmp_path):
    notebook(tmp_path / "a.ipynb", answer(ID))
    record = tmp_path / ".progress/progress.json"
    record.parent.mkdir()
    record.write_text(json.dumps({ID: {"hints": 2, "tries": 1, "status": "done"}}))
    assert graded(tmp_path, ID).grades[0].hints == 2
    assert re.search(r" 2 +the published solution$", str(graded(tmp_path, ID)), re.M)
    record.write_text("[1")
    assert graded(tmp_path, ID).grades[0].hints is None


def test_a_file_that_is_no_notebook_stops_no_other(tmp_path):
    notebook(tmp_path / "a.ipynb", answer(ID), answer("99.unknown", "even = 1"))
    (tmp_path / "b.ipynb").write_text("{")
    report = graded(tmp_path, ID)
    assert report.points == 1 and "b.ipynb could not be read" in str(report)
    assert "no such exercise here: 99.unknown" in str(report)


def test_lines_that_are_empty_before_the_magic_hide_no_answer(tmp_path):
    place = notebook(tmp_path / "a.ipynb", f"\n \n{answer(ID)}")
    assert graded(place, ID).points == 1


@pytest.mark.parametrize("target", ["no/such/file", "/dev/zero", "."])
def test_a_link_to_what_cannot_be_read_stops_no_other(tmp_path, target):
    notebook(tmp_path / "b.ipynb", answer(ID))
    (tmp_path / "course_utils").mkdir()
    for name in ("a.ipynb", "course_utils/errors.py"):
        (tmp_path / name).symlink_to(target)
    report = graded(tmp_path, ID)
    assert report.points == 1 and "could not be read" in str(report)


def test_a_file_of_exactly_the_most_bytes_is_read_and_one_byte_more_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "LARGEST", 3)
    (tmp_path / "a").write_text("abc")
    assert grading._content(tmp_path / "a") == "abc"
    (tmp_path / "a").write_text("abcd")
    with pytest.raises(ValueError, match="more than 3 bytes"):
        grading._content(tmp_path / "a")


@pytest.mark.parametrize(("hints", "shown"), [(2, ["2"]), (0, ["0"]), (None, [])])
def test_the_table_shows_the_hints_of_a_copy_whose_record_can_be_read(hints, shown):
    grade = grading.Grade("04.a", "a", 1, 1, "pass", hints=hints)
    row = str(grading.StudentReport("ana", (grade,))).splitlines()[-1]
    assert row.split() == ["04.a", "1", "1", "pass", *shown]


@pytest.mark.parametrize("hints", ["1e999", "[" * 100_000, '"x"', "{}"])
def test_a_record_that_makes_no_sense_counts_no_hints(tmp_path, hints):
    notebook(tmp_path / "a.ipynb", "x = 1")
    (tmp_path / ".progress").mkdir()
    (tmp_path / ".progress/progress.json").write_text(f'{{"{ID}": {{"hints": {hints}}}}}')
    assert graded(tmp_path, ID).grades[0].hints is None


def test_a_name_writes_no_line_of_its_own_and_moves_no_cursor(tmp_path):
    (tmp_path / "a\nana: 9 of 9 points\x1b[2J.ipynb").write_text("{")
    notebook(tmp_path / "b.ipynb", answer("99.\x1b[2J", ""))
    report = graded(tmp_path, ID)
    assert "\x1b" not in str(report) and "\nana: 9" not in str(report)
    renamed = grading.StudentReport("ana\x01", report.grades)
    ElementTree.fromstring(grading.to_junit([renamed]).encode())


def test_a_student_with_no_notebook_keeps_no_other_from_being_graded(tmp_path, capsys):
    notebook(tmp_path / "ana" / "a.ipynb", answer(ID))
    (tmp_path / "ben").mkdir()
    places = [str(tmp_path / "ben"), str(tmp_path / "ana")]
    assert main(["grade", *places, "--only", ID, "--json", str(tmp_path / "g.json")]) == 2
    assert "no notebook" in capsys.readouterr().err
    assert [r["student"] for r in json.loads((tmp_path / "g.json").read_text())] == ["ana"]


def test_where_there_is_no_notebook_it_says_so(tmp_path):
    with pytest.raises(LessonError, match="no notebook"):
        graded(tmp_path, ID)


def test_the_command_prints_a_table_and_writes_json_and_junit(tmp_path, capsys):
    one = notebook(tmp_path / "ana.ipynb", answer(ID))
    two = notebook(tmp_path / "ben.ipynb", answer(ID, "int \x01x;"))
    (tmp_path / "points.json").write_text(json.dumps({ID: 3}))
    files = {name: tmp_path / f"grades.{name}" for name in ("json", "junit")}
    words = [x for name, file in files.items() for x in (f"--{name}", str(file))]
    words += ["--points", str(tmp_path / "points.json"), "--only", ID]
    assert main(["grade", str(one), str(two), *words]) == 0
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["ana", "3", "3", "1", "0", "0", "1", "0"] in told
    assert ["ben", "0", "3", "0", "1", "0", "0", "0"] in told
    assert [ID, "1", "1", "0", "compile", "error"] in told
    assert [r["points"] for r in json.loads(files["json"].read_text())] == [3, 0]
    suites = ElementTree.parse(files["junit"]).getroot()
    assert [s.get("failures") for s in suites] == ["0", "1"]
    assert suites[1][0][0].get("message") == "compile error"


@pytest.mark.parametrize(
    "words, told",
    [
        (("--only", "nothing"), "No notebook or chapter is called 'nothing'"),
        (("--only", ID, "04.saxpi"), "did you mean 04.saxpy"),
        (("--only", "00_start_here/02_glossary"), "02_glossary has no exercises"),
        (("--points", "no.json"), "no.json"),
        (("--only", ID), "no notebook"),
    ],
)
def test_what_cannot_be_graded_is_said(tmp_path, capsys, words, told):
    assert main(["grade", str(tmp_path), *words]) == 2
    assert told in capsys.readouterr().err


def test_a_table_names_what_was_not_answered_in_one_line(tmp_path):
    place = notebook(tmp_path / "ana.ipynb", answer(ID))
    table = str(graded(place, ID, OTHER)).splitlines()
    assert [line.split()[0] for line in table[1:-1]] == ["exercise", ID]
    assert table[-1] == f"no answer: {OTHER}"


@pytest.mark.parametrize(
    ("places", "names"),
    [
        (["ana/course", "ben/course", "cleo/course"], ["ana", "ben", "cleo"]),
        (["2026/ana/work/course", "2026/ben/work/course"], ["ana", "ben"]),
        (["ana/a.ipynb", "ana/b.ipynb"], ["a", "b"]),
        (["ana.ipynb", "ben"], ["ana", "ben"]),
        (["a/one/x", "b/two/x"], ["a/one", "b/two"]),
        (["ana", "ana/course"], ["ana", "ana/course"]),
        (["ana/course"], ["course"]),
        (["course", "course"], ["course", "course"]),
    ],
)
def test_a_student_is_called_by_what_differs_in_the_paths(places, names, tmp_path):
    assert student_names([tmp_path / place for place in places]) == names


def test_ids_of_several_options_are_all_graded(tmp_path, capsys):
    place = notebook(tmp_path / "ana.ipynb", answer(ID))
    assert main(["grade", str(place), "--only", ID, "--only", OTHER]) == 0
    assert "1 of 2 points" in capsys.readouterr().out


def test_a_class_has_a_line_per_student_and_one_per_exercise_in_a_spreadsheet_too():
    def report(student, *kinds_):
        grades = (grading.Grade(n, n, k == "pass", 1, k) for n, k in zip("ab", kinds_, strict=True))
        return grading.StudentReport(student, tuple(grades))

    missing = grading.NO_ANSWER
    reports = [report("ana", "pass", missing), report("=1+1", "data race", missing)]
    assert [row[:6] for row in class_table(reports)] == [
        ("ana", "1", "2", 1, 0, 1),
        ("=1+1", "0", "2", 0, 1, 1),
    ]
    assert list(exercise_table(reports)) == [("a", 1, 1, 0, "data race")]
    assert to_csv(reports).splitlines() == [
        "student,points,of,a,b",
        f"ana,1,2,pass,{missing}",
        f"'=1+1,0,2,data race,{missing}",
    ]


SPY = """
#include <stdio.h>
__attribute__((constructor)) static void spy(void)
{
    FILE *file = fopen("PLACE", "w");
    if (file) fclose(file);
}
"""


@pytest.mark.skipif(
    isinstance(sandbox.status_inside(["doctor", "-h"], [], []), str), reason="no bwrap"
)
def test_in_the_sandbox_students_code_writes_nothing(tmp_path, monkeypatch, capfd):
    monkeypatch.delenv(sandbox.INSIDE)
    name, written = "02.min_max", tmp_path / "written"
    spy = SPY.replace("PLACE", str(written))
    place = notebook(tmp_path / "ana.ipynb", answer(name, spy + find(name).solution))
    words = ["grade", str(place), "--only", name, "--csv", str(tmp_path / "g.csv")]
    assert main(words) == 0
    assert "1 of 1 points" in capfd.readouterr().out and not written.exists()
    assert (tmp_path / "g.csv").read_text().endswith("ana,1,1,pass\n")
    assert main([*words, "--no-sandbox"]) == 0 and written.exists()


def test_without_bubblewrap_it_grades_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(sandbox.INSIDE)
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    place = notebook(tmp_path / "ana.ipynb", answer(ID))
    assert main(["grade", str(place), "--only", ID]) == 0
    said = capsys.readouterr()
    assert "1 of 1 points" in said.out and said.err.strip() == sandbox.ABSENT


def test_points_for_what_is_no_exercise_are_refused(tmp_path, capsys):
    (tmp_path / "p.json").write_text('{"04.sax": 1}')
    assert main(["grade", str(tmp_path), "--points", str(tmp_path / "p.json")]) == 2
    assert "04.sax" in capsys.readouterr().err


def test_progress_as_json_has_every_exercise(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    assert main(["progress", "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert {"id", "title", "chapter", "notebook", "status", "tries"} == set(lines[0])
    assert ID in {line["id"] for line in lines}


def test_nbgrader_s_columns_have_a_line_per_notebook_and_student(tmp_path, capsys):
    ana = notebook(tmp_path / "ana" / "a.ipynb", answer(ID), answer("03.count_warps", "even = 1"))
    ben = notebook(tmp_path / "ben" / "a.ipynb", answer(OTHER))
    file = tmp_path / "grades.csv"
    only = ["--only", ID, OTHER, "03.count_warps", "--nbgrader", str(file), "--no-sandbox"]
    points = tmp_path / "points.json"
    points.write_text(json.dumps({ID: 2}))
    main(["grade", str(ana.parent), str(ben.parent), *only, "--points", str(points)])
    head, *rows = [line.split(",") for line in file.read_text().splitlines()]
    assert head[:4] == ["assignment", "duedate", "timestamp", "student_id"]
    assert head[7:] == ["raw_score", "late_submission_penalty", "score", "max_score"]
    books = list(dict.fromkeys(find(name).notebook for name in (ID, OTHER, "03.count_warps")))
    assert len(rows) == 2 * len(books) and {row[0] for row in rows} == set(books)
    totals = {
        name: [sum(float(row[i]) for row in rows if row[3] == name) for i in (7, 9, 10)]
        for name in ("ana", "ben")
    }
    assert totals == {"ana": [2, 2, 4], "ben": [1, 1, 4]}
