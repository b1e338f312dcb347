"""Fingerprints go by code: what isn't code changes none."""

import pytest

from course_utils.fingerprints import code_of, code_of_cell

KERNEL = """#include "tile.cuh"
// Adds.
__global__ void add(float* x) {
    x[0] += 1;  /* one */
}
"""
PROGRAM = "def f(x):\n    return x + 1\n"


@pytest.mark.parametrize(
    ("suffix", "text", "same"),
    [
        (".cu", KERNEL, "__global__ void add(float* x) {\n\n  x[0]  += 1;\n}"),
        (".py", PROGRAM, "# adds\ndef f(x):\n\n    return x + 1  # one\n"),
        (".py", 'x = f"""\n\n# {1}"""', 'x = f"""\n\n# {1}"""  # text'),
        (".py", PROGRAM, f'"""Adds."""  # one\n\n{PROGRAM}'),
        (".py", PROGRAM, PROGRAM.replace(":\n", ':\n    """Add.\n\n    One.\n    """\n\n')),
        (
            ".py",
            "async def f():\n  x\nclass A:\n  y",
            "async def f():\n  'f'\n  x\nclass A:\n  'A'\n  y",
        ),
        (".json", "[1]\n", "[1]\r\n"),
    ],
)
def test_what_is_no_code_does_not_count(suffix, text, same):
    assert code_of(text, suffix) == code_of(same, suffix)


@pytest.mark.parametrize(
    ("suffix", "text", "other"),
    [
        (".cu", KERNEL, KERNEL.replace("1", "2")),
        (".cu", 'f("a  b")', 'f("a //b")'),
        (".py", PROGRAM, PROGRAM.replace("1", "2")),
        (".py", "def f(:", "def f(::"),
        (".py", 'x = """a\n\nb"""', 'x = """a\nb"""'),
        (".py", "x = '# 1'", "x = '# 2'"),
        (".py", "f(", "f( # 1"),
        (".py", 'x = 1\n"""a"""', 'x = 1\n"""b"""'),
        (".py", 'def f():\n    return """a"""', 'def f():\n    return """b"""'),
        (".py", 'def f():\n    """a""".strip()', 'def f():\n    """b""".strip()'),
        (".py", "def f():\n    x\n    'a'", "def f():\n    x\n    'b'"),
        (".py", "if x:\n    'a'", "if x:\n    'b'"),
        (".py", '"""a"""\nprint(__doc__)', '"""b"""\nprint(__doc__)'),
        (".json", "[1]", "[ 1]"),
    ],
)
def test_what_is_code_counts(suffix, text, other):
    assert code_of(text, suffix) != code_of(other, suffix)


@pytest.mark.parametrize(
    ("cell", "same"),
    [
        ("x = 1", "# One.\n\nx = 1  # one\n"),
        ("%%needs gpu\nx = 1", "%%needs gpu\n# One.\nx = 1\n"),
        ("%%c\nint x;", "%%c\n// One.\nint x;\n"),
        ("%time f(x)\ny = 2", "%time f(x)\n\ny = 2  # two"),
        ("def f():\n    return 1", 'def f():\n    """One."""\n    return 1'),
    ],
)
def test_a_comment_in_a_cell_does_not_count(cell, same):
    assert code_of_cell(cell) == code_of_cell(same)


@pytest.mark.parametrize(
    ("cell", "other"),
    [
        ("%%needs gpu\nx = 1", "%%needs nvcc\nx = 1"),
        ("%%writefile a.txt\n# 1", "%%writefile a.txt\n# 2"),
        ("if x:\n    y = 1", "if x:\n  y = 1"),
        ('"""shown"""', '"""shown, too"""'),
    ],
)
def test_what_a_cell_runs_counts(cell, other):
    assert code_of_cell(cell) != code_of_cell(other)
