"""The exercises of "Attention for Hopper"."""

from __future__ import annotations

import numpy as np
from ml_dtypes import bfloat16

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

FOLDER = "08_cute_tma_blackwell/exercises"

# --- Weights as factors ---


def any_weight(rng: np.random.Generator) -> tuple:
    return int(rng.integers(0, 64)), int(rng.integers(0, 256))


def by_search(row: int, key: int) -> tuple:
    """Among all sums of all threads, packed two by two."""
    for thread in range(128):
        for number in range(128):
            of_row = thread // 32 * 16 + thread % 32 // 4 + (8 if number & 2 else 0)
            if (of_row, (number >> 2) * 8 + thread % 4 * 2 + (number & 1)) == (row, key):
                register, half = divmod(number, 2)
                return (thread, *divmod(register, 4), half)
    raise AssertionError("every weight is somewhere")


WEIGHT = PythonExercise(
    id="08.weight_register",
    title="find a weight among the registers",
    task="""
Write `weight_register(row, key)`: who holds the weight of a query and a key, and where, when the
second product takes it. Rows are 0 to 63, keys 0 to 255.
""",
    source=f"{FOLDER}/weight_register.py",
    function="weight_register",
    cases=((0, 0), (0, 1), (0, 2), (0, 8), (0, 16), (1, 0), (8, 0), (16, 0), (63, 255), (29, 77)),
    reference=by_search,
    promises=Cases(any_weight, 24),
    means="Any way to the numbers is right.",
    hints=(
        "Sum number i of a thread, s[i], goes to register i // 2 of all, in its lower half where i "
        "is even. And four registers make one product.",
        "s[4 j] and s[4 j + 1] are two neighbours in a row, of the columns from 8 j on; s[4 j + 2] "
        "and s[4 j + 3] are the same columns eight rows below.",
        "So of 16 keys, j is key % 16 // 8: the register is row % 16 // 8 + 2 j. A thread is "
        "row // 16 * 32 + row % 8 * 4 + key % 8 // 2.",
    ),
    explanation="""
No formula of this needs a shuffle: each register of the first factor is filled from two sums of the
same thread. It is the same lucky fit as between two `mma` in chapter 07, four warps at once.
""",
    mutants=(
        mutant("a warp has eight rows", kinds.WRONG, ("row // 16 * 32", "row // 8 * 32")),
        mutant("all rows in one warp", kinds.WRONG, ("row // 16 * 32 + ", "")),
        mutant("lanes down the rows", kinds.WRONG, ("row % 8 * 4", "row % 8 * 8")),
        mutant("rows of 16 lanes", kinds.WRONG, ("row % 8 * 4", "row % 16 * 4")),
        mutant("one column a lane", kinds.WRONG, ("key % 8 // 2", "key % 4")),
        mutant("eight keys a product", kinds.WRONG, ("key // 16", "key // 8")),
        mutant(
            "registers in the other order",
            kinds.WRONG,
            ("row % 16 // 8 + key % 16 // 8 * 2", "row % 16 // 8 * 2 + key % 16 // 8"),
        ),
        mutant("registers of all products", kinds.WRONG, ("key % 16 // 8 * 2", "key // 8 * 2")),
        mutant("halves exchanged", kinds.WRONG, (", key % 2\n", ", 1 - key % 2\n")),
        mutant("halves by rows", kinds.WRONG, (", key % 2\n", ", row % 2\n")),
    ),
)

# --- The second product ---


