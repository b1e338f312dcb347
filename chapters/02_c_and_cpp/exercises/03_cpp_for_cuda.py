"""The exercises of "C++ for CUDA"."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    HostExercise,
    Launch,
    Promises,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.vectors import FULL, SMALL, one_thread_each, spare_blocks

from .common import LARGEST, listed, values_of, whole

DEGREE = 5
OTHER_DEGREES = 2, 3, 8, 0, 21, 1, 4, 6


def buffers(case: str) -> str:
    sizes = [int(word) for word in case.split()]
    kept = [n for n in sizes if n % 2 == 0]
    total = sum(0.5 * i for n in kept for i in range(n))
    lines = ["can be copied: 0, moved without fail: 1"]
    lines += [f"moved {n}, 0 left behind, where it was" for n in kept]
    return "\n".join([*lines, f"{len(kept)} kept, sum {total:g}"])


def composed(case: str) -> str:
    lines = []
    for x in map(float, case.split()):
        count = int(x / 2)
        stars = "*" * (count % 8 if count > 0 else 0)
        lines.append(f"{x / 2 + 3 * x:g} {4 * x / 2:g} {count} [{stars}]")
        lines.append(f"[{stars}!!] {x / 3 / 2 / 2:.12g}")
    return "\n".join(lines)


def drawn_quarters(rng: np.random.Generator) -> str:
    return " ".join(str(x / 4) for x in whole(rng, int(rng.integers(1, 6)), -80, 80))


def three_more(case: str) -> str:
    numbers = values_of(case)
    return " ".join(map(str, [*numbers, *numbers[:1] * 3]))


def polynomial(given: dict) -> dict:
    """The values of polynomials of the first coefficients: of degree five at each x, and of every
    other degree at one x near 0."""
    x, near, c = (given[name].astype(np.float64) for name in ("x", "near", "c"))

    def value(degree: int, x: np.ndarray) -> np.ndarray:
        found = np.full_like(x, c[degree])
        for k in reversed(range(degree)):
            found = c[k] + x * found
        return found

    return {
        "y": value(DEGREE, x),
        "others": np.concatenate([value(degree, near) for degree in OTHER_DEGREES]),
    }


# The cell's main is the program's, and what follows the cell runs before it.
OWN_MAIN = "#undef main\n"

CALLED_TWICE = """
namespace {
const bool called_twice = [] {
    std::vector<int> many(100000, 4), again{1, 2, 3};
    append_first(many);
    append_first(again);
    const bool right = again == std::vector<int>{1, 2, 3, 1, 1, 1};
    if (!right) std::printf("in a second call 1 2 3 does not become 1 2 3 1 1 1\\n");
    if (again.capacity() > 50000) std::printf("6 numbers have room for %zu\\n", again.capacity());
    return right;
}();
} // namespace
"""

MOVED_ON = """
namespace {
struct Box { // a number that can be moved, and not copied
    Box(double v) : value(v) {}
    Box(Box &&) = default;
    operator double() const { return value; }
    double value;
};

const bool moved_on = [] {
    const auto keep = [](double v) { return Box(v + 1); };
    const auto open = [](Box box) { return box.value; }; // takes it over
    const bool right = then(then(keep, open), keep)(3.0).value == 5.0;
    if (!right) std::printf("what can be moved and not copied does not come through\\n");
    int calls = 0;
    const auto counted = [&calls](double v) { return v + ++calls; };
    then(counted, counted)(1.0);
    if (calls != 2) std::printf("one call of then(f, f) calls f %d times\\n", calls);
    const auto same = [](auto v) { return v; };
    const auto size = [](auto v) { return sizeof v; };
    const auto sized = then(same, size); // each type comes through as it is
    const bool as_they_are = sized('c') == 1 && sized(short{1}) == sizeof(short) &&
                             sized(1.0f) == sizeof(float) && sized(1LL) == sizeof(long long) &&
                             then([](int) { return 'c'; }, size)(1) == 1;
    if (!as_they_are) std::printf("a type changes on its way through f and g\\n");
    double seen = 0;
    then(counted, [&seen](double v) { seen = v; })(1.0); // what comes last returns nothing
    if (seen != 4.0) std::printf("a g that returns nothing gets %g and not 4\\n", seen);
    return right;
}();
} // namespace
"""

ASSIGNED = """
namespace {
const bool assigned = [] {
    constexpr bool made = std::is_constructible_v<Buffer, const Buffer &> ||
                          std::is_constructible_v<Buffer, Buffer &> ||
                          std::is_constructible_v<Buffer, const Buffer>;
    constexpr bool copied = std::is_assignable_v<Buffer &, const Buffer &> ||
                            std::is_assignable_v<Buffer &, Buffer &> ||
                            std::is_assignable_v<Buffer &, const Buffer>;
    if (made) std::printf("a Buffer can be made as a copy\\n");
    if (copied) std::printf("a Buffer can be copied to another\\n");
    const auto move_to = [](auto &&one, auto &&other) {
        if constexpr (std::is_move_assignable_v<std::decay_t<decltype(one)>>) {
            const float *place = other.data();
            one = std::move(other); // where that is allowed, all is handed over, and nothing lost
            if (one.data() != place) std::printf("an assignment that moves has copied\\n");
            const bool whole = (other.data() == nullptr) == (other.size() == 0);
            if (one.size() != 5 || !whole) std::printf("an assignment leaves a wrong size\\n");
        }
    };
    move_to(Buffer(3), Buffer(5));
    return true;
}();
} // namespace
"""

APPEND_FIRST = HostExercise(
    id="02.append_first",
    title="find the bug: a reference",
    task="""
