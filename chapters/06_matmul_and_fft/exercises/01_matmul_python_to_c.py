"""The exercises of "Matrix product: from Python to C"."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from course_utils.exercises import Cases, HostExercise, PythonExercise, kinds, mutant

WORK_AND_BYTES = PythonExercise(
    id="06.work_and_bytes",
    title="work, bytes and their ratio",
    task="""
Write down what a product costs: its FLOPs, the least bytes in fp32, and the FLOPs for each byte.
""",
    source="06_matmul_and_fft/exercises/work_and_bytes.py",
    function="work_and_bytes",
    cases=((2, 2, 2), (1000, 1000, 1000), (1, 512, 4096), (7, 5, 3)),
    reference=lambda M, N, K: (
        2 * M * N * K,
        4 * (M * K + K * N + M * N),
        2 * M * N * K / (4 * (M * K + K * N + M * N)),
    ),
    promises=Cases(lambda rng: tuple(int(n) for n in 10 ** rng.uniform(0, 8, 3))),
    means="Any formula that is right is a good one.",
    hints=(
        "C has M N elements, and each of them is a sum of K products.",
        "A multiply-add is two FLOPs, a number in fp32 is four bytes.",
        "A has M K elements, B has K N and C has M N: each is moved once.",
        "`flops = 2 * M * N * K`, `least = 4 * (M * K + K * N + M * N)`.",
    ),
    explanation="""
For square matrices it is 2 n³ FLOPs over 12 n² bytes: n / 6 FLOPs for each byte. The larger the
matrices, the more often each number is used. With M = 1, a row times a matrix, it is about a half,
whatever the size: each number of B is used once.
""",
    mutants=(
        mutant("one FLOP for a multiply-add", kinds.WRONG, ("flops = 2 * ", "flops = ")),
        mutant("C forgotten", kinds.WRONG, (" + M * N)", ")")),
        mutant("numbers, not bytes", kinds.WRONG, ("least = 4 * ", "least = ")),
        mutant("square matrices only", kinds.WRONG, ("2 * M * N * K", "2 * M**3")),
        mutant("whole FLOPs a byte", kinds.WRONG, ("flops / least", "flops // least")),
        mutant("nothing returned", kinds.NOTHING_RETURNED, ("return flops", "flops")),
    ),
)


def lines_of_b(order: str, K: int, N: int, line: int) -> int:
    """Fetches of B's lines for one row of C, by walking through the reads."""
    held, fetched = None, 0
    pairs = np.ndindex(N, K) if order == "jk" else np.ndindex(K, N)
    for outer, inner in pairs:
        k, j = (inner, outer) if order == "jk" else (outer, inner)
        fetched += (k * N + j) // line != held
        held = (k * N + j) // line
    return fetched


def reads_of_b(rng: np.random.Generator) -> tuple[str, int, int, int]:
    """An order, and a B with whole lines in each row."""
    K, line = int(rng.choice([1, 2, rng.integers(3, 60)])), int(rng.choice([1, 2, 8, 16, 32]))
    return str(rng.choice(["jk", "kj"])), K, line * int(rng.integers(1, 8)), line


