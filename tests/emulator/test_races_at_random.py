"""Random kernels: a race is reported exactly when two accesses are ordered by nothing."""

import itertools

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import ALL_CHECKS, DATA_RACE, EmulatedModule, Options
from course_utils.emulator.checks.races import race_shadow

THREADS = CELLS = 96
BARRIERS = {"block": "__syncthreads();", "warp": "__syncwarp();"}


def program(seed, barriers):
    """Steps: the name of a barrier, or (what, a, b, width) for cell (a * thread + b) % CELLS."""
    random = np.random.default_rng(seed)
    steps = []
    for _ in range(9):
        if random.random() < 0.55:
            steps.append(str(random.choice(barriers)))
        else:
            what = str(random.choice(["read", "read", "write", "add"]))
            a, b = (int(x) for x in random.choice([(1, 0), (1, 0), (1, 0), (1, 5), (0, 3)]))
            steps.append((what, a, b, int(random.choice([1, 4, 4]))))
    return steps


def source(steps, array):
    lines = []
    for n, step in enumerate(steps):
        if isinstance(step, str):
            lines.append(BARRIERS[step])
            continue
        what, a, b, width = step
        cell = f"({a} * t + {b}) % {CELLS}"
        place = f"{array}[{cell}]" if width == 4 else f"((char*){array})[4 * ({cell}) + 2]"
        lines.append(
            {
                "read": f"v += {place};",
                "write": f"{place} = t + {100 + n};",
                "add": f"atomicAdd((int*)&{array}[{cell}], 1);",
            }[what]
        )
    body = "\n".join(lines)
    return (
        'extern "C" __global__ void f(int* x, int* y) {\n'
        f"__shared__ int s[{CELLS}];\nint t = threadIdx.x, v = 0;\n{body}\ny[t] = v;\n}}"
    )


def races(steps) -> bool:
    """Whether two threads access one cell with no barrier of theirs between, by brute force."""
    accesses = []
    block, warp = 0, 0
    for step in steps:
        if step == "block":
            block += 1
        elif step == "warp":
            warp += 1
        else:
            accesses.append((*step, block, warp))
    for one, other in itertools.product(accesses, repeat=2):
        kinds = one[0], other[0]
        if kinds == ("read", "read") or kinds == ("add", "add") or one[4] != other[4]:
            continue
        for t, u in itertools.product(range(THREADS), repeat=2):
            same_cell = (one[1] * t + one[2]) % CELLS == (other[1] * u + other[2]) % CELLS
            ordered = t == u or (t // 32 == u // 32 and one[5] != other[5])
            if same_cell and not ordered and not (one is other and kinds[0] == "read"):
                return True
    return False


def reported(steps, array) -> bool:
    entry = EmulatedModule(compile_ptx(source(steps, array), filename="kernel.cu")).entry("f")
    x, y = np.zeros(CELLS, np.int32), np.zeros(THREADS, np.int32)
    found = entry.launch(1, THREADS, (x, y), options=Options(checks=ALL_CHECKS)).findings
    return any(f.kind == DATA_RACE for f in found)


@pytest.mark.parametrize("array", ["s", "x"])
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("limit", ["DEFERRED_READS", "ENOUGH_LOOKS", None])
def test_block_barriers_alone_decide_what_is_a_race(seed, array, limit, monkeypatch):
    """Whether reads are put aside, or entered at once, or all of them with the first write."""
    if limit:
        monkeypatch.setattr(race_shadow, limit, 0)
    steps = program(seed, ["block"])
    assert reported(steps, array) == races(steps), source(steps, array)


@pytest.mark.parametrize("seed", range(30))
def test_what_warp_barriers_order_is_no_race(seed):
    steps = program(seed, ["block", "warp"])
    assert races(steps) or not reported(steps, "s"), source(steps, "s")
