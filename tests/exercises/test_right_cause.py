"""A verdict's words name the cause of a mistake, and nothing that is not its cause."""

import pytest

from course_utils.compiling.host_compilers import host_compiler
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.host_answer import FROM_A_FUNCTION
from course_utils.exercises.judging.number_answer import UPSIDE_DOWN
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.trials import drawn_trials

needs_compiler = pytest.mark.skipif(host_compiler("c") is None, reason="no C compiler")


def verdict_on(exercise_id: str, mutant_name: str) -> str:
    exercise = find(exercise_id)
    mutant = next(m for m in exercise.mutants if m.name == mutant_name)
    return str(run_source(exercise, mutant.apply(exercise.solution)))


MUTANTS = {  # what the verdict says of a mutant, and what it does not say
    "a host that does it all uses no stream": (
        "04.find_the_host_bug",
        "squared on the host alone",
        "Nothing was put into any stream",
        "one stream",
    ),
    "an atomic of the wrong scope": (
        "04.atomic_multiply",
        "atomic in a block alone",
        "is its own block: for others it isn't atomic",
        "wrong values",
    ),
    "an mbarrier that a long report names in its end": (
        "08.two_halves",
        "both start",
        "Compare the arrivals and the bytes",
        "must reach each __syncthreads()",
    ),
    "sums that are read too early": (
        "08.early_sums",
        "no wait at the end",
        "before the first line that uses one of them",
        "Two threads access",
    ),
    "a fence of wgmma is no fence of copies": (
        "08.early_sums",
        "no fence after the scaling",
        "Put a wgmma.fence after the last line that sets one of",
        "starts the copy",
    ),
    "a stage that is handed back too early": (
        "08.consumer_loop",
        "handed back before the products are done",
        "only then signal that it may be overwritten",
        "initialises",
    ),
    "sums of tensor memory that are fetched without a fence": (
        "08.fetched_sums",
        "no fence",
        "tmem_after_sync after its wait",
        "Two threads access",
    ),
    "a copy in flight when its block ends": (
        "06.async_stages",
        "no wait at the end",
        "must not end while one of its copies is in flight",
        "Two threads access",
    ),
    "tiles by hand are no asynchronous copies": (
        "06.async_stages",
        "half of the copies by hand",
        "bytes that cp.async copies, over those of A and B: 0.75",
        "oldest group",
    ),
    "a product without tiles": (
        "06.two_buffers",
        "no tiles at all",
        "multiply what lies in shared memory",
        "Load the next tiles before",
    ),
    "an overflow is no factor": (
        "04.count_digits",
        "counts of 16 bits",
        "WRONG VALUES",
        "times the expected one",
    ),
    "a wrong branch is no factor": (
        "04.one_way",
        "0 with the negative ones",
        "WRONG VALUES",
        "times the expected one",
    ),
    "rounds that are missing are no lost precision": (
        "04.one_way",
        "72 rounds and no more",
        "WRONG VALUES",
        "narrower type",
    ),
    "a term that is missing is no lost precision": (
        "04.dot",
        "last element lost",
        "more than its rounding explains",
        "narrower type",
    ),
    "a limit is no edge": (
        "04.batched_matmul",
        "64 pairs and no more",
        "the first is C[64, 0, 0]",
        "bounds guard",
    ),
}


@pytest.mark.parametrize("case", MUTANTS)
def test_a_verdict_names_the_cause(case):
    exercise_id, mutant, words, wrong_words = MUTANTS[case]
    text = verdict_on(exercise_id, mutant)
    assert words in text and wrong_words not in text, text


@needs_compiler
@pytest.mark.parametrize(
    ("mutant", "words"),
    [
        ("last product only", "C[0, 0] is"),
        ("all of B copied, and columns of the copy", "a copy of B is no other order of loops"),
    ],
)
def test_a_function_that_prints_nothing_is_not_sent_to_its_prints(mutant, words):
    text = verdict_on("06.loop_order", mutant)
    assert words in text and FROM_A_FUNCTION in text
    assert "statement that printed it" not in text


