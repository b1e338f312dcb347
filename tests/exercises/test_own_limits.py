"""An answer with a limit of its own, a little above the sizes that are drawn, is refused."""

import pytest

from course_utils.exercises.authoring.registry import find
from course_utils.exercises.authoring.sizes import Sizes, lengths
from course_utils.exercises.judging import own_limits
from course_utils.exercises.judging.own_limits import (
    constants,
    own_constants,
    trials_past_limits,
)
from course_utils.exercises.judging.runner import run_source

PAIRS = find("07.merge_pairs")
ROWS = find("06.rows_at_once")


def changed(exercise, old, new):
    assert exercise.solution.count(old) == 1
    return exercise.solution.replace(old, new)


LIMITED = {
    "a loop that ends": (PAIRS, "tile < tiles;", "tile < tiles && tile < 640;", "Is it 640?"),
    "turns of a warp": (ROWS, "k < K;", "k < K && k < 32 * 129;", "K = 4,099"),
    "turns of a loop over the grid": (
        find("04.clamp"),
        "for (int i = first; i < n; i += stride)",
        "for (int turn = 0, i = first; turn < 400 && i < n; ++turn, i += stride)",
        "n = 65,543",
    ),
    "an array of a thread": (
        find("07.merge_parts"),
        "float sum = 0.0f, o = 0.0f;",
        "float of[160], sum = 0.0f, o = 0.0f;\n"
        "    for (int p = 0; p < count; ++p) of[count - 1 - p] = part_lse[p * rows + row];\n"
        "    largest = fmaxf(largest, of[lane % count]);",
        "Is it 160?",
    ),
}


@pytest.mark.parametrize("name", LIMITED)
def test_a_limit_above_the_sizes_is_found_and_named(name):
    exercise, old, new, said = LIMITED[name]
    outcome = run_source(exercise, changed(exercise, old, new))
    assert not outcome.passed
    hint = outcome.verdict.hint
    assert "the task sets no limit" in hint and said in hint


def test_a_number_that_limits_nothing_is_no_mistake():
    wide = changed(PAIRS, "float largest =", "if (threadIdx.x > 1000) return;\n    float largest =")
    assert list(trials_past_limits(PAIRS, wide))
    assert run_source(PAIRS, wide).passed


def test_a_size_at_which_the_solution_itself_takes_long_is_not_tried(monkeypatch):
    attention = find("07.packed_sequences")
    narrow = changed(attention, "int length =", "short length =")
    monkeypatch.setattr(own_limits, "SOON", 500)
    monkeypatch.setattr(own_limits, "LATER", 1000)
    assert all(trial.size[1] < 1 << 16 for trial in trials_past_limits(attention, narrow))


@pytest.mark.parametrize(
    "name, old, new, size",
    [
        ("07.rotate_pairs", "int pair =", "short pair =", 2049),  # a row has 32 threads
        ("07.layer_norm_gradient", "long long start =", "short start =", (33, 2048)),
    ],
)
def test_an_integer_of_16_bits_meets_65536_threads_or_elements(name, old, new, size):
    exercise = find(name)
    trials = list(trials_past_limits(exercise, changed(exercise, old, new)))
    assert size in [trial.size for trial in trials]


def test_an_integer_of_16_bits_meets_65536_threads_where_any_grid_will_do():
    exercise = find("09.exact_sums")
    narrow = changed(exercise, "long long i =", "unsigned short i =")
    launches = [trial.launches(exercise) for trial in trials_past_limits(exercise, narrow)]
    assert [launch.grid for (launch,) in launches if launch.block == (256,)] == [(257,)]


def test_the_solution_is_tried_no_further():
    for exercise in (PAIRS, ROWS):
        assert not list(trials_past_limits(exercise, exercise.solution))
        assert not own_constants(exercise, f"// 640 numbers\n{exercise.solution}")


def test_numbers_products_and_arrays_of_a_source():
    source = """
    #define MOST 40  // and not 41
    constexpr int kWide = 8;
    __shared__ float tile[kWide][MOST + 1];
    if (n > 0x200u || n > 16 * 37 || n > 1 << 12) printf("77");
    x = 1.5f * 3e8f;
    """
    found = constants(source)
    assert {40, 8, 8 * 41, 0x200, 16 * 37, 1 << 12} <= found
    assert not found & {41 * 77, 77, 5, 3}


def test_an_extent_ends_at_a_limit_of_the_task():
    assert lengths(most=521).endless() == [0]
    assert lengths(most=521).limited_in("n").endless() == []
    assert Sizes(("n",), ((1, 7, 256),)).endless() == []  # a power of two
    assert Sizes(("trans",), ((0,),)).endless() == []
    with pytest.raises(ValueError):
        lengths().limited_in("rows")


def test_an_index_of_16_bits_is_tried_past_what_it_counts():
    plate = find("04.heat_plate")
    short = changed(
        plate, "y[row * columns + column]", "y[(unsigned short)(row * columns + column)]"
    )
    outcome = run_source(plate, short)
    assert not outcome.passed
    assert "the task sets no limit" in str(outcome), outcome
    assert "It has integers of 16 bits." in str(outcome), outcome


def test_a_type_of_16_bits_is_named_where_an_input_is_longer():
    exercise = find("07.online_softmax")
    place = "(first + j) * kColumns + lane"
    verdict = str(run_source(exercise, changed(exercise, place, f"(unsigned short)({place})")))
    assert "integers of 16 bits (short), and V has 65,696 elements" in verdict, verdict
