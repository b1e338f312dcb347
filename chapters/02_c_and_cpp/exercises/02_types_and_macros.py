"""The exercises of "Types, macros and files"."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from string import ascii_letters as LETTERS
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.checking.rows import MOST_NUMBERS
from course_utils.errors import LessonError
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import HostExercise, PythonExercise

from .common import LARGEST, PARTS, driver, listed, shown, some_length, values_of, whole


def parts(case: str) -> str:
    lines = []
    for word in case.split():
        bits = int(word[1:], 16) if word[0] == "#" else int(np.float32(word).view(np.uint32))
        lines.append(f"{bits >> 31} {bits >> 23 & 0xFF} 0x{bits & 0x7FFFFF:06x}")
    return "\n".join(lines)


def drawn_floats(rng: np.random.Generator) -> str:
    """Some numbers, some of any bits, and some of which no bit of the exponent is 0."""
    values = rng.standard_normal(4) * 10.0 ** rng.integers(-30, 30, 4)
    bits = rng.integers(0, 2**32, 8) | np.repeat([0, 0x7F80_0000], 4)
    return " ".join([*(f"{np.float32(x):.9g}" for x in values), *(f"#{b:08x}" for b in bits)])


def network(
    inputs: int, hidden: int, values: Sequence[float], of: float = 4, of_x: float = 4
) -> str:
    """Sizes, and a network: weights and inputs in quarters or in other parts, and biases in parts
    of both, so that floats hold every sum exactly."""
    weights = inputs * hidden
    units = np.repeat([1 / of, 1 / of / of_x, 1 / of_x], [weights, hidden, inputs])
    return f"{inputs} {hidden}\n{' '.join(str(x) for x in values * units)}\n"


def drawn_network(rng: np.random.Generator) -> str:
    sides = [int(n) for n in rng.integers(1, 8, 2)]
    sides[rng.integers(2)] = some_length(rng, most=9000)
    inputs, hidden = sides
    parts = rng.permutation([4, rng.choice(PARTS)])
    values = whole(rng, inputs * hidden + hidden + inputs, -20, 20)
    return network(inputs, hidden, values, *map(float, parts))


def of_layer(case: str) -> dict[str, Any]:
    """The sizes, w1, b1, x and the outputs by name."""
    words = case.split()
    inputs, hidden = map(int, words[:2])
    numbers = np.array(words[2:], float)
    w1, b1, x = np.split(numbers, [inputs * hidden, inputs * hidden + hidden])
    w1 = w1.reshape(inputs, hidden)
    found = {"inputs": inputs, "hidden": hidden, "w1": w1, "b1": b1, "x": x}
    return {**found, "expected": np.maximum(0, b1 + x @ w1)}


def small_layer(case: str) -> dict[str, Any]:
    found = of_layer(case)
    return found if found["w1"].size <= MOST_NUMBERS else {}


def layer(case: str) -> str:
    return "\n".join(shown(of_layer(case)["expected"]))


def record(case: str) -> str:
    weight, count, label = case.split()
    return (
        f"16 bytes, aligned to 8\nk {float(weight):g} f {count} {label}\n"
        "each member is at a multiple of its size"
    )


# Names that a caller's variables may have: the letters, and what a macro may call its own ones.
THREES = (
    *zip(LETTERS[::3], LETTERS[1::3], LETTERS[2::3], strict=False),
    ("lo", "hi", "share"), ("from", "to", "part"), ("start", "end", "way"), ("first", "last", "Z"),
    ("a_", "b_", "t_"), ("_a", "_b", "_t"), ("va", "vb", "vt"), ("aa", "bb", "tt"),
    ("a1", "b1", "t1"), ("x0", "x1", "x2"), ("x_", "y_", "z_"), ("tmp", "temp", "res"),
    ("result", "value", "mean"), ("left", "right", "diff"), ("low", "high", "ratio"),
    ("ma", "mb", "mt"), ("one", "two", "three"), ("aval", "bval", "tval"), ("ret", "out", "sum_"),
)  # fmt: skip


def mixed(case: str) -> str:
    a, b, t = map(float, case.split())

    def mix(a: float, b: float, t: float) -> float:
        return a + t * (b - a)

    largest = max(a, b)
    uses = (
        mix(a, b, t), mix(a + 1, b - 1, t), mix(a, b, t + 0.5), 2 * mix(a, b, t),
        mix(largest, 0, t), mix(0, largest, t), mix(1, largest, t), mix(largest, 1, t),
        mix(a, b, 1 if a < b else t), -mix(a, b, t), 7 - mix(a, b, t), mix(a, b, t) / 4,
        mix(mix(a, b, t), b, mix(t, 1, t)), mix(a < b, b < a, t), mix(1, 3, t),
        mix(16777217, 16777219, t), 3 / mix(1, 3, 0.25), 7 % int(mix(3, 5, 0.5)),
        len(THREES) * mix(b, a, t),
    )  # fmt: skip
    return "\n".join(f"{x:.10g}" for x in uses)


NAMES = (
    *("err", "error", "status", "result", "res", "ret", "returned", "rc", "rv", "r", "c", "e", "s"),
    *("i", "k", "n", "x", "v", "value", "val", "number", "answer", "failed", "ok", "st", "tmp"),
    *("ec", "errcode", "error_code", "errorCode", "cuda_error", "cudaStatus", "returnCode", "_e"),
)
LONG = "text " * 800  # of a call: as long as every compiler of C has to take


def checked(case: str) -> str:
    lines, codes = [], [int(word) for word in case.split()]
    for code in codes:
        if code > 0:
            lines.append(f"give(code) failed with {code}")
        if code < 0:
            lines.append(f"give(2 * code) failed with {2 * code}")
        if code > 0:
            lines.append(f'give(code + (int)sizeof "{LONG}" * 0) failed with {code}')
        if code % 2:
            lines.append(f"give(code % divisor ? code : 0) failed with {code}")
        if code > 1000:
            lines.append(f"code > A_THOUSAND failed with {1}")
    calls = 2 * len(codes) + sum(code > 0 for code in codes)
    if codes:
        lines += [f"give({name}) failed with {codes[0]}" for name in NAMES if codes[0]]
        calls += len(NAMES)
    return "\n".join([*lines, f"{calls} calls, {len(lines)} failures"])


def drawn_codes(rng: np.random.Generator) -> str:
    """Codes of few bits and of many, some of them with nothing but zeros in the lowest eight."""
    n = int(rng.integers(0, 9))
    return " ".join(
        str(code << int(rng.choice([0, 0, 8, 16, 24]))) for code in whole(rng, n, -3, 3)
    )


def in_hexadecimal(data: bytes) -> str:
    return " ".join(f"{byte:02x}" for byte in data)


def idx(*sizes: int, kind: int = 8) -> str:
    return in_hexadecimal(
        bytes([0, 0, kind, len(sizes)]) + b"".join(n.to_bytes(4, "big") for n in sizes)
    )


def header(case: str) -> str:
    data = bytes.fromhex(case)
    whole_header = len(data) >= 4 and data[:2] == b"\0\0" and 1 <= data[3] <= 4
    if not whole_header or len(data) < 4 + 4 * data[3]:
        return "no header"
    sizes = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return f"type 0x{data[2]:02x}, {data[3]} dimensions: {' '.join(map(str, sizes))}"


def drawn_header(rng: np.random.Generator) -> str:
    """A header with dimensions of any size, 0 too, and perhaps with data behind it."""
    sizes = (10.0 ** rng.uniform(0, 9.6, rng.integers(1, 5))).astype(int)
    sizes[rng.random(len(sizes)) < 0.2] = 0
    data = rng.bytes(int(rng.choice([0, 1, 300])))
    kind = int(rng.choice([rng.integers(8, 15), rng.integers(0, 256)]))
    return f"{idx(*map(int, sizes), kind=kind)} {in_hexadecimal(data)}".strip()


def by_halves(x: np.ndarray) -> np.float32:
    if len(x) < 2:
        return x[0] if len(x) else np.float32(0)
    half = len(x) // 2
    return by_halves(x[:half]) + by_halves(x[half:])


# Seeds that say more of the numbers.
HUGE_ONES = 11
ONE_STRANGE = {12: np.inf, 13: np.nan, 14: -0.0}


def of_halves(n: int, seed: int) -> np.ndarray:
    """The numbers to add."""
    x = np.float32(0.1) * ((np.arange(n) * 7 + seed) % 11 - 2).astype(np.float32)
    if seed == HUGE_ONES:
        x *= np.float32(1e30)
    elif seed in ONE_STRANGE and n > 0:
        x[n // 3] = ONE_STRANGE[seed]
    return x


def halves(case: str) -> str:
    numbers = list(map(int, case.split()))
    pairs = zip(numbers[::2], numbers[1::2], strict=True)
    return "\n".join(f"{float(by_halves(of_halves(*pair))):.9g}" for pair in pairs)


class Formula(str):
    """A text that is shown without quotation marks."""

    def __repr__(self) -> str:
        return str(self)


def sum_by_halves(first: int, n: int) -> str:
    """Which sum is made of which: ``(x[0] + (x[1] + x[2]))``."""
    if n == 1:
        return f"x[{first}]"
    half = n // 2
    return f"({sum_by_halves(first, half)} + {sum_by_halves(first + half, n - half)})"


def small_halves(case: str) -> dict[str, Any]:
    """The numbers of a short sum, and the order in which they are added."""
    n, *rest = map(int, case.split())
    if len(rest) != 1 or not 1 <= n <= 8:
        return {}
    order = Formula(sum_by_halves(0, n))
    return {"n": n, "x": of_halves(n, *rest), "sum in the order of the task": order}


def drawn_lengths(rng: np.random.Generator) -> str:
    """Lengths with seeds: some small ones, where few orders of a sum are alike, and a larger."""
    lengths = [*rng.integers(0, 80, 12), rng.integers(80, 5000)]
    return " ".join(f"{n} {rng.integers(0, 15)}" for n in lengths)


WIDE_SUM = HostExercise(
    driver=driver("wide_sum"),
    probe="""
