"""The exercises of "Fourier transforms"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Cases,
    Exercise,
    Launch,
    NumberExercise,
    Promises,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

from .common import ORDINARY, together

ANY_POINTS = promises.data("x", *ORDINARY, promises.LARGE, promises.VERY_SMALL)
FINITE = "Any numbers whose sums are finite."


def complex_of(pairs: np.ndarray) -> np.ndarray:
    """The complex128 numbers that pairs along the last axis stand for."""
    pairs = pairs.astype(np.float64)
    return pairs[..., 0] + 1j * pairs[..., 1]


def pairs_of(numbers: np.ndarray) -> np.ndarray:
    """Complex numbers as pairs along a new last axis."""
    return np.stack((numbers.real, numbers.imag), axis=-1)


def rows_of(rng: np.random.Generator, rows: int, n: int) -> dict:
    """Rows of n complex numbers, and room for as many, one after the other in memory."""
    return {"x": floats(rng, 2 * rows * n), "y": empty(2 * rows * n)}


def transformed(given, n: int) -> dict:
    """The discrete Fourier transform of each row of n."""
    rows = complex_of(given["x"].reshape(-1, n, 2))
    return {"y": pairs_of(np.fft.fft(rows)).reshape(-1)}


DFT_ROWS = Exercise(
    id="06.dft_rows",
    title="a Fourier transform by its definition",
    task=f"""
Each thread has one frequency k of one row: add up its products. Any n up to 1,024, and as many
digits as fp32 can give: so no fast sines. {FINITE}
""",
    source="06_matmul_and_fft/exercises/dft_rows.cu",
    kernel="dft_rows",
    inputs=lambda rng, size: rows_of(rng, *size) | {"n": np.int32(size[1])},
    reference=lambda given: transformed(given, int(given["n"])),
    launch=lambda size: Launch((size[0], -(-size[1] // 256)), (256,)),
    small=((2, 61), (3, 31), (1, 8), (1, 1)),
    budget=400_000,  # a division or a sum in float64 for each of 1021 products is right, too
    full=(2048, 1024),
    reduction=lambda size: size[1],
    within=3.0,
    promises=Promises(
        sizes=together(
            "rows n",
            *((1, 1), (1, 2), (5, 3), (2, 31), (3, 32), (2, 33), (1, 61), (1, 64), (7, 12)),
            *((1, 257), (2, 130), (1, 1024)),
        ),
        values=(ANY_POINTS,),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.0, size=(3, 256)),
        means.instructions(
            "fast sines and cosines",
            "sin.approx",
            "cos.approx",
            at_most=0,
            advice="__sinf and __cosf err by several units of the last digit: take sincospif.",
        ),
    ),
    hints=(
        "A loop over j. The angle is -2 pi j k / n, and sincospif takes the angle over pi.",
        "Keep `turns`, which is j k modulo n: each j adds k to it, and takes n off from n on.",
        "`sincospif(-2.0f * turns / n, &s, &c);`: c and s are the parts of the factor.",
        "(a + i b) (c + i s) is (a c - b s) + i (a s + b c).",
    ),
    explanation="""