The function appends the first number of a list three times. Run it, read the verdict, and change
as little as you can. It must be right for a list of one number or more, and for any ints, in every
call.
""",
    source="02_c_and_cpp/exercises/append_first.cpp",
    standard="c++17",
    before=OWN_MAIN,
    probe=CALLED_TWICE,
    cases=(
        listed([4, 7]),
        listed([1]),
        listed(range(10)),
        listed([LARGEST, 0]),
        listed([-LARGEST - 1] * 3),
        listed(range(1000, 0, -1)),
    ),
    reference=three_more,
    promises=Cases(lambda rng: listed(whole(rng, int(rng.integers(1, 40)), -LARGEST - 1, LARGEST))),
    bug=kinds.USE_AFTER_FREE,
    hints=(
        "What happens to the elements of a vector when there is no room for one more?",
        "They move to a larger block, and the old one is freed. `first` still means the old place.",
        "`const int first = x.front();` is a copy, which stays.",
    ),
    explanation="""
A reference is an address under another name, and it does not follow what moves. After the first
`push_back` the vector may lie elsewhere. Iterators and pointers into a vector have the same
trouble.
""",
    mutants=(
        mutant(
            "a pointer",
            kinds.USE_AFTER_FREE,
            ("const int first = x.front();", "const int *at = &x.front();"),
            ("x.push_back(first)", "x.push_back(*at)"),
        ),
        mutant("the last", kinds.WRONG_OUTPUT, ("x.front()", "x.back()")),
        mutant("twice", kinds.WRONG_OUTPUT, ("k < 3", "k < 2")),
        mutant(
            "room for few",
            kinds.USE_AFTER_FREE,
            ("const int first", "x.reserve(4096);\n    const int &first"),
        ),
        mutant(
            "room for many",
            kinds.WRONG_OUTPUT,
            ("const int first", "x.reserve(1 << 20);\n    const int &first"),
        ),
        mutant(
            "a copy in 16 bits",
            kinds.WRONG_OUTPUT,
            ("const int first = x.front()", "const short first = static_cast<short>(x.front())"),
        ),
        mutant(
            "a copy as float",
            kinds.WRONG_OUTPUT,
            (
                "const int first = x.front()",
                "const long first = static_cast<long>(static_cast<float>(x.front()))",
            ),
            ("push_back(first)", "push_back(static_cast<int>(first))"),
        ),
        mutant(
            "a copy for all calls",
            kinds.WRONG_OUTPUT,
            ("const int first", "static const int first"),
        ),
        mutant(
            "a copy of the list",
            kinds.WRONG_OUTPUT,
            ("std::vector<int> &x)", "std::vector<int> x)"),
        ),
    ),
)

POLYNOMIALS = f"""
extern "C" __global__ void other_degrees(const float* c, const float* near, float* others)
{{
    {"".join(f"others[{k}] = horner<{n}>(c, near[0]); " for k, n in enumerate(OTHER_DEGREES))}
}}
"""

A_PAIR = """
extern "C" __global__ void sort_pair(const float* x, float* pair)
{
    float a = x[0], b = x[1];
    (put_in_order)(a, b); // in parentheses no macro is replaced
    pair[0] = a;
    pair[1] = b;
}
"""


def with_a_pair(launch: Launch) -> tuple[Launch, Launch]:
    """The launch of the cell's kernel, and one that calls the function for two numbers."""
    return (
        replace(launch, arguments=("x", "y", "n")),
        Launch((1,), (1,), kernel="sort_pair", arguments=("x", "pair")),
    )


