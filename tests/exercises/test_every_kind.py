"""Every kind of verdict, each got by a deliberately wrong kernel; none is missing."""

import numpy as np
import pytest

from course_utils import ceil_div
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.judging.runner import run_source

TILE = """\
// TODO: nothing
// SOLUTION
// END
extern "C" __global__ void scale(const float* x, float* y, int rows, int columns)
{
    __shared__ float tile[64];
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int t = threadIdx.y * 8 + threadIdx.x;
    tile[t] = row < rows && column < columns ? x[row * columns + column] : 0.0f;
    __syncthreads();
    if (row < rows && column < columns) {
        y[row * columns + column] = 2.0f * tile[t] + 1.0f;
    }
}
"""
STORE = "y[row * columns + column] = 2.0f * tile[t] + 1.0f;"
GUARD = "row < rows && column < columns) {"
WAIT = "__syncthreads();"
TIMES = "2.0f * tile[t]"

# verdict: what is replaced by what
WRONG = {
    kinds.COMPILE_ERROR: (WAIT, "__syncthreads()"),
    kinds.WRONG_NAME: ("void scale", "void scales"),
    kinds.WRONG_SIGNATURE: ("int columns)", "long long columns)"),
    kinds.LAUNCH_ERROR: ("void scale", "void __launch_bounds__(32) scale"),
    kinds.NOTHING_WRITTEN: (STORE, ""),
    kinds.PARTLY_WRITTEN: (GUARD, "column < columns && row < rows && row % 2) {"),
    kinds.ALL_ZEROS: (f"{TIMES} + 1.0f", "0.0f"),
    kinds.OUT_OF_BOUNDS: (GUARD, "row <= rows && column < columns) {"),
    kinds.NULL_POINTER: (TIMES, "2.0f * ((float*)(rows < 0 ? 1ull : 0ull))[t * 0]"),
    kinds.MISALIGNED: (TIMES, "*(float*)((char*)x + 1) * 2.0f"),
    kinds.DATA_RACE: (STORE, STORE.replace("tile[t]", "tile[t ^ 63]")),
    kinds.UNINITIALISED: (TIMES, "y[row * columns + column]"),
    kinds.BARRIER: (WAIT, "if (threadIdx.x < 4) __syncthreads();"),
    kinds.DEADLOCK: (
        WAIT,
        'if (t < 32) { asm volatile("bar.sync 1, 64;"); } '
        'else { asm volatile("bar.sync 2, 64;"); }',
    ),
    kinds.ENDLESS_LOOP: (WAIT, "for (volatile int k = 0; k < 1; k *= 1) {} __syncthreads();"),
    kinds.ASSERTION: (WAIT, "assert(row < rows); __syncthreads();"),
    kinds.TRAP: (WAIT, 'if (row == 2) asm volatile("trap;"); __syncthreads();'),
    kinds.INPUT_CHANGED: (STORE, STORE + " ((float*)x)[row * columns + column] = 1.0f;"),
    kinds.ORDER: (
        WAIT,
        "__syncthreads(); const float v = __shfl_xor_sync(__activemask(), tile[t ^ 1], 1); "
        "__syncthreads(); tile[t] = v;",
    ),
    kinds.NOT_A_NUMBER: (TIMES, "2.0f * sqrtf(-1.0f - tile[t] * tile[t])"),
    kinds.EDGES: (GUARD, "row < rows && column < columns - 1) {"),
    kinds.FIRST_BLOCK: (
        "x[row * columns + column] : ",
        "x[threadIdx.y * columns + threadIdx.x] : ",
    ),
    kinds.TRANSPOSED: ("y[row * columns + column]", "y[column * rows + row]"),
    kinds.OFF_BY_ONE: ("x[row * columns + column] :", "x[max(row - 1, 0) * columns + column] :"),
    kinds.REVERSED: ("x[row * columns + column] :", "x[(rows - 1 - row) * columns + column] :"),
    kinds.SCALED: (f"{TIMES} + 1.0f", f"0.5f * ({TIMES} + 1.0f)"),
    kinds.PRECISION: (TIMES, "2.003f * tile[t]"),
    kinds.WRONG: (TIMES, "2.0f * tile[t] * tile[t]"),
}
ELSEWHERE = {  # shown by mutants of an exercise, or by tests of their own
    kinds.PASS,
    kinds.NOT_STARTED,
    kinds.EMPTY,
    kinds.TARGET_MISSED,
    kinds.METHOD_MISSING,
    kinds.COPIED,
    kinds.TOO_SLOW,
    kinds.TIME_LIMIT,
    kinds.CRASHED,
    kinds.OUR_FAULT,
    kinds.UNKNOWN_INSTRUCTION,
    kinds.EMULATOR_ERROR,
    kinds.BAD_TENSOR_MAP,
    kinds.IN_FLIGHT,
    kinds.LAUNCH_REFUSED,
    kinds.BAD_TEXTURE,
    kinds.TENSOR_MEMORY,
    kinds.LAUNCH_CONTROL,
    kinds.WRONG_SHAPE,
    kinds.WRONG_DTYPE,
    *kinds.IN_PYTHON,
    *kinds.IN_C,
    kinds.NO_PACKAGE,
}


