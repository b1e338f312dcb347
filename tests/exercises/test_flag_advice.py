"""What a verdict says of a flag, a fence or a barrier names the missing piece: with it the kernel
is right. A case is two answers and takes a second: each turn has a third of them."""

from dataclasses import dataclass

import pytest

from course_utils.emulator import Cause
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import run_source
from tests.turns import in_turn

STORED = "    __syncthreads();  // the block has stored all of the row\n"
SEEN = "    __syncthreads();  // no thread goes on before thread 0 has seen the flag\n"
RELEASE = "        __threadfence_system();  // release\n"
ACQUIRE = "        __threadfence_system();  // acquire\n"
POLL = "        while (atomicAdd_system(flag, 0u) == 0) {\n        }\n"
TELL = "    if (rank < ranks - 1) tell(&flags[rank + 1]);\n"
WAIT = "    if (rank > 0) wait_for(&flags[rank]);\n"
BOX = "            box[i] = number;\n        }\n"
SPIN = "            while (ready.load(kTake) == 0) {\n            }\n        }\n"
COUNT = "        last = atomicSub(left, 1) == 1;\n"
PARTIAL = "        partial[blockIdx.x] = sum;\n"
FIRST_FENCE = "        __threadfence(); // release: whoever sees the count sees the sum too\n"
TOTAL = "        total[blockIdx.x] = before + sum;\n"
SET = "        atomicExch(&flag[blockIdx.x], 1);\n"
BEFORE_SET = "        __threadfence();  // release: whoever sees the flag sees the total\n"
BARRIER = "__syncthreads();\n"


@dataclass(frozen=True)
class Case:
    """A wrong kernel: what replaces what in the solution of an exercise. The verdict has the
    ``cause`` and the ``words``, and ``advice`` is what they ask for, as more replacements."""

    exercise: str
    cause: Cause
    words: str
    wrong: tuple[tuple[str, str], ...]
    advice: tuple[tuple[str, str], ...]