long long try_sum_of(const int *x, int n) { return sum_of(x, n); }
""",
    cases=(
        listed([LARGEST, LARGEST, LARGEST]),
        listed([1, 2, 3]),
        listed([-LARGEST - 1] * 5),
        listed([LARGEST, 1, -5]),
    ),
    reference=lambda case: str(sum(values_of(case))),
    contract=DrawnCases(
        lambda rng: listed(whole(rng, some_length(rng), -LARGEST - 1, LARGEST)),
        large=lambda: (listed([LARGEST] * 70_000),),
        tried="n from 1 to 70,000, any ints",
    ),
    bug=kinds.UNDEFINED,
)

FLOAT_PARTS = HostExercise(
    driver=driver("float_parts"),
    probe="""
void try_parts_of(float value, uint32_t parts[3])
{
    const struct Parts found = parts_of(value);
    parts[0] = found.sign;
    parts[1] = found.exponent;
    parts[2] = found.fraction;
}
""",
    flags=("-Werror=strict-aliasing",),  # where the compiler sees a cast that breaks the rule
    cases=(
        "1 -1 0.5",
        "0 -0",
        "3.14159274 -1e30 1e-40",
        "inf -inf",
        "nan -nan",
        "1e-45 3.4e38",
        "#7fc00001 #ffffffff #7fe54321",
    ),
    reference=parts,
    contract=DrawnCases(
        drawn_floats, tried="any floats, also subnormal ones, infinities, and nan with any fraction"
    ),
)

# --- review six indices ---

INT, UNSIGNED = 1 << 31, 1 << 32


def index_of(line: str, i: int, columns: int, j: int) -> int | None:
    """The index that the line computes, or None if an int overflows."""
    exact = i * columns + j
    if line == "A":
        return exact if exact < INT else None
    if line == "B":
        return exact if i * columns < INT else None
    if line == "D":
        return exact % UNSIGNED
    if line == "E":
        return i % (1 << 16) * columns + j
    if line == "F":
        return int(np.float32(np.float32(i) * np.float32(columns)) + np.float32(j))
    return exact


LINES = "ABCDEF"
FAULTY = "ABDEF"


def line_shows(line: str, numbers: Any) -> bool:
    """Whether the index is wrong with these numbers."""
    if (
        type(numbers) is not tuple
        or len(numbers) != 3
        or any(type(x) is not int for x in numbers)
        or not 0 <= numbers[0] < 100_000
        or not 0 <= numbers[2] < numbers[1] <= 100_000
    ):
        raise LessonError(f"{line}: give (i, columns, j) within the task's limits, or None")
    i, columns, j = numbers
    return index_of(line, i, columns, j) != i * columns + j


def indices_reviewed(function: Callable[[], Any]) -> tuple[str, ...] | None:
    """Each line, and whether its review is right."""
    found = function()
    if found is None:
        return None
    if type(found) is not dict or sorted(map(repr, found)) != sorted(map(repr, LINES)):
        raise LessonError('return a dictionary with the keys "A" to "F"')
    said = []
    for line in LINES:
        if found[line] is None:
            said.append(f"{line}: {'not yet' if line in FAULTY else 'right'}")
        else:
            shown = line_shows(line, found[line])
            said.append(f"{line}: {'right' if shown else 'nothing shows with these numbers'}")
    return tuple(said)


REVIEW_INDEX = PythonExercise(
    function="review",
    cases=((),),
    reference=lambda: tuple(f"{line}: right" for line in LINES),
    call=indices_reviewed,
    start="Take one line at a time: which type does each product have, and where does it end?",
    contract="There are six lines.",
)

LAYER = HostExercise(
    driver=driver("layer"),
    probe="""
