"""Random PTX programs, and what they compute by a second way that shares only the table of values.

``program(seed)`` draws registers full of corner cases and a body of instructions over them: any
form that computes a value, guarded or not, inside branches and loops that part the lanes, with
shuffles, votes, local and shared memory in between. ``Program.text`` is PTX that ptxas takes for
sm_90. ``Program.expected()`` walks the same body as a tree, for all lanes at once under a mask:
no parser, no registers that die, no groups of lanes that part and meet.

A NaN becomes one fixed NaN after each f32 or f64 instruction, because devices differ in its other
bits. Approximations are taken of whatever is in a register and feed nothing else. What NVIDIA's
assembler translates otherwise than the manual says is drawn by no program: see ``departures.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import departures
import numpy as np
from instruction_forms import CLOSE, EXACT, operands

from course_utils.emulator.instructions import DTYPES, TABLE
from course_utils.emulator.launching.emulated_module import fpenv

BLOCKS, THREADS = 2, 128
LANES = BLOCKS * THREADS
COUNTS = {"h": 6, "w": 8, "l": 6, "p": 4}  # registers of 16, 32 and 64 bits, predicates
UNSIGNED = {"h": np.uint16, "w": np.uint32, "l": np.uint64, "p": np.bool_}
NAMES = tuple(f"{c}{n}" for c, count in COUNTS.items() for n in range(count))
CLASS = {1: "h", 2: "h", 4: "w", 8: "l"}
# sm_90 does not have these; fns is undefined for one operand.
LEFT_OUT = re.compile(
    r"cvt\.sat\.(u32\.u32|s32\.s32)|cvt.*bf16\.[us]8|cvt.*\.[us]8\.bf16|cvt.*sat\.f(32|64)\.bf16"
    r"|cvt\.r[nz].*satfinite\.tf32|fns"
)
FORMS = [form for form in dict.fromkeys(EXACT) if not LEFT_OUT.search(form)]
FLUSHING = [form for form in FORMS if fpenv.suits([form, "add.ftz.f32"])]
SHUFFLES = {
    "up": (0x0000, 0x1800),
    "down": (0x1F, 0x181F),
    "bfly": (0x1F, 0x100F),
    "idx": (0x1F, 0x181F, 0x0F),
}
REDUCTIONS = {
    "add.u32": np.add,
    "min.u32": np.minimum,
    "max.u32": np.maximum,
    "min.s32": np.minimum,
    "max.s32": np.maximum,
    "and.b32": np.bitwise_and,
    "or.b32": np.bitwise_or,
    "xor.b32": np.bitwise_xor,
}


def op_of(form: str):
    opcode, *modifiers = form.split(".")
    return TABLE[opcode](tuple(modifiers))


def register_class(kind: str) -> str:
    return "p" if kind == "pred" else CLASS[DTYPES[kind].itemsize]


class State:
    """Registers of all lanes, each an unsigned (or bool) array of ``LANES`` elements."""

    def __init__(self, initial: dict[str, np.ndarray]):
        self.registers = {name: value.copy() for name, value in initial.items()}
        self.carry = np.zeros(LANES, bool)
        self.close: list[np.ndarray] = []

    def read(self, name: str, kind: str) -> np.ndarray:
        value = self.registers[name]
        if kind == "pred":
            return value
        return value.astype(f"u{DTYPES[kind].itemsize}").view(DTYPES[kind])

    def write(self, name: str, value: np.ndarray, mask: np.ndarray) -> None:
        target = self.registers[name]
        value = np.broadcast_to(value, LANES)
        bits = value if value.dtype == bool else value.view(f"u{value.itemsize}")
        target[mask] = bits.astype(target.dtype)[mask]


# -- what a body is made of ------------------------------------------------------------------------


@dataclass
class Compute:
    """One instruction of the table; ``guard`` is "", "@p1" or "@!p1"."""

    form: str
    sources: list[str]
    results: list[str]
    guard: str = ""

    def emit(self) -> Iterator[str]:
        op = op_of(self.form)
        yield f"{self.guard} {self.form} {'|'.join(self.results)}, {', '.join(self.sources)};"
        for name, kind in zip(self.results, op.dst, strict=False):
            if kind in ("f32", "tf32", "f64"):
                wide = "f64" if kind == "f64" else "f32"
                quiet = "0x7ff8000000000000" if kind == "f64" else "0x7fc00000"
                yield f"testp.notanumber.{wide} q, {name};"
                yield f"selp.b{DTYPES[kind].itemsize * 8} {name}, {quiet}, {name}, q;"
            elif self.form.endswith(("f16.f64", "bf16.f64")):
                yield f"setp.nan.{kind} q, {name}, {name}; selp.b16 {name}, 0x7fff, {name}, q;"
            elif DTYPES[kind].itemsize == 1 and kind != "pred":
                yield f"and.b16 {name}, {name}, 255;"
            elif departures.leaves_upper_half(self.form):
                one = {"bf16": "0x3f80", "f16": "0x3c00"}.get(kind, "0xffff")
                yield f"setp.ne.b16 q, {name}, 0; selp.b16 {name}, {one}, 0, q;"

    def apply(self, state: State, mask: np.ndarray) -> None:
        op, everyone = op_of(self.form), mask
        if self.guard:
            flag = state.registers[self.guard.lstrip("@!")]
            mask = mask & (~flag if "!" in self.guard else flag)
        given = [
            state.read(name, kind) if name[0] in COUNTS else np.array([int(name, 0)], DTYPES[kind])
            for name, kind in zip(self.sources, op.src, strict=True)
        ]
        found = op.compute(*given, *([state.carry] if op.carry_in else []))
        found = list(found) if isinstance(found, tuple) else [found]
        if op.carry_out:
            state.carry = np.where(mask, found.pop(), state.carry)
        for name, value, kind in zip(self.results, found, op.dst, strict=False):
            state.write(name, value, mask)
            if kind in ("f32", "tf32", "f64"):
                number = state.read(name, "f64" if kind == "f64" else "f32")
                quiet = np.full(LANES, np.nan, number.dtype)
                state.write(name, quiet, everyone & np.isnan(number))
            elif self.form.endswith(("f16.f64", "bf16.f64")):
                infinity = 0x7F80 if kind == "bf16" else 0x7C00
                nan = (state.registers[name] & 0x7FFF) > infinity
                state.write(name, np.full(LANES, 0x7FFF, np.uint16), everyone & nan)
            elif DTYPES[kind].itemsize == 1 and kind != "pred":
                state.write(name, state.registers[name] & np.uint16(255), everyone)


@dataclass
class Close:
    """An approximation of a register, kept as it is in result ``number``."""

    form: str
    source: str
    second: str | None
    number: int

    def emit(self) -> Iterator[str]:
        size = DTYPES[op_of(self.form).dst[0]].itemsize
        sources = ", ".join(filter(None, (self.source, self.second)))
        yield f"{self.form} {CLASS[size]}t, {sources};"
        yield f"st.global.b{8 * size} [c+{8 * LANES * self.number}], {CLASS[size]}t;"

    def apply(self, state: State, mask: np.ndarray) -> None:
        op = op_of(self.form)
        names = [self.source, self.second][: len(op.src)]
        given = [state.read(name, kind) for name, kind in zip(names, op.src, strict=True)]
        state.close.append(np.broadcast_to(op.compute(*given), LANES).copy())


@dataclass
class If:
    """Lanes where a predicate holds go one way, the others the other."""

    predicate: str
    body: list
    other: list
    label: str

    def emit(self) -> Iterator[str]:
        yield f"@!{self.predicate} bra {self.label}E;"
        for node in self.body:
            yield from node.emit()
        yield f"bra {self.label}X;"
        yield f"{self.label}E:"
        for node in self.other:
            yield from node.emit()
        yield f"{self.label}X:"

    def apply(self, state: State, mask: np.ndarray) -> None:
        taken = state.registers[self.predicate].copy()
        for node in self.body:
            node.apply(state, mask & taken)
        for node in self.other:
            node.apply(state, mask & ~taken)


@dataclass
class Loop:
    """A body that each lane runs 0 to 3 times, as the low bits of a register say."""

    register: str
    body: list
    label: str

    def emit(self) -> Iterator[str]:
        counter = f"n{self.label}"
        yield f".reg .b32 {counter}; and.b32 {counter}, {self.register}, 3;"
        yield f"{self.label}L: setp.eq.u32 q, {counter}, 0; @q bra {self.label}X;"
        for node in self.body:
            yield from node.emit()
        yield f"sub.u32 {counter}, {counter}, 1; bra {self.label}L;"
        yield f"{self.label}X:"

    def apply(self, state: State, mask: np.ndarray) -> None:
        left = state.registers[self.register] & np.uint32(3)
        for turn in range(3):
            for node in self.body:
                node.apply(state, mask & (left > turn))


@dataclass
class Shuffle:
    mode: str
    control: int
    source: str
    distance: str
    result: str
    inside: str

    def emit(self) -> Iterator[str]:
        yield (
            f"shfl.sync.{self.mode}.b32 {self.result}|{self.inside}, {self.source}, "
            f"{self.distance}, {self.control:#x}, 0xffffffff;"
        )

    def apply(self, state: State, mask: np.ndarray) -> None:
        """As the manual's pseudocode has it, lane by lane."""
        value, by = state.registers[self.source], state.registers[self.distance]
        out, inside = value.copy(), np.zeros(LANES, bool)
        segment, clamp = self.control >> 8 & 31, self.control & 31
        for n in range(LANES):
            lane, b = n & 31, int(by[n]) & 31
            high = (lane & segment) | (clamp & ~segment)
            j = {
                "up": lane - b,
                "down": lane + b,
                "bfly": lane ^ b,
                "idx": (lane & segment) | (b & ~segment & 31),
            }[self.mode]
            inside[n] = j >= high if self.mode == "up" else j <= high
            if inside[n]:
                out[n] = value[(n & ~31) + j]
        state.write(self.result, out, mask)
        state.write(self.inside, inside, mask)


