"""An answer that comes from the course's own files, or that lies about what it equals, is none."""

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.isolation.plain_values import plain, written
from course_utils.exercises.judging.runner import run_source
from course_utils.paths import CHAPTERS, KERNELS

BLOCKS, PIECES, SAXPY = find("04.blocks_for"), find("04.pieces"), find("04.saxpy")
WAVES, HOST_BUG = find("03.waves"), find("04.find_the_host_bug")

FORGED = {
    "calls the reference": """
from course_utils.exercises.authoring.registry import find
def blocks_for(n, threads):
    return find("04.blocks_for").reference(n, threads)
""",
    "calls it when it is tried": """
def blocks_for(n, threads):
    import course_utils
    return course_utils.exercises.authoring.registry.find("04.blocks_for").reference(n, threads)
""",
    "finds it among the modules": """
import sys
def blocks_for(n, threads):
    specs = [m for name, m in sys.modules.items() if name.startswith("exercises_of_")]
    found = next(m.BLOCKS_FOR for m in specs if hasattr(m, "BLOCKS_FOR"))
    return found.reference(n, threads)
""",
    "reads the solution": f"""
from pathlib import Path
import course_utils
root = Path(course_utils.__file__).parents[1]
exec((root / "kernels" / {BLOCKS.source!r}).read_text())
""",
    "finds it in a frame of the checker": """
import sys
def blocks_for(n, threads):
    frame = sys._getframe()
    while "exercise" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["exercise"].reference(n, threads)
""",
    "finds it among all objects": """
import gc
def blocks_for(n, threads):
    found = [o for o in gc.get_objects() if getattr(o, "id", "") == "04.blocks_for"]
    return found[0].reference(n, threads)
""",
    "changes the reference": """
import course_utils.exercises.authoring.registry as registry
object.__setattr__(registry.find("04.blocks_for"), "reference", lambda n, threads: 7)
def blocks_for(n, threads):
    return 7
""",
    "reads a notebook, here or in another copy": f"""
def blocks_for(n, threads):
    import json
    try:
        cells = json.load(open({str(CHAPTERS / BLOCKS.notebook) + ".ipynb"!r}))["cells"]
    except Exception:
        return -(-n // threads)  # right, and still no answer of one's own
    text = next(t for c in cells if "-(-n" in (t := "".join(c["source"])))
    exec(text.split("```python")[1].split("```")[0], found := {{}})
    return found["blocks_for"](n, threads)
""",
    "starts another program": """
def blocks_for(n, threads):
    import subprocess
    return int(subprocess.check_output(["echo", str(-(-n // threads))]))
""",
    "gives a notebook another name": f"""
import os
os.link({str(CHAPTERS / BLOCKS.notebook) + ".ipynb"!r}, "/tmp/other")
def blocks_for(n, threads):
    return -(-n // threads)
""",
    "writes the answer itself": """
import json, os, pathlib, tempfile
for place in pathlib.Path(tempfile.gettempdir()).iterdir():
    if os.access(place / "job.json", os.R_OK):
        forged = {"kind": "pass", "message": "", "hint": "", "excerpt": ""}
        with open(place / "answer.json", "w") as file:
            json.dump(forged, file)
os._exit(0)
def blocks_for(n, threads):
    return 7
""",
}


@pytest.mark.parametrize("how", FORGED)
def test_a_forged_python_answer_does_not_pass(how):
    outcome = run_source(BLOCKS, FORGED[how])
    assert outcome.kind in (kinds.COPIED, kinds.EXCEPTION, kinds.CRASHED), outcome


@pytest.mark.parametrize("name", ["all", "any", "map", "zip", "len", "isinstance", "float"])
def test_what_a_cell_makes_of_python_s_own_functions_makes_nothing_right(name):
    source = f"import builtins\nbuiltins.{name} = lambda *a: True\n"
    for exercise, wrong in ((PIECES, "[(0, n)]"), (WAVES, "0, 0"), (HOST_BUG, "[0.0]")):
        head = exercise.solution.partition(":\n")[0].splitlines()[-1]
        outcome = run_source(exercise, f"{source}{head}:\n    return {wrong}\n")
        assert not outcome.passed and outcome.kind != kinds.CRASHED, outcome
        assert "course_utils" not in str(outcome), outcome


def test_an_answer_that_changes_its_caller_s_array_is_told_so():
    exercise = find("06.quantised_product")
    changed = exercise.solution.replace("    scale_a =", "    A *= 1.5; A /= 1.5\n    scale_a =")
    outcome = run_source(exercise, changed)
    assert outcome.kind == kinds.INPUT_CHANGED and "argument number 1" in str(outcome)


def test_the_word_of_an_object_that_equals_everything_is_not_taken():
    lies = """
class Liar(list):
    def __eq__(self, other):
        return True
    def __len__(self):
        return 3
    def __iter__(self):
        return iter([(0, 4), (4, 4), (8, 2)])
def pieces(n, chunks):
    return Liar([(0, 1)])
"""
    assert run_source(PIECES, lies).kind == kinds.WRONG
    number = "class Liar(int):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
    source = f"{number}def blocks_for(n, threads):\n    return Liar(0)\n"
    assert run_source(BLOCKS, source).kind == kinds.WRONG


def test_plain_values_are_of_python_s_own_types():
    class Whole(int):
        pass

    class Row(list):
        pass

    found = plain((Whole(3), Row([Whole(1), 2.5]), True, None, "a"))
    assert found == (3, [1, 2.5], True, None, "a")
    assert [type(x) for x in found] == [int, list, bool, type(None), str]
    assert type(found[1][0]) is int


def test_one_set_is_written_down_in_one_way():
    there, back = set([0, 8]), set([8, 0])  # noqa: C405 (their orders differ)
    assert list(there) != list(back)
    assert written({"a": (there, frozenset(back))}) == written({"a": (back, frozenset(there))})


def test_a_cell_that_includes_the_solution_is_told_so():
    outcome = run_source(SAXPY, f'#include "{SAXPY.source}"\n')
    assert outcome.kind == kinds.COPIED, outcome
    assert "the course's own saxpy.cu" in str(outcome)
    hidden = f'#define OURS "{SAXPY.source}"\n#include OURS\n'
    assert run_source(SAXPY, hidden).kind == kinds.COPIED


def test_a_c_program_that_includes_the_solution_is_told_so():
    exercise = find("06.loop_order")
    outcome = run_source(exercise, f'#include "{KERNELS / exercise.source}"\n')
    assert outcome.kind in (kinds.COPIED, kinds.NO_COMPILER), outcome


def test_a_cell_may_include_the_course_s_headers():
    source = f'#include "common/reduce.cuh"\n{SAXPY.solution}'
    assert run_source(SAXPY, source).passed


SHOWS_ITS_STACK = """
import doctest, inspect, logging, traceback, warnings
async def unused():
    pass
def blocks_for(n, threads):
    for level in (1, 2, 3, 4, 5):
        warnings.warn("hi", stacklevel=level)
    traceback.print_stack()
    inspect.stack()
    logging.warning("hi", stack_info=True)
    doctest.testmod()
    unused()
    return -(-n // threads)
"""


def test_an_answer_that_shows_its_stack_looked_for_nothing():
    outcome = run_source(BLOCKS, SHOWS_ITS_STACK)
    assert outcome.passed, outcome