@pytest.mark.parametrize(
    ("returned", "words", "hint"),
    [
        ("((k, 1) for k in range(n))", "the generator ", "`list(...)` collects them"),
        ("map(str, range(n))", "the map ", "`list(...)` collects them"),
        ("{0: n}", "the dict ", "Compare the type"),
        ("n", "the int ", "Compare the type"),
    ],
)
def test_a_list_is_asked_for_by_its_name(returned, words, hint):
    text = str(run_source(find("04.pieces"), f"def pieces(n, chunks):\n    return {returned}\n"))
    assert f"returned {words}" in text and "expected a value of type list." in text
    assert hint in text and "Other" not in text


def test_a_load_by_an_atomic_is_not_called_a_store_alone():
    exercise = find("04.silu_backward")
    source = exercise.solution.replace("x[i]", "atomicAdd(const_cast<float*>(x) + i, 0.0f)", 1)
    assert source != exercise.solution
    text = str(run_source(exercise, source))
    assert "stores and atomics to global memory" in text
    assert "also where it only reads" in text


def test_the_longest_size_is_also_tried_with_the_fewest_threads():
    trials = drawn_trials(find("04.clamp"))
    longest = max(trial.size for trial in trials)
    found = [t.launch for t in trials if t.size == longest and t.seed == 3]
    assert found == [0, 1]  # two blocks, as the exercise has them, and one
    spare = [t.launch for t in drawn_trials(find("04.saxpy")) if t.seed == 3]
    assert spare == [0]  # grids that are larger than it takes have no longer loops


def test_a_lane_that_is_missing_in_a_shuffle_is_told_of_shuffles():
    exercise = find("04.warp_max")
    text = exercise.solution.replace("value = fmaxf(", "if (lane < 16) value = fmaxf(")
    verdict = str(run_source(exercise, text))
    assert "let all the lanes that its mask names reach it together" in verdict, verdict
    assert "before it is read" not in verdict


def test_lanes_that_wait_for_an_mbarrier_have_not_missed_the_barrier_of_their_warp():
    exercise = find("08.two_halves")
    all_bytes = "mbarrier_expect(barrier, 2 * (sizeof(a) + sizeof(b)))"
    assert all_bytes in exercise.solution
    found = run_source(
        exercise, exercise.solution.replace(all_bytes, "mbarrier_expect(barrier, 16)")
    )
    assert found.kind == "deadlock", found
    first = str(found.verdict).splitlines()[1]
    assert "1 thread waiting" in first and "for the mbarrier arrived" in first


def test_an_access_past_an_array_counts_also_where_the_compiler_leaves_it_out():
    exercise = find("06.column_matmul")
    source = exercise.solution.replace(
        "i < TM; ++i) {\n                sum", "i <= TM; ++i) {\n                sum"
    )
    assert source != exercise.solution
    found = run_source(exercise, source)
    assert found.kind == "out of bounds", found
    assert "the compiler removes the access" in str(found) and "tile_a[256]" in str(found)


WRONG_LINES = {  # a line of the solution, what it becomes, and what the verdict's next step names
    "an event of the wrong stream": (
        "04.find_the_host_bug",
        ("arrived.record(copying)", "arrived.record(computing)"),
        "never written",
    ),
    "a limit that is not allowed": (
        "04.reverse_with_room",
        ("nbytes > gpu.optin", "nbytes >= gpu.optin"),
        "the limit itself",
    ),
    "a stride in floats": (
        "04.predict_sectors",
        ("every_second = 8", "every_second = 16"),
        "8 bytes",
    ),
    "a quotient upside down": (
        "06.predict_loads",
        ("column = 1.125", "column = 8 / 9"),
        UPSIDE_DOWN,
    ),
}


@pytest.mark.parametrize("name", WRONG_LINES)
def test_the_next_step_names_what_a_wrong_line_means(name):
    exercise_id, (line, wrong), named = WRONG_LINES[name]
    exercise = find(exercise_id)
    outcome = run_source(exercise, exercise.solution.replace(line, wrong))
    assert not outcome.passed and named in outcome.verdict.hint