@dataclass
class Warp:
    """vote, match or redux of a whole warp."""

    form: str
    source: str
    result: str

    def emit(self) -> Iterator[str]:
        yield f"{self.form} {self.result}, {self.source}, 0xffffffff;"

    def apply(self, state: State, mask: np.ndarray) -> None:
        rows = state.registers[self.source].reshape(-1, 32)
        powers = np.uint32(1) << np.arange(32, dtype=np.uint32)
        name, form = self.form.split(".sync.")
        if name == "vote":
            per_warp = {
                "ballot.b32": (rows * powers).sum(1, dtype=np.uint32),
                "any.pred": rows.any(1),
                "all.pred": rows.all(1),
                "uni.pred": rows.all(1) | ~rows.any(1),
            }[form]
        elif name == "redux":
            rows = rows.view(np.int32) if form.endswith("s32") else rows
            per_warp = REDUCTIONS[form].reduce(rows, axis=1, dtype=rows.dtype)
        else:
            same = rows[:, :, None] == rows[:, None, :]
            state.write(self.result, (same * powers).sum(2, dtype=np.uint32).reshape(-1), mask)
            return
        state.write(self.result, np.repeat(per_warp, 32), mask)


@dataclass
class Exchange:
    """Every thread of a block stores a word in shared memory and reads another's."""

    source: str
    index: str
    result: str

    def emit(self) -> Iterator[str]:
        yield f"st.shared.b32 [own], {self.source}; bar.sync 0;"
        yield f"and.b32 wt, {self.index}, {THREADS - 1}; shl.b32 wt, wt, 2; add.u32 wt, wt, tile;"
        yield f"ld.shared.b32 {self.result}, [wt]; bar.sync 0;"

    def apply(self, state: State, mask: np.ndarray) -> None:
        blocks = state.registers[self.source].reshape(BLOCKS, THREADS)
        index = (state.registers[self.index] % THREADS).reshape(BLOCKS, THREADS)
        state.write(self.result, np.take_along_axis(blocks, index, 1).reshape(-1), mask)


