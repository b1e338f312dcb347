"""Headers are precompiled for the sources that begin alike, and nothing else changes."""

import os

import pytest

from course_utils.compiling import bindings
from course_utils.compiling.bindings import (
    CODE,
    LOG,
    PRECOMPILING,
    REFUSED,
    KeptHeaders,
    compile_program,
    nvrtc_version,
    parted_at_headers,
)
from course_utils.compiling.headers import include_paths

FLAGS = ["--gpu-architecture=compute_90a", "-lineinfo", *(f"-I{path}" for path in include_paths())]
SOURCE = """#line 1 "kernels/half.cu"
// Halves.
#include <cuda_fp16.h>
#include "half.h" // SCALE

extern "C" __global__ void scaled(__half* x) { x[0] = __float2half(SCALE * NUMBER); }
"""

needs_precompiling = pytest.mark.skipif(
    nvrtc_version() < PRECOMPILING, reason="this NVRTC has no precompiled headers"
)


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """``kept(text)`` compiles beside a header half.h; every source counts as a slow one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bindings, "SLOW", 0.0)
    (tmp_path / "half.h").write_text("#pragma once\n#define SCALE 2.0f\n")
    headers = KeptHeaders()

    def compiled(text, flags=FLAGS):
        return headers.compile(text, "half.cu", [*flags, f"-I{tmp_path}"], [], False)

    compiled.headers, compiled.flags = headers, [*FLAGS, f"-I{tmp_path}"]
    return compiled


@needs_precompiling
def test_from_the_second_source_on_headers_are_kept_and_the_code_stays_the_same(kept):
    for number in ("1.0f", "2.0f", "3.0f"):
        text = SOURCE.replace("NUMBER", number)
        answer = kept(text)
        assert answer == compile_program(text, "half.cu", kept.flags, [], False)
        assert b".entry scaled(" in answer[CODE]
    assert [bool(headers.flags) for headers in kept.headers._kept.values()] == [True]
    kept(SOURCE.replace("NUMBER", "1.0f"), ["-DA=1", *FLAGS])
    assert len(kept.headers._kept) == 1  # other flags, and the first source with them


@needs_precompiling
def test_the_kept_file_has_no_name_and_the_oldest_goes(kept, monkeypatch):
    monkeypatch.setattr(bindings, "MOST_KEPT", 1)
    text = SOURCE.replace("NUMBER", "1.0f")
    for flags in (FLAGS, ["-DA=1", *FLAGS]):
        kept(text, flags), kept(text, flags)
    (headers,) = kept.headers._kept.values()
    file = headers.flags[-1].partition("=")[2]
    assert os.readlink(file).endswith("headers.pch (deleted)")


@needs_precompiling
def test_a_header_that_has_changed_is_read_anew(kept, tmp_path):
    text = SOURCE.replace("NUMBER", "1.0f")
    before = [kept(text) for _ in range(3)]
    (tmp_path / "half.h").write_text("#pragma once\n#define SCALE 8.0f\n")
    after = [kept(text) for _ in range(3)]
    assert after == 3 * [compile_program(text, "half.cu", kept.flags, [], False)]
    assert after[0][CODE] != before[0][CODE]
    (tmp_path / "half.h").unlink()
    assert "cannot open source file" in kept(text)[LOG]


def test_the_files_that_a_source_may_include_are_found(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "one.h").write_text('#include "beside.h"\n#if 0\n# include <two.h>\n#endif\n')
    (tmp_path / "a" / "beside.h").write_text("")
    (tmp_path / "b" / "two.h").write_text('#include "one.h"\n#include <nowhere.h>\n')
    flags = [f"--include-path={tmp_path / 'a'}", "-I", str(tmp_path / "b"), "-DX=1"]
    found = bindings.included("#include <one.h>\n", flags)
    assert sorted(map(os.path.basename, found)) == ["beside.h", "one.h", "two.h"]


def test_an_error_is_reported_as_without_kept_headers(kept):
    right = SOURCE.replace("NUMBER", "1.0f")
    kept(right), kept(right)
    for wrong in (right.replace("x[0]", "y[0]"), right.replace("half.h", "nothing.h")):
        answer = kept(wrong)
        assert answer[REFUSED]
        assert answer == compile_program(wrong, "half.cu", kept.flags, [], False)
    assert 'kernels/half.cu(5): error: identifier "y"' in kept(right.replace("x[0]", "y[0]"))[LOG]


def test_headers_that_cannot_be_precompiled_are_compiled_as_ever(kept, tmp_path):
    (tmp_path / "half.h").write_text("#define SCALE 2.0f\n#error never\n")
    text = SOURCE.replace("NUMBER", "1.0f")
    for _ in range(3):
        answer = kept(text)
        assert answer[REFUSED] and "never" in answer[LOG]


@pytest.mark.parametrize(
    ("text", "headers", "line"),
    [
        ("#include <a>\nint x;\n", ["#include <a>"], "#line 2"),
        ('#line 1 "f.cu"\n#include <a>\nint x;\n', ["#include <a>"], '#line 2 "f.cu"'),
        ('#line 9 "f.cu"\n\n#include <a>\nint x;\n', ["#include <a>"], '#line 11 "f.cu"'),
        ('// a\n# include "b.h" // c\nint x;\n', ['# include "b.h"'], "#line 3"),
        ("/* a\n#include <b>\n */\n#include <c>\nint x;\n", ["#include <c>"], "#line 5"),
        ("#include <a>\n/* b */ int x; /* c */\n", ["#include <a>"], "#line 2"),
        ("#include <a>\n#define B\n#include <c>\n", ["#include <a>"], "#line 2"),
    ],
)
def test_a_source_is_parted_behind_what_it_includes_first(text, headers, line):
    first, rest = parted_at_headers(text)
    assert first.splitlines() == [*headers, "#pragma nv_hdrstop"]
    assert rest.splitlines()[0] == line
    assert text.endswith(rest.partition("\n")[2])


@pytest.mark.parametrize(
    "text",
    [
        "int x;\n#include <a>\n",
        "#define A 1\n#include <a>\n",
        "// a \\\n#include <b>\nint x;\n",
        "/* #include <a>\n",
        "",
    ],
)
def test_a_source_that_begins_otherwise_stays_whole(text):
    assert parted_at_headers(text) == ("", text)
