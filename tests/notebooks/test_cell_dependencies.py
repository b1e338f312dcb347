"""Which earlier cells a cell depends on."""

import pytest
from nbformat.v4 import new_code_cell

from course_utils.notebooks.cell_dependencies import dependencies

# Cells, and the positions of those that the last one depends on.
CASES = {
    "a name": (["x = 1", "y = 2", "print(x)"], [0]),
    "a name that was bound anew": (["x = 1", "x = 2", "print(x)"], [1]),
    "a name that it binds anew itself": (["x = 1", "x = 2\nprint(x)"], []),
    "a name that it updates": (["x = 1", "x += 2"], [0]),
    "a name that is bound out of itself": (["x = 1", "x = x + 2"], [0]),
    "a value that may have been changed": (["x = []", "x.append(1)", "print(x)"], [0, 1]),
    "an argument that may have been written to": (["y = f()", "launch(y)", "print(y)"], [0, 1]),
    "built-in names": (["print(1)", "print(2)"], []),
    "an import": (["import numpy as np\nx = 1", "np.ones(3)"], []),
    "an import beside a mention": (["import numpy as np", "np.ones(3)", "np.zeros(3)"], []),
    "a name that hides an import": (
        ["from course_utils import device", "device = 'x'", "print(device)"],
        [1],
    ),
    "an import again": (["np = 1", "import numpy as np", "np.ones(3)"], []),
    "a module's state": (["import numpy as np", "np.random.seed(0)", "np.random.rand()"], [1]),
    "a module's setting": (["import torch", "torch.backends.x = 1", "torch.ones(1)"], [1]),
    "the body of a function": (["n = 3", "def f():\n    return n", "f()"], [0, 1]),
    "the body of a lambda": (["f = lambda: n", "n = 3", "f()"], [0, 1]),
    "what a call changes": (
        ["kept = []", "def add(v):\n    kept.append(v)", "add(3)", "print(kept)"],
        [0, 1, 2],
    ),
    "a function's own names": (["i = 1", "def f():\n    i = 2\n    return i", "f()"], [1]),
    "a parameter": (["n = 1", "def f(n):\n    return n", "f(2)"], [1]),
    "a default": (["n = 1", "def f(m=n):\n    return m", "f()"], [0, 1]),
    "a comprehension's own name": (["x = 1", "print([x for x in (1, 2)])"], []),
    "the same name outside of a comprehension": (["x = 1", "print(x, [x for x in (1,)])"], [0]),
    "the same name outside of a lambda": (["n = 1", "print(f(lambda n: n), n)"], [0]),
    "a loop's name": (["i = 1", "for i in (1, 2):\n    print(i)"], [0]),
    "a line magic": (["x = 1", "%timeit f(x)"], [0]),
    "a shell's line": (["x = 1", "!echo {x}"], [0]),
    "a cell that needs something": (["x = 1", "%%needs gpu\nprint(x)"], [0]),
    "a cell that can't be read": (["x = 1", "%%capture out\nprint(2)"], [0]),
    "after a cell that can't be read": (["%%bash\nls", "print(2)"], [0]),
    "a program's variable": (["%%c into=p\nint main;", "print(p)"], [0]),
    "a program alone": (["%%c file=dot.h\nint x;", "%%c\nint main;"], []),
    "a program's file": (["%%c file=dot.h\nint x;", '%%c\n#include "dot.h"\n'], [0]),
    "a program's object": (["%%cpp file=a.cpp\nint x;", "%%cpp with=a.cpp\nint main;"], [0]),
    "files of programs": (["%%c keep=out.bin\nint main;", "c_folder() / 'out.bin'"], [0]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_cell_depends_on(case):
    sources, expected = CASES[case]
    found = dependencies([new_code_cell(source) for source in sources])
    direct = found[-1].cells
    # Those of a direct one count too: its fingerprint holds them.
    reached, todo = set(), list(direct)
    while todo:
        at = todo.pop()
        reached.add(at)
        todo += set(found[at].cells) - reached
    assert sorted(reached) == expected


def test_what_an_import_means_counts():
    cells = [new_code_cell(s) for s in ("from a import x, y\nimport b as c", "print(x, c)")]
    assert dependencies(cells)[1].imports == [" b", "a x"]
