"""Whatever is in a cell, its reader gets a few lines that help, soon, and the next cell works.

``python -m tests.exercises.test_hostile_cells`` prints the table: cell, seconds, what is seen.
"""

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from course_utils import load
from course_utils.compiling.compiler_process import CompilerStopped
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.selection import EMULATOR
from course_utils.emulator import KernelFault
from course_utils.errors import LessonError
from course_utils.exercises.authoring import emulated_runs
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source
from course_utils.paths import ROOT
from tests.machine_speed import slowness

SAXPY, BLOCKS, NUMBER = find("04.saxpy"), find("04.blocks_for"), find("04.predict_sectors")
ADD = 'extern "C" __global__ void f(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }'
MOST_SECONDS = 60.0  # where a machine is busy; the table says what it takes
MOST_SEEN = 4000  # characters


def inside(statement: str) -> str:
    """The right answer to 04.saxpy with a statement before its guard."""
    return SAXPY.solution.replace("if (i < n) {", f"{statement} if (i < n) {{")


def doubled(times: int) -> str:
    lines = [f"#define M{n + 1} M{n} M{n}" for n in range(times)]
    return "\n".join(["#define M0 y[0] += 1;", *lines, inside(f"M{times}")])


def launched(*arguments, **options) -> None:
    load(source=ADD, device=EMULATOR)((1,), (32,), arguments, **options)


def without_a_gpu() -> str:
    """What a notebook shows that asks for a GPU on a machine without one."""
    cell = "from course_utils import cp, load; cp.zeros(3)"
    environment = {**os.environ, "COURSE_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", cell]
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True)
    return done.stderr.splitlines()[-1]


ENDLESS = "a macro that doubles 28 times"  # for the compiler: it gets all of its seconds
# What is in the cell: the exercise that it answers, the cell, and words of what its reader sees.
ANSWERS = {
    ENDLESS: (SAXPY, doubled(28), "compiler"),
    "parentheses nested 20,000 deep": (
        SAXPY,
        inside("y[0] = " + "(" * 20_000 + "1" + ")" * 20_000 + ";"),
        "DATA RACE",
    ),
    "half a character": (SAXPY, SAXPY.solution + "// \ud83d", "half a character"),
    "half a character in Python": (BLOCKS, "x = '\ud83d'", "half a character"),
    "an endless loop": (SAXPY, inside("while (true) {}"), "ENDLESS LOOP"),
    "a slow loop": (
        SAXPY,
        inside("volatile int s = 0; for (int k = 0; k < 20000; ++k) s += k;"),
        "TOO SLOW: the kernel finishes",
    ),
    "malloc without end": (
        SAXPY,
        inside("for (int k = 0; k < 100; ++k) { int* p = (int*)malloc(1 << 20); *p = k; }"),
        "NULL POINTER",
    ),
    "one malloc of 64 GB": (
        SAXPY,
        inside("int* p = (int*)malloc(1ull << 36); *p = 1;"),
        "NULL POINTER",
    ),
    "400 KB of local memory a thread": (
        SAXPY,
        inside("volatile int big[100000]; big[n] = n; y[0] = y[0] + big[n] * 0;"),
        "DATA RACE",
    ),
    "a recursion without end": (
        SAXPY,
        "__device__ __noinline__ int f(int k) {\n"
        "    volatile int own[100]; own[k % 100] = k;\n"  # so that the stack is full soon
        "    return k ? 1 + f(k + 1) * own[k % 100] : 0;\n}\n" + inside("y[0] = f(n);"),
        "ENDLESS LOOP",
    ),
    "a number printed 99,999,999 wide": (SAXPY, inside('printf("%99999999d", 1);'), "PASS"),
    "printf for ever": (
        SAXPY,
        inside('for (int k = 0; k >= 0; ++k) printf("%d", k);'),
        "ENDLESS LOOP",
    ),
    "assembly that is none": (SAXPY, inside('asm("frob.u32 1;");'), "frob"),
    "a number of ten million digits": (NUMBER, "neighbours = 9**64**4", "too large"),
    "an expression nested 5,000 deep": (NUMBER, "neighbours = " + "-" * 5000 + "1", "too deeply"),
    "Python that never ends": (
        replace(BLOCKS, seconds=2.0),  # a reader's session waits longer
        "def blocks_for(n, threads):\n    while True: pass",
        "TIME LIMIT",
    ),
    "Python that ends its process": (
        BLOCKS,
        "import os\ndef blocks_for(n, threads):\n    os._exit(3)",
        "CRASHED",
    ),
}
CALLS = {
    "COURSE_DEVICE=cuda and no GPU": (without_a_gpu, "Unset COURSE_DEVICE"),
    "an array with no element": (lambda: launched(cp.zeros(0, cp.float32), 0), ""),
    "reading an array with no element": (
        lambda: launched(cp.zeros(0, cp.float32), 3),
        "Null pointer",
    ),
    'shared_mem="x"': (
        lambda: launched(cp.zeros(32, cp.float32), 3, shared_mem="x"),
        "counts bytes",
    ),
    "load(3)": (lambda: load(3), "load"),
    "bytes in the other order": (
        lambda: launched(cp.zeros(32, ">f4"), 3),
        "its bytes in the other order",
    ),
    "an array of NumPy": (lambda: launched(np.zeros(32, np.float32), 3), "cp."),
    "a block of 0 threads": (
        lambda: load(source=ADD, device=EMULATOR)((1,), (0,), (cp.zeros(3, cp.float32), 3)),
        "block",
    ),
}
REPORTS = (LessonError, KernelFault, CompilerStopped)


@contextlib.contextmanager
def impatient(seconds: float):
    """As a reader's session, but for the ``seconds`` that a compiler gets."""
    before, emulated_runs.COMPILE_SECONDS = emulated_runs.COMPILE_SECONDS, seconds
    try:
        yield
    finally:
        emulated_runs.COMPILE_SECONDS = before


def seen(name: str) -> tuple[str, float]:
    """What the reader of a cell sees, and after how many seconds."""
    start = time.monotonic()
    if name in ANSWERS:
        exercise, cell, _ = ANSWERS[name]
        with impatient(1.0 if name == ENDLESS else 5.0):
            text = str(run_source(exercise, cell, first_line=2))
    else:
        try:
            text = str(CALLS[name][0]() or "")
        except REPORTS as error:
            text = str(error)
    return text, time.monotonic() - start


@pytest.mark.parametrize("name", [*ANSWERS, *CALLS])
def test_a_hostile_cell_gets_a_few_lines_that_help(name):
    text, seconds = seen(name)
    words = ANSWERS[name][-1] if name in ANSWERS else CALLS[name][-1]
    assert words in text, text
    assert "OUR FAULT" not in text and "Traceback" not in text, text
    assert len(text) < MOST_SEEN and max(map(len, text.splitlines() or [""])) < 1600
    assert str(Path.home()) not in text
    assert seconds < MOST_SECONDS * slowness()


def test_the_next_cell_after_them_is_judged_as_ever():
    seen(ENDLESS)
    start = time.monotonic()
    assert run_source(SAXPY, SAXPY.solution).passed
    assert time.monotonic() - start < MOST_SECONDS / 2 * slowness()


if __name__ == "__main__":
    for cell in [*ANSWERS, *CALLS]:
        shown, took = seen(cell)
        first = shown.splitlines()[0][:150] if shown else "(nothing: it runs)"
        print(f"{cell:34} {took:6.2f}  {first}")