@pytest.fixture
def exercise(monkeypatch):
    monkeypatch.setattr(KernelExercise, "text", property(lambda self: TILE))
    return KernelExercise(
        id="04.scale",
        title="t",
        task="t",
        source="",
        hints=(),
        explanation="e",
        kernel="scale",
        inputs=lambda rng, size: {
            "x": floats(rng, size),
            "y": empty(size),
            "rows": np.int32(size[0]),
            "columns": np.int32(size[1]),
        },
        reference=lambda given: {"y": 2 * given["x"] + 1},
        launch=lambda size: Launch((ceil_div(size[1], 8), ceil_div(size[0], 8)), (8, 8)),
        small=((19, 37),),
        full=(19, 37),
    )


def test_the_kernel_that_is_broken_below_is_right_as_it_stands(exercise):
    assert run_source(exercise, exercise.solution + "// mine").passed


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_kernel_gets_the_verdict_of_its_mistake(exercise, kind):
    old, new = WRONG[kind]
    assert exercise.solution.count(old) == 1
    source = exercise.solution.replace(old, new)
    if kind == kinds.DATA_RACE:
        source = source.replace(WAIT, "")
    outcome = run_source(exercise, source)
    assert outcome.kind == kind, outcome
    assert outcome.verdict.hint and outcome._repr_html_()


@pytest.mark.parametrize(
    "old, new, said",
    [
        (TIMES, "y[row * columns + column]", "y[0], read by thread (0, 0, 0) at 04.scale.cu:"),
        (
            "tile[t] =",
            "if (t != 9) tile[t] =",
            "tile[9] in shared memory, read by thread (1,",
        ),
        (TIMES, "y[(int)tile[t] & 1]", "y[1], read by thread"),
    ],
)
def test_an_uninitialised_read_names_the_place_and_both_lines(exercise, old, new, said):
    outcome = run_source(exercise, exercise.solution.replace(old, new))
    assert outcome.kind == kinds.UNINITIALISED
    assert said in outcome.verdict.message
    assert "stores in y[" in outcome.verdict.message
    assert f"-> {len(TILE[: TILE.index(STORE)].splitlines()) - 3:3} | " in outcome.verdict.excerpt


def test_no_kind_of_verdict_is_left_without_a_test():
    mutants = {mutant.kind for exercise in all_exercises() for mutant in exercise.mutants}
    assert set(kinds.KINDS) == set(WRONG) | ELSEWHERE
    assert {kinds.TARGET_MISSED, kinds.IN_FLIGHT, *kinds.IN_PYTHON} <= mutants
    assert set(kinds.KINDS) - {kinds.PASS} <= set(kinds.NEXT_STEP)
