"""Random kernels in CUDA C++, and what they compute, worked out in NumPy with nothing of ours.

``kernel(seed)`` draws statements over variables of five types, some of them inside branches and
loops that part the lanes. Kernels are compiled as those of the course are, with ``-ftz=true``;
every f32 result of the reference is flushed likewise. Intrinsics with a rounding mode
(``__fadd_rn``) keep the compiler from contracting a product and a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

BLOCKS, THREADS = 2, 96
LANES = BLOCKS * THREADS
U32, I32, U64, F32, F64 = np.uint32, np.int32, np.uint64, np.float32, np.float64
TYPES = {
    "u": ("unsigned", U32),
    "i": ("int", I32),
    "l": ("unsigned long long", U64),
    "f": ("float", F32),
    "d": ("double", F64),
}
COUNT = 3  # variables of each type
NAMES = tuple(f"{letter}{n}" for letter in TYPES for n in range(COUNT))


def flush(x: np.ndarray) -> np.ndarray:
    tiny = np.abs(x) < np.finfo(F32).tiny
    return np.where(tiny, np.copysign(F32(0), x), x).astype(F32)


def _once(compute: Callable) -> Callable:
    """One f32 operation, rounded once from f64 (exact for +, -, *), flushed before and after."""

    def run(*sources):
        return flush(compute(*(flush(s).astype(F64) for s in sources)).astype(F32))

    return run


def _clamped(x: np.ndarray, low: int, high: int, dtype) -> np.ndarray:
    """Towards zero; NaN becomes 0; out of range, the nearest that there is."""
    x = np.trunc(np.where(np.isnan(x), 0, x.astype(F64)))
    return np.where(x >= high, high, np.where(x <= low, low, x)).astype(np.int64).astype(dtype)


def _bits(compute: Callable) -> Callable:
    """A function of the 32 bits of a word as a Python string, element by element."""
    return lambda x: np.array([compute(f"{int(v):032b}") for v in x], U32)


def _bytes(a, b, selector):
    eight = (b.astype(U64) << U64(32)) | a
    out = np.zeros(len(a), U32)
    for k in range(4):
        at = (selector >> U32(4 * k)).astype(U64) & U64(7)
        out |= ((eight >> (U64(8) * at)) & U64(255)).astype(U32) << U32(8 * k)
    return out


def _extreme(choose):
    def run(a, b):
        a, b = flush(a), flush(b)
        both = (a.view(U32) | b.view(U32)) if choose is np.fmin else (a.view(U32) & b.view(U32))
        return np.where((a == 0) & (b == 0), both.view(F32), choose(a, b))

    return run


def _wide(x):
    return x.astype(U64)


# (type of the result, types of the sources, CUDA C++, NumPy)
OPERATIONS = [
    ("u", "uu", "{0} + {1}", np.add),
    ("u", "uu", "{0} - {1}", np.subtract),
    ("u", "uu", "{0} * {1}", np.multiply),
    ("u", "uuu", "{0} * {1} + {2}", lambda a, b, c: a * b + c),
    ("u", "uu", "{0} / ({1} | 1)", lambda a, b: a // (b | U32(1))),
    ("u", "uu", "{0} % ({1} | 1)", lambda a, b: a % (b | U32(1))),
    ("u", "uuu", "({0} & {1}) ^ ({2} | ~{0})", lambda a, b, c: (a & b) ^ (c | ~a)),
    ("u", "uu", "{0} << ({1} & 31)", lambda a, b: a << (b & U32(31))),
    ("u", "uu", "{0} >> ({1} & 31)", lambda a, b: a >> (b & U32(31))),
    ("u", "uu", "__umulhi({0}, {1})", lambda a, b: (_wide(a) * _wide(b) >> U64(32)).astype(U32)),
    (
        "u",
        "uuu",
        "__funnelshift_l({0}, {1}, {2})",
        lambda a, b, c: (((_wide(b) << U64(32)) | a) << _wide(c & U32(31)) >> U64(32)).astype(U32),
    ),
    (
        "u",
        "uuu",
        "__byte_perm({0}, {1}, {2} & 0x7777)",
        lambda a, b, c: _bytes(a, b, c & U32(0x7777)),
    ),
    ("u", "u", "__popc({0})", _bits(lambda s: s.count("1"))),
    ("u", "u", "__clz({0})", _bits(lambda s: len(s) - len(s.lstrip("0")))),
    ("u", "u", "__ffs({0})", _bits(lambda s: s[::-1].find("1") + 1)),
    ("u", "u", "__brev({0})", _bits(lambda s: int(s[::-1], 2))),
    ("u", "uu", "min({0}, {1})", np.minimum),
    ("u", "uu", "max({0}, {1})", np.maximum),
    ("u", "uuii", "{2} < {3} ? {0} : {1}", lambda a, b, c, d: np.where(c < d, a, b)),
    (
        "u",
        "ff",
        "({0} <= {1}) + 2 * ({0} != {1})",
        lambda a, b: (flush(a) <= flush(b)).astype(U32) + U32(2) * (flush(a) != flush(b)),
    ),
    (
        "u",
        "f",
        "{0} == {0} ? __float_as_uint({0}) : 7u",
        lambda a: np.where(np.isnan(a), U32(7), a.view(U32)),
    ),
    ("u", "f", "__float2uint_rz({0})", lambda a: _clamped(flush(a), 0, 2**32 - 1, U32)),
    ("u", "l", "(unsigned)({0} >> 13)", lambda a: (a >> U64(13)).astype(U32)),
    ("i", "i", "-{0}", np.negative),
    ("i", "i", "abs({0})", np.abs),
    ("i", "ii", "(int)((unsigned){0} * (unsigned){1})", np.multiply),
    ("i", "iu", "{0} >> ({1} & 31)", lambda a, b: a >> (b & U32(31)).astype(I32)),
    ("i", "ii", "{0} / ({1} & 1023 | 1)", lambda a, b: _quotient(a, b & I32(1023) | I32(1))),
    (
        "i",
        "ii",
        "{0} % ({1} & 1023 | 1)",
        lambda a, b: a - _quotient(a, b & I32(1023) | I32(1)) * (b & I32(1023) | I32(1)),
    ),
    ("i", "ii", "min({0}, {1})", np.minimum),
    (
        "i",
        "ii",
        "__mulhi({0}, {1})",
        lambda a, b: (a.astype(np.int64) * b.astype(np.int64) >> 32).astype(I32),
    ),
    ("i", "f", "__float2int_rz({0})", lambda a: _clamped(flush(a), -(2**31), 2**31 - 1, I32)),
    (
        "i",
        "d",
        "__double2int_rz({0})",  # of NaN, what a GPU makes of it
        lambda a: _clamped(np.where(np.isnan(a), -np.inf, a), -(2**31), 2**31 - 1, I32),
    ),
    ("i", "u", "(int)(signed char){0}", lambda a: a.astype(np.int8).astype(I32)),
    ("i", "u", "(int)(short){0}", lambda a: a.astype(np.int16).astype(I32)),
    ("l", "ll", "{0} + {1}", np.add),
    ("l", "ll", "{0} * {1}", np.multiply),
    ("l", "ll", "{0} ^ ({1} >> 7)", lambda a, b: a ^ (b >> U64(7))),
    ("l", "uu", "(unsigned long long){0} * {1}", lambda a, b: _wide(a) * _wide(b)),
    (
        "l",
        "li",
        "{0} - (unsigned long long)(long long){1}",
        lambda a, b: a - b.astype(np.int64).view(U64),
    ),
    ("l", "ll", "{0} / ({1} | 1)", lambda a, b: a // (b | U64(1))),
    ("f", "ff", "__fadd_rn({0}, {1})", _once(np.add)),
    ("f", "ff", "__fsub_rn({0}, {1})", _once(np.subtract)),
    ("f", "ff", "__fmul_rn({0}, {1})", _once(np.multiply)),
    ("f", "ff", "__fdiv_rn({0}, {1})", _once(np.divide)),
    ("f", "f", "__fsqrt_rn(fabsf({0}))", _once(lambda a: np.sqrt(np.abs(a)))),
    ("f", "f", "floorf({0})", lambda a: np.floor(flush(a))),
    ("f", "f", "rintf({0})", lambda a: np.rint(flush(a))),
    ("f", "ff", "fminf({0}, {1})", _extreme(np.fmin)),
    ("f", "ff", "fmaxf({0}, {1})", _extreme(np.fmax)),
    ("f", "i", "__int2float_rn({0})", lambda a: a.astype(F32)),
    ("f", "u", "__uint2float_rn({0})", lambda a: a.astype(F32)),
    ("f", "d", "__double2float_rn({0})", lambda a: flush(a.astype(F32))),
    ("f", "ff", "{0} > {1} ? {0} : -{1}", lambda a, b: np.where(flush(a) > flush(b), a, -b)),
    ("d", "dd", "__dadd_rn({0}, {1})", np.add),
    ("d", "dd", "__dmul_rn({0}, {1})", np.multiply),
    ("d", "dd", "__ddiv_rn({0}, {1})", np.divide),
    ("d", "d", "__dsqrt_rn(fabs({0}))", lambda a: np.sqrt(np.abs(a))),
    ("d", "f", "(double){0}", lambda a: flush(a).astype(F64)),
    ("d", "i", "(double){0}", lambda a: a.astype(F64)),
    ("d", "l", "(double){0}", lambda a: a.astype(F64)),
]


def _quotient(a, b):
    """Towards zero, as C++ divides."""
    wide = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
    return (wide * np.where((a < 0) != (b < 0), -1, 1)).astype(I32)


@dataclass
class Assign:
    operation: tuple
    result: str
    sources: list[str]

    def lines(self, indent: str):
        yield f"{indent}{self.result} = {self.operation[2].format(*self.sources)};"

    def apply(self, state, mask):
        value = self.operation[3](*(state[name] for name in self.sources))
        state[self.result] = np.where(mask, value, state[self.result]).astype(
            state[self.result].dtype
        )


@dataclass
class Branch:
    """``condition`` is a variable and a bit of it."""

    condition: tuple[str, int]
    body: list
    other: list

    def lines(self, indent: str):
        name, bit = self.condition
        yield f"{indent}if ({name} & {1 << bit}) {{"
        for node in self.body:
            yield from node.lines(indent + "  ")
        yield f"{indent}}} else {{"
        for node in self.other:
            yield from node.lines(indent + "  ")
        yield f"{indent}}}"

    def apply(self, state, mask):
        name, bit = self.condition
        taken = (state[name] >> U32(bit) & U32(1)) != 0
        for node in self.body:
            node.apply(state, mask & taken)
        for node in self.other:
            node.apply(state, mask & ~taken)


@dataclass
class Repeat:
    """As often as the low three bits of a variable say."""

    name: str
    body: list

    def lines(self, indent: str):
        yield f"{indent}for (unsigned k = 0, end = {self.name} & 7; k < end; ++k) {{"
        for node in self.body:
            yield from node.lines(indent + "  ")
        yield f"{indent}}}"

    def apply(self, state, mask):
        end = state[self.name] & U32(7)
        for turn in range(7):
            for node in self.body:
                node.apply(state, mask & (end > turn))


@dataclass
class Swap:
    """A shuffle of the warp; ``by`` is an int and reaches any lane."""

    result: str
    source: str
    by: str

    def lines(self, indent: str):
        yield f"{indent}{self.result} = __shfl_sync(~0u, {self.source}, {self.by} & 31);"

    def apply(self, state, mask):
        lane = np.arange(LANES)
        state[self.result] = state[self.source][(lane & ~31) + (state[self.by] & 31)]


@dataclass
class Kernel:
    """``inputs``: for each variable its values at the start, length ``LANES``."""

    seed: int
    body: list
    inputs: dict[str, np.ndarray]
    statements: int

    @property
    def source(self) -> str:
        declared, stored = [], []
        for n, name in enumerate(NAMES):
            kind, dtype = TYPES[name[0]]
            at = f"[{n * LANES} + t]"
            declared.append(f"  {kind} {name} = *({kind}*)&in{at};")
            stored.append(f"  *({kind}*)&out{at} = {name};")
        body = [line for node in self.body for line in node.lines("  ")]
        return "\n".join(
            [
                'extern "C" __global__ void run(unsigned long long *in, unsigned long long *out) {',
                "  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;",
                *declared,
                *body,
                *stored,
                "}",
                "",
            ]
        )

    @property
    def words(self) -> np.ndarray:
        """The inputs as the kernel reads them; uint64, (variables, lanes)."""
        return np.stack([_word(self.inputs[name]) for name in NAMES])

    def expected(self) -> dict[str, np.ndarray]:
        state = {name: value.copy() for name, value in self.inputs.items()}
        with np.errstate(all="ignore"):
            for node in self.body:
                node.apply(state, np.ones(LANES, bool))
        return state

    @staticmethod
    def values(words: np.ndarray) -> dict[str, np.ndarray]:
        """The kernel's second argument by variable."""
        return {
            name: row.astype(f"u{TYPES[name[0]][1]().itemsize}").view(TYPES[name[0]][1])
            for name, row in zip(NAMES, words, strict=True)
        }