void try_layer(int inputs, int hidden, float *w1, float *b1, const float *x, float *y)
{
    const struct Network nn = {.inputs = inputs, .hidden = hidden, .w1 = w1, .b1 = b1};
    layer(&nn, x, y);
}
""",
    shows=small_layer,
    cases=(
        network(2, 3, [4, 8, -12, 4, 0, 4, 16, 32, 48, 4, 8]),  # whole numbers
        network(2, 3, [4, 8, -12, 4, 0, 4, 1, 2, 3, 4, 8]),
        network(1, 1, [4, -8, 4]),
        network(3, 1, [4, 4, 4, 2, -4, 8, 4]),
        network(2, 300, [i % 13 - 6 for i in range(902)]),
        network(3, 3, range(15)),
        network(1, 2, [1 << 22, -(1 << 22), 0, 4, 1 << 22]),
        network(2, 2, [math.inf, 4, 4, -math.inf, 1, 2, 4, 8]),
        network(2, 2, [4, -4, 8, 8, 1, 2, math.inf, 4]),
    ),
    reference=layer,
    contract=DrawnCases(
        drawn_network,
        large=lambda: (
            network(70_000, 1, [i % 5 + 1 for i in range(140_001)]),
            network(1, 70_000, [i % 17 - 8 for i in range(140_001)]),
            network(300, 301, [i % 11 - 5 for i in range(90_901)]),
        ),
        tried="inputs and hidden from 1 to 70,000, numbers from 1e-30 to 1e30 and infinite ones",
    ),
)

SMALL_STRUCT = HostExercise(
    driver=driver("small_struct"),
    probe="""
