"""A right result by another method than the exercise's is told which requirement it misses."""

import math
import re

import pytest

from course_utils.exercises.authoring import kinds, method
from course_utils.exercises.authoring.emulated_runs import load_answer
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.judging.behaviour_checks import counted
from course_utils.exercises.judging.runner import run_source

SAXPY, BLOCK_MIN, MATMUL = find("04.saxpy"), find("04.block_min"), find("04.batched_matmul")


def work(exercise, size):
    return counted(exercise, load_answer(exercise, exercise.solution, "ours.cu"), size)


CHEATS = {
    "block 0 does it all": (
        SAXPY,
        (
            "if (i < n) {\n        y[i] = a * x[i] + y[i];",
            "if (blockIdx.x == 0) for (int k = i; k < n; k += 256) {\n"
            "        y[k] = a * x[k] + y[k];",
        ),
        "give each thread its part",
    ),
    "every thread of a block looks through it": (
        BLOCK_MIN,
        (
            "    for (int distance = kThreads / 2; distance > 0; distance /= 2) {",
            "    __syncthreads();\n    float m = infinity;\n"
            "    for (int k = 0; k < kThreads; ++k) m = fminf(m, tree[k]);\n"
            "    if (t == 0) smallest[blockIdx.x] = m;\n"
            "    for (int distance = 0; distance > 0; distance /= 2) {",
        ),
        ("        smallest[blockIdx.x] = tree[0];", ""),
        "what others have done already",
    ),
    "one thread of a block reads the tree": (
        BLOCK_MIN,
        (
            "    for (int distance = kThreads / 2; distance > 0; distance /= 2) {",
            "    __syncthreads();\n"
            "    for (int k = 1; t == 0 && k < kThreads; ++k) tree[0] = fminf(tree[0], tree[k]);\n"
            "    for (int distance = 0; distance > 0; distance /= 2) {",
        ),
        "give each thread its part",
    ),
    "one thread does it all": (
        SAXPY,
        (
            "if (i < n) {\n        y[i] = a * x[i] + y[i];",
            "if (i == 0) for (int k = 0; k < n; ++k) {\n        y[k] = a * x[k] + y[k];",
        ),
        "One thread does most of the work",
    ),
    "thread 0 of each block looks through it": (
        BLOCK_MIN,
        (
            "tree[t] = i < n ? x[i] : infinity;",
            "float m = infinity;\n    if (t == 0) {\n        for (int k = i; k < min(n, i + 256); "
            "++k) m = fminf(m, x[k]);\n    }\n    tree[t] = m;",
        ),
        "give each thread its part",
    ),
    "one layer of blocks does every layer": (
        MATMUL,
        (
            "    const int b = blockIdx.z * blockDim.z + threadIdx.z;",
            "    if (blockIdx.z > 0) return;\n    for (int b = 0; b < batch; ++b) {",
        ),
        ("b >= batch || row", "row"),
        ("column] = sum;", "column] = sum; }"),
        "give each thread its part",
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_work_that_is_not_shared_out_is_seen(cheat):
    exercise, *changes, words = CHEATS[cheat]
    source = exercise.solution
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    outcome = run_source(exercise, source)
    assert outcome.kind == kinds.METHOD_MISSING, outcome
    assert "the result is right, but" in str(outcome) and words in str(outcome)


def test_ready_made_requirements_measure_what_they_name():
    found = work(BLOCK_MIN, 1000)
    assert found.results == 4 and found.result_bytes == 16
    assert method.one_store_per_result().measure(found) == 1
    assert method.shared_memory(advice="").measure(found) >= 4000
    assert method.barriers(advice="").measure(found) == 4 * 8 * 8
    assert method.atomics("shared", advice="").measure(found) == 0
    assert method.reads_each_once(4000).measure(found) == 1
    assert method.instructions("minima", "min.", advice="").measure(found) > 0
    assert method.balanced_loads().measure(found) < 1.1
    assert method.no_redundant_work().measure(found) == 1


@pytest.mark.parametrize(
    "store",
    ["atomicExch(&y[i], a * x[i] + y[i]);", "atomicAdd(&y[i], a * x[i] - (float)0);"],
    ids=["exchanged", "added"],
)
def test_a_result_that_atomics_store_is_stored(store):
    right = "y[i] = a * x[i] + y[i];"
    assert right in SAXPY.solution
    assert run_source(SAXPY, SAXPY.solution.replace(right, store)).passed, "once, by its thread"
    twice = f"const float was = y[i]; y[i] = 0; __syncwarp(__activemask()); {store}"
    twice = twice.replace("+ y[i]", "+ was").replace("(float)0", "-was")
    outcome = run_source(SAXPY, SAXPY.solution.replace(right, twice))
    assert outcome.kind == kinds.METHOD_MISSING, outcome
    assert "stores and atomics to global memory for each result: 2" in str(outcome)


def test_room_and_local_memory_are_counted():
    padded, kept = find("06.padded_exchange"), find("06.kept_row")
    room = method.shared_memory_limit(5 * 1024, advice="")
    assert room.measure(work(padded, 1)) == 4352 and not room.missing(work(padded, 1))
    in_registers = method.no_local_memory("")
    assert in_registers.measure(work(kept, (1, 300))) == 0
    local = kept.solution.replace("__shared__ float kept", "float kept")
    module = load_answer(kept, local, "local.cu")
    assert "reads and writes of local memory" in in_registers.missing(
        counted(kept, module, (1, 300))
    )


def numbers_in(message):
    return re.findall(r"\d+(?:\.\d+)?", message.partition(":")[2])


def test_a_number_outside_its_bounds_is_told_with_the_bound():
    found = work(SAXPY, 1000)
    too_few = method.shuffles(5, advice="Shuffle.")
    assert numbers_in(too_few.missing(found)) == ["0", "5"]
    assert numbers_in(method.one_store_per_result(0.5).missing(found)) == ["1", "0.5"]
    assert method.one_store_per_result(1).missing(found) == ""


def test_counts_of_several_launches_are_added_up():
    once = work(SAXPY, 1000)
    twice = method.stats_of(list(once.launches) * 2, [])
    assert twice.counts.global_store_bytes == 2 * once.counts.global_store_bytes
    assert twice.opcodes("fma.") == 2 * once.opcodes("fma.")


@pytest.mark.parametrize(
    ("old", "new", "by_luck"),
    [
        ("float *post", "volatile float *post", True),
        ("post[i ^ 1]", "x[i ^ 1]", False),
    ],
)
def test_a_result_that_nothing_orders_is_right_by_luck(old, new, by_luck):
    exercise = find("04.swap_neighbours")
    assert old in exercise.starter
    outcome = run_source(exercise, exercise.starter.replace(old, new))
    assert outcome.kind == kinds.METHOD_MISSING, outcome
    assert ("by luck" in outcome.verdict.message) == by_luck
    assert ("the result is right" in outcome.verdict.message) != by_luck
    assert ("__syncwarp()" in outcome.verdict.hint) == by_luck


FILL = "for (int j = threadIdx.x; j < kTile; j += kBlock) {"


@pytest.mark.parametrize(
    ("changes", "stored"),
    [
        (((FILL, "for (int j = 0; j < kTile; ++j) {"),), "271"),
        (((FILL, f"for (int twice = 0; twice < 2; ++twice) {FILL}"),), "2.117"),
        ((("tile[threadIdx.x + k]", "x[min(i + k, n - 1)]"),), ""),
    ],
)
def test_loads_of_a_tile_filled_twice_are_told_from_reads_beside_it(changes, stored):
    exercise = find("04.window_max")
    source = exercise.solution
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    outcome = run_source(exercise, source)
    assert outcome.kind == kinds.TARGET_MISSED, outcome
    hint = outcome.verdict.hint
    assert ("filled more than once" in hint) == bool(stored) and stored in hint
    assert ("instead of x" in hint) != bool(stored)


def test_stores_are_counted_where_several_blocks_share_the_work():
    def blocks(exercise, size):
        return max(math.prod(launch.grid) for launch in exercise.launches(size))

    requirement = method.one_store_per_result().label
    alone = [
        exercise.id
        for exercise in all_exercises()
        if isinstance(exercise, KernelExercise)
        for each in exercise.method
        if each.label == requirement
        and blocks(exercise, each.size or exercise.small[0]) == 1
        and any(blocks(exercise, size) > 1 for size in exercise.small)
    ]
    assert alone == [], "an answer whose blocks each do the work of all later ones would pass"