def _word(value: np.ndarray) -> np.ndarray:
    return value.view(f"u{value.itemsize}").astype(U64)


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Elements with the same bits, or both NaN."""
    equal = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    return equal | ((a != a) & (b != b))


def _inputs(rng: np.random.Generator) -> dict[str, np.ndarray]:
    found = {}
    for name in NAMES:
        dtype = TYPES[name[0]][1]
        if name[0] in "fd":
            value = rng.standard_normal(LANES) * 2.0 ** rng.integers(-8, 9, LANES)
            value[::7] = rng.choice(
                [0.0, -0.0, 1.0, np.inf, 2.0**31, 3e38, 1.5e-38], len(value[::7])
            )
        else:
            value = rng.integers(0, 2**63, LANES, dtype=U64) >> U64(rng.integers(0, 50))
            value[::5] = rng.choice(np.array([0, 1, 31, 2**31, 2**32 - 1], U64), len(value[::5]))
        found[name] = value.astype(U32).view(I32) if name[0] == "i" else value.astype(dtype)
    return found


def kernel(seed: int, size: int = 14) -> Kernel:
    """A kernel of ``size`` statements, the same for the same seed."""
    rng = np.random.default_rng(seed + 1_000_000)
    statements = 0

    def name(letter: str) -> str:
        return f"{letter}{rng.integers(COUNT)}"

    def assign() -> Assign:
        operation = OPERATIONS[rng.integers(len(OPERATIONS))]
        return Assign(operation, name(operation[0]), [name(letter) for letter in operation[1]])

    def block(depth: int) -> list:
        return [node(depth, False) for _ in range(rng.integers(1, 4))]

    def node(depth: int, together: bool):
        nonlocal statements
        statements += 1
        kind = rng.random()
        if depth and kind < 0.15:
            return Branch((name("u"), int(rng.integers(3))), block(depth - 1), block(depth - 1))
        if depth and kind < 0.25:
            return Repeat(name("u"), block(depth - 1))
        if together and kind < 0.33:
            letter = str(rng.choice(list("uf")))
            return Swap(name(letter), name(letter), name("i"))
        return assign()

    body = []
    inputs = _inputs(rng)
    while statements < size:
        body.append(node(2, True))
    return Kernel(seed, body, inputs, statements)