LINES_OF_B = PythonExercise(
    id="06.lines_of_b",
    title="predict the cache lines",
    task="""
How many lines of B are fetched for one row of C, in both orders of the loops? Predict it for a B of
8 × 32 and lines of 16, then write the function.
""",
    source="06_matmul_and_fft/exercises/lines_of_b.py",
    function="lines_of_b",
    cases=(
        ("kj", 8, 32, 16),
        ("kj", 8, 32, 8),
        ("jk", 8, 32, 16),
        ("kj", 5, 48, 16),
        ("jk", 5, 48, 16),
        ("jk", 1, 32, 16),
        ("kj", 3, 8, 8),
        ("jk", 2, 4, 1),
        ("kj", 1, 16, 16),
        ("kj", 50, 224, 32),
        ("jk", 50, 224, 32),
    ),
    reference=lines_of_b,
    promises=Cases(reads_of_b, large=lambda: [("jk", 2, 9216, 16), ("kj", 9001, 16, 8)]),
    means="A formula is as good as a loop that counts.",
    hints=(
        'Draw a B of 2 rows and 4 columns with lines of 2, and number the reads: first for "kj", '
        'then for "jk".',
        "Element (k, j) is in line (k * N + j) // line.",
        '"kj" reads B from its first element to its last: K * N / line fetches.',
        '"jk" steps to another row with each read, so each read is in another line: K * N fetches, '
        "unless B has only one row.",
    ),
    explanation="""
Along the rows a fetched line serves `line` reads; down the columns it serves one. In a real cache
many lines stay for a while. But once a column of B touches more lines than the cache holds, the
first is evicted before the next column comes, and the count is the same as here.
""",
    mutants=(
        mutant(
            "few columns",
            kinds.WRONG,
            ("    outer, inner", "    N = min(N, 4096)\n    outer, inner"),
        ),
        mutant("orders mixed up", kinds.WRONG, ('if order == "jk" else (x, y)', "")),
        mutant(
            "every read fetches",
            kinds.WRONG,
            ("fetched += wanted != held", "fetched += 1"),
        ),
        mutant("rows for lines", kinds.WRONG, ("(k * N + j) // line", "(k * N + j) // N")),
        mutant("K for N", kinds.WRONG, ("(k * N + j) // line", "(k * K + j) // line")),
        mutant(
            "first fetch missed", kinds.WRONG, ("fetched, held = 0, None", "fetched, held = 0, 0")
        ),
        mutant("never remembers", kinds.WRONG, ("held = wanted", "held = None")),
    ),
)


def shape(rng: np.random.Generator, of_m: int = 1, of_n: int = 1) -> str:
    """M N K for the main function: one of them may be large. M and N are multiples."""
    m, n, k = rng.integers(1, 48, 3)
    large = rng.integers(6)
    if large < 3:
        m, n, k = np.where(np.arange(3) == large, rng.integers(130, 1100), (m, n, k))
    return f"{-(-m // of_m) * of_m} {-(-n // of_n) * of_n} {k}"


def runs(limit: str, *shapes: str) -> tuple[str, ...]:
    """Cases for the main function, each with a number that only it and the checker know."""
    return tuple(f"{limit} {mnk} {crc32(f'{limit} {mnk}'.encode()) % 10000}" for mnk in shapes)


def is_right(limit: str):
    """What the main function of a C exercise prints for a right product."""
    return lambda case: f"C is right\n{limit}: within the limit in run {case.split()[-1]}\n"


# M N K; the last C has more elements than 16 bits can count.
LARGEST = "1100 2 3", "2 1100 3", "3 2 1100", "1 1100 1100", "257 259 2"