#include <stddef.h>
#undef _Alignof
struct Layout { size_t size, alignment, offset[5]; int has_its_type[5]; };
struct Plain { double weight; int count, label, kind, flag; };

#define IS(member, type) _Generic(((struct Record *)0)->member, type: 1, default: 0)

struct Layout try_layout(void)
{
    return (struct Layout){sizeof(struct Record), _Alignof(struct Record),
                           {offsetof(struct Record, weight), offsetof(struct Record, count),
                            offsetof(struct Record, label), offsetof(struct Record, kind),
                            offsetof(struct Record, flag)},
                           {IS(weight, double), IS(count, int), IS(label, short), IS(kind, char),
                            IS(flag, char)}};
}

struct Plain try_record(double weight, int count, short label, char kind, char flag)
{
    const struct Record r = {
        .weight = weight, .count = count, .label = label, .kind = kind, .flag = flag};
    return (struct Plain){r.weight, r.count, r.label, r.kind, r.flag};
}
""",
    cases=("1.5 7 3", "-2.25 -100000 -30000", "1e100 2147483647 -32768"),
    reference=record,
    contract="All records have one size: the cases show that the members keep their types.",
)


def bytes_of_layouts(n: int, sizes: Sequence[int], uses: Sequence[Any]) -> tuple[str, int]:
    structs = arrays = 0
    for way, used, times in uses:
        fields = [sizes[field] for field in used]
        structs += times * (n * sum(sizes) if way == "all" else 64 * ceil_div(sum(sizes), 64))
        arrays += times * (n * sum(fields) if way == "all" else 64 * len(used))
    return ("structs", structs) if structs <= arrays else ("arrays", arrays)


def some_uses(rng: np.random.Generator) -> tuple[Any, ...]:
    sizes = [int(size) for size in rng.choice([4, 8, 16, 36], int(rng.integers(1, 6)))]
    uses = [
        (
            str(rng.choice(["all", "one"])),
            sorted(int(f) for f in rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)]),
            int(rng.integers(1, 50)),
        )
        for _ in range(int(rng.integers(0, 5)))
    ]
    return int(rng.integers(1, 200)), sizes, uses


CHOOSE_LAYOUT = PythonExercise(
    cases=(
        (100, [4, 4], [("all", [0], 1)]),
        (100, [4, 4], [("one", [0, 1], 1000)]),
        (100, [4, 4], [("all", [0, 1], 3)]),
        (50, [4, 4, 8], [("all", [1], 10), ("one", [0, 1, 2], 20)]),
        (10, [36, 36], [("one", [0], 1)]),
        (10, [36, 36], [("one", [0, 1], 1)]),
        (7, [8], []),
        (1, [16] * 8, [("one", [0, 2, 4], 5), ("all", [7], 1)]),
        (3, [4, 16, 8], [("all", [0], 1), ("all", [0], 99)]),
    ),
    reference=bytes_of_layouts,
    start="How many bytes does the first use bring as structs, and how many as arrays?",
    contract=DrawnCases(some_uses, 24),
)

MIX_MACRO = HostExercise(
    driver=driver("mix_macro"),
    probe="""