SYSTEM = "__threadfence_system();\n"
CASES = {
    "no barrier between the stores and a release": Case(
        "04.relay",
        Cause.FLAG_BARRIER_MISSING,
        "put __syncthreads() after the store,\n  where every thread of the block comes by.",
        ((BOX + "        __syncthreads();\n", BOX),),
        ((BOX, BOX + BARRIER),),
    ),
    "no barrier after the wait": Case(
        "04.relay",
        Cause.FLAG_WAIT_NOT_SHARED,
        "put __syncthreads() after the wait",
        ((SPIN + "        __syncthreads();\n", SPIN),),
        ((SPIN, SPIN + BARRIER),),
    ),
    "told before it is stored": Case(
        "05.pass_on",
        Cause.FLAG_SET_TOO_EARLY,
        "05.pass_on.cu:17\n  comes before the store at 05.pass_on.cu:41 in the program",
        ((TELL, ""), (WAIT, WAIT + TELL)),
        ((TELL, ""), (" = sum;\n    }\n}\n", f" = sum;\n    }}\n{TELL}}}\n")),
    ),
    "waited for after it was read": Case(
        "05.pass_on",
        Cause.FLAG_WAIT_TOO_LATE,
        "Wait first",
        ((WAIT, ""), (TELL, WAIT + TELL)),
        ((WAIT, ""), ("    for (int i", f"{WAIT}    for (int i")),
    ),
    "no barrier before the fence": Case(
        "05.pass_on",
        Cause.FLAG_BARRIER_MISSING,
        "put __syncthreads() after the store,\n  where every thread of the block comes by.",
        ((STORED, ""),),
        ((TELL, BARRIER + TELL),),
    ),
    "neither barrier nor fence before the flag": Case(
        "05.pass_on",
        Cause.FLAG_BARRIER_MISSING,
        "comes by, and __threadfence_system() right before the flag.",
        ((STORED, ""), (RELEASE, "")),
        ((TELL, BARRIER + TELL), ("        atomicExch", f"{SYSTEM}        atomicExch")),
    ),
    "no barrier after the fences of all": Case(
        "05.pass_on",
        Cause.FLAG_BARRIER_MISSING,
        "after the store and its __threadfence_system(),\n",
        ((STORED, "    " + SYSTEM), (RELEASE, "")),
        (("    " + SYSTEM, SYSTEM + BARRIER),),
    ),
    "a fence before the barrier": Case(
        "05.pass_on",
        Cause.FLAG_NOT_FENCED,
        "put __threadfence_system() right before it, in the same thread.",
        ((STORED, f"    if (threadIdx.x == 0) {SYSTEM}{STORED}"), (RELEASE, "")),
        (("        atomicExch", f"{SYSTEM}        atomicExch"),),
    ),
    "no fence after the wait": Case(
        "05.pass_on",
        Cause.FLAG_NOT_FENCED,
        "put __threadfence_system() right after that.",
        ((ACQUIRE, ""),),
        ((POLL, POLL + SYSTEM),),
    ),
    "neither fence nor barrier after the wait": Case(
        "05.pass_on",
        Cause.FLAG_WAIT_NOT_SHARED,
        "put __threadfence_system() and then __syncthreads() after the wait",
        ((ACQUIRE, ""), (SEEN, "")),
        ((POLL + "    }\n", POLL + "    }\n" + SYSTEM + BARRIER),),
    ),
    "a flag that is stored without an atomic": Case(
        "05.pass_on",
        Cause.LOOP_WAITS_FOR_WRITE,
        "both accesses have to be atomics",
        (("atomicExch_system(flag, 1u)", "*flag = 1"),),
        (("*flag = 1", "atomicExch_system(flag, 1u)"),),
    ),
    "a flag that is read without an atomic": Case(
        "04.carry",
        Cause.LOOP_WAITS_FOR_WRITE,
        "both accesses have to be atomics",
        (("atomicAdd(&flag[blockIdx.x - 1], 0)", "flag[blockIdx.x - 1]"),),
        (("flag[blockIdx.x - 1] ==", "atomicAdd(&flag[blockIdx.x - 1], 0) =="),),
    ),
    "a flag before its total": Case(
        "04.carry",
        Cause.FLAG_SET_TOO_EARLY,
        "Set it after the store",
        ((TOTAL, ""), (SET, SET + TOTAL)),
        ((SET + TOTAL, SET), (BEFORE_SET, TOTAL + BEFORE_SET)),
    ),
    "counted before it is stored": Case(
        "04.last_block",
        Cause.FLAG_SET_TOO_EARLY,
        "Set it after the store",
        ((PARTIAL, ""), (COUNT, COUNT + PARTIAL)),
        ((COUNT + PARTIAL, f"{PARTIAL}__threadfence();\n{COUNT}"),),
    ),
    "counted without a fence": Case(
        "04.last_block",
        Cause.FLAG_NOT_FENCED,
        "put __threadfence() right before it",
        ((FIRST_FENCE, ""),),
        ((COUNT, f"__threadfence();\n{COUNT}"),),
    ),
    "a relaxed store of the flag": Case(
        "04.draw_a_ticket",
        Cause.FLAG_NOT_FENCED,
        "set it with memory_order_release",
        (("memory_order_release", "memory_order_relaxed"),),
        (("flag.store(1, cuda::memory_order_relaxed", "flag.store(1, cuda::memory_order_release"),),
    ),
    "a relaxed load of the flag": Case(
        "04.draw_a_ticket",
        Cause.FLAG_NOT_FENCED,
        "read it with memory_order_acquire",
        (("memory_order_acquire", "memory_order_relaxed"),),
        (("flag.load(cuda::memory_order_relaxed", "flag.load(cuda::memory_order_acquire"),),
    ),
}


def changed(source: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name, marks=in_turn(n)) for n, (name, case) in enumerate(CASES.items())],
)
def test_the_advice_on_a_flag_names_what_is_missing_and_with_it_the_kernel_is_right(case):
    exercise = find(case.exercise)
    wrong = changed(exercise.solution, case.wrong)
    outcome = run_source(exercise, wrong, first_line=2)
    assert (outcome.kind, outcome.cause) == (kinds.DATA_RACE, case.cause), outcome
    assert case.words in outcome.verdict.message
    after = run_source(exercise, changed(wrong, case.advice))
    assert after.passed, after