SORT_THREE = Exercise(
    id="02.sort_three",
    title="swap by reference",
    task="""
Three calls sort three variables. Write the function that they call. The variables may hold any
numbers, ±inf too, and equal ones.
""",
    source="02_c_and_cpp/exercises/sort_three.cu",
    kernel="sort_three",
    inputs=lambda rng, n: {
        "x": floats(rng, 3 * n),
        "y": empty(3 * n),
        "n": np.int32(n),
        "pair": empty(2),
    },
    reference=lambda given: {
        "y": np.sort(given["x"].reshape(-1, 3)).ravel(),
        "pair": np.sort(given["x"][:2]),
    },
    launch=lambda n: with_a_pair(one_thread_each(n)),
    probe=A_PAIR,
    small=SMALL,
    full=FULL,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(),
        launches=lambda n: [with_a_pair(launch) for launch in spare_blocks(n)],
        values=(promises.data("x", *promises.ANY_ORDERED),),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "A parameter `float &low` is the caller's variable itself, not a copy of it.",
        "Read both before you write: `const float smaller = fminf(low, high);`",
        "`high = fmaxf(low, high); low = smaller;`",
    ),
    explanation="""
The compiler puts the function in line, and a, b and c stay in registers: no address is ever formed.
With parameters `float low, float high` the kernel compiles as well, and sorts copies that nobody
sees.
(Numbers too small for a normal float count as 0: the course compiles with `-ftz=true`, as CuPy
does. fminf then stores 0 for them, and `<` calls them equal.)
""",
    mutants=(
        mutant(
            "a macro",
            kinds.WRONG_NAME,
            (
                "__device__ void put_in_order(float &low, float &high)",
                "#define put_in_order(p, q) in_order(p, q)\n"
                "__device__ void in_order(float &low, float &high)",
            ),
        ),
        mutant(
            "sorted by the kernel",
            kinds.WRONG,
            (
                "    const float smaller = fminf(low, high);\n    high = fmaxf(low, high);\n"
                "    low = smaller;\n",
                "",
            ),
            (
                "    put_in_order(a, b);\n    put_in_order(b, c);\n    put_in_order(a, b);\n",
                "    const float s = fminf(a, fminf(b, c)), t = fmaxf(a, fmaxf(b, c));\n"
                "    b = fmaxf(fminf(a, b), fminf(fmaxf(a, b), c));\n    a = s;\n    c = t;\n",
            ),
        ),
        mutant("by value", kinds.WRONG, ("float &low, float &high", "float low, float high")),
        mutant("one by value", kinds.WRONG, ("float &low, float &high", "float &low, float high")),
        mutant(
            "overwritten first",
            kinds.WRONG,
            (
                "const float smaller = fminf(low, high);\n    high = fmaxf(low, high);\n"
                "    low = smaller;",
                "low = fminf(low, high);\n    high = fmaxf(low, high);",
            ),
        ),
        mutant(
            "without the lowest bits",
            kinds.PRECISION,
            ("low = smaller;", "low = __int_as_float(__float_as_int(smaller) & ~3);"),
        ),
        mutant(
            "the wrong way",
            kinds.WRONG,
            ("= fminf", "= fmaxf"),
            ("= fmaxf(low, high);\n    low", "= fminf(low, high);\n    low"),
        ),
        mutant(
            "constant references",
            kinds.COMPILE_ERROR,
            ("float &low, float &high", "const float &low, const float &high"),
        ),
    ),
)


