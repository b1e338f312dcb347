"""The exercises of "C++ for CUDA"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.reviews import said_of_lines
from course_utils.exercises.authoring.spec import HostExercise, KernelExercise, PythonExercise
from course_utils.exercises.authoring.vectors import FULL, SMALL, one_thread_each, spare_blocks
from course_utils.exercises.authoring.worked import Worked

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


def polynomial(given: Given) -> dict[str, np.ndarray]:
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

# After main, whose own call shows a mistake with the numbers of the case.
CALLED_TWICE = """
namespace {
struct CalledTwice {
    ~CalledTwice()
    {
        std::vector<int> many(100000, 4), again{1, 2, 3};
        append_first(many);
        append_first(again);
        if (again != std::vector<int>{1, 2, 3, 1, 1, 1}) {
            std::printf(FINDS "append_first leaves 1 2 3 as");
            for (const int number : again) std::printf(" %d", number);
            std::printf(", expected 1 2 3 1 1 1\\n");
        }
        const std::size_t room = again.capacity();
        if (room > 50000) std::printf(FINDS "6 numbers have a capacity of %zu\\n", room);
    }
} called_twice;
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
    if (!right) std::printf(FINDS "what can be moved and not copied does not come through\\n");
    int calls = 0;
    const auto counted = [&calls](double v) { return v + ++calls; };
    then(counted, counted)(1.0);
    if (calls != 2) std::printf(FINDS "one call of then(f, f) calls f %d times\\n", calls);
    const auto same = [](auto v) { return v; };
    const auto size = [](auto v) { return sizeof v; };
    const auto sized = then(same, size); // each type comes through as it is
    const bool as_they_are = sized('c') == 1 && sized(short{1}) == sizeof(short) &&
                             sized(1.0f) == sizeof(float) && sized(1LL) == sizeof(long long) &&
                             then([](int) { return 'c'; }, size)(1) == 1;
    if (!as_they_are) std::printf(FINDS "a type changes on its way through f and g\\n");
    double seen = 0;
    then(counted, [&seen](double v) { seen = v; })(1.0); // what comes last returns nothing
    if (seen != 4.0) std::printf(FINDS "a g that returns nothing gets %g and not 4\\n", seen);
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
    if (made) std::printf(FINDS "a Buffer can be made as a copy\\n");
    if (copied) std::printf(FINDS "a Buffer can be copied to another\\n");
    const auto move_to = [](auto &&one, auto &&other) {
        if constexpr (std::is_move_assignable_v<std::decay_t<decltype(one)>>) {
            const float *place = other.data();
            one = std::move(other); // where that is allowed, all is handed over, and nothing lost
            if (one.data() != place) std::printf(FINDS "an assignment that moves has copied\\n");
            const bool whole = (other.data() == nullptr) == (other.size() == 0);
            const bool right = one.size() == 5 && whole;
            if (!right) std::printf(FINDS "an assignment leaves a wrong size\\n");
        }
    };
    move_to(Buffer(3), Buffer(5));
    return true;
}();
} // namespace
"""

APPEND_FIRST = HostExercise(
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
    contract=DrawnCases(
        lambda rng: listed(whole(rng, int(rng.integers(1, 40)), -LARGEST - 1, LARGEST))
    ),
    bug=kinds.USE_AFTER_FREE,
)

POLYNOMIALS = f"""
extern "C" __global__ void other_degrees(const float* c, const float* near, float* others)
{{
    {"".join(f"others[{k}] = horner<{n}>(c, near[0]); " for k, n in enumerate(OTHER_DEGREES))}
}}
"""

ONE_CALL = """
extern "C" __global__ void sort_once(const float* x, float* sorted)
{
    float a = x[0], b = x[1], c = x[2];
    (sort)(a, b, c); // in parentheses no macro is replaced
    sorted[0] = a;
    sorted[1] = b;
    sorted[2] = c;
}
"""


def with_one_call(launch: Launch) -> tuple[Launch, Launch]:
    """The launch of the cell's kernel, and one that calls the function for the first row."""
    return (
        replace(launch, arguments=("x", "y", "n")),
        Launch((1,), (1,), kernel="sort_once", arguments=("x", "sorted")),
    )