@dataclass
class Reduce:
    """Atomics of a whole block on 32 words of shared memory, then every thread reads one."""

    form: str
    source: str
    index: str
    result: str

    def emit(self) -> Iterator[str]:
        yield "st.shared.b32 [own], 0; bar.sync 0;"
        yield f"and.b32 wt, {self.index}, 31; shl.b32 wt, wt, 2; add.u32 wt, wt, tile;"
        yield f"red.shared.{self.form} [wt], {self.source}; bar.sync 0;"
        yield f"ld.shared.b32 {self.result}, [wt]; bar.sync 0;"

    def apply(self, state: State, mask: np.ndarray) -> None:
        kind = self.form.split(".")[1].replace("b", "u")
        value = state.registers[self.source].view(DTYPES[kind])
        at = np.arange(LANES) // THREADS * 32 + (state.registers[self.index] & 31)
        words = np.zeros(32 * BLOCKS, DTYPES[kind])
        REDUCTIONS[self.form].at(words, at, value)
        state.write(self.result, words[at], mask)


@dataclass
class Local:
    """A word stored in a local array, and another element of it read."""

    source: str
    index: str
    result: str

    def emit(self) -> Iterator[str]:
        yield f"and.b32 wt, {self.index}, 3; shl.b32 wt, wt, 2; mov.u32 ws, stack;"
        yield f"st.local.v4.b32 [ws], {{{self.source}, {self.index}, 7, {self.source}}};"
        yield f"add.u32 ws, ws, wt; st.local.u8 [ws+1], {self.index};"
        yield "xor.b32 wt, wt, 4; mov.u32 ws, stack; add.u32 ws, ws, wt;"
        yield f"ld.local.s16 {self.result}, [ws];"

    def apply(self, state: State, mask: np.ndarray) -> None:
        source, index = state.registers[self.source], state.registers[self.index]
        rows = np.stack([source, index, np.full(LANES, 7, np.uint32), source], 1)
        at = (np.arange(LANES), (index & 3).astype(np.int64))
        rows.view(np.uint8).reshape(LANES, 16)[at[0], 4 * at[1] + 1] = index & 255
        word = rows[at[0], at[1] ^ 1] & np.uint32(0xFFFF)
        state.write(self.result, word.astype(np.uint16).view(np.int16).astype(np.int32), mask)