def degrees_of(launch: Launch) -> tuple[Launch, Launch]:
    """The launch of the cell's kernel, and one that takes polynomials of other degrees."""
    return (
        replace(launch, arguments=("c", "x", "y", "n")),
        Launch((1,), (1,), kernel="other_degrees", arguments=("c", "near", "others")),
    )


HORNER = Exercise(
    id="02.horner",
    title="recursion while compiling",
    task="""
A function template that calls itself with a smaller number is unrolled by the compiler. Evaluate a
polynomial whose degree is a template parameter: any degree from 0 on.
(A loop is unrolled as well, and is right too.)
""",
    source="02_c_and_cpp/exercises/horner.cu",
    kernel="degree_five",
    inputs=lambda rng, n: {
        "c": floats(rng, max(OTHER_DEGREES) + 1),
        "x": floats(rng, n),
        "y": empty(n),
        "n": np.int32(n),
        "near": rng.uniform(-1, 1, 1).astype(np.float32),
        "others": empty(len(OTHER_DEGREES)),
    },
    reference=polynomial,
    reduction=lambda n: max(OTHER_DEGREES) + 1,
    launch=lambda n: degrees_of(one_thread_each(n)),
    probe=POLYNOMIALS,
    small=SMALL,
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=lambda n: [degrees_of(launch) for launch in spare_blocks(n)],
        values=(
            promises.data("c", *promises.ORDINARY, promises.SOME_INFINITE, promises.SOME_NAN),
            promises.data(
                "x",
                promises.ZEROS,
                promises.NEGATIVE,
                promises.TIES,
                promises.MIDDLING,
                promises.SOME_NAN,
            ),
            promises.data("near", promises.ZEROS, promises.SOME_NAN),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "c[0] + c[1] x + c[2] x² is c[0] + x (c[1] + c[2] x): the same again in the parentheses, "
        "with one coefficient less.",
        "The shorter polynomial begins at `c + 1` and is `horner<kDegree - 1>(c + 1, x)`.",
        "`if constexpr (kDegree == 0) return c[0]; else return c[0] + x * …;` Without the `else` "
        "the second `return` is compiled for degree 0 too, and asks for -1, -2 and so on.",
    ),
    explanation="""
`if constexpr` decides while compiling, and the branch not taken is not compiled. With a plain `if`
the compiler would need horner<-1>, horner<-2> and so on, without an end. What is left is five fused
multiply-adds (FFMA) in a row, without a loop or a call.
""",
    mutants=(
        mutant("a plain if", kinds.COMPILE_ERROR, ("if constexpr (", "if (")),
        mutant(
            "coefficients reversed",
            kinds.WRONG,
            ("return c[0] + x *", "return c[kDegree] + x *"),
            ("(c + 1, x)", "(c, x)"),
        ),
        mutant("the same coefficient", kinds.WRONG, ("(c + 1, x)", "(c, x)")),
        mutant("a degree lost", kinds.WRONG, ("kDegree == 0", "kDegree < 2")),
        mutant("two steps", kinds.OUT_OF_BOUNDS, ("(c + 1, x)", "(c + 2, x)")),
        mutant(
            "for degree five alone",
            kinds.WRONG,
            (
                "    if constexpr (kDegree == 0) {\n        return c[0];\n    } else {\n"
                "        return c[0] + x * horner<kDegree - 1>(c + 1, x);\n    }\n",
                "    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))));\n",
            ),
        ),
        mutant(
            "up to degree five",
            kinds.WRONG,
            (
                "    if constexpr (kDegree == 0) {",
                "    if constexpr (kDegree == 0 || kDegree > 5) {",
            ),
        ),
        mutant(
            "no template",
            kinds.WRONG_NAME,
            ("template <int kDegree>\n__device__ float horner(", "__device__ float by_hand("),
            (
                "    if constexpr (kDegree == 0) {\n        return c[0];\n    } else {\n"
                "        return c[0] + x * horner<kDegree - 1>(c + 1, x);\n    }\n",
                "    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))));\n",
            ),
            ("horner<5>(c, x[i])", "by_hand(c, x[i])"),
        ),
        mutant(
            "up to degree eight",
            kinds.WRONG,
            (
                "    if constexpr (kDegree == 0) {",
                "    if constexpr (kDegree == 0 || kDegree > 8) {",
            ),
        ),
        mutant(
            "no degree 0",
            kinds.WRONG,
            (
                "kDegree == 0) {\n        return c[0];",
                "kDegree < 2) {\n        return c[0] + x * c[1];",
            ),
        ),
        mutant("no NaN", kinds.WRONG, ("c[0] + x *", "c[0] + fmaxf(x, -1e30f) *")),
        mutant("no power", kinds.WRONG, ("c[0] + x *", "c[0] +")),
        mutant(
            "only near 0", kinds.WRONG, ("c[0] + x *", "c[0] + fminf(fmaxf(x, -10.0f), 10.0f) *")
        ),
    ),
)