SORT_THREE = KernelExercise(
    inputs=lambda rng, n: {
        "x": floats(rng, 3 * n),
        "y": empty(3 * n),
        "n": np.int32(n),
        "sorted": empty(3),
    },
    reference=lambda given: {
        "y": np.sort(given["x"].reshape(-1, 3)).ravel(),
        "sorted": np.sort(given["x"][:3]),
    },
    launch=lambda n: with_one_call(one_thread_each(n)),
    probe=ONE_CALL,
    probed={"sorted": lambda k: f"sort(a, b, c) in another kernel, {'abc'[k]} after it"},
    small=SMALL,
    worked=Worked(hidden=("sorted",)),
    full=FULL,
    exact=True,
    contract=Domain(
        sizes=domain.lengths(),
        launches=lambda n: [with_one_call(launch) for launch in spare_blocks(n)],
        values=(domain.data("x", *domain.ANY_ORDERED),),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)


def degrees_of(launch: Launch) -> tuple[Launch, Launch]:
    """The launch of the cell's kernel, and one that takes polynomials of other degrees."""
    return (
        replace(launch, arguments=("c", "x", "y", "n")),
        Launch((1,), (1,), kernel="other_degrees", arguments=("c", "near", "others")),
    )


HORNER = KernelExercise(
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
    probed={"others": lambda k: f"horner with kDegree = {OTHER_DEGREES[k]}"},
    small=SMALL,
    worked=Worked(  # y is -52 for 2: 2 + 6 - 4 + 8 + 0 - 64
        size=5,
        values={"c": {0: 2, 1: 3, 2: -1, 3: 1, 5: -2}, "x": (2, 1, -1, 0, -2)},
        hidden=("near",),
    ),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=lambda n: [degrees_of(launch) for launch in spare_blocks(n)],
        values=(
            domain.data("c", *domain.ORDINARY, domain.SOME_INFINITE, domain.SOME_NAN),
            domain.data(
                "x", domain.ZEROS, domain.NEGATIVE, domain.TIES, domain.MIDDLING, domain.SOME_NAN
            ),
            domain.data("near", domain.ZEROS, domain.SOME_NAN),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)

COMPOSE = HostExercise(
    standard="c++17",
    before=OWN_MAIN,
    probe=MOVED_ON,
    cases=("4 5.5 -2", "0", "", "17 100 1e3"),
    reference=composed,
    contract=DrawnCases(drawn_quarters),
)

INDICES = 400  # of another loop: more than the fewest threads
ANY_GRID = domain.grids((1, 256), (3, 96), (7, 256), (64, 128), (1, 33), (5, 100))
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


EACH_INDEX = KernelExercise(
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
    probed={"indices": lambda k: f"each_index(400, body) in another kernel, body({k})"},
    small=SMALL,
    worked=Worked(hidden=("indices",)),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=lambda n: [with_another_body(launch) for launch in ANY_GRID(n)],
        values=(
            domain.scalars("slope", 0, 1, -1, 0.01, 3, -40),
            domain.data(
                "x",
                *domain.ORDINARY,
                domain.ZEROS,
                domain.LARGE,
                domain.VERY_SMALL,
                domain.SOME_NAN,
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work(), method.no_redundant_work()),
)

BUFFER = HostExercise(
    standard="c++17",
    before=OWN_MAIN,
    probe=ASSIGNED,
    cases=("4", "3", "", "2 4 6 8 10", "1 2 3 4 5 6 7 8", "0 100"),
    reference=buffers,
    contract=DrawnCases(
        lambda rng: " ".join(map(str, whole(rng, int(rng.integers(0, 12)), 0, 60)))
    ),
)

# --- a review: the lines at which each mistake may be named ---

MISTAKES = {
    "copy": {1, 2, 3, 4, 5, 6, 7},
    "side": {9, 15},
    "owner": {11, 20},
    "reference": {12},
    "capture": {20},
    "dangles": {25, 26, 27},
}


def reviewed(function: Callable[[], Any]) -> tuple[str, ...] | None:
    """Each mistake, and whether a review names it, and the words that belong to no line."""
    found = function()
    if found is None:
        return None
    if not isinstance(found, dict) or not all(type(line) is int for line in found):
        raise LessonError('return a dictionary, such as {3: "leak"}')
    return said_of_lines(found, MISTAKES)


REVIEW_OWNER = PythonExercise(
    function="review",
    cases=((),),
    reference=lambda: tuple(f"{word}: right" for word in MISTAKES),
    call=reviewed,
    start="Take one object at a time: who owns it, where is it copied, and when does it end?",
    contract="There is one program to review.",
)