#ifndef MIX
#error "MIX is no macro"
#endif

void try_mix(double a, double b, double t, double results[])
{
    results[0] = MIX(a, b, t);
    results[1] = MIX(a + 1, b - 1, t);
    results[2] = MIX(a, b, t + 0.5);
    results[3] = 2 * MIX(a, b, t);
    results[4] = MIX(a > b ? a : b, 0, t);
    results[5] = MIX(0, a < b ? b : a, t);
    results[6] = MIX(1, a < b ? b : a, t);
    results[7] = MIX(a > b ? a : b, 1, t);
    results[8] = MIX(a, b, a < b ? 1 : t);
    results[9] = -MIX(a, b, t);
    results[10] = 7 - MIX(a, b, t);
    results[11] = MIX(a, b, t) / 4;
    results[12] = MIX(MIX(a, b, t), b, MIX(t, 1, t));
    results[13] = MIX(a < b, b < a, t);
    results[14] = MIX(1, 3, t);
    results[15] = MIX(16777217.0, 16777219.0, t);
    results[16] = 3 / MIX(1, 3, 0.25);
    results[17] = 7 % (int)MIX(3, 5, 0.5);

    double *const added = results + 18; // uses with variables of many names
    const double given[3] = {a, b, t};
#define NAMED(x, y, z) \\
    do { \\
        const double x = given[0], y = given[1], z = given[2]; \\
        *added += MIX(y, x, z); \\
    } while (0)
"""
    + "".join(f"    NAMED({', '.join(three)});\n" for three in THREES)
    + "}\n",
    cases=("1 5 0.25", "-2 3 0.5", "4 -4 0.125", "0 0 0", "0.1 0.7 0.3"),
    reference=mixed,
    contract=DrawnCases(
        lambda rng: " ".join(str(x / 8) for x in whole(rng, 3, -40, 40)),
        tried="uses with sums, comparisons and ?: as arguments, with variables of any name, and "
        "inside of terms",
    ),
)

CHECK_MACRO = HostExercise(
    driver=driver("check_macro"),
    probe="""
#ifndef CHECK
#error "CHECK is no macro"
#endif
#define A_THOUSAND 1000
#define NAMED(name) \\
    do { \\
        const int name = codes[0]; \\
        CHECK(give(name)); \\
    } while (0)

void try_check(const int *codes, int n)
{
    for (int i = 0; i < n; ++i) {
        const int code = codes[i], divisor = 2;
        if (code >= 0)
            CHECK(give(code));
        else
            CHECK(give(2 * code));
        if (code > 0) CHECK(give(code + (int)sizeof """
    + f'"{LONG}"'
    + """ * 0));
        CHECK(give(code % divisor ? code : 0));
        CHECK(code > A_THOUSAND);
    }
    if (n == 0) return;
"""
    + " ".join(f"NAMED({name});" for name in NAMES)
    + """
}

int try_failures(void) { return failures; }
int try_calls(void) { return calls; }
""",
    cases=("0 3 -1 0", "", "-4", "7 7", "256 -256 65536 2147483647", " ".join(["-1"] * 300)),
    reference=checked,
    contract=DrawnCases(
        drawn_codes,
        tried="any codes, calls of which the text has a % or a macro or is long, and variables of "
        "many names",
    ),
)

IDX_HEADER = HostExercise(
    driver=driver("idx_header"),
    probe="""
struct Plain { int type, dimensions; unsigned size[4]; };

int try_read_header(FILE *file, struct Plain *found)
{
    struct Header header = {-1, -1, {1, 2, 3, 4}};
    const int code = read_header(file, &header);
    found->type = header.type;
    found->dimensions = header.dimensions;
    for (int i = 0; i < 4; ++i) found->size[i] = header.size[i];
    return code;
}
""",
    cases=(
        idx(60000, 28, 28),
        idx(10000),
        "",
        "00 00 08",
        "1f 8b 08 01 00 00 00 05",
        "01 00 08 01 00 00 00 05",
        "00 01 08 01 00 00 00 05",
        "00 00 08 02 00 00 00 05 00 00",
        "00 00 08 07 00 00 00 05",
        idx(3_000_000_000, kind=0x0D),
        idx(1, 2, 3, 4),
        idx(1, 2, 3, 4, 5),
        idx(0),
        idx(0, 3),
        f"{idx(2, 3)} 01 02 03 04 05 06",
        idx(5, kind=0),
        idx(5, kind=255),
        idx(5, kind=3),
        idx(2**32 - 1),
        f"{idx(7)} {in_hexadecimal(bytes(5000))}",
        idx(),
    ),
    reference=header,
    contract=DrawnCases(
        drawn_header, tried="any type, sizes from 0 on, files with data after the header"
    ),
)

HALVES = HostExercise(
    driver=driver("halves"),
    probe="""
float try_sum_of(const float *x, int n) { return sum_of(x, n); }
""",
    shows=small_halves,
    cases=(
        "4 0",
        "3 0",
        "5 2",
        "1 5",
        "0 0",
        "3 0 2 9",
        "7 3",
        "1000 1",
        "9 11 5 12 4 13",
        "1 14",
        "200000 4",
    ),
    reference=halves,
    contract=DrawnCases(
        drawn_lengths, tried="n from 0 to 200,000, numbers up to 1e30, -0, infinity and nan"
    ),
)