The product j k grows to n². As a `float` an angle of many turns has its digits before the point,
where they say nothing, and too few behind it. Modulo n the angle stays below one turn. A `%` would
do as well, and costs more than the product that it serves.
""",
    mutants=(
        mutant("the inverse", kinds.WRONG, ("(-2.0f * turns", "(2.0f * turns")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("    if (k >= n) return;\n", "")),
        mutant(
            "angles of many turns", kinds.PRECISION, ("        if (turns >= n) turns -= n;\n", "")
        ),
        mutant(
            "fast sines",
            kinds.MEANS_MISSING,
            ("sincospif(-2.0f * turns / n, &s, &c)", "__sincosf(-6.2831853f * turns / n, &s, &c)"),
        ),
        mutant(
            "room for 128 roots",
            kinds.WRONG,
            ("sincospif(-2.0f * turns / n", "sincospif(-2.0f * (turns & 127) / n"),
        ),
        mutant(
            "room for 512 roots",
            kinds.WRONG,
            ("sincospif(-2.0f * turns / n", "sincospif(-2.0f * (turns & 511) / n"),
        ),
        mutant(
            "1023 points at most",
            kinds.PRECISION,
            ("int j = 0; j < n; ++j", "int j = 0; j < min(n, 1023); ++j"),
        ),
        mutant(
            "no large sums",
            kinds.WRONG,
            ("= sum;", "= make_float2(fminf(sum.x, 1e9f), fminf(sum.y, 1e9f));"),
        ),
        mutant(
            "small sums are 0",
            kinds.WRONG,
            ("= sum;", "= make_float2(fabsf(sum.x) < 1e-12f ? 0.0f : sum.x, sum.y);"),
        ),
        mutant("half the angle", kinds.WRONG, ("(-2.0f * turns", "(-1.0f * turns")),
        mutant("j = 0 left out", kinds.WRONG, ("int j = 0;", "int j = 1;")),
        mutant("real parts alone", kinds.WRONG, ("row[j].x * c - row[j].y * s", "row[j].x * c")),
        mutant("scaled", kinds.SCALED, ("= sum;", "= make_float2(sum.x / 2, sum.y / 2);")),
        mutant("first row for all", kinds.WRONG, ("x + (size_t)blockIdx.x * n", "x")),
    ),
)


def one_stage(given) -> dict:
    """Stockham's stage: transforms of ``done`` points become transforms of 2 done."""
    n, done = int(given["n"]), int(given["done"])
    x = complex_of(given["x"].reshape(-1, n, 2))
    rows = len(x)
    halves = x.reshape(rows, 2, n // (2 * done), done)
    k = np.arange(done)
    second = halves[:, 1] * np.exp(-1j * np.pi * k / done)
    both = np.stack((halves[:, 0] + second, halves[:, 0] - second), axis=2)
    return {"y": pairs_of(both).reshape(-1)}


BUTTERFLIES = Exercise(
    id="06.butterflies",
    title="one stage of radix 2",
    task=f"""
Write the butterfly of one thread: two points in, two points out. Launched for `done` = 1, 2, 4 up
to n / 2, your kernel makes the whole transform. {FINITE}
""",
    source="06_matmul_and_fft/exercises/butterflies.cu",
    kernel="butterflies",
    inputs=lambda rng, size: (
        rows_of(rng, *size[:2]) | {"n": np.int32(size[1]), "done": np.int32(size[2])}
    ),
    reference=one_stage,
    launch=lambda size: Launch((size[0], -(-size[1] // 512)), (256,)),
    small=((3, 64, 8), (2, 64, 1), (2, 8, 4), (1, 2, 1)),
    full=(2048, 4096, 64),
    within=2.0,
    promises=Promises(
        sizes=together(
            "rows n done",
            *((1, 2, 1), (1, 4, 1), (2, 4, 2), (3, 8, 2), (1, 32, 16), (5, 64, 32), (2, 128, 4)),
            *((1, 512, 256), (1, 1024, 1), (2, 1024, 64), (1, 4096, 512), (1, 131072, 32768)),
        ),
        values=(ANY_POINTS,),
    ),
    means=(means.one_store_each(), means.work_shared_out(2.0, size=(3, 512, 8))),
    hints=(
        "`const int k = j % done;` and `j / done` say where butterfly j belongs.",
        "`const float2 b = times(x[j + n / 2], root(k, 2 * done));`",
        "The sum goes to `j / done * 2 * done + k`, the difference `done` places after it.",
    ),
    explanation="""
All threads read two places n / 2 apart, so loads coalesce in every stage. The stores are the ones
that move: runs of `done` points. Results come out in their natural order; the better known version,
in place, has to reverse the bits of all indices once.
""",
    mutants=(
        mutant("the inverse", kinds.WRONG, ("root(k, 2 * done)", "root(2 * done - k, 2 * done)")),
        mutant("whole angles", kinds.WRONG, ("root(k, 2 * done)", "root(k, done)")),
        mutant(
            "no factor", kinds.WRONG, ("times(x[j + n / 2], root(k, 2 * done))", "x[j + n / 2]")
        ),
        mutant("neighbours", kinds.WRONG, ("x[j + n / 2]", "x[j + 1]")),
        mutant("no room between", kinds.DATA_RACE, ("j / done * 2 * done", "j / done * done")),
        mutant("beside it", kinds.DATA_RACE, ("y[first + done]", "y[first + 1]")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("    if (j >= n / 2) return;\n", "")),
        mutant(
            "an index of 16 bits",
            kinds.DATA_RACE,
            ("j / done * 2 * done + k;", "(unsigned short)(j / done * 2 * done + k);"),
        ),
        mutant(
            "no large sums",
            kinds.WRONG,
            ("make_float2(a.x + b.x, a.y + b.y)", "make_float2(fminf(a.x + b.x, 1e9f), a.y + b.y)"),
        ),
        mutant("sum twice", kinds.WRONG, ("(a.x - b.x, a.y - b.y)", "(a.x + b.x, a.y + b.y)")),
    ),
)


EXCHANGED = Exercise(
    id="06.exchanged",
    title="all stages in one launch",
    task=f"""
The points of a row stay with 64 threads, four each, from the first stage to the last. Between two
stages they change hands in shared memory: write the exchange, with the two barriers that it needs.
{FINITE}
""",
    source="06_matmul_and_fft/exercises/exchanged.cu",
    kernel="exchanged",
    inputs=lambda rng, rows: rows_of(rng, rows, 256),
    reference=lambda given: transformed(given, 256),
    launch=lambda rows: Launch((rows,), (64,)),
    small=(3, 2, 1),
    full=1 << 15,
    reduction=lambda rows: 256,
    within=2.0,
    promises=Promises(sizes=promises.lengths("rows", most=40), values=(ANY_POINTS,)),
    means=(
        means.one_store_each(),
        means.reads_each_once(2 * 256 * 8, size=2),
        means.shared_memory(
            at_least=2 * 3 * 2048,
            at_most=2 * 3 * 2048,
            advice="Each of the three exchanges stores every point once.",
            size=2,
        ),
        means.barriers(
            at_most=2 * 2 * 7,
            advice="Two barriers an exchange are enough, for each of the two warps.",
            size=2,
        ),
    ),
    hints=(
        "Two loops over r: one stores the thread's four results, one loads the four points that it "
        "needs next. Which threads stored those?",
        "Between the two loops all results must be there: a barrier. And in the second exchange a "
        "warp that is ahead would store over what the other one has yet to read: a barrier before "
        "the stores, too.",
        "`shared[first + r * before] = v[r];` in the first loop, `v[r] = shared[j + 64 * r];` in "
        "the second.",
    ),
    explanation="""
One barrier says that everything is there, the other that everything has been read. With two arrays
in turns a single one would do, as in double buffering. On a GPU the first barrier of the first
exchange is for nothing; the course's rungs leave it out.
""",
    mutants=(
        mutant(
            "no first barrier", kinds.DATA_RACE, ("        __syncthreads();  // what", "        //")
        ),
        mutant(
            "no second barrier",
            kinds.DATA_RACE,
            ("        __syncthreads();  // everything", "        //"),
        ),
        mutant("stored side by side", kinds.WRONG, ("[first + r * before]", "[4 * j + r]")),
        mutant("loaded side by side", kinds.WRONG, ("shared[j + 64 * r]", "shared[4 * j + r]")),
        mutant(
            "by way of y",
            kinds.MEANS_MISSING,
            *(
                (
                    "shared[first + r * before] = v[r]",
                    "y[first + r * before] = v[r]",
                ),
                ("v[r] = shared[j + 64 * r]", "v[r] = y[j + 64 * r]"),
            ),
        ),
        mutant("past the end", kinds.OUT_OF_BOUNDS, ("[first + r * before]", "[first + r * done]")),
        mutant(
            "a barrier for each point",
            kinds.MEANS_MISSING,
            (
                "for (int r = 0; r < 4; ++r) v[r] = shared[j + 64 * r];",
                "for (int r = 0; r < 4; ++r) { v[r] = shared[j + 64 * r]; __syncthreads(); }",
            ),
        ),
    ),
)


def store_wavefronts(counts) -> float:
    """Of the one store to shared memory."""
    return counts.shared_store_wavefronts


STRIDES = NumberExercise(
    id="06.predict_strides",
    title="predict the wavefronts of a store",
    task="""
The 32 lanes of a warp store one `float2` each into shared memory, at places `stride` elements
apart. How many wavefronts does the store take?
""",
    source="06_matmul_and_fft/exercises/strides.cu",
    kernel="strides",
    inputs=lambda rng, stride: {
        "x": floats(rng, (32, 2)),
        "y": empty((32, 2)),
        "stride": np.int32(stride),
    },
    launch=lambda stride: Launch((1,), (32,)),
    asks={
        "side_by_side": Ask(
            "stride 1",
            1,
            store_wavefronts,
            {1: "A wavefront serves 32 words of 4 bytes. How many words do 32 lanes store?"},
        ),
        "four_apart": Ask(
            "stride 4",
            4,
            store_wavefronts,
            {4: "Four lanes and a fourth of the banks: half a warp has its turn at a time."},
        ),
        "sixteen_apart": Ask(
            "stride 16, as after a stage of radix 16",
            16,
            store_wavefronts,
            {
                16: "That is half of the warp. The other half comes after it.",
                2: "That would be so in different banks. 16 elements are 32 words.",
            },
        ),
        "padded": Ask(
            "stride 17, as with one element of padding after 16",
            17,
            store_wavefronts,
            {
                1: "No conflict, but twice 32 words.",
                32: "17 elements are 34 words: each lane's pair of banks is two further on.",
            },
        ),
    },
    hints=(
        "Element e takes the banks 2 e and 2 e + 1, modulo 32. Lane l has element l * stride.",
        "With 8 bytes a lane, half a warp is served at a time: at best a wavefront for 16 lanes.",
        "Among 16 lanes count how many share a pair of banks: that many wavefronts, twice.",
    ),
    explanation="""
Stride 16 is the worst there can be: all lanes in one pair of banks, one after the other. It is what
a stage of radix 16 does first of all, since thread t has results 16 t to 16 t + 15. One element of
padding after 16 turns the stride into 17, which is odd: every pair of banks has its turn.
""",
    mutants=(
        mutant("one wavefront", kinds.WRONG_NUMBER, ("side_by_side = 2", "side_by_side = 1")),
        mutant("half a warp", kinds.WRONG_NUMBER, ("sixteen_apart = 32", "sixteen_apart = 16")),
        mutant("no halves", kinds.WRONG_NUMBER, ("four_apart = 8", "four_apart = 4")),
        mutant("dots left", kinds.WRONG_TYPE, ("padded = 2", "padded = ...")),
    ),
)


def wavefronts(counts) -> float:
    """Of the exchange at one row, over those of 32 words each."""
    return (counts.shared_store_wavefronts + counts.shared_load_wavefronts) / (2 * 512 * 8 / 128)


def exchanged_points(given) -> dict:
    """Thread t of 32 puts x[t + 32 r] down at 16 t + r."""
    return {"y": given["x"].reshape(-1, 16, 32, 2).swapaxes(1, 2).reshape(-1)}


PADDED = Exercise(
    id="06.padded_exchange",
    title="an exchange with no bank conflicts",
    task="""
The exchange is right, and takes many times the wavefronts that it needs: say where each of the 512
elements stands in shared memory, so that neither stores nor loads conflict. At most 1.1 times the
least there can be, in at most 5 KB. Any numbers, down to the sign of a zero.
""",
    source="06_matmul_and_fft/exercises/padded_exchange.cu",
    kernel="padded_exchange",
    inputs=lambda rng, rows: rows_of(rng, rows, 512),
    reference=exchanged_points,
    launch=lambda rows: Launch((rows,), (32,)),
    small=(3, 2, 1),
    full=1 << 14,
    exact=True,
    within=2.0,
    target=Target(
        label="wavefronts, over those of 32 words each",
        measure=wavefronts,
        at_most=1.1,
        advice="Lanes that store at once are 16 elements apart, or 32 words: they all meet in one "
        "pair of banks. Shift each run of 16 by one element more.",
        size=1,
    ),
    promises=Promises(
        sizes=promises.lengths("rows", most=40),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(
        means.one_store_each(),
        means.reads_each_once(2 * 512 * 8, size=2),
        means.shared_memory(
            at_least=2 * 4096, at_most=2 * 4096, advice="Each point is stored once.", size=2
        ),
        means.room_in_shared_memory(
            5 * 1024, advice="Less padding does: 5 KB are room for 640 elements.", size=2
        ),
    ),
    hints=(
        "Where would elements 0, 16, 32... have to stand, to lie in different banks?",
        "An element of padding after each run of 16: run i / 16 is shifted by i / 16.",
        "`return i + i / 16;`, and room for 512 + 512 / 16.",
    ),
    explanation="""
Padding shifts each run of 16 by one element, so that a column of the runs goes through all banks,
and a row still does. An XOR would do the same with no room at all: `i ^ (i / 16 % 16)`. Then the
address is not a sum any more, and a thread has to compute each of its 16 addresses anew.
""",
    mutants=(
        mutant("after 32", kinds.TARGET_MISSED, ("return i + i / 16;", "return i + i / 32;")),
        mutant("no padding", kinds.TARGET_MISSED, ("return i + i / 16;", "return i;")),
        mutant("too much room", kinds.MEANS_MISSING, ("kRoom = 512 + 512 / 16", "kRoom = 641")),
        mutant("no room", kinds.OUT_OF_BOUNDS, ("kRoom = 512 + 512 / 16", "kRoom = 512")),
        mutant(
            "no sign of zeros",
            kinds.WRONG,
            (
                "y[t + 32 * r] = shared[place(t + 32 * r)];",
                "{\n        const float2 v = shared[place(t + 32 * r)];\n"
                "        y[t + 32 * r] = make_float2(v.x + 0.0f, v.y);\n    }",
            ),
        ),
        mutant("two in one place", kinds.WRONG, ("return i + i / 16;", "return i / 2;")),
        mutant(
            "an even shift",
            kinds.TARGET_MISSED,
            ("return i + i / 16;", "return i + i / 16 * 16;"),
            ("512 + 512 / 16", "1024"),
        ),
    ),
)


def complex_row(seed: int, n: int) -> np.ndarray:
    """n normally distributed complex numbers."""
    return np.random.default_rng(seed).standard_normal((n, 2)).view(complex)[:, 0]


def three_parts(parts: np.ndarray) -> np.ndarray:
    """The transform of the row whose every third point has these transforms."""
    return np.fft.fft(np.fft.ifft(parts).T.reshape(-1))


def any_parts(rng: np.random.Generator) -> tuple[np.ndarray]:
    """Three transforms of any length."""
    m = int(rng.integers(1, 40))
    return (complex_row(int(rng.integers(1 << 30)), 3 * m).reshape(3, m),)


def long_parts() -> list[tuple[np.ndarray]]:
    """Longer ones, of large and of small numbers."""
    return [(size * complex_row(5, 3 * 1025).reshape(3, 1025),) for size in (1e100, 1e-100)]


THREE_PARTS = PythonExercise(
    id="06.three_parts",
    title="a radix of three",
    task=f"""
Not every length is a power of two. Make the transform of 3 m points from three transforms of m
points: with a kernel for powers of two, that is all it takes for lengths such as 3072. Any m.
{FINITE}
""",
    source="06_matmul_and_fft/exercises/three_parts.py",
    function="three_parts",
    cases=tuple((complex_row(m, 3 * m).reshape(3, m),) for m in (4, 3, 2, 1)),
    reference=three_parts,
    promises=Cases(any_parts, large=long_parts),
    means="Transforming all anew gives the right answer, too, at a price.",
    hints=(
        "`k = np.arange(3 * m)`; part r gives `parts[r, k % m]`, an array of 3 m points.",
        "Its factor is `np.exp(-2j * np.pi * r * k / (3 * m))`.",
        "Add the three up: `sum(... for r in range(3))`.",
    ),
    explanation="""
A butterfly of radix 3 is a DFT of three points behind two factors, just as with 2, 4 or 16.
Lengths with large prime factors have no such way. Bluestein's writes their transform as a
convolution: the next exercise.
""",
    mutants=(
        mutant("no factors", kinds.WRONG, ("np.exp(-2j * np.pi * r * k / n) * ", "")),
        mutant("the inverse", kinds.WRONG, ("-2j", "2j")),
        mutant(
            "a third of the angle",
            kinds.WRONG,
            ("n = 3 * m", "n = 9 * m"),
            ("arange(n)", "arange(3 * m)"),
        ),
        mutant("64 points at most", kinds.WRONG, ("n = 3 * m", "n = 3 * m\n    m = min(m, 64)")),
        mutant("two of three", kinds.WRONG, ("range(3)", "range(2)")),
        mutant(
            "by way of complex64, which overflows",
            kinds.NOT_A_NUMBER,
            ("np.exp(-2j * np.pi * r * k / n)", "np.exp(-2j * np.pi * r * k / n).astype('F')"),
            ("parts[r, k % m]", "parts[r, k % m].astype('F')"),
        ),
        mutant("one third of the points", kinds.WRONG_SHAPE, ("np.arange(n)", "np.arange(m)")),
    ),
)


def before_bluestein(given) -> dict:
    """The row and the filter of Bluestein's convolution, of m points each."""
    n, m = int(given["n"]), int(given["m"])
    x, j = complex_of(given["x"].reshape(-1, 2)), np.arange(n)
    w = np.exp(-1j * np.pi * (j * j % (2 * n)) / n)
    a, b = np.zeros(m, complex), np.zeros(m, complex)
    a[:n], b[:n] = x * w, w.conj()
    b[m - n + 1 :] = b[n - 1 : 0 : -1]
    return {"a": pairs_of(a).reshape(-1), "b": pairs_of(b).reshape(-1)}


CHIRP = Exercise(
    id="06.chirp",
    title="any length, by way of a chirp",
    task=f"""
Write what comes before the transforms in Bluestein's way: the row times the chirp, and the filter,
both of m points. Any n up to 80,000, any m from 2 n − 1 on, and as many digits as fp32 can give.
{FINITE}
""",
    source="06_matmul_and_fft/exercises/chirp.cu",
    kernel="chirp",
    inputs=lambda rng, size: {
        "x": floats(rng, 2 * size[0]),
        "a": empty(2 * size[1]),
        "b": empty(2 * size[1]),
        "n": np.int32(size[0]),
        "m": np.int32(size[1]),
    },
    reference=before_bluestein,
    launch=lambda size: Launch((-(-size[1] // 256),), (256,)),
    small=((37, 130), (12, 23), (8, 16), (1, 1)),
    full=(1 << 21, 1 << 22),
    within=3.0,
    promises=Promises(
        sizes=together(
            "n m",
            *(
                (1, 1),
                (1, 4),
                (2, 3),
                (3, 8),
                (31, 64),
                (32, 63),
                (127, 256),
                (97, 200),
                (300, 599),
            ),
            *((1025, 4096), (4099, 8197), (80_000, 160_001)),
        ),
        values=(ANY_POINTS,),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2.5, size=(256, 511)),
        means.instructions(
            "fast sines and cosines",
            "sin.approx",
            "cos.approx",
            at_most=0,
            advice="__sinf and __cosf err by several units of the last digit: take sincospif.",
        ),
    ),
    hints=(
        "j j / n is a number of half turns, and 2 n of j j are whole turns: take j j modulo 2 n "
        "before it becomes a float.",
        "`(long long)j * j % (2 * n)`: from 46,341 on the square does not fit an int.",
        "Place j of b belongs to j where j is below n, and to m - j where that is below n: both "
        "count how far it is from place 0, one of them round the end.",
        "Each thread stores one element of a and one of b, also where they are zero.",
    ),
    explanation="""
Since 2 j k = j² + k² − (k − j)², the transform is w[k] times the sum over j of x[j] w[j] times
conj(w[k − j]): a convolution of a with b. Its transform is the product of theirs, so that three
transforms of m points, for which a power of two will do, make one of any n. (k − j is negative,
too: hence the values round the end of b.) The angle is the trap. j² has twice the digits of j, and
all that count are those of its remainder.
""",
    mutants=(
        mutant("the inverse", kinds.WRONG, ("sincospif(-(float)", "sincospif((float)")),
        mutant("not conjugated", kinds.WRONG, ("make_float2(w.x, -w.y)", "make_float2(w.x, w.y)")),
        mutant("one side of the filter", kinds.WRONG, ("j < n ? j : m - j", "j")),
        mutant(
            "half of the angle",
            kinds.WRONG,
            ("(float)(square % (2 * n)) / n", "(float)(square % (2 * n)) / (2 * n)"),
        ),
        mutant("half a turn is a whole one", kinds.WRONG, ("square % (2 * n)", "square % n")),
        mutant(
            "angles of many turns",
            kinds.PRECISION,
            ("(float)(square % (2 * n)) / n", "(float)square / n"),
        ),
        mutant(
            "squares in an int",
            kinds.WRONG,
            (
                "const long long square = (long long)distance * distance",
                "int square = distance * distance",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("    if (j >= m) return;\n", "")),
        mutant("75,000 at most", kinds.WRONG, ("% (2 * n)) / n", "% (2 * n)) / min(n, 75000)")),
        mutant("past the row", kinds.OUT_OF_BOUNDS, ("j < n ? x[j]", "j <= n ? x[j]")),
        mutant(
            "no zeros",
            kinds.PARTLY_WRITTEN,
            ("    const float2 point", "    if (distance >= n) return;\n    const float2 point"),
        ),
        mutant(
            "fast sines",
            kinds.MEANS_MISSING,
            (
                "sincospif(-(float)(square % (2 * n)) / n, &w.y, &w.x)",
                "__sincosf(-3.14159265f * (square % (2 * n)) / n, &w.y, &w.x)",
            ),
        ),
    ),
)


def two_rows(Z: np.ndarray) -> np.ndarray:
    """The transforms of the real and of the imaginary parts of what Z is the transform of."""
    z = np.fft.ifft(Z)
    return np.fft.fft(np.stack((z.real, z.imag)))


def any_row(rng: np.random.Generator) -> tuple[np.ndarray]:
    """A row of any length, also of one point, and also odd."""
    return (complex_row(int(rng.integers(1 << 30)), int(rng.integers(1, 80))),)


def long_rows() -> list[tuple[np.ndarray]]:
    """Longer ones, of large and of small numbers."""
    return [(size * complex_row(5, 4099),) for size in (1e100, 1e-100)]


TWO_ROWS = PythonExercise(
    id="06.two_rows",
    title="two real transforms for one",
    task=f"""
Two real rows a and b, taken for one complex row a + i b, cost one transform in place of two. Take
its result apart, for any n, and keep its precision, that of complex128: no further transform is
needed. {FINITE}
""",
    source="06_matmul_and_fft/exercises/two_rows.py",
    function="two_rows",
    cases=tuple((complex_row(n, n),) for n in (8, 5, 2, 1)),
    reference=two_rows,
    promises=Cases(any_row, large=long_rows),
    rtol=1e-11,  # complex128; also by way of transforms
    means="Two inverse and two forward transforms give the right answer, too, at a price.",
    hints=(
        "Z[n - k] for all k, where n - 0 is 0 again: `np.roll(Z[::-1], 1)`.",
        "Add the two equations, and B is gone; subtract them, and A is.",
        "`A = (Z + mirrored) / 2` and `B = (Z - mirrored) / 2j`.",
    ),
    explanation="""
A real row of 2 n points is done in the same way, as n complex ones: a are the points at even
places, b those at odd ones, and one more stage of radix 2 joins A and B. `fft_real` does both at
once, with the points in shared memory, since Z[k] and Z[n - k] belong to different threads.
""",
    mutants=(
        mutant(
            "not conjugated", kinds.WRONG, ("np.conj(np.roll(Z[::-1], 1))", "np.roll(Z[::-1], 1)")
        ),
        mutant("mirrored about the middle", kinds.WRONG, ("np.roll(Z[::-1], 1)", "Z[::-1]")),
        mutant("the other way round", kinds.WRONG, ("np.stack((A, B))", "np.stack((B, A))")),
        mutant("cut off", kinds.WRONG, ("    A = (Z", "    Z = Z.clip(-1e6, 1e6)\n    A = (Z")),
        mutant("i forgotten", kinds.WRONG, ("/ 2j", "/ 2")),
        mutant("half forgotten", kinds.WRONG, ("(Z + mirrored) / 2", "(Z + mirrored)")),
        mutant(
            "by way of complex64",
            kinds.PRECISION,
            ("(Z - mirrored) / 2j", "(Z - mirrored).astype(np.complex64) / 2j"),
        ),
    ),
)
