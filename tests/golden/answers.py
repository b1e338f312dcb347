"""The text of ``answers.txt``: the verdicts on wrong answers from the pages of exercises."""

from __future__ import annotations

from pathlib import Path

from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import check_source

FILE = Path(__file__).parent / "answers.txt"
HEAD = """\
Verdicts on wrong answers from the exercises' pages, as a learner reads them.
`python -m tests.golden` draws this file anew. Read the difference before you commit it.
"""
# The exercise and the wrong answer's name on its page. All of them together take six seconds.
GROUPS = {
    "Where the wrong elements are": [
        ("04.saxpy", "never stores"),
        ("04.reversed_copy", "half of it"),
        ("00.double_it", "zeros"),
        ("04.find_the_garbage", "a product for the guard"),
        ("04.find_the_edge", "zero at the end"),
        ("04.saxpy", "last element missed"),
        ("03.moving_sum", "starts from the first value"),
        ("03.hypotenuse", "local index"),
        ("04.lengths", "block 0's vectors"),
        ("04.grayscale", "transposed"),
        ("04.reversed_copy", "one early"),
        ("04.reversed_copy", "not reversed"),
        ("00.double_it", "not doubled"),
        ("05.tile_variance", "by the sum of squares"),
    ],
    "What the wrong elements have in common": [
        ("04.block_min", "no step"),
        ("00.double_it", "NaN lost"),
        ("04.lengths", "no root"),
        ("04.scale_rows", "sum for mean"),
        ("04.why_is_this_slow", "no gain"),
        ("06.kept_row", "not divided"),
        ("08.tile_by_tile", "columns first within the tile"),
        ("04.swap_neighbours", "not swapped"),
        ("04.saxpy", "y forgotten"),
        ("04.batched_matmul", "sum starts unset"),
        ("04.dot", "zeros skipped"),
        ("04.keep_in_order", "the lanes behind"),
        ("06.coalesced_matmul", "B transposed"),
        ("04.closing", "only the largest"),
        ("04.any_block", "half rounded down"),
        ("03.count_kinds", "always counted"),
        ("05.whole_spectrum", "not conjugated"),
        ("09.gather_batch", "always the first of the batch"),
        ("05.box_muller", "from 0 on"),
    ],
    "What comes before and after the numbers": [
        ("00.double_it", "no semicolon"),
        ("04.saxpy", "another name"),
        ("04.saxpy", "no n"),
        ("04.saxpy", "no bounds guard"),
        ("04.block_min", "no barrier"),
        ("05.dice", "the same four again"),
        ("04.one_way", "still two paths"),
        ("04.swap_neighbours", "post not read"),
        ("04.two_warps", "does not wait for room"),
    ],
    "In Python, in C and in C++": [
        ("04.blocks_for", "rounds down"),
        ("04.blocks_for", "no return"),
        ("04.blocks_for", "no colon"),
        ("03.waves", "waves only"),
        ("04.crossing", "element by element"),
        ("05.row_scales", "the largest of all"),
        ("03.count_warps", "threads"),
        ("02.mix_macro", "t bare"),
        ("02.row_pointers", "elements kept"),
        ("02.compose", "references"),
    ],
    "Tests, reviews, choices and reports": [
        ("04.test_vec_add", "small ones alone"),
        ("04.test_vec_add", "in double precision"),
        ("04.review_pipeline", "the empty chunk missed"),
        ("04.review_the_count", "without the early return"),
        ("02.review_owner", "the references are fine"),
        ("01.choose_a_way", "all by hand"),
        ("06.read_three_gemms", "the smallest counter"),
    ],
}


def render() -> str:
    """The whole file."""
    parts = [HEAD]
    for title, answers in GROUPS.items():
        parts += [f"=== {title} ===\n", *(_entry(*answer) for answer in answers)]
    return "\n".join(parts)


def _entry(id: str, name: str) -> str:
    """The name of a wrong answer, and the verdict on it."""
    exercise = find(id)
    mutant = next(mutant for mutant in exercise.mutants if mutant.name == name)
    verdict = str(check_source(exercise, mutant.apply(exercise.solution)))
    lines = "\n".join(line.rstrip() for line in verdict.splitlines())
    return f"--- {id}: {name}\n{lines}\n"