LOOP_ORDER = HostExercise(
    id="06.loop_order",
    title="interchange the loops",
    task="""
Your first function in C. It gives the right C already, and reads B down its columns. Change the
order of the loops. In your order a sum is not finished in one go, so it has to wait in C. (K may be
0, a number infinite, and a side is at most 1100.)
""",
    source="06_matmul_and_fft/exercises/loop_order.c",
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=runs(
        "lines", "3 37 7", "5 48 9", "2 16 1", "1 1 1", "2 3 0", "5 9 6", "4 17 5", *LARGEST
    ),
    reference=is_right("lines"),
    promises=Cases(lambda rng: runs("lines", shape(rng))[0]),
    hints=(
        "j must be the innermost loop: j is the index that moves along a row of B.",
        "With j inside k, all sums of a row of C are unfinished at once. Which array has room for "
        "them?",
        "Set row i of C to 0.0f first, in a loop of its own over j; then for each k add one "
        "product to each element of that row.",
        "`for k`, and inside it `for j`: `C[i * N + j] += read_a(i, k) * read_b(k, j);`",
    ),
    explanation="""
The same products are added in the same order, so even the rounding stays the same. Only the order
of the *reads* has changed: 16 neighbours in a line now come one after the other.
""",
    mutants=(
        mutant(
            "still down the columns",
            kinds.WRONG_OUTPUT,
            (
                "for (int k = 0; k < K; ++k) {\n            for (int j = 0; j < N; ++j) {",
                "for (int j = 0; j < N; ++j) {\n            for (int k = 0; k < K; ++k) {",
            ),
        ),
        mutant("C never set to zero", kinds.WRONG_OUTPUT, ("C[i * N + j] = 0.0f;", "")),
        mutant("whole products", kinds.WRONG_OUTPUT, ("+= read_a", "+= (int)read_a")),
        mutant("last product only", kinds.WRONG_OUTPUT, ("+= read_a", "= read_a")),
        mutant("one too many", kinds.WRONG_OUTPUT, ("k < K", "k <= K")),
        mutant("B transposed", kinds.WRONG_OUTPUT, ("* read_b(k, j)", "* read_b(j, k)")),
        mutant(
            "an index of 16 bits",
            kinds.WRONG_OUTPUT,
            ("C[i * N + j] +=", "C[(unsigned short)(i * N + j)] +="),
        ),
        mutant("rows of C overlap", kinds.WRONG_OUTPUT, ("C[i * N + j] +=", "C[i * K % M + j] +=")),
        mutant(
            "B in a buffer of a megabyte",
            kinds.OUT_OF_BOUNDS,
            ("void product(", "static float b[1 << 18];\n\nvoid product("),
            ("read_a(i, k) * read_b(k, j);", "read_a(i, k) * (b[k * N + j] = read_b(k, j));"),
        ),
        mutant(
            "all of B copied, and columns of the copy",
            kinds.WRONG_OUTPUT,
            ("void product(", "static float b[1100 * 1100];\n\nvoid product("),
            (
                "    for (int i = 0; i < M; ++i) {\n",
                "    for (int e = 0; e < K * N; ++e) b[e] = read_b(e / N, e % N);\n"
                "    for (int i = 0; i < M; ++i) {\n",
            ),
            ("for (int k = 0; k < K; ++k)", "for (int j = 0; j < N; ++j)"),
            (
                "for (int j = 0; j < N; ++j) {\n                C[i * N + j] +=",
                "for (int k = 0; k < K; ++k) {\n                C[i * N + j] +=",
            ),
            ("read_b(k, j);", "b[k * N + j];"),
        ),
        mutant("no semicolon", kinds.COMPILE_ERROR, ("read_b(k, j);", "read_b(k, j)")),
    ),
)


BLOCKS = HostExercise(
    id="06.blocks",
    title="blocks, and where they end",
    task="""
The loops over the blocks of B are there. Write what happens with one block: every row of A meets it
before the next block is read. The sides of B need not be multiples of 8 and 16, so find out first
where the block ends. (K may be 0, a number infinite, and a side is at most 1100.)
""",
    source="06_matmul_and_fft/exercises/blocks.c",
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=runs(
        "blocks",
        *("5 37 19", "3 16 8", "2 1 9", "1 17 1", "1 1 1", "2 3 0", "5 9 6", "4 17 5"),
        *LARGEST,
    ),
    reference=is_right("blocks"),
    promises=Cases(lambda rng: runs("blocks", shape(rng))[0]),
    hints=(
        "A block begins at first_k and ends BK later, or at K if that comes first.",
        "`smaller(first_k + BK, K)` is the first k that no longer belongs to the block.",
        "The loops inside are those of the exercise before: i over all rows, then k, then j, from "
        "the block's first to its end.",
        "`C[i * N + j] += read_a(i, k) * read_b(k, j);`: each block adds its share to the sums.",
    ),
    explanation="""
Each element of C gets its products in K / BK portions, one from each block above the other, so +=
is needed and C begins with zeros. The indices are those of the whole matrices; only the limits of
the loops are the block's.
""",
    mutants=(
        mutant(
            "rows beyond the end", kinds.WRONG_OUTPUT, ("smaller(first_k + BK, K)", "first_k + BK")
        ),
        mutant(
            "columns beyond the end",
            kinds.WRONG_OUTPUT,
            ("smaller(first_j + BN, N)", "first_j + BN"),
        ),
        mutant("to the end of B each time", kinds.WRONG_OUTPUT, ("smaller(first_k + BK, K)", "K")),
        mutant("portions not added", kinds.WRONG_OUTPUT, ("+= read_a", "= read_a")),
        mutant("k counts from 0", kinds.WRONG_OUTPUT, ("int k = first_k", "int k = 0")),
        mutant(
            "a whole block of products, with zeros for B",
            kinds.WRONG_OUTPUT,
            ("k < end_k; ++k", "k < first_k + BK; ++k"),
            (
                "read_a(i, k) * read_b(k, j)",
                "read_a(i, smaller(k, K - 1)) * (k < K ? read_b(k, j) : 0.0f)",
            ),
        ),
        mutant("last column missed", kinds.WRONG_OUTPUT, ("j < end_j", "j < end_j - 1")),
        mutant("always the first row", kinds.WRONG_OUTPUT, ("read_a(i, k) *", "read_a(0, k) *")),
        mutant(
            "all of B for each row of A",
            kinds.WRONG_OUTPUT,
            (
                "const int end_k = smaller(first_k + BK, K);",
                "if (first_k + first_j > 0) continue;\n            const int end_k = K;",
            ),
            ("smaller(first_j + BN, N)", "N"),
        ),
        mutant(
            "C outside of the block",
            kinds.OUT_OF_BOUNDS,
            ("C[i * N + j] +=", "C[i * N + j + M * first_k] +="),
        ),
    ),
)