COMPOSE = HostExercise(
    id="02.compose",
    title="one function after another",
    task="""
Write `then(f, g)`, which gives a function: first f, then g with what f returned. It takes lambdas,
whatever types they take and return (g may return nothing), and its result can go into `then` again.
""",
    source="02_c_and_cpp/exercises/compose.cpp",
    standard="c++17",
    before=OWN_MAIN,
    probe=MOVED_ON,
    cases=("4 5.5 -2", "0", "", "17 100 1e3"),
    reference=composed,
    promises=Cases(drawn_quarters),
    hints=(
        "then does not call f: it returns something that will. That is a lambda.",
        "`[f, g](auto x) { … }` keeps copies of f and g, and takes an x of any type.",
        "`return [f, g](auto x) { return g(f(x)); };`",
    ),
    explanation="""
`[f, g]` copies both into the lambda. With `[&]` it would refer to the parameters of `then`, which
are gone when it is called. In a kernel such a chain is put in line, and the elements in between
stay in registers: that is how libraries fuse elementwise operations.
""",
    mutants=(
        mutant("the other order", kinds.COMPILE_ERROR, ("g(f(x))", "f(g(x))")),
        mutant("only the second", kinds.WRONG_OUTPUT, ("g(f(x))", "g(x)")),
        mutant(
            "the first for its own sake",
            kinds.WRONG_OUTPUT,
            ("return g(f(x));", "f(x);\n        return g(f(x));"),
        ),
        mutant("numbers alone", kinds.COMPILE_ERROR, ("(auto x)", "(double x) -> double")),
        mutant(
            "one type for both",
            kinds.COMPILE_ERROR,
            ("template <typename F, typename G>", "template <typename F>"),
            ("F f, G g", "F f, F g"),
        ),
        mutant("the first twice", kinds.WRONG_OUTPUT, ("g(f(x))", "g(f(f(x)))")),
        mutant("a double alone", kinds.COMPILE_ERROR, ("(auto x)", "(double x)")),
        mutant(
            "by way of a double",
            kinds.COMPILE_ERROR,
            ("g(f(x))", "g(static_cast<double>(f(x)))"),
        ),
        mutant(
            "numbers by way of a double",
            kinds.WRONG_OUTPUT,
            ("#include <string>", "#include <string>\n#include <type_traits>"),
            (
                "return g(f(x));",
                "\n        if constexpr (std::is_arithmetic_v<decltype(f(x))> &&\n"
                "                      std::is_invocable_v<G, double>) {\n"
                "            return g(static_cast<double>(f(x)));\n"
                "        } else {\n            return g(f(x));\n        }\n    ",
            ),
        ),
        mutant(
            "a g of one type",
            kinds.COMPILE_ERROR,
            (
                "template <typename F, typename G>",
                "template <typename G, typename R, typename Y>\nY taken(R (G::*)(Y) const);\n\n"
                "template <typename F, typename G>",
            ),
            ("g(f(x))", "g(static_cast<decltype(taken(&G::operator()))>(f(x)))"),
        ),
        mutant("with few digits", kinds.COMPILE_ERROR, ("f(x)", "f(static_cast<float>(x))")),
        mutant("references", kinds.USE_AFTER_FREE, ("[f, g](auto x)", "[&](auto x)")),
        mutant(
            "the result kept for a moment",
            kinds.COMPILE_ERROR,
            ("return g(f(x));", "auto result = g(f(x)); return result;"),
        ),
        mutant(
            "a constant between",
            kinds.COMPILE_ERROR,
            ("return g(f(x));", "const auto y = f(x); return g(y);"),
        ),
        mutant(
            "cut to whole numbers", kinds.COMPILE_ERROR, ("[f, g](auto x) {", "[f, g](int x) {")
        ),
        mutant(
            "the first f for all",
            kinds.WRONG_OUTPUT,
            ("return [f, g](auto x)", "static const F first = f;\n    return [g](auto x)"),
            ("g(f(x))", "g(first(x))"),
        ),
    ),
)

