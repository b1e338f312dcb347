"""A source is read as its editor saved it, or refused with the place and the remedy."""

import pytest

from course_utils import load
from course_utils.compiling.diagnostics import CompileError
from course_utils.compiling.source_text import WIDEST, read_source
from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source

ONE = 'extern "C" __global__ void f(float* x)\n{\n    x[0] = 1;\n}\n'
SAXPY = find("04.saxpy")
READ = {
    "a byte order mark": b"\xef\xbb\xbf" + ONE.encode(),
    "the mark of another file inside": (ONE[:2] + "\ufeff" + ONE[2:]).encode(),
    "lines of Windows": ONE.replace("\n", "\r\n").encode(),
    "lines of an old Mac": ONE.replace("\n", "\r").encode(),
}
REFUSED = {
    "UTF-16": (ONE.encode("utf-16"), "x.cu is UTF-16, not UTF-8. Save it as UTF-8"),
    "big-endian UTF-16": (b"\xfe\xff" + ONE.encode("utf-16-be"), "x.cu is UTF-16, not UTF-8"),
    "UTF-16 without its mark": (ONE.encode("utf-16-le"), "not UTF-8: line 1 has the byte 0x00"),
    "Latin-1": (
        "// 1\n// caf\xe9\n".encode("latin-1") + ONE.encode(),
        r"not UTF-8: line 2 has the byte 0xE9 \('é' in Latin-1\). Save it as UTF-8",
    ),
}


@pytest.mark.parametrize("how", READ)
def test_marks_and_the_ends_of_lines_are_the_editor_s_business(tmp_path, how):
    (tmp_path / "x.cu").write_bytes(READ[how])
    assert read_source(tmp_path / "x.cu") == ONE
    assert load(tmp_path / "x.cu").f.name == "f"


@pytest.mark.parametrize("how", REFUSED)
def test_another_encoding_is_refused_with_its_place(tmp_path, how):
    content, told = REFUSED[how]
    (tmp_path / "x.cu").write_bytes(content)
    (tmp_path / "whole.cu").write_text(f'#include "x.cu"\n{ONE}')
    for name in ("x.cu", "whole.cu"):
        with pytest.raises(LessonError, match=told):
            load(tmp_path / name)


def test_a_file_that_cannot_be_opened_is_a_sentence(tmp_path):
    with pytest.raises(LessonError, match="x.cu cannot be read: Is a directory"):
        (tmp_path / "x.cu").mkdir()
        read_source(tmp_path / "x.cu")


def test_a_header_with_a_mark_which_no_compiler_takes_is_refused(tmp_path):
    (tmp_path / "h.cuh").write_bytes(READ["a byte order mark"])
    (tmp_path / "x.cu").write_text('#include "h.cuh"\n')
    with pytest.raises(LessonError, match="h.cuh begins with a byte order mark"):
        load(tmp_path / "x.cu")
    included = run_source(SAXPY, f'#include "{tmp_path}/h.cuh"\n{SAXPY.solution}')
    assert "h.cuh begins with a byte order mark" in str(included)
    assert str(included).startswith("COMPILE ERROR")


def test_a_mark_that_came_into_a_cell_is_dropped():
    assert load(source="\ufeff" + ONE).source == ONE
    assert run_source(SAXPY, f"\ufeff{SAXPY.solution}").passed
    blocks = find("04.blocks_for")
    assert run_source(blocks, f"\ufeff{blocks.solution}").passed


@pytest.mark.parametrize("before, after", [(0, 9000), (9000, 9000), (9000, 0), (0, 90)])
def test_of_a_line_that_is_too_long_the_part_at_the_error_is_shown(before, after):
    line = f"/*{'a' * before}*/ x[0] = y; /*{'b' * after}*/"
    with pytest.raises(CompileError, match='error: identifier "y" is undefined') as caught:
        load(source=ONE.replace("x[0] = 1;", line))
    shown, caret = str(caught.value).splitlines()[1:3]
    assert len(shown) <= WIDEST + 10
    assert shown[caret.index("^")] == "y"
    assert line in caught.value.log


def test_a_long_name_in_an_error_is_cut_too():
    with pytest.raises(CompileError, match="is undefined|yyy [.]") as caught:
        load(source=ONE.replace("= 1", f"= {'y' * 9000}"))
    assert max(map(len, str(caught.value).splitlines())) < WIDEST + 30