REGISTER_TILE = HostExercise(
    id="06.register_tile",
    title="a tile that stays in registers",
    task="""
Write the heart of every fast matrix product: for each k, 8 numbers of B and 4 of A make 32
products. The checker counts your reads: 12 for each k of a tile, no more. (A side is at most 1100.)
""",
    source="06_matmul_and_fft/exercises/register_tile.c",
    driver="06_matmul_and_fft/exercises/watched_product.c",
    cases=runs(
        "reads", "8 24 5", "4 8 1", "12 8 33", "4 8 0", "1100 8 3", "4 1096 2", "4 1096 1100"
    ),
    reference=is_right("reads"),
    promises=Cases(lambda rng: runs("reads", shape(rng, 4, 8))[0]),
    hints=(
        "The loop over k is the outermost of the three. Inside it there are loops over j and i.",
        "`float b[NR];` is an array of 8 floats. Fill it in a loop before anything is multiplied.",
        "Then a loop over i: read one number of A into a variable, and in a loop over j add "
        "`a * b[j]` to `sum[i][j]`.",
        "The tile's element (i, j) is element (first_i + i, first_j + j) of the matrices.",
        "Store with a double loop: `C[(first_i + i) * N + first_j + j] = sum[i][j];`",
    ),
    explanation="""
12 reads feed 32 multiply-adds. The plain loops need 64 reads for them, and the order ikj also loads
and stores C each time. The array `sum` never goes to memory once the loops over i and j are
unrolled: a compiler keeps its 32 numbers in registers.
""",
    mutants=(
        mutant(
            "B read for each product",
            kinds.WRONG_OUTPUT,
            ("a * b[j]", "a * read_b(k, first_j + j)"),
        ),
        mutant(
            "A read for each product",
            kinds.WRONG_OUTPUT,
            ("sum[i][j] += a * b[j]", "sum[i][j] += a * 0 + read_a(first_i + i, k) * b[j]"),
        ),
        mutant("only the last product", kinds.WRONG_OUTPUT, ("sum[i][j] += a", "sum[i][j] = a")),
        mutant(
            "a panel of 1024 columns",
            kinds.OUT_OF_BOUNDS,
            ("void product(", "static float panel[1024];\n\nvoid product("),
            ("a * b[j]", "a * (panel[first_j + j] = b[j])"),
        ),
        mutant("always the first rows", kinds.WRONG_OUTPUT, ("read_a(first_i + i", "read_a(i")),
        mutant(
            "always the first columns", kinds.WRONG_OUTPUT, ("read_b(k, first_j + j", "read_b(k, j")
        ),
        mutant(
            "tile stored at the corner",
            kinds.WRONG_OUTPUT,
            ("C[(first_i + i) * N + first_j + j] =", "C[i * N + j] ="),
        ),
        mutant(
            "sums past the tile",
            kinds.OUT_OF_BOUNDS,
            ("sum[i][j] += a * b[j]", "sum[i + first_i][j] += a * b[j]"),
        ),
    ),
)