INDICES = 400  # of another loop: more than the fewest threads
ANY_GRID = promises.grids((1, 256), (3, 96), (7, 256), (64, 128), (1, 33), (5, 100))
ANOTHER_BODY = """
extern "C" __global__ void another_body(int* indices)
{
    each_index(400, [=](int i) { indices[i] = i; });
}
"""


def with_another_body(launch: Launch) -> tuple[Launch, Launch]:
    """The launch of the cell's kernel, and one that calls its loop with another body."""
    return (
        replace(launch, arguments=("x", "y", "slope", "n")),
        replace(launch, kernel="another_body", arguments=("indices",)),
    )


EACH_INDEX = Exercise(
    id="02.each_index",
    title="a loop that takes its body",
    task="""
Write the grid-stride loop of notebook 04/01 once, as a function template that takes what is done
for each index as a lambda. It works with any grid and any block.
""",
    source="02_c_and_cpp/exercises/each_index.cu",
    kernel="leaky_relu",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "slope": np.float32(0.25),
        "n": np.int32(n),
        "indices": empty(INDICES, np.int32),
    },
    reference=lambda given: {
        "y": np.where(given["x"] > 0, given["x"], given["slope"] * given["x"]),
        "indices": np.arange(INDICES, dtype=np.int32),
    },
    launch=lambda n: with_another_body(Launch((4,), (96,))),
    probe=ANOTHER_BODY,
    small=SMALL,
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=lambda n: [with_another_body(launch) for launch in ANY_GRID(n)],
        values=(
            promises.scalars("slope", 0, 1, -1, 0.01, 3, -40),
            promises.data(
                "x",
                *promises.ORDINARY,
                promises.ZEROS,
                promises.LARGE,
                promises.VERY_SMALL,
                promises.SOME_NAN,
            ),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(), means.no_extra_work()),
    hints=(
        "A body that is called like a function: `body(i);`",
        "The first index is the thread's number in the grid; the next one lies "
        "`gridDim.x * blockDim.x` further on.",
        "`for (int i = …; i < n; i += threads) body(i);`",
    ),
    explanation="""
`[=]` copies what the body uses into the lambda: the two pointers and the slope, not the arrays.
The type of the lambda is known to the compiler, which puts the body into the loop: the machine
code has no call.
""",
    mutants=(
        mutant(
            "no loop",
            kinds.FIRST_BLOCK,
            ("for (int i = blockIdx", "if (int i = blockIdx"),
            ("; i < n; i += threads) {", "; i < n) {"),
        ),
        mutant(
            "one block",
            kinds.MEANS_MISSING,
            ("gridDim.x * blockDim.x", "blockDim.x"),
            ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        ),
        mutant(
            "blocks of another size",
            kinds.MEANS_MISSING,
            ("gridDim.x * blockDim.x", "gridDim.x * 64"),
        ),
        mutant(
            "the loop in the kernel",
            kinds.NOTHING_WRITTEN,
            ("        body(i);\n", ""),
            (
                "    each_index(n, [=](int i) { y[i] = x[i] > 0.0f ? x[i] : slope * x[i]; });",
                "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                "         i += gridDim.x * blockDim.x)\n"
                "        y[i] = x[i] > 0.0f ? x[i] : slope * x[i];",
            ),
        ),
        mutant("one too many", kinds.OUT_OF_BOUNDS, ("i < n;", "i <= n;")),
        mutant(
            "the larger one",
            kinds.SCALED,
            ("x[i] > 0.0f ? x[i] : slope * x[i]", "fmaxf(x[i], slope * x[i])"),
        ),
        mutant(
            "blocks of whole warps",
            kinds.PARTLY_WRITTEN,
            ("gridDim.x * blockDim.x", "gridDim.x * ((blockDim.x + 31) / 32 * 32)"),
        ),
        mutant("begins at 1", kinds.EDGES, ("+ threadIdx.x; i", "+ threadIdx.x + 1; i")),
        mutant(
            "every thread all",
            kinds.MEANS_MISSING,
            ("int i = blockIdx.x * blockDim.x + threadIdx.x", "int i = 0"),
            ("i += threads", "i += threads / threads"),
        ),
    ),
)

