"""What took the compiler long is kept on disk for the next process, and never given for another
source."""

import os

import pytest

from course_utils.compiling import bindings
from course_utils.compiling.bindings import CODE, REFUSED, KeptAnswers, compile_program

FLAGS = ["--gpu-architecture=compute_90a"]
SOURCE = '#include "half.h"\nextern "C" __global__ void f(float* x) { x[0] = SCALE; }\n'


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """``asked(text)`` is the answer of a new process each time; ``asked.compiled`` lists what the
    compiler itself was asked. Every source counts as a slow one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bindings, "VERY_SLOW", -1.0)
    (tmp_path / "half.h").write_text("#define SCALE 0.5f\n")
    compiled = []

    def compile(**request):
        compiled.append(request["text"])
        return compile_program(**request)

    def ask(text=SOURCE, **more):
        answers = KeptAnswers(compile, str(tmp_path / "kept"))
        given = {"filename": "f.cu", "flags": FLAGS, "names": [], "cubin": False, **more}
        return answers.compile(text=text, **given)

    ask.compiled = compiled
    return ask


def test_the_next_process_gets_the_same_answer_without_compiling(asked):
    first, second = asked(), asked()
    assert first == second
    assert b".entry f(" in second[CODE]
    assert len(asked.compiled) == 1


@pytest.mark.parametrize(
    "other",
    (
        {"text": SOURCE.replace("x[0]", "x[1]")},
        {"flags": [*FLAGS, "-DA=1"]},
        {"flags": ["--gpu-architecture=compute_80"]},
        {"filename": "g.cu"},
    ),
)
def test_another_request_is_compiled(asked, other):
    asked(), asked(**other)
    assert len(asked.compiled) == 2


def test_a_header_that_has_changed_is_compiled_anew(asked, tmp_path):
    before = asked()
    (tmp_path / "half.h").write_text("#define SCALE 0.25f // shorter\n")
    after = asked()
    assert before[CODE] != after[CODE]
    assert len(asked.compiled) == 2


@pytest.fixture
def another_folder(tmp_path, monkeypatch):
    """``another_folder()`` goes there."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    return lambda: monkeypatch.chdir(folder)


def test_another_folder_gets_the_answer_that_it_would_have_got(asked, another_folder, tmp_path):
    os.mkdir(tmp_path / "headers")
    (tmp_path / "half.h").rename(tmp_path / "headers" / "half.h")
    text = f'#line 1 "kernels/f.cu"\n{SOURCE}'
    flags = [*FLAGS, f"-I{tmp_path}/headers", "-lineinfo"]
    here = asked(text, flags=flags)
    another_folder()
    there = asked(text, flags=flags)
    assert len(asked.compiled) == 1
    compiled = compile_program(text, "f.cu", flags, [], False)
    assert there[CODE] == compiled[CODE] != here[CODE]
    assert f'"{tmp_path}/notebooks/kernels/f.cu"'.encode() in there[CODE]


@pytest.mark.parametrize("more", ({}, {"flags": [*FLAGS, "-G"]}, {"cubin": True}), ids=str)
def test_another_folder_is_compiled_for_where_more_than_a_name_may_differ(
    asked, another_folder, tmp_path, more
):
    if more.get("cubin"):
        more["flags"] = ["--gpu-architecture=sm_90a"]
    text = SOURCE.partition("\n")[2].replace("SCALE", "0.5f") if more else SOURCE
    asked(text, **more)
    another_folder()
    if not more:
        (tmp_path / "notebooks" / "half.h").write_text("#define SCALE 0.25f\n")
    asked(text, **more)
    assert len(asked.compiled) == 2


def test_a_header_of_that_folder_is_compiled_in_place_of_the_other(asked, another_folder, tmp_path):
    os.mkdir(tmp_path / "headers")
    (tmp_path / "half.h").rename(tmp_path / "headers" / "half.h")
    flags = [*FLAGS, f"-I{tmp_path}/headers"]
    before = asked(flags=flags)
    another_folder()
    (tmp_path / "notebooks" / "half.h").write_text("#define SCALE 0.25f\n")
    assert asked(flags=flags)[CODE] != before[CODE]
    assert len(asked.compiled) == 2


def test_an_error_is_not_kept(asked):
    assert asked("no source")[REFUSED] and asked("no source")[REFUSED]
    assert len(asked.compiled) == 2


def test_half_a_file_is_none(asked, tmp_path):
    first = asked()
    (file,) = (tmp_path / "kept").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert asked() == first
    assert len(asked.compiled) == 2


def test_a_folder_that_cannot_be_made_is_no_error(asked, tmp_path):
    (tmp_path / "kept").write_text("a file")
    assert asked() == asked()
    assert len(asked.compiled) == 2


def test_the_oldest_go(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(bindings, "MOST_ANSWERS", 2)
    for number in "123":
        asked(SOURCE.replace("x[0]", f"x[{number}]"))
    assert len(list((tmp_path / "kept").iterdir())) == 2


def test_what_is_quick_is_not_kept(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(bindings, "VERY_SLOW", 100.0)
    asked()
    assert not (tmp_path / "kept").exists()