def whole_numbers(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    m, n = size

    def few(rows: int) -> np.ndarray:
        return rng.integers(-2, 3, (rows, 64)).astype(bfloat16)

    return {
        "Q": few(m),
        "K": few(n),
        "V": few(n),
        "O": empty((m, 64)),
        "M": np.int32(m),
        "N": np.int32(n),
    }


def twice_multiplied(given: dict) -> dict:
    q, k, v = (given[name].astype(np.float64) for name in "QKV")
    return {"O": q @ k.T @ v}


VALUES = Exercise(
    id="08.weights_by_values",
    title="multiply sums as they lie",
    task="""
The first product is written, and its sums lie in registers. Add their product with the tile of
values to `o`: two `wgmma` with the first factor in registers, 16 keys each. All numbers are whole
and small, so that nothing is rounded. What has to stand around the products?
""",
    source=f"{FOLDER}/weights_by_values.cu",
    kernel="weights_by_values",
    arch="sm_90a",
    inputs=whole_numbers,
    maps={
        "Q": {"box": (64, 64), "swizzle": 128},
        "K": {"box": (32, 64), "swizzle": 128},
        "V": {"box": (32, 64), "swizzle": 128},
    },
    reference=twice_multiplied,
    launch=lambda size: Launch((-(-size[0] // 64),), (128,)),
    small=((70, 40), (65, 32), (1, 1)),
    full=(8192, 8192),
    exact=True,
    promises=Promises(sizes=promises.shapes(M=(1, 64, 65), N=(1, 17, 33, 70)).with_longest(N=167)),
    means=(
        means.instructions(
            "wgmma, once for each thread",
            "wgmma.mma_async",
            at_least=128 * 2 * 2 * 6,
            at_most=128 * 2 * 2 * 9,
            advice="Two products of 16 keys for each tile, beside the four that are there.",
            size=(70, 40),
        ),
        means.no_extra_work(2.0, size=(70, 40)),
        Means(
            "bytes that threads write to shared memory",
            lambda work: work.counts.shared_store_bytes,
            at_most=64,
            advice="The sums are a first factor as they lie: two of them rounded in a register.",
            size=(70, 40),
        ),
    ),
    hints=(
        "Eight registers: p[i] takes s[2 i] in its lower half and s[2 i + 1] in its upper half. "
        "The first four belong to the first 16 keys.",
        "16 keys are 16 rows of V, 16 · 128 bytes: 128 in the units of a descriptor. Only the very "
        "first product does not add.",
        "`wgmma_fence()`, the two products, `wgmma_commit()`, `wgmma_wait<0>()`, "
        "`keep_in_order(o)`.",
    ),
    explanation="""
The values lie in shared memory as they lie in global memory, a row for each key. That is along N
for this product, where K^T had its rows along K; a bit of the instruction says which, and no thread
transposes anything.
""",
    mutants=(
        mutant(
            "no fence",
            kinds.DATA_RACE,
            (
                "        wgmma_fence();\n        for (int k = 0; k < 2",
                "        for (int k = 0; k < 2",
            ),
        ),
        mutant(
            "no commit",
            kinds.DATA_RACE,
            (
                "        wgmma_commit();\n        wgmma_wait<0>();\n        keep_in_order(o)",
                "        wgmma_wait<0>();\n        keep_in_order(o)",
            ),
        ),
        mutant(
            "no wait",
            kinds.DATA_RACE,
            (
                "        wgmma_commit();\n        wgmma_wait<0>();\n        keep_in_order(o)",
                "        wgmma_commit();\n        keep_in_order(o)",
            ),
        ),
        mutant(
            "halves exchanged",
            kinds.WRONG,
            ("bf16_pair(s[2 * i], s[2 * i + 1])", "bf16_pair(s[2 * i + 1], s[2 * i])"),
        ),
        mutant("the same 16 keys twice", kinds.WRONG, ("v + 128 * k", "v")),
        mutant("the same weights twice", kinds.WRONG, ("p + 4 * k", "p")),
        mutant("a step along rows", kinds.WRONG, ("v + 128 * k", "v + 2 * k")),
        mutant("each tile begins anew", kinds.WRONG, ("tile > 0 || k > 0", "k > 0")),
        mutant(
            "added for a few tiles",
            kinds.WRONG,
            ("tile > 0 || k > 0", "(tile > 0 && tile < 4) || k > 0"),
        ),
        mutant("sums with no start", kinds.UNINITIALISED, ("tile > 0 || k > 0", "1")),
        mutant(
            "keys in place of values",
            kinds.WRONG,
            ("wgmma_tile_across(shared_address(values)", "wgmma_tile_across(shared_address(keys)"),
        ),
        mutant("16 keys of 32", kinds.WRONG, ("k < 2", "k < 1")),
    ),
)

# --- Rows of four threads ---

BY_ONE = "        sum += __shfl_xor_sync(0xffffffff, sum, 1);\n"
BY_TWO = "        sum += __shfl_xor_sync(0xffffffff, sum, 2);\n"


def scores(rng: np.random.Generator, m: int) -> dict:
    return {"S": floats(rng, (m, 32)) * np.float32(3), "W": empty((m, 32)), "M": np.int32(m)}


def weights_of(given: dict) -> dict:
    s = given["S"].astype(np.float64)
    powers = np.exp(s - s.max(axis=1, keepdims=True))
    return {"W": powers / powers.sum(axis=1, keepdims=True)}


ROWS = Exercise(
    id="08.rows_of_four",
    title="softmax among four threads",
    task="""
Scores lie in registers as `wgmma` leaves them. Make weights of them, each row by itself: the
largest score, the exponentials relative to it, and their sum. Scores are finite, any M from 1 on.
""",
    source=f"{FOLDER}/rows_of_four.cu",
    kernel="rows_of_four",
    inputs=scores,
    reference=weights_of,
    launch=lambda m: Launch((-(-m // 64),), (128,)),
    small=(70, 64, 1),
    full=1 << 20,
    reduction=lambda m: 32,
    promises=Promises(
        sizes=promises.lengths("M", most=200).with_longest(M=1031),
        values=(promises.data("S", *promises.ANY_FINITE, promises.NEAR_LOWEST),),
    ),
    means=(
        means.shuffles(
            at_least=1,
            at_most=2 * 8 * 128 * 2,
            advice="Two steps for the largest score and two for the sum, of each of two rows.",
            size=70,
        ),
        means.no_shared_memory("Four lanes of one warp share a row: shuffles suffice.", size=70),
        Means(
            "elements that threads load",
            lambda work: work.counts.global_load_bytes // 4,
            at_most=1.5 * 70 * 32,
            advice="The scores are in registers already: exchange them there.",
            size=70,
        ),
    ),
    hints=(
        "A row's 32 scores are with the four lanes of equal lane / 4, eight each.",
        "XOR of the lane with 1 and with 2 meets those four, and no other lane. s[i] with "
        "i / 2 % 2 = 0 is the upper row's, the others belong to the row eight below.",
        "For each half: the maximum of its eight scores, `most = fmaxf(most, "
        "__shfl_xor_sync(0xffffffff, most, 1))` and the same with 2, then the sum likewise.",
    ),
    explanation="""
Two shuffles for a maximum over a row of any length: the rest happens in a thread's own registers.
The kernel above leaves even the sum's shuffles to the end: its partial sums stay with the threads.
""",
    mutants=(
        mutant(
            "the largest score from -1e38 on",
            kinds.NOT_A_NUMBER,
            ("float most = s[half * 2],", "float most = -1e38f,"),
        ),
        mutant("two lanes have a row", kinds.WRONG, (BY_TWO, "")),
        mutant("no sum over lanes", kinds.WRONG, (BY_ONE, ""), (BY_TWO, "")),
        mutant(
            "eight lanes have a row",
            kinds.WRONG,
            (BY_TWO, BY_TWO + BY_TWO.replace("2)", "4)")),
        ),
        mutant(
            "lanes of a column",
            kinds.WRONG,
            (BY_ONE, BY_ONE.replace("1)", "4)")),
            (BY_TWO, BY_TWO.replace("2)", "8)")),
        ),
        mutant(
            "no largest score",
            kinds.NOT_A_NUMBER,
            ("expf(s[i] - most)", "expf(s[i])"),
            ("expf(s[i + 1] - most)", "expf(s[i + 1])"),
        ),
        mutant(
            "the thread's own largest score",
            kinds.WRONG,
            ("        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));\n", ""),
            ("        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));\n", ""),
        ),
        mutant("the upper row only", kinds.WRONG, ("half < 2", "half < 1")),
        mutant(
            "the first score for the largest",
            kinds.NOT_A_NUMBER,
            ("            most = fmaxf(most, fmaxf(s[i], s[i + 1]));\n", ""),
        ),
        mutant(
            "the lower row's scores again",
            kinds.WRONG,
            ("sum += s[i] + s[i + 1]", "sum += s[i] + s[i + 1 - half * 2]"),
        ),
        mutant("not divided", kinds.WRONG, ("s[i] /= sum;", ""), ("s[i + 1] /= sum;", "")),
        mutant("half of a pair", kinds.WRONG, ("sum += s[i] + s[i + 1]", "sum += s[i]")),
    ),
)

# --- Turns ---


def halved(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    n, rounds = size
    return {
        "x": floats(rng, n),
        "a": floats(rng, n),
        "y": empty(n),
        "n": np.int32(n),
        "rounds": np.int32(rounds),
    }


def after_rounds(given: dict) -> dict:
    y = given["x"].astype(np.float64)
    for _ in range(given["rounds"]):
        y = y / 2 + given["a"]
    return {"y": y}


TURNS = Exercise(
    id="08.stuck_turns",
    title="find the deadlock",
    task="""
Two warpgroups work on the same numbers in turns, as the two groups of `attention_turns` do. Nothing
moves. The emulator says who waits at which barrier, and for how many threads: mend the kernel.
Any n from 1 on, and any number of rounds, none as well.
""",
    source=f"{FOLDER}/stuck_turns.cu",
    kernel="stuck_turns",
    inputs=halved,
    reference=after_rounds,
    launch=lambda size: Launch((-(-size[0] // 128),), (256,)),
    small=((130, 3), (127, 2), (1, 1)),
    full=(1 << 20, 16),
    reduction=lambda size: 16,
    bug=kinds.DEADLOCK,
    promises=Promises(
        sizes=promises.shapes(n=(1, 127, 128, 129, 300), rounds=(0, 1, 2, 5)).with_longest(
            rounds=33
        ),
        values=(
            (
                *promises.data("x a", *promises.ORDINARY),
                *promises.data("x", promises.LARGE, promises.SOME_INFINITE, promises.SOME_NAN)[1:],
            ),
        ),
    ),
    means=(
        means.instructions(
            "barriers that threads arrive at without waiting",
            "barrier.arrive",
            "bar.arrive",
            at_least=2 * 128 * 5,  # the last turn may be waited for by another barrier
            advice="Whoever passes the turn goes on: barrier.arrive, not a barrier for all.",
            size=(130, 3),
        ),
        Means(
            "bytes that threads write to shared memory",
            lambda work: work.counts.shared_store_bytes,
            at_least=2 * 128 * 4 * 5,  # a value for each turn that a group passes on
            advice="Warpgroup 0 halves, warpgroup 1 increases, and each hands the value on.",
            size=(130, 3),
        ),
    ),
    hints=(
        "Both groups wait at once. For whom does the first group wait, before anybody had a turn?",
        "Each turn has been passed by the other group, the first one, too.",
        "Before the loop: `if (group == 1) { pass_turn(0); }`.",
    ),
    explanation="""
A named barrier of 256 threads is complete when 256 have come, whether they wait or only arrive: 128
and 128 here. So turns need one pass more than there are turns before somebody may begin, and one
wait more at the end, so that no arrival is left over.
""",
    mutants=(
        mutant(
            "the first turn to the wrong group",
            kinds.DEADLOCK,
            (
                "if (group == 1) {\n        pass_turn(0); // the first",
                "if (group == 0) {\n        pass_turn(1); // the first",
            ),
        ),
        mutant("a turn for oneself", kinds.DEADLOCK, ("pass_turn(1 - group)", "pass_turn(group)")),
        mutant(
            "everybody may begin",
            kinds.DATA_RACE,
            (
                "if (group == 1) {\n        pass_turn(0); // the first turn\n    }",
                "pass_turn(1 - group);",
            ),
        ),
        mutant(
            "no last wait",
            kinds.DATA_RACE,
            ("        wait_for_turn(0); // the last turn, which nobody else takes\n", ""),
        ),
        mutant("no turns", kinds.DEADLOCK, ("        wait_for_turn(group);\n", "")),
        mutant("not passed on", kinds.DEADLOCK, ("        pass_turn(1 - group);\n", "")),
        mutant(
            "half the threads", kinds.DEADLOCK, ("barrier.arrive %0, 256", "barrier.arrive %0, 128")
        ),
        mutant(
            "one warp passes",
            kinds.DEADLOCK,
            (
                "pass_turn(1 - group);",
                "if (at < 32) {\n            pass_turn(1 - group);\n        }",
            ),
        ),
        mutant(
            "a barrier for all",
            kinds.MEANS_MISSING,
            ("barrier.arrive %0, 256", "barrier.sync %0, 256"),
        ),
        mutant(
            "one warpgroup does both",
            kinds.MEANS_MISSING,
            ("value[at] *= 0.5f", "value[at] = value[at] * 0.5f + addend"),
            ("value[at] += addend;", ";"),
        ),
    ),
)

# --- Tiles under a mask ---


def any_block(rng: np.random.Generator) -> tuple:
    queries, keys = int(rng.choice((1, 16, 64, 128, 192))), int(rng.choice((1, 16, 64, 80, 128)))
    tokens = int(rng.integers(1, 700))
    return int(rng.integers(0, tokens)), queries, keys, tokens


def by_marking(first_query: int, BM: int, BN: int, tokens: int) -> tuple:
    """Each query and key of each tile."""
    queries = np.arange(first_query, min(first_query + BM, tokens))[:, None]
    seen = masked = 0
    for first in range(0, tokens, BN):
        keys = np.arange(first, first + BN)
        sees = (keys <= queries) & (keys < tokens)
        seen += bool(sees.any())
        masked += bool(sees.any() and not sees.all())
    return seen, masked


TILES = PythonExercise(
    id="08.causal_tiles",
    title="count the tiles under a causal mask",
    task="""
Write `causal_tiles(first_query, BM, BN, tokens)`: how many tiles of keys a block has to meet, and
how many of these need a mask. first_query is less than tokens.
""",
    source=f"{FOLDER}/causal_tiles.py",
    function="causal_tiles",
    cases=(
        (0, 128, 128, 8192),
        (128, 128, 128, 8192),
        (8064, 128, 128, 8192),
        (0, 128, 64, 8192),
        (128, 128, 80, 8192),
        (0, 128, 128, 1),
        (128, 128, 128, 200),
        (384, 128, 64, 401),
        (63, 1, 64, 100),
        (64, 1, 64, 100),
        (63, 128, 64, 200),
        (8191, 128, 128, 8192),
    ),
    reference=by_marking,
    promises=Cases(any_block, 24),
    means="Any way to the numbers is right.",
    hints=(
        "The last query that exists sees most keys, the first one fewest.",
        "Query i sees i + 1 keys. A tile needs no mask if the first query sees all of it.",
        "Rounded up, the last query's keys over BN are the tiles to meet; rounded down, the first "
        "query's keys over BN are those with no mask.",
    ),
    explanation="""
With BM = BN one tile of each block is masked, whatever its place; the others run through the same
loop as without a mask. And the last block has as many tiles as there are, the first one has one:
that is why the order matters.
""",
    mutants=(
        mutant("all tiles", kinds.WRONG, ("min(first_query + BM, tokens)", "tokens")),
        mutant(
            "queries that do not exist",
            kinds.WRONG,
            ("min(first_query + BM, tokens)", "(first_query + BM)"),
        ),
        mutant(
            "rounded down",
            kinds.WRONG,
            ("-(-min(first_query + BM, tokens) // BN)", "min(first_query + BM, tokens) // BN"),
        ),
        mutant(
            "one tile too many",
            kinds.WRONG,
            ("-(-min(first_query + BM, tokens) // BN)", "min(first_query + BM, tokens) // BN + 1"),
        ),
        mutant(
            "a query does not see itself, unless its tile is the last",
            kinds.WRONG,
            ("(first_query + 1) // BN", "(first_query + (first_query + BM == seen * BN)) // BN"),
        ),
        mutant("one masked tile", kinds.WRONG, ("seen - (first_query + 1) // BN", "1")),
        mutant("all masked", kinds.WRONG, ("seen - (first_query + 1) // BN", "seen")),
        mutant(
            "a query does not see itself",
            kinds.WRONG,
            ("(first_query + 1) // BN", "first_query // BN"),
        ),
        mutant(
            "the last query's mask",
            kinds.WRONG,
            ("(first_query + 1) // BN", "(first_query + BM) // BN"),
        ),
        mutant(
            "as many as queries need",
            kinds.WRONG,
            ("seen - (first_query + 1) // BN", "-(-BM // BN)"),
        ),
        mutant(
            "the tiles with no mask",
            kinds.WRONG,
            ("seen - (first_query + 1) // BN", "(first_query + 1) // BN"),
        ),
    ),
)