# -- drawing one -----------------------------------------------------------------------------------


@dataclass
class Program:
    """``words``: uint64 (registers, lanes), the initial registers; ``close`` the forms of the
    approximations in order; ``forms`` all forms of the table in the body."""

    seed: int
    body: list
    words: np.ndarray
    close: list[str] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    instructions: int = 0

    @property
    def text(self) -> str:
        lines = [
            ".version 8.6",
            ".target sm_90",
            ".address_size 64",
            ".visible .entry run(.param .u64 px, .param .u64 py, .param .u64 pc) {",
            f".shared .align 16 .b8 shared[{4 * THREADS}]; .local .align 16 .b8 stack[16];",
            f".reg .b16 {', '.join(n for n in NAMES if n[0] == 'h')}, ht;",
            f".reg .b32 {', '.join(n for n in NAMES if n[0] == 'w')}, wt, ws, tile, own;",
            f".reg .b64 {', '.join(n for n in NAMES if n[0] == 'l')}, lt, x, y, c;",
            f".reg .pred {', '.join(n for n in NAMES if n[0] == 'p')}, q;",
            "mov.u32 wt, %tid.x; mov.u32 tile, shared; mad.lo.u32 own, wt, 4, tile;",
            f"mov.u32 ws, %ctaid.x; mad.lo.u32 wt, ws, {THREADS}, wt; cvt.u64.u32 lt, wt;",
            "ld.param.u64 x, [px]; mad.lo.u64 x, lt, 8, x;",
            "ld.param.u64 y, [py]; mad.lo.u64 y, lt, 8, y;",
            "ld.param.u64 c, [pc]; mad.lo.u64 c, lt, 8, c;",
        ]
        bits = {"h": 16, "w": 32, "l": 64}
        for n, name in enumerate(NAMES):
            at = f"{8 * LANES * n}"
            if name[0] == "p":
                lines.append(f"ld.global.u16 ht, [x+{at}]; setp.ne.b16 {name}, ht, 0;")
            else:
                lines.append(f"ld.global.b{bits[name[0]]} {name}, [x+{at}];")
        for node in self.body:
            lines += node.emit()
        for n, name in enumerate(NAMES):
            at = f"{8 * LANES * n}"
            if name[0] == "p":
                lines.append(f"selp.u16 ht, 1, 0, {name}; st.global.b16 [y+{at}], ht;")
            else:
                lines.append(f"st.global.b{bits[name[0]]} [y+{at}], {name};")
        return "\n".join([*lines, "ret;", "}", ""])

    def outputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Arrays for the results: registers, and approximations; zeros."""
        return np.zeros_like(self.words), np.zeros((max(len(self.close), 1), LANES), np.uint64)

    def approximations(self, words: np.ndarray) -> list[np.ndarray]:
        """The second output's rows as arrays of their types."""
        kinds = [op_of(form).dst[0] for form in self.close]
        return [
            row.astype(f"u{DTYPES[kind].itemsize}").view(DTYPES[kind])
            for row, kind in zip(words, kinds, strict=False)
        ]

    def expected(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Registers at the end, uint64 (registers, lanes), and the approximations."""
        state = State(
            {
                name: row.astype(bool) if name[0] == "p" else row.astype(UNSIGNED[name[0]])
                for name, row in zip(NAMES, self.words, strict=True)
            }
        )
        with np.errstate(all="ignore"):
            for node in self.body:
                node.apply(state, np.ones(LANES, bool))
        words = np.stack([state.registers[name].astype(np.uint64) for name in NAMES])
        return words, state.close


class _Draw:
    def __init__(self, seed: int, size: int):
        self.rng = np.random.default_rng(seed)
        self.forms = FLUSHING if seed % 4 == 0 else FORMS
        self.program = Program(seed, [], self._words())
        self.labels = 0
        parted = seed % 2 == 1
        while self.program.instructions < size:
            self.program.body += self._node(depth=2 if parted else 0, together=True)

    def _words(self) -> np.ndarray:
        kinds = {
            "h": ("f16", "bf16", "u16"),
            "l": ("f64", "u64"),
            "p": ("pred",),
            "w": ("f32", "u32", "s32", "f16x2", "bf16x2"),
        }
        rows = []
        for name in NAMES:
            kind = str(self.rng.choice(kinds[name[0]]))
            value = operands(kind, LANES, self.rng)
            bits = value if kind == "pred" else value.view(f"u{value.itemsize}")
            rows.append(bits.astype(np.uint64))
        return np.stack(rows)

    def _register(self, letter: str) -> str:
        return f"{letter}{self.rng.integers(COUNTS[letter])}"

    def _pick(self, choices) -> str:
        return str(self.rng.choice(choices))

    def _node(self, depth: int, together: bool) -> list:
        """The next few nodes; ``together``: all lanes of a block are here."""
        kind = self.rng.random()
        self.program.instructions += 1
        w, p = (lambda: self._register("w")), (lambda: self._register("p"))
        if depth and kind < 0.12:
            self.labels += 1
            label = f"B{self.labels}"
            if self.rng.random() < 0.5:
                return [If(p(), self._body(depth - 1), self._body(depth - 1), label)]
            return [Loop(w(), self._body(depth - 1), label)]
        if together and kind < 0.22:
            what = self.rng.integers(5)
            if what == 0:
                mode = self._pick(list(SHUFFLES))
                control = int(self.rng.choice(SHUFFLES[mode]))
                return [Shuffle(mode, control, w(), w(), w(), p())]
            if what == 1:
                vote = self._pick(["ballot.b32", "any.pred", "all.pred", "uni.pred"])
                return [Warp(f"vote.sync.{vote}", p(), w() if "b32" in vote else p())]
            if what == 2:
                form = self._pick([f"redux.sync.{f}" for f in REDUCTIONS] + ["match.sync.any.b32"])
                form = form.replace("match.sync.any", "match.any.sync")
                return [Warp(form, w(), w())]
            if what == 3:
                return [Exchange(w(), w(), w())]
            return [Reduce(self._pick(list(REDUCTIONS)), w(), w(), w())]
        if kind < 0.27:
            return [Local(w(), w(), w())]
        if together and kind < 0.33:
            form = self._pick([f for f in CLOSE if self.forms is FORMS or fpenv.suits([f, "ftz"])])
            op = op_of(form)
            names = [self._register(register_class(k)) for k in op.src]
            self.program.close.append(form)
            self.program.forms.append(form)
            number = len(self.program.close) - 1
            return [Close(form, names[0], names[1] if len(names) > 1 else None, number)]
        return self._computes()

    def _body(self, depth: int) -> list:
        return [node for _ in range(self.rng.integers(1, 4)) for node in self._node(depth, False)]

    def _computes(self) -> list:
        form = self._pick(self.forms)
        if self.rng.random() < 0.5:  # as likely for each opcode, however many forms it has
            opcode = self._pick(sorted({f.split(".")[0] for f in self.forms}))
            form = self._pick([f for f in self.forms if f.split(".")[0] == opcode])
        op = op_of(form)
        first = []
        if op.carry_in:
            first = [self._compute("sub.cc.u32" if form.startswith("sub") else "add.cc.u32")]
        guarded = self.rng.random() < 0.15 and not (op.carry_in or op.carry_out)
        guarded = guarded and not departures.loses_its_guard(form)
        guard = f"@{self._pick(['', '!'])}{self._register('p')}" if guarded else ""
        return [*first, self._compute(form, guard)]

    def _compute(self, form: str, guard: str = "") -> Compute:
        op = op_of(form)
        self.program.forms.append(form)
        sources = [self._register(register_class(kind)) for kind in op.src]
        if departures.mistakes_one_register_for_two(form):
            letter = sources[0][0]
            different = [f"{letter}{n}" for n in self.rng.permutation(COUNTS[letter])]
            sources = [different.pop() if s[0] == letter else s for s in sources]
        if form.startswith("lop3"):
            sources[3] = f"{self.rng.integers(256):#x}"
        count = 1 if form.startswith("setp") and form.endswith((".f16", ".bf16")) else len(op.dst)
        results: list[str] = []
        for kind in op.dst[:count]:
            free = [n for n in NAMES if n[0] == register_class(kind) and n not in results]
            results.append(self._pick(free))
        return Compute(form, sources, results, guard)


def program(seed: int, size: int = 16) -> Program:
    """A program of at least ``size`` instructions, the same for the same seed.

    Odd seeds part the lanes; every fourth may run with the processor flushing subnormals.
    """
    return _Draw(seed, size).program
