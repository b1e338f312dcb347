"""A comment counts for the cells that show a source or its lines, and for no others."""

import pytest
from nbformat.v4 import new_code_cell

from course_utils.notebooks.shown_sources import showing

KERNEL = 'kernel = load("01_first/add.cu")'
HELPER = 'def listing(name):\n    show(load(f"01_first/{name}.cu"))'


def shown(*sources: str) -> list[bool]:
    return showing(map(new_code_cell, sources))


@pytest.mark.parametrize(
    "source",
    [
        "show(kernel)",
        "print(kernel.source)",
        "%%needs cuda\nrun_cuda('add.cu')",
        "for k in kernels:\n    show(k)",
        "try:\n    kernel(1, 32, ())\nexcept LaunchFault as fault:\n    print(fault)",
        "print(inspect.getsource(f))",
        "list(map(show, kernels))",
        "step(kernel, 1, 32, (x,))",
        "from course_utils import show as show_source\nshow_source(kernel)",
        "%%c expect=use-after-free\nint x;",
        "(",
    ],
)
def test_a_cell_shows(source):
    assert shown(source) == [True]


@pytest.mark.parametrize(
    "source",
    [
        "from course_utils import show, trace",
        HELPER,
        "optimizer.step()",
        "print('show(kernel)')  # show(kernel)",
        "def step():\n    return 1\nstep()",
        "load(source=code)",
        "%%c\nint show;",
    ],
)
def test_a_cell_shows_nothing(source):
    assert shown(source) == [False]


@pytest.mark.parametrize(
    "first, later, expected",
    [
        (HELPER, 'listing("add")', True),
        (HELPER, f"{HELPER.replace('show', 'check')}\nlisting('add')", False),
        (f"def both():\n    listing('add')\n\n{HELPER}", "both()", True),
        ("report = sanitize(kernel, 1, 32, ())", "print(report)", True),
        ("report = sanitize(kernel, 1, 32, ())", "print(kernel)", False),
        ("reports.append(trace(kernel, 1, 32, ()))", "print(reports[0])", True),
        ("found['a'] = trace(kernel, 1, 32, ())", "print(found)", True),
        ("rows = kernel.source.splitlines()\nfirst = rows[0]", "print(first)", True),
        ("rows = kernel.source.splitlines()", "rows = [1]\nprint(rows)", False),
        ("rows = load('01_first/add.cu').source.splitlines()", "print(rows[0])", True),
        ("text = load('01_first/add.cu').source", "add = load(source=text)\nadd()", False),
        ("other = load(source=kernel.source.replace('+', '-'))", "bench(other)", False),
        ("show(kernel)", "bench(kernel)", False),
        ("for name in steps:\n    rows = last\n    last = trace(name)", "print(rows)", True),
    ],
)
def test_what_an_earlier_cell_got_is_followed(first, later, expected):
    assert shown(KERNEL, first, later)[-1] is expected


def test_a_cell_that_may_fail_shows_the_lines_of_its_error():
    cell = new_code_cell("kernel()", metadata={"tags": ["raises-exception"]})
    assert showing([cell]) == [True]
