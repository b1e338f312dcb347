"""Exercises are found by the place of their file; nobody lists them."""

import json
import re
import sys

import pytest

from course_utils.errors import LessonError
from course_utils.exercises.authoring import registry
from course_utils.exercises.authoring.generate import PARTS, TAG, notebook_path
from course_utils.exercises.authoring.registry import all_exercises, exercises_below, find

IMPORTS = "from course_utils.exercises.authoring.spec import PythonExercise\n"
COMMON = "CASES = ((1,),)\n"


PAGE = "# t\n\nt\n\n## Hints\n\n- h\n\n## Explanation\n\ne\n"


def spec(name: str, cases: str = "()") -> str:
    return f'{name.upper()} = PythonExercise(function="f", cases={cases}, reference=abs)\n'


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """Writes spec files, named from the chapter on, with pages and solutions of their exercises,
    and gives the folder of chapters."""
    kernels = tmp_path / "kernels"
    monkeypatch.setattr(registry, "KERNELS", kernels)
    for name in [name for name in sys.modules if name.startswith("exercises_of_")]:
        monkeypatch.delitem(sys.modules, name)  # another test's files have the same names

    def write(files: dict[str, str]):
        for name, text in files.items():
            chapter, _, file = name.partition("/")
            for folder in (tmp_path / chapter / "exercises", kernels / chapter / "exercises"):
                folder.mkdir(parents=True, exist_ok=True)
            for found in re.findall(r"^([A-Z]+) = PythonExercise", text, re.M):
                (folder / f"{found.lower()}.md").write_text(PAGE)
                (folder / f"{found.lower()}.py").touch()
            (tmp_path / chapter / "exercises" / file).write_text(IMPORTS + text)
        return tmp_path

    return write


def test_exercises_come_by_chapter_by_notebook_and_then_in_the_order_of_the_file(chapters):
    found = exercises_below(
        chapters(
            {
                "02_later/01_first.py": spec("e"),
                "01_early/02_second.py": spec("d"),
                "01_early/01_first.py": spec("z") + spec("a"),
            }
        )
    )
    assert [(exercise.id, exercise.notebook) for exercise in found] == [
        ("01.z", "01_early/01_first"),
        ("01.a", "01_early/01_first"),
        ("01.d", "01_early/02_second"),
        ("02.e", "02_later/01_first"),
    ]


def test_spec_files_of_a_chapter_share_a_module(chapters):
    shared = "from .common import CASES\n" + spec("a", "CASES")
    (found,) = exercises_below(chapters({"03_x/common.py": COMMON, "03_x/01_first.py": shared}))
    assert found.cases == ((1,),)


def test_an_id_is_found_in_capitals_too():
    for exercise in all_exercises():
        assert find(exercise.id.upper()) is exercise


@pytest.mark.parametrize("name", ["03.finish_tme", "saxpy", "99.?", "x" * 10**6])
def test_an_unknown_id_gets_the_closest_few(name):
    with pytest.raises(KeyError, match="did you mean .*progress.. lists all") as caught:
        find(name)
    assert len(caught.value.args[0]) < 250
    assert ("saxpy" in name) <= ("04.saxpy" in caught.value.args[0])


def test_two_exercises_of_one_id_are_refused(chapters):
    files = {"04_x/01_first.py": spec("a"), "04_x/02_second.py": spec("a")}
    with pytest.raises(LessonError, match=r"id 04\.a: in .*/01_first\.py and in .*/02_second\.py"):
        exercises_below(chapters(files))


def was(name: str, *former: str) -> str:
    return spec(name).replace("cases", f"formerly={former!r}, cases")


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        (was("b", "04.a"), r"02_second\.py: 04\.b was formerly 04\.a, and 04\.a has this id too"),
        (was("b", "03.c") + was("d", "03.c"), r"04\.d was formerly 03\.c, and 04\.b has this id"),
        (was("b", "04.b"), r"04\.b was formerly 04\.b, and 04\.b has this id"),
        (was("b", "c"), r"04\.b was formerly 'c'\. Write a tuple of ids: \(.03\.square.,\)"),
        (was("b").replace("()", '"03.c"', 1), r"04\.b was formerly '0'\. Write a tuple of ids"),
    ],
)
def test_a_former_id_names_one_exercise(chapters, moved, words):
    files = {"04_x/01_first.py": spec("a"), "04_x/02_second.py": moved}
    with pytest.raises(LessonError, match=words):
        exercises_below(chapters(files))


def test_an_exercise_may_have_had_several_ids(chapters):
    (found,) = exercises_below(chapters({"04_x/01_first.py": was("b", "03.b", "02.c")}))
    assert (found.id, found.formerly) == ("04.b", ("03.b", "02.c"))


@pytest.mark.parametrize(
    "copy", ["04_x/01_first copy.py", "04_x/01_first-Copy1.py", "04_x copy/01_first.py"]
)
def test_a_copy_that_a_file_browser_makes_is_left_out(chapters, copy):
    assert len(exercises_below(chapters({"04_x/01_first.py": spec("a"), copy: spec("a")}))) == 1


@pytest.mark.parametrize("text", ["def (", "1 / 0", "import nothing_called_so"])
def test_a_file_that_cannot_be_imported_is_named(chapters, text):
    with pytest.raises(
        LessonError, match=r"04_x/exercises/09_mine\.py can't be imported \(\w+Error: "
    ):
        exercises_below(chapters({"04_x/09_mine.py": text}))


def test_an_exercise_without_a_page_or_with_two_solutions_is_named(chapters):
    folder = chapters({"04_x/01_first.py": spec("a")})
    (folder / "kernels/04_x/exercises/a.cu").touch()
    with pytest.raises(LessonError, match=r"04_x/exercises/a: found 2 solutions; expected one"):
        exercises_below(folder)
    (folder / "kernels/04_x/exercises/a.md").unlink()
    with pytest.raises(LessonError, match=r"04_x/exercises/a\.md is missing"):
        exercises_below(folder)


def test_an_author_cannot_name_another_notebook_than_the_files(chapters):
    wrong = spec("a").replace("cases", 'notebook="05_x/02_second", cases')
    with pytest.raises(LessonError, match="TypeError: .*notebook"):
        exercises_below(chapters({"05_x/01_first.py": wrong}))


@pytest.mark.parametrize(
    "path", sorted({notebook_path(e) for e in all_exercises()}), ids=lambda path: path.stem
)
def test_specs_stand_in_the_order_of_their_notebook(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    tags = [tag for cell in cells for tag in cell["metadata"].get("tags", ())]
    specs = [f"{TAG}{e.id}.{PARTS[0]}" for e in all_exercises() if notebook_path(e) == path]
    assert specs == [tag for tag in tags if tag in specs]
