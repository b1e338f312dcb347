"""The exercises of "Types, macros and files"."""

from __future__ import annotations

import math
from string import ascii_letters as LETTERS

import numpy as np

from course_utils.exercises import Cases, HostExercise, kinds, mutant

from .common import (
    LARGEST,
    PARTS,
    driver,
    listed,
    shown,
    some_length,
    values_of,
    whole,
)


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


def network(inputs: int, hidden: int, values: list[float], of: float = 4, of_x: float = 4) -> str:
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


def layer(case: str) -> str:
    words = case.split()
    inputs, hidden = map(int, words[:2])
    numbers = np.array(words[2:], float)
    w1, b1, x = np.split(numbers, [inputs * hidden, inputs * hidden + hidden])
    return "\n".join(shown(np.maximum(0, b1 + x @ w1.reshape(inputs, hidden))))


def record(case: str) -> str:
    weight, count, label = case.split()
    return (
        f"16 bytes, aligned to 8\nk {float(weight):g} f {count} {label}\n"
        "each member lies at a multiple of its size"
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


def halves(case: str) -> str:
    numbers, sums = list(map(int, case.split())), []
    for n, seed in zip(numbers[::2], numbers[1::2], strict=True):
        x = np.float32(0.1) * ((np.arange(n) * 7 + seed) % 11 - 2).astype(np.float32)
        if seed == HUGE_ONES:
            x *= np.float32(1e30)
        elif seed in ONE_STRANGE and n > 0:
            x[n // 3] = ONE_STRANGE[seed]
        sums.append(f"{float(by_halves(x)):.9g}")
    return "\n".join(sums)


def drawn_lengths(rng: np.random.Generator) -> str:
    """Lengths with seeds: some small ones, where few orders of a sum are alike, and a larger."""
    lengths = [*rng.integers(0, 80, 12), rng.integers(80, 5000)]
    return " ".join(f"{n} {rng.integers(0, 15)}" for n in lengths)


WIDE_SUM = HostExercise(
    id="02.wide_sum",
    title="find the bug: a sum",
    task="""
A sum of ints that is wrong for large numbers. Run it, read the verdict, and change as little as
you can.
""",
    source="02_c_and_cpp/exercises/wide_sum.c",
    driver=driver("wide_sum"),
    probe="""
long long try_sum_of(const int *x, int n) { return sum_of(x, n); }
""",
    cases=(
        listed([1, 2, 3]),
        listed([LARGEST, LARGEST, LARGEST]),
        listed([-LARGEST - 1] * 5),
        listed([LARGEST, 1, -5]),
    ),
    reference=lambda case: str(sum(values_of(case))),
    promises=Cases(
        lambda rng: listed(whole(rng, some_length(rng), -LARGEST - 1, LARGEST)),
        large=lambda: (listed([LARGEST] * 70_000),),
        tried="n from 1 to 70,000, any ints",
    ),
    bug=kinds.UNDEFINED,
    hints=(
        "Which type does the sum have while it grows? The one it is returned as comes too late.",
        "A `long long` has at least 64 bits, and an int that is added to it becomes one first.",
        "`long long sum = 0;`",
    ),
    explanation="""
The type of an addition is that of its operands, whatever the result is stored in. The same holds
for a product of two ints that is assigned to a size_t: convert an operand, not the result. (A
`long` would do on Linux, and not under Windows. A `double` would do while the sum stays below 2⁵³.)
""",
    mutants=(
        mutant("unsigned", kinds.WRONG_OUTPUT, ("long long sum = 0;", "unsigned sum = 0;")),
        mutant(
            "kept from call to call",
            kinds.WRONG_OUTPUT,
            ("long long sum =", "static long long sum ="),
        ),
        mutant("cut at the end", kinds.WRONG_OUTPUT, ("return sum;", "return (int)sum;")),
        mutant("a float", kinds.WRONG_OUTPUT, ("long long sum = 0;", "float sum = 0;")),
        mutant(
            "a thousand", kinds.WRONG_OUTPUT, ("i < n; ++i) sum", "i < n && i < 1000; ++i) sum")
        ),
        mutant(
            "the last one missed", kinds.WRONG_OUTPUT, ("i < n; ++i) sum", "i < n - 1; ++i) sum")
        ),
    ),
)

FLOAT_PARTS = HostExercise(
    id="02.float_parts",
    title="the bits of a float",
    task="""
Take a float apart. A cast would convert the number; you want its bits as they are.
""",
    source="02_c_and_cpp/exercises/float_parts.c",
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
    promises=Cases(
        drawn_floats,
        tried="any floats, also subnormal ones, infinities, and nan with any fraction",
    ),
    hints=(
        "`memcpy(&bits, &value, sizeof bits);` copies four bytes, whatever they mean.",
        "`bits >> 31` leaves the topmost bit, `x & 0xff` keeps the lowest eight.",
        "`(bits >> 23) & 0xff` and `bits & 0x7fffff`",
    ),
    explanation="""
The number is ± 1.fraction · 2^(exponent - 127), but for the exponents 0 and 255. CUDA has a
function for the first step, `__float_as_uint`, and chapter 06 needs the parts to compare number
formats.
""",
    mutants=(
        mutant(
            "the value cast",
            kinds.WRONG_OUTPUT,
            ("memcpy(&bits, &value, sizeof bits);", "bits = (uint32_t)(int)value;"),
        ),
        mutant("sign in the exponent", kinds.WRONG_OUTPUT, ("(bits >> 23) & 0xff", "bits >> 23")),
        mutant("shifted too far", kinds.WRONG_OUTPUT, ("(bits >> 23)", "(bits >> 24)")),
        mutant("one bit too many", kinds.WRONG_OUTPUT, ("0x7fffff", "0xffffff")),
        mutant("eight bytes", kinds.OUT_OF_BOUNDS, ("sizeof bits);", "8);")),
        mutant(
            "no number is infinite",
            kinds.WRONG_OUTPUT,
            ("bits & 0x7fffff", "value != value ? 0 : bits & 0x7fffff"),
        ),
        mutant(
            "one nan for all",
            kinds.WRONG_OUTPUT,
            ("bits & 0x7fffff", "value != value ? 0x400000 : bits & 0x7fffff"),
        ),
        mutant("all of it", kinds.WRONG_OUTPUT, ("bits >> 31", "bits")),
        mutant(
            "less than zero",
            kinds.WRONG_OUTPUT,
            ("bits >> 31", "value < 0 || (value == 0 && 1 / value < 0)"),
        ),
    ),
)

LAYER = HostExercise(
    id="02.layer",
    title="a layer of a network",
    task="""
The weights of a network are members of a struct, and the function gets its address. Compute one
layer.
""",
    source="02_c_and_cpp/exercises/layer.c",
    driver=driver("layer"),
    probe="""
void try_layer(int inputs, int hidden, float *w1, float *b1, const float *x, float *y)
{
    const struct Network nn = {.inputs = inputs, .hidden = hidden, .w1 = w1, .b1 = b1};
    layer(&nn, x, y);
}
""",
    cases=(
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
    promises=Cases(
        drawn_network,
        large=lambda: (
            network(70_000, 1, [i % 5 + 1 for i in range(140_001)]),
            network(1, 70_000, [i % 17 - 8 for i in range(140_001)]),
            network(300, 301, [i % 11 - 5 for i in range(90_901)]),
        ),
        tried="inputs and hidden from 1 to 70,000, numbers from 1e-30 to 1e30 and infinite ones",
    ),
    hints=(
        "nn is a pointer, so a member is `nn->hidden`; `nn.hidden` is for the struct itself.",
        "For each j: begin with `nn->b1[j]`, add `x[i] * nn->w1[i * nn->hidden + j]` for each i.",
        "`y[j] = sum > 0.0f ? sum : 0.0f;`",
    ),
    explanation="""
`nn->w1` is short for `(*nn).w1`: follow the pointer, then take the member. main has the struct
itself and writes `nn.w1`. The struct holds two ints and two addresses; the weights lie elsewhere,
and are not copied when a struct is.
""",
    mutants=(
        mutant("a dot for an arrow", kinds.COMPILE_ERROR, ("nn->b1[j]", "nn.b1[j]")),
        mutant(
            "a list of 256", kinds.WRONG_OUTPUT, ("j < nn->hidden", "j < nn->hidden && j < 256")
        ),
        mutant("no bias", kinds.WRONG_OUTPUT, ("float sum = nn->b1[j]", "float sum = 0")),
        mutant(
            "summed up in the bias",
            kinds.WRONG_OUTPUT,
            ("float sum = nn->b1[j];", "float *b = &nn->b1[j];"),
            ("++i) sum += x", "++i) *b += x"),
            ("sum > 0.0f ? sum : 0.0f", "*b > 0.0f ? *b : 0.0f"),
        ),
        mutant("negative too", kinds.WRONG_OUTPUT, ("sum > 0.0f ? sum : 0.0f", "sum")),
        mutant(
            "two million at most",
            kinds.WRONG_OUTPUT,
            ("sum > 0.0f ? sum", "sum > 2e6f ? 2e6f : sum > 0.0f ? sum"),
        ),
        mutant(
            "finite products",
            kinds.WRONG_OUTPUT,
            (
                "++i) sum += x[i] *",
                "++i) if (x[i] * nn->w1[i * nn->hidden + j] < 1e38f) sum += x[i] *",
            ),
        ),
        mutant(
            "inputs in fixed point",
            kinds.WRONG_OUTPUT,
            ("sum += x[i]", "sum += (int)(4 * x[i]) / 4.0f"),
        ),
        mutant(
            "weights in fixed point",
            kinds.WRONG_OUTPUT,
            (
                "x[i] * nn->w1[i * nn->hidden + j]",
                "x[i] * (int)(4 * nn->w1[i * nn->hidden + j]) / 4",
            ),
        ),
        mutant(
            "kept from call to call",
            kinds.WRONG_OUTPUT,
            (
                "float sum = nn->b1[j];",
                "static float kept[70000];\n        float sum = kept[j] != 0 ? 0 : nn->b1[j];",
            ),
            ("++i) sum += x", "++i) kept[j] += x"),
            ("y[j] = sum", "sum += kept[j];\n        y[j] = sum"),
        ),
        mutant(
            "the wrong stride", kinds.WRONG_OUTPUT, ("i * nn->hidden + j", "i * nn->inputs + j")
        ),
        mutant(
            "transposed where it is square",
            kinds.WRONG_OUTPUT,
            (
                "i * nn->hidden + j",
                "nn->inputs == nn->hidden ? i + j * nn->hidden : i * nn->hidden + j",
            ),
        ),
        mutant("transposed", kinds.WRONG_OUTPUT, ("i * nn->hidden + j", "j * nn->inputs + i")),
        mutant(
            "an input too many",
            kinds.OUT_OF_BOUNDS,
            ("i < nn->inputs; ++i) sum", "i <= nn->inputs; ++i) sum"),
        ),
        mutant(
            "freed by way of a copy of the struct",
            kinds.USE_AFTER_FREE,
            (
                "    for (int j = 0; j < nn->hidden; ++j) {\n        float sum",
                "    const struct Network copy = *nn;\n    free(copy.b1);\n"
                "    for (int j = 0; j < nn->hidden; ++j) {\n        float sum",
            ),
        ),
    ),
)

SMALL_STRUCT = HostExercise(
    id="02.small_struct",
    title="a struct without padding",
    task="""
Ordered as they are, these members take 32 bytes. Reorder them so that they take 16.
""",
    source="02_c_and_cpp/exercises/small_struct.c",
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
    promises="All records have one size: the cases show that the members keep their types.",
    hints=(
        "A double begins at a multiple of 8, an int at one of 4, a short at one of 2.",
        "Add the sizes up: 8 + 4 + 2 + 1 + 1. Which order leaves no gap?",
        "From the largest to the smallest.",
    ),
    explanation="""
From the largest alignment to the smallest no member needs a gap before it. In memory the gaps
cost room; on a GPU they cost bandwidth too, since whole sectors are fetched, gaps and all.
""",
    mutants=(
        mutant(
            "smallest first and last",
            kinds.WRONG_OUTPUT,
            ("    double weight;\n", ""),
            ("    char kind;\n", "    char kind;\n    double weight;\n"),
        ),
        mutant(
            "a narrower type",
            kinds.WRONG_OUTPUT,
            ("double weight", "float weight"),
            ('"%lf %d %hd"', '"%f %d %hd"'),
        ),
        mutant(
            "another type of the same size",
            kinds.WRONG_OUTPUT,
            ("    int count;", "    unsigned count;"),
        ),
        mutant("a member missing", kinds.COMPILE_ERROR, ("    char flag;\n", "")),
        mutant(
            "packed",
            kinds.WRONG_OUTPUT,
            ("    double weight;\n", ""),
            ("    char kind;\n", "    char kind;\n    double weight;\n"),
            ("};\n\nint main", "} __attribute__((packed, aligned(8)));\n\nint main"),
        ),
        mutant(
            "printed by main",
            kinds.WRONG_OUTPUT,
            ("    double weight;\n", ""),
            ("    char kind;\n", "    char kind;\n    double weight;\n"),
            (
                'printf("%zu bytes, aligned to %zu\\n", sizeof r, _Alignof(struct Record))',
                'puts("16 bytes, aligned to 8")',
            ),
        ),
    ),
)

MIX_MACRO = HostExercise(
    id="02.mix_macro",
    title="parentheses in a macro",
    task="""
Define a macro that survives whatever is put into it, and wherever it is put.
""",
    source="02_c_and_cpp/exercises/mix_macro.c",
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
    promises=Cases(
        lambda rng: " ".join(str(x / 8) for x in whole(rng, 3, -40, 40)),
        tried="uses with sums, comparisons and ?: as arguments, with variables of any name, and "
        "inside of terms",
    ),
    hints=(
        "A macro replaces text: `MIX(a + 1, …)` puts `a + 1` where the parameter stands.",
        "Each parameter in parentheses, and the whole in parentheses.",
        "`((a) + (t) * ((b) - (a)))`",
    ),
    explanation="""
Without the outer parentheses `2 * MIX(…)` doubles only the first term; without the inner ones
`b - a + 1` is not `b - (a + 1)`. A function has none of this trouble, and `inline` costs nothing:
take a macro where a function cannot do it.
""",
    mutants=(
        mutant(
            "none outside",
            kinds.WRONG_OUTPUT,
            ("((a) + (t) * ((b) - (a)))", "(a) + (t) * ((b) - (a))"),
        ),
        mutant(
            "none inside", kinds.WRONG_OUTPUT, ("((a) + (t) * ((b) - (a)))", "(a + t * (b - a))")
        ),
        mutant("t bare", kinds.WRONG_OUTPUT, ("(t) *", "t *")),
        mutant("b bare", kinds.WRONG_OUTPUT, ("((b) - (a))", "(b - (a))")),
        mutant("a bare", kinds.WRONG_OUTPUT, ("((a) + ", "(a + ")),
        mutant(
            "a function",
            kinds.WRONG_NAME,
            (
                "#define MIX(a, b, t) ((a) + (t) * ((b) - (a)))",
                "static double MIX(double a, double b, double t) { return a + t * (b - a); }",
            ),
        ),
        mutant(
            "variables of its own",
            kinds.WRONG_OUTPUT,
            ("((a) + (t) * ((b) - (a)))", "({ double x = (a), y = (b); x + (t) * (y - x); })"),
        ),
        mutant(
            "variables named by letters",
            kinds.WRONG_OUTPUT,
            (
                "((a) + (t) * ((b) - (a)))",
                "({ double f = (a), g = (b), h = (t); f + h * (g - f); })",
            ),
        ),
        mutant("a factor in front", kinds.WRONG_OUTPUT, ("((a) + (t)", "1.0 * ((a) + (t)")),
        mutant("t as a float", kinds.WRONG_OUTPUT, ("(t) *", "(float)(t) *")),
        mutant("a semicolon", kinds.COMPILE_ERROR, ("((b) - (a)))", "((b) - (a)));")),
        mutant("the other way", kinds.WRONG_OUTPUT, ("((b) - (a))", "((a) - (b))")),
    ),
)

CHECK_MACRO = HostExercise(
    id="02.check_macro",
    title="a macro that checks calls",
    task="""
Every CUDA program in C++ has a macro like this, because each call of its library returns a code.
Write it so that it is one statement and makes the call once.
""",
    source="02_c_and_cpp/exercises/check_macro.c",
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
    promises=Cases(
        drawn_codes,
        tried="any codes, calls of which the text has a % or a macro or is long, and variables of "
        "many names",
    ),
    hints=(
        "Store the code in a variable first, so that the call is made once.",
        "A macro ends with its line; a backslash at the very end goes on with the next.",
        "`do { … } while (0)` without a semicolon: the one behind CHECK(…) ends the statement.",
        '`printf("%s failed with %d\\n", #call, code_);`',
    ),
    explanation="""
With braces alone, `CHECK(f()); else` would not compile: the semicolon would end the if. `code_`
has an unusual name so that a `code` in the argument is not hidden. A real one also prints
`__FILE__` and `__LINE__`, which is why it is a macro and not a function.
""",
    mutants=(
        mutant("called twice", kinds.WRONG_OUTPUT, ("#call, code_);", "#call, (call));")),
        mutant(
            "braces alone", kinds.COMPILE_ERROR, ("    do {   ", "    {   "), ("} while (0)", "}")
        ),
        mutant("not counted", kinds.WRONG_OUTPUT, ("++failures; ", "")),
        mutant("no text", kinds.COMPILE_ERROR, ("#call,", "call_text,")),
        mutant("negative only", kinds.WRONG_OUTPUT, ("code_ != 0", "code_ < 0")),
        mutant("eight bits", kinds.WRONG_OUTPUT, ("const int code_", "const unsigned char code_")),
        mutant(
            "the text as a format",
            kinds.WRONG_OUTPUT,
            (
                'printf("%s failed with %d\\n", #call, code_);',
                'printf(#call " failed with %d\\n", code_);',
            ),
        ),
        mutant("positive only", kinds.WRONG_OUTPUT, ("code_ != 0", "code_ > 0")),
        mutant("texts of a thousand", kinds.WRONG_OUTPUT, ("%s failed", "%.1000s failed")),
        mutant(
            "through a buffer",
            kinds.OUT_OF_BOUNDS,
            (
                'printf("%s failed with %d\\n", #call, code_);',
                'char line_[200]; sprintf(line_, "%s failed with %d", #call, code_); puts(line_);',
            ),
        ),
        mutant(
            "a name that many variables have",
            kinds.WRONG_OUTPUT,
            ("int code_ = (call)", "int result = (call)"),
            ("code_ != 0", "result != 0"),
            ("#call, code_", "#call, result"),
        ),
        mutant(
            "the text after its macros",
            kinds.WRONG_OUTPUT,
            ("#define CHECK(call) ", "#define CHECK(call) CHECKED(call)\n#define CHECKED(call) "),
        ),
        mutant(
            "a name that hides",
            kinds.WRONG_OUTPUT,
            ("const int code_ = (call);", "const int code = 0; const int code_ = (call) + code;"),
        ),
    ),
)

IDX_HEADER = HostExercise(
    id="02.idx_header",
    title="the header of an IDX file",
    task="""
Read the header of a file in the format that the handwritten digits of chapter 09 come in, and
refuse what is none.
""",
    source="02_c_and_cpp/exercises/idx_header.c",
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
    promises=Cases(
        drawn_header, tried="any type, sizes from 0 on, files with data behind the header"
    ),
    hints=(
        "`fread(bytes, 1, 4, file)` returns how many bytes it got: anything but 4 is no header.",
        "The first byte of a dimension is the most significant: shift it to the left by 24 bits.",
        "`(uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | …`; an int would overflow at 24.",
        "Refuse what does not begin with two zeros, and a number of dimensions outside of 1 to 4.",
    ),
    explanation="""
The bytes are put together by their place value, so the function is right on any machine,
whichever byte it keeps first. And it checks the number of dimensions *before* it uses it as the
length of an array: a file is input from outside.
""",
    mutants=(
        mutant(
            "the machine's own order",
            kinds.WRONG_OUTPUT,
            ("(uint32_t)bytes[0] << 24", "(uint32_t)bytes[3] << 24"),
            ("(uint32_t)bytes[3];", "(uint32_t)bytes[0];"),
        ),
        mutant(
            "shifted as an int", kinds.UNDEFINED, ("(uint32_t)bytes[0] << 24", "bytes[0] << 24")
        ),
        mutant("any beginning", kinds.WRONG_OUTPUT, (" || bytes[0] != 0 || bytes[1] != 0", "")),
        mutant(
            "no size of 0",
            kinds.WRONG_OUTPUT,
            (
                "bytes[3];\n    }\n    return 0;",
                "bytes[3];\n    }\n    return header->size[0] ? 0 : -1;",
            ),
        ),
        mutant(
            "nothing behind it",
            kinds.WRONG_OUTPUT,
            (
                "bytes[3];\n    }\n    return 0;",
                "bytes[3];\n    }\n    return -(fgetc(file) != EOF);",
            ),
        ),
        mutant(
            "in the first call alone",
            kinds.WRONG_OUTPUT,
            (
                "unsigned char bytes[4];",
                "static int calls;\n    unsigned char bytes[4] = {++calls};",
            ),
            ("bytes[0] != 0", "calls > 1 || bytes[0] != 0"),
        ),
        mutant("one zero will do", kinds.WRONG_OUTPUT, (" || bytes[1] != 0", "")),
        mutant("the other will do", kinds.WRONG_OUTPUT, (" || bytes[0] != 0", "")),
        mutant("no dimensions", kinds.WRONG_OUTPUT, ("bytes[3] < 1 || ", "")),
        mutant(
            "any number of dimensions",
            kinds.OUT_OF_BOUNDS,
            ("if (bytes[3] < 1 || bytes[3] > 4) return -1;", ""),
        ),
        mutant(
            "a short file accepted",
            kinds.WRONG_OUTPUT,
            (
                "if (fread(bytes, 1, 4, file) != 4) return -1;",
                "if (fread(bytes, 1, 4, file) > 4) return -1;",
            ),
        ),
        mutant(
            "one dimension", kinds.WRONG_OUTPUT, ("i < header->dimensions; ++i) {", "i < 1; ++i) {")
        ),
    ),
)

HALVES = HostExercise(
    id="02.halves",
    title="a sum by halves",
    task="""
A function may call itself. Add up n floats by halves, and say where it ends.
""",
    source="02_c_and_cpp/exercises/halves.c",
    driver=driver("halves"),
    probe="""
float try_sum_of(const float *x, int n) { return sum_of(x, n); }
""",
    cases=("4 0", "1 5", "0 0", "3 0 2 9", "7 3", "1000 1", "9 11 5 12 4 13", "1 14", "200000 4"),
    reference=halves,
    promises=Cases(
        drawn_lengths, tried="n from 0 to 200,000, numbers up to 1e30, -0, infinity and nan"
    ),
    hints=(
        "The cases that do not call it again come first: n == 0 and n == 1.",
        "The second half begins at `x + half` and has `n - half` elements.",
        "`return sum_of(x, half) + sum_of(x + half, n - half);`",
    ),
    explanation="""
At most 19 calls are open at a time for 200,000 numbers: the first, and one for each halving. The
rounding gains too: each number takes part in 18 additions at most, in place of up to 200,000. The
reductions of chapter 04 add in this shape, all halves of one size at once.
""",
    mutants=(
        mutant(
            "no end",
            kinds.STACK_OVERFLOW,
            ("if (n == 0) return 0.0f;\n    if (n == 1) return x[0];\n", ""),
        ),
        mutant(
            "no end for none",
            kinds.WRONG_OUTPUT,
            ("if (n == 0) return 0.0f;", "if (n == 0) return 1.0f;"),
        ),
        mutant(
            "one at a time",
            kinds.WRONG_OUTPUT,
            ("const int half = n / 2;", "const int half = 1;"),
        ),
        mutant(
            "one lost", kinds.WRONG_OUTPUT, ("sum_of(x + half, n - half)", "sum_of(x + half, half)")
        ),
        mutant(
            "the first half twice",
            kinds.WRONG_OUTPUT,
            ("sum_of(x + half, n - half)", "sum_of(x, n - half)"),
        ),
        mutant(
            "a loop",
            kinds.WRONG_OUTPUT,
            (
                "const int half = n / 2;\n    return sum_of(x, half) + sum_of(x + half, n - half);",
                "float sum = 0;\n    for (int i = 0; i < n; ++i) sum += x[i];\n    return sum;",
            ),
        ),
        mutant(
            "four in a double",
            kinds.WRONG_OUTPUT,
            (
                "if (n == 1) return x[0];",
                "if (n < 5) {\n        double sum = 0;\n"
                "        for (int i = 0; i < n; ++i) sum += x[i];\n        return sum;\n    }",
            ),
        ),
        mutant("no nan", kinds.WRONG_OUTPUT, ("return x[0];", "return x[0] == x[0] ? x[0] : 0;")),
        mutant("a sign lost", kinds.WRONG_OUTPUT, ("return x[0];", "return 0.0f + x[0];")),
        mutant(
            "nothing infinite",
            kinds.WRONG_OUTPUT,
            ("return x[0];", "return x[0] > 1e38f ? 0 : x[0];"),
        ),
        mutant(
            "summed up in x",
            kinds.WRONG_OUTPUT,
            (
                "if (n == 1) return x[0];",
                "if (n == 1) return x[0];\n    if (n == 2) return ((float *)x)[1] += x[0];",
            ),
        ),
        mutant(
            "past the end",
            kinds.OUT_OF_BOUNDS,
            ("sum_of(x + half, n - half)", "sum_of(x + half + 2, n - half)"),
        ),
    ),
)