BUFFER = HostExercise(
    id="02.buffer",
    title="a class that owns memory",
    task="""
Write what makes a class own its memory: it frees it when the object dies, it refuses to be copied,
and it can be moved: the numbers stay where they are, and change hands.
""",
    source="02_c_and_cpp/exercises/buffer.cpp",
    standard="c++17",
    before=OWN_MAIN,
    probe=ASSIGNED,
    cases=("4", "3", "", "2 4 6 8 10", "1 2 3 4 5 6 7 8", "0 100"),
    reference=buffers,
    promises=Cases(lambda rng: " ".join(map(str, whole(rng, int(rng.integers(0, 12)), 0, 60)))),
    hints=(
        "`~Buffer()` gives back what `new[]` gave, with `delete[]`; a nullptr does no harm there.",
        "`Buffer(const Buffer &) = delete;` and the same for `operator=`.",
        "`Buffer(Buffer &&other) noexcept : data_(other.data_), n_(other.n_)`: take over both.",
        "The other one dies too. Leave it a nullptr and a size of 0.",
    ),
    explanation="""
That is what `std::unique_ptr<float[]>` does, and what a class for memory of a GPU has to do, with
cudaMalloc and cudaFree in place of `new` and `delete`. `noexcept` matters: a vector that grows
moves its elements if that cannot fail half-way, and otherwise copies them. (Where copies are
forbidden, as here, it moves them all the same, and a failure half-way would lose some.)
""",
    mutants=(
        mutant("never freed", kinds.MEMORY_LEAK, ("~Buffer() { delete[] data_; }", "~Buffer() {}")),
        mutant("no destructor", kinds.MEMORY_LEAK, ("    ~Buffer() { delete[] data_; }\n", "")),
        mutant("two owners", kinds.USE_AFTER_FREE, ("        other.data_ = nullptr;\n", "")),
        mutant("the size stays", kinds.WRONG_OUTPUT, ("        other.n_ = 0;\n", "")),
        mutant(
            "copies",
            kinds.WRONG_OUTPUT,
            ("Buffer(const Buffer &) = delete;", "Buffer(const Buffer &) = default;"),
        ),
        mutant(
            "copies what is not constant",
            kinds.WRONG_OUTPUT,
            (
                "    Buffer(const Buffer &) = delete;\n",
                "    Buffer(const Buffer &) = delete;\n"
                "    Buffer(Buffer &other) : data_(new float[other.n_]), n_(other.n_) {}\n",
            ),
        ),
        mutant("may fail", kinds.WRONG_OUTPUT, (" noexcept :", " :")),
        mutant(
            "assigned as the compiler would",
            kinds.USE_AFTER_FREE,
            (
                "    Buffer &operator=(const Buffer &) = delete;\n",
                "    Buffer &operator=(Buffer &&) noexcept = default;\n",
            ),
        ),
        mutant(
            "the size stays where it is assigned",
            kinds.WRONG_OUTPUT,
            (
                "    Buffer &operator=(const Buffer &) = delete;\n",
                "    Buffer &operator=(Buffer &&other) noexcept\n    {\n"
                "        std::swap(data_, other.data_);\n        delete[] other.data_;\n"
                "        other.data_ = nullptr;\n        n_ = other.n_;\n"
                "        return *this;\n    }\n",
            ),
        ),
        mutant(
            "moved by a copy",
            kinds.WRONG_OUTPUT,
            (
                "noexcept : data_(other.data_), n_(other.n_)\n    {\n"
                "        other.data_ = nullptr;\n",
                "noexcept : data_(new float[other.n_]), n_(other.n_)\n    {\n"
                "        for (int i = 0; i < n_; ++i) data_[i] = other.data_[i];\n",
            ),
        ),
        mutant(
            "no move",
            kinds.COMPILE_ERROR,
            (
                "    Buffer(Buffer &&other) noexcept : data_(other.data_), n_(other.n_)\n    {\n"
                "        other.data_ = nullptr;\n        other.n_ = 0;\n    }\n",
                "",
            ),
        ),
    ),
)
