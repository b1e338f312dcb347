"""Random programs of two warps: what lanes of the first release, the second waits for."""

from functools import cache

import numpy as np
import pytest
from asynchrony import module

from course_utils.emulator import ALL_CHECKS, DATA_RACE, Cause, Options
from course_utils.emulator.findings.language_words import Language

WRITE, READ, SYNC, ARRIVE, WAIT = range(5)
BARRIERS = 4
BODY = f"""__shared__ u64 bar[{BARRIERS}]; __shared__ int s[32];
int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = 0;
if (threadIdx.x < {BARRIERS}) init(&bar[threadIdx.x], counts[threadIdx.x]);
if (warp == 0) s[lane] = lane;
__syncthreads();
for (int i = warp * n; i < (warp + 1) * n; ++i) {{
    int what = steps[3 * i], a = steps[3 * i + 1], b = steps[3 * i + 2];
    if (what == {WRITE}) s[(lane + a) % 32] = i;
    if (what == {READ}) v += s[(lane + a) % 32];
    if (what == {SYNC}) __syncwarp();
    if (what == {ARRIVE} && b >> lane & 1) arrive(&bar[a]);
    if (what == {WAIT}) wait(&bar[a], 0);
}}
y[threadIdx.x] = v;"""
PARAMETERS = "const int* counts, const int* steps, int* y, int n"
MASKS = 1, 2, 0xFF, 0xFFFF0000, 0xFFFFFFFF


@cache
def kernel():
    return module(PARAMETERS, BODY).entry("f")


def program(seed):
    """The steps of both warps. Lanes of the first use their own cells alone, so that its lanes
    don't race with each other; the second meets before each access."""
    random = np.random.default_rng(seed)
    first, second = [], []
    for barrier in range(BARRIERS):
        for _ in range(2):
            what = random.choice([WRITE, READ, SYNC])
            first.append((int(what), 0, 0))
        first.append((ARRIVE, barrier, int(random.choice(MASKS))))
        if random.random() < 0.6:
            second.append((WAIT, barrier, 0))
        if random.random() < 0.5:
            second += [(SYNC, 0, 0), (int(random.choice([WRITE, READ])), int(random.choice(4)), 0)]
    return first, second


def races(first, second):
    """Whether two accesses of the two warps are ordered by nothing. To know of a release is to know
    of the warp's earlier ones."""
    for q, (what, *_) in enumerate(second):
        if what not in (WRITE, READ):
            continue
        waited = {a for w, a, _ in second[:q] if w == WAIT}
        last = max((r for r, s in enumerate(first) if s[0] == ARRIVE and s[1] in waited), default=0)
        for p, (other, _, _) in enumerate(first):
            if other not in (WRITE, READ) or WRITE not in (what, other):
                continue
            covered = 0
            for r in range(p + 1, last + 1):
                met = any(s[0] == SYNC for s in first[p:r])
                if first[r][0] == ARRIVE:
                    covered |= 0xFFFFFFFF if met else first[r][2]
            if covered != 0xFFFFFFFF:  # every lane of the second warp has some lane's cell
                return True
    return False


def findings(first, second):
    n = max(len(first), len(second))
    steps = np.zeros((2, n, 3), np.int64)
    steps[:, :, 0] = SYNC + 8  # nothing
    steps[0, : len(first)], steps[1, : len(second)] = first, second if second else steps[1, :0]
    counts = [next((s[2].bit_count() for s in first if s[:2] == (ARRIVE, b)), 1) for b in range(4)]
    arguments = np.array(counts, np.int32), steps.astype(np.uint32).view(np.int32).ravel()
    y = np.zeros(64, np.int32)
    options = Options(checks=ALL_CHECKS)
    return kernel().launch(1, 64, (*arguments, y, np.int32(n)), options=options).findings


RACES = {seed: races(*program(seed)) for seed in range(120)}
SEEDS = [
    seed for kind in (True, False) for seed in [s for s, race in RACES.items() if race == kind][:12]
]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_race_is_reported_exactly_when_no_release_covers_the_lane(seed):
    first, second = program(seed)
    found = findings(first, second)
    assert any(f.kind == DATA_RACE for f in found) == RACES[seed], (first, second)


def test_the_lane_that_arrives_is_named_and_not_its_warp():
    write, arrival = (WRITE, 0, 0), (ARRIVE, 0, 1)
    (found, *_) = findings([write, arrival], [(WAIT, 0, 0), (SYNC, 0, 0), (READ, 0, 0)])
    assert found.cause == Cause.ARRIVAL_OF_OTHER_LANE
    assert found.other_thread == (1, 0, 0)
    assert not findings([write, (SYNC, 0, 0), arrival], [(WAIT, 0, 0), (SYNC, 0, 0), (READ, 0, 0)])


def test_the_report_names_the_barrier_of_the_kernel_s_language():
    options = Options(checks=ALL_CHECKS, language=Language.NUMBA)
    steps = np.array([[WRITE, 0, 0], [ARRIVE, 0, 1], [WAIT, 0, 0], [READ, 0, 0]], np.int32)
    arguments = np.ones(4, np.int32), steps.ravel(), np.zeros(64, np.int32), np.int32(2)
    (found, *_) = kernel().launch(1, 64, arguments, options=options).findings
    assert found.cause == Cause.ARRIVAL_OF_OTHER_LANE
    assert options.words.warp_barrier in found.message
