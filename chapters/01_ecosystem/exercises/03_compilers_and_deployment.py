"""The exercises of "Compilers and deployment"."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from course_utils.exercises import Cases, PythonExercise, kinds, mutant

FOLDER = "01_ecosystem/exercises"

# The last part of what XLA made of a softmax, and of a product with bias and relu, for a CPU.
SOFTMAX_HLO = """
HloModule jit_f, is_scheduled=true

%fused_computation (param_0: f32[64,1000]) -> f32[64] {
  %param_0 = f32[64,1000]{1,0} parameter(0)
  %constant.1 = f32[] constant(0)
  ROOT %reduce_sum.0 = f32[64]{0} reduce(%param_0, %constant.1), dimensions={1}, to_apply=%sum
}

ENTRY %main.3 (x.1: f32[64,1000]) -> f32[64,1000] {
  %x.1 = f32[64,1000]{1,0} parameter(0)
  %fusion.1 = f32[64,1000]{1,0} fusion(%x.1), kind=kCustom, calls=%fused_computation.1
  %fusion = f32[64]{0} fusion(%fusion.1), kind=kCustom, calls=%fused_computation
  %divide_fusion = f32[64]{0} fusion(%fusion), kind=kLoop, calls=%fused_computation.3
  ROOT %multiply_fusion = f32[64,1000]{1,0} fusion(%fusion.1, %divide_fusion), kind=kLoop, calls=%fc
}
"""
LAYER_HLO = """
HloModule jit_layer, is_scheduled=true

ENTRY %main.4 (x.1: bf16[32,128], w.1: bf16[128,256], b.1: f32[256]) -> f32[32,256] {
  %x.1 = bf16[32,128]{1,0} parameter(0)
  %w.1 = bf16[128,256]{1,0} parameter(1)
  %dot.1 = f32[32,256]{1,0} dot(%x.1, %w.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %b.1 = f32[256]{0} parameter(2)
  %bitcast.1 = f32[1,256]{1,0} bitcast(%b.1)
  %constant.1 = f32[] constant(0)
  ROOT %fusion = f32[32,256]{1,0} fusion(%dot.1, %bitcast.1, %constant.1), kind=kLoop, calls=%fc
}
"""
LARGE_HLO = """
ENTRY %m (x: bf16[70000,40001]) -> f32[] {
  %x = bf16[70000,40001]{1,0} parameter(0)
  %iota.1 = s32[40001]{0} iota(), iota_dimension=0
  %zero = f32[] constant(0)
  ROOT %reduce.1 = f32[] reduce(%x, %iota.1, %zero), dimensions={0,1}, to_apply=%sum
}
"""
EMPTY_HLO = """
ENTRY %m (x: f32[0,8]) -> f32[1,8] {
  %x = f32[0,8]{1,0} parameter(0)
  %y = f32[1,8]{1,0} broadcast(), dimensions={}
  ROOT %both = f32[1,8]{1,0} concatenate(%x, %y), dimensions={0}
}
"""
LONG_HLO = (
    "ENTRY %m (a.0: f32[9]) -> f32[9] {\n  %a.0 = f32[9]{0} parameter(0)\n"
    + "".join(f"  %a.{k} = f32[9]{{0}} copy(%a.{k - 1})\n" for k in range(1, 201))
    + "}\n"
)
WIDE_HLO = (
    "ENTRY %m () -> f32[] {\n"
    + "".join(f"  %p.{k} = f32[{k},2,2,2]{{0}} parameter({k})\n" for k in range(1, 41))
    + f"  ROOT %all = f32[] fusion({', '.join(f'%p.{k}' for k in range(1, 41))})\n}}\n"
)
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "s32": 4, "pred": 1}
FREE = ("parameter", "constant", "bitcast")


def any_module(rng: np.random.Generator) -> tuple[str]:
    """A module of up to eight instructions on earlier results, with another computation before."""
    lines, names = [], []
    for k in range(int(rng.integers(2, 9))):
        dtype = str(rng.choice(list(BYTES)))
        shape = ",".join(str(n) for n in rng.integers(1, 50, int(rng.integers(0, 7))))
        operation = (
            str(rng.choice(["fusion", "dot", "reduce", "copy", *FREE])) if k else "parameter"
        )
        given = [names[i] for i in rng.choice(len(names), int(rng.integers(1, 7)))] if names else []
        if operation in ("parameter", "constant"):
            inside = str(k)
        else:
            inside = ", ".join(
                f"%{name}" for name in (given[:1] if operation == "bitcast" else given)
            )
        names.append(f"Arg_{k}.{k + 1}" if operation == "parameter" else f"{operation}.{k}")
        lines.append(f"  %{names[-1]} = {dtype}[{shape}]{{0}} {operation}({inside}), metadata={{}}")
    other = (
        "%region (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
        "  ROOT %q = f32[4]{0} add(%p, %p)\n}"
    )
    return (
        f"HloModule drawn\n\n{other}\n\nENTRY %main () -> f32[] {{\n" + "\n".join(lines) + "\n}\n",
    )


def counted(text: str) -> tuple[int, int]:
    size, kernels, total = {}, 0, 0
    for line in text.split("ENTRY")[1].split("\n")[1:]:
        if " = " not in line:
            continue
        name, right = line.replace("ROOT", "").strip().lstrip("%").split(" = ", 1)
        dtype, _, rest = right.partition("[")
        shape, _, rest = rest.partition("]")
        operation, _, inside = rest.split(" ", 1)[1].partition("(")
        size[name] = BYTES[dtype] * int(np.prod([int(d) for d in shape.split(",") if d]))
        if operation not in FREE:
            words = inside.split(")")[0].replace(",", " ").split()
            total += size[name] + sum(size[word[1:]] for word in dict.fromkeys(words))
            kernels += 1
    return kernels, total


READ_HLO = PythonExercise(
    id="01.read_hlo",
    title="read an HLO",
    task="""
The text of a compiled HLO module says what runs, if you can read it. Count the kernels of its
ENTRY and the bytes that they move. The parts that take the text apart are given.
""",
    source=f"{FOLDER}/read_hlo.py",
    function="kernels_and_bytes",
    cases=(
        (SOFTMAX_HLO,),
        (LAYER_HLO,),
        ("ENTRY %m (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n",),
        (
            "ENTRY %m (p: s32[7]) -> s32[7] {\n  %p = s32[7]{0} parameter(0)\n"
            "  ROOT %add.1 = s32[7]{0} add(%p, %p)\n}\n",
        ),
        (
            "ENTRY %m (p: f32[4], q: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
            "  %q = f32[4]{0} parameter(1)\n  ROOT %add.1 = f32[4]{0} add(%p, %q)\n}\n",
        ),
        (LARGE_HLO,),
        (LONG_HLO,),
        (EMPTY_HLO,),
        (WIDE_HLO,),
    ),
    reference=counted,
    promises=Cases(any_module),
    means="Any way to count is right.",
    hints=(
        "Bytes of a result: the product of its dimensions times `BYTES[dtype]`; no dimensions, 1.",
        "Keep them in a dictionary by name, those of parameters and constants, too.",
        "For an operation that is not in FREE, add its own size and those of `set(operands)`.",
    ),
    explanation="""
The softmax of 64 rows is four kernels here: XLA's CPU compiler fused the exponential with the
largest, and the division with nothing before it. The array of powers is written once and read by
two kernels. A kernel that names an array twice needs it once. `cost_analysis()` of a compiled JAX
function does this count for you, with XLA's own rules.
""",
    mutants=(
        mutant(
            "no reads of arguments",
            kinds.WRONG,
            (
                "for operand in set(operands)",
                'for operand in set(operands) if "Arg" not in operand',
            ),
        ),
        mutant("counts parameters", kinds.WRONG, ("if operation not in FREE", "if operation")),
        mutant("four bytes each", kinds.WRONG, ("BYTES[dtype]", "4")),
        mutant("no writes", kinds.WRONG, ("moved += size[name] + sum", "moved += sum")),
        mutant(
            "no reads",
            kinds.WRONG,
            ("size[name] + sum(size[operand] for operand in set(operands))", "size[name]"),
        ),
        mutant(
            "an operand that is named twice counts twice",
            kinds.WRONG,
            ("for operand in set(operands))", "for operand in operands)"),
        ),
        mutant(
            "operands of one size count once",
            kinds.WRONG,
            (
                "sum(size[operand] for operand in set(operands))",
                "sum({size[operand] for operand in operands})",
            ),
        ),
        mutant(
            "an empty array has an element",
            kinds.WRONG,
            ("size[name] *= dimension", "size[name] *= dimension or 1"),
        ),
        mutant("fusions alone", kinds.WRONG, ("operation not in FREE", 'operation == "fusion"')),
        mutant(
            "in 32 bits", kinds.WRONG, ("return kernels, moved", "return kernels, moved % 2**32")
        ),
        mutant("three dimensions", kinds.WRONG, ("in dimensions:", "in dimensions[:3]:")),
        mutant(
            "four operands",
            kinds.WRONG,
            ("set(operands))", "list(dict.fromkeys(operands))[:4])"),
        ),
        mutant("100 kernels", kinds.WRONG, ("kernels += 1", "kernels += kernels < 100")),
        mutant(
            "an operand each", kinds.EXCEPTION, ("kernels += 1", "kernels += bool(operands[0])")
        ),
        mutant("every computation", kinds.WRONG, ('text.partition("ENTRY")[2]', "text")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return kernels, moved", "kernels, moved")),
    ),
)


class Traced(NDArrayOperatorsMixin):
    """An array that stands for numbers which are not known yet: nothing may depend on them.

    What NumPy computes with it is traced in its turn, and its numbers come out at the end alone.
    """

    __array_priority__ = 1000
    METHODS = (
        *("all", "any", "argmax", "argmin", "astype", "clip", "copy", "dot", "flatten", "max"),
        *("mean", "min", "prod", "ravel", "reshape", "round", "squeeze", "std", "sum", "swapaxes"),
        *("transpose", "var", "T"),
    )

    recording = False  # while a graph is recorded the numbers are not printed, either

    def __init__(self, numbers: object):
        self._numbers = np.asarray(numbers)

    def _refuse(self, *_: object, **__: object) -> None:
        raise TypeError(
            "this value is not known while the graph is recorded, so Python cannot decide by it. "
            "Compute both, and choose with arithmetic or np.where."
        )

    __bool__ = __float__ = __int__ = __index__ = __iter__ = __array__ = item = tolist = _refuse
    __contains__ = __complex__ = view = tobytes = data = flat = _refuse

    shape = property(lambda self: self._numbers.shape)
    dtype = property(lambda self: self._numbers.dtype)
    ndim = property(lambda self: self._numbers.ndim)
    size = property(lambda self: self._numbers.size)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: object) -> Traced:
        return Traced(self._numbers[known(index)])

    def __getattr__(self, name: str) -> object:
        if name not in self.METHODS:
            raise AttributeError(f"a traced array has no {name!r}")
        found = getattr(self._numbers, name)
        if not callable(found):
            return Traced(found)
        return lambda *given, **named: Traced(found(*known(given), **known(named)))

    def __array_ufunc__(
        self, ufunc: object, method: str, *given: object, **named: object
    ) -> Traced:
        named.pop("out", None)  # x *= 2 makes a new one: a graph changes nothing in place
        with np.errstate(all="ignore"):
            return Traced(getattr(ufunc, method)(*known(given), **known(named)))

    def __array_function__(self, function: object, _: object, given: tuple, named: dict) -> object:
        found = function(*known(given), **known(named))
        return found if function in (np.shape, np.ndim, np.size) else Traced(found)

    def __repr__(self) -> str:
        return f"a traced array of shape {self.shape}" if self.recording else repr(self._numbers)


def known(value: object) -> object:
    """``value`` with the numbers of the traced arrays in it, which no answer gets to see."""
    if isinstance(value, Traced):
        return value._numbers
    if isinstance(value, (tuple, list)):
        return type(value)(map(known, value))
    return {k: known(v) for k, v in value.items()} if isinstance(value, dict) else value


def numbers_of(function: Callable, x: Traced) -> object:
    """What the recorded graph gives. A plain array would have come out of the graph before."""
    Traced.recording = True
    try:
        found = function(x)
    finally:
        Traced.recording = False
    if isinstance(found, np.ndarray):
        raise TypeError("the result is no traced array: it does not come from x")
    return known(found)


def traced(*values: float) -> tuple[Traced]:
    return (Traced(np.array(values, dtype=np.float32)),)


def any_traced(rng: np.random.Generator) -> tuple[Traced]:
    """Any shape; the largest magnitude is anything, and now and then hardly above 1."""
    x = rng.standard_normal(rng.integers(1, 6, rng.integers(0, 6)))
    scale = float(rng.choice([0, 1e-3, 0.5, 1, 4, 1e6, 1e30]))
    if rng.integers(3) == 0:
        scale = float(rng.choice([0.999, 1.001, 1.05, 1.2])) / np.abs(x).max()
    return (Traced((scale * x).astype(np.float32)),)


def tamed(x: Traced) -> np.ndarray:
    values = np.array(known(x), dtype=np.float64)
    return np.asarray(values / max(1.0, float(np.abs(values).max())), np.float32)


FIND_THE_EXPORT_BUG = PythonExercise(
    id="01.find_the_export_bug",
    title="find the bug: it cannot be exported",
    task="""
This model runs in Python, and `torch.export` and `jax.jit` refuse it. Here `x` is a *traced*
array, which acts like theirs: you may compute with it, and no Python `if`, `max` or `float` may
look at its numbers. Write it so that one graph is right for every x: of any shape, also of zeros
alone.
""",
    source=f"{FOLDER}/tame.py",
    function="tame",
    bug=kinds.EXCEPTION,
    cases=(
        traced(0.5, -0.25),
        traced(3, -4, 1),
        traced(-8),
        traced(1, -1),
        traced(0, 0),
        traced([3, -4], [1, 0.5]),
        traced(1.0625, -0.5),
        traced(-1.001, 1),
        traced(3e30, -2e30),
        traced(1e-30, -2e-30),
        (Traced(np.float32(-8)),),
        (Traced(np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 1, 2, 2)),),
        (Traced(np.arange(-12, 12, dtype=np.float32).reshape(1, 2, 3, 1, 2, 1, 2)),),
    ),
    reference=tamed,
    call=numbers_of,
    promises=Cases(any_traced),
    means="A traced array refuses every way to look at its numbers.",
    hints=(
        "A graph has no branch for you: it needs one formula for both cases.",
        "Which number would you divide by where nothing shall change?",
        "`np.maximum(peak, 1)` is peak above 1, and 1 below.",
    ),
    explanation="""
Tracing runs your Python once with stand-ins for the arrays and records the operations. An `if`
would have to be decided then, for every input to come. JAX raises a TracerBoolConversionError,
`torch.export` reports data-dependent control flow, and the old `torch.jit.trace` silently kept
the branch that its example took: a model that was wrong only for other inputs. Where both sides
are expensive, `torch.cond` and `jax.lax.cond` put the branch into the graph.
""",
    mutants=(
        mutant("asks with max", kinds.EXCEPTION, ("np.maximum(peak, 1)", "max(peak, 1)")),
        mutant(
            "asks a plain array",
            kinds.EXCEPTION,
            ("np.abs(x).max()", "np.asarray(np.abs(x)).max()\n    if peak <= 1:\n        return x"),
        ),
        mutant(
            "only well above 1",
            kinds.WRONG,
            ("x / np.maximum(peak, 1)", "np.where(peak > 1.1, x / np.maximum(peak, 1), x)"),
        ),
        mutant(
            "the root of the squares",
            kinds.ALL_ZEROS,
            ("np.abs(x).max()", "np.sqrt((x * x).max())"),
        ),
        mutant(
            "reads what is printed",
            kinds.EXCEPTION,
            (
                "np.maximum(peak, 1)",
                'max(1, float(repr(peak).partition("(")[2].partition(")")[0]))',
            ),
        ),
        mutant("asks with float", kinds.EXCEPTION, ("np.maximum(peak, 1)", "max(float(peak), 1)")),
        mutant("the branch of an example", kinds.WRONG, ("np.maximum(peak, 1)", "peak")),
        mutant("the other branch", kinds.SCALED, ("x / np.maximum(peak, 1)", "x * 1")),
        mutant("each for itself", kinds.WRONG, ("np.maximum(peak, 1)", "np.maximum(np.abs(x), 1)")),
        mutant("clipped", kinds.WRONG, ("x / np.maximum(peak, 1)", "np.clip(x, -1, 1)")),
        mutant("each row for itself", kinds.WRONG, (".max()", ".max(axis=-1, keepdims=True)")),
        mutant(
            "zeros by zero",
            kinds.NOT_A_NUMBER,
            ("x / np.maximum(peak, 1)", "np.where(peak > 1, x, x * peak) / peak"),
        ),
        mutant(
            "five dimensions at most",
            kinds.WRONG,
            (
                "np.abs(x).max()",
                "np.abs(x)\n    for _ in range(min(x.ndim, 5)):\n        peak = peak.max(axis=0)",
            ),
        ),
        mutant("negative ones missed", kinds.SCALED, ("np.abs(x).max()", "x.max()")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)

DEVICES, CHIPS = ("server", "phone", "desktop"), ("nvidia", "apple", "other")
MODELS, SOURCES = ("llm", "small"), ("pytorch", "keras")
SITUATIONS = tuple(product(DEVICES, CHIPS, MODELS, SOURCES))


def by_table(device: str, chip: str, model: str, source: str) -> str:
    if device == "phone":
        if chip == "apple":
            return "Core ML"
        return {"pytorch": "ExecuTorch", "keras": "LiteRT"}[source]
    if (device, chip) == ("server", "nvidia"):
        return {"llm": "vLLM", "small": "TensorRT"}[model]
    return "ONNX Runtime"


RUNTIME = PythonExercise(
    id="01.runtime",
    title="choose a runtime",
    task="""
Turn the table above into a function: what would you try first? Return the name as the table
writes it.
""",
    source=f"{FOLDER}/runtime.py",
    function="runtime",
    cases=SITUATIONS,
    reference=by_table,
    promises="All 36 situations are tried.",
    means="Any way to write the table down is right.",
    hints=(
        "Which question decides most? Ask for the phone first.",
        "On a phone the chip decides, then where the model comes from.",
        "What no line of the table names is left to ONNX Runtime.",
    ),
    explanation="""
A table such as this ages within a year; the questions stay: where does it run, what does the
vendor of that chip offer, is it a language model that needs batching and a cache, and what can
your framework export? Then measure: the first choice is only the first to measure.
""",
    mutants=(
        mutant("no phones of Apple", kinds.WRONG, ('"apple" and device', '"none" and device')),
        mutant(
            "Apple's desktops, too",
            kinds.WRONG,
            ('chip == "apple" and device == "phone"', 'chip == "apple"'),
        ),
        mutant("one for all phones", kinds.WRONG, (' if source == "pytorch" else "LiteRT"', "")),
        mutant(
            "TensorRT for everything",
            kinds.WRONG,
            ('"vLLM" if model == "llm" else "TensorRT"', '"TensorRT"'),
        ),
        mutant("vLLM on any server", kinds.WRONG, (' and chip == "nvidia"', "")),
        mutant("TensorRT on a desktop", kinds.WRONG, ('device == "server" and chip', "chip")),
        mutant(
            "no return",
            kinds.NOTHING_RETURNED,
            ('return "Core ML"', '"Core ML"'),
            ('return "Exec', '"Exec'),
            ('return "vLLM"', '"vLLM"'),
            ('return "ONNX', '"ONNX'),
        ),
    ),
)


def offers(*rows: tuple) -> list[tuple]:
    return list(rows)


def any_offers(rng: np.random.Generator) -> tuple[list[tuple], float]:
    """Up to twelve offers. No time is so near to a whole number of minutes that a right formula
    could come to the next one by rounding."""
    hours = float(rng.integers(1, 3000)) / 60
    rows: list[tuple] = []
    count = int(rng.integers(1, 13))
    while len(rows) < count:
        price, speed = float(rng.integers(1, 400)) / 50, float(rng.integers(1, 40)) / 10
        setup, least = float(rng.integers(0, 600)) / 600, float(rng.choice([0, 0, 1, 24]))
        minutes = 60 * setup + 60 * hours / speed
        if abs(minutes - round(minutes)) > 1e-3:
            rows.append((f"gpu{20 - len(rows)}", price, speed, setup, least))
    return rows, hours


def least_cost(rows: list[tuple], hours: float) -> tuple[str, float]:
    best = None
    for name, price, speed, setup, least in rows:
        minutes = -int(-round(60 * setup + 60 * hours / speed, 6) // 1)
        cost = max(least * price, price * minutes / 60)
        if best is None or cost < best[1] * (1 - 1e-12):
            best = name, cost
    return best


CHEAPEST = PythonExercise(
    id="01.cheapest",
    title="which GPU to rent",
    task="""
Offers differ in price, speed, set-up and the least time that is billed. Find the cheapest for a
job. The prices are made up: prices change by the month, the sum does not. Set-up and work are added
first, and their sum is rounded up to whole minutes.
""",
    source=f"{FOLDER}/cheapest.py",
    function="cheapest",
    cases=(
        (offers(("slow", 1.0, 0.5, 0.0, 0.0), ("fast", 3.0, 2.0, 0.0, 0.0)), 10.0),
        (offers(("slow", 1.0, 1.0, 0.0, 0.0), ("fast", 1.5, 2.0, 1.0, 0.0)), 1.0),
        (offers(("by the day", 1.0, 2.0, 0.0, 24.0), ("by the minute", 4.0, 1.0, 0.1, 0.0)), 3.0),
        (offers(("z", 2.0, 1.0, 0.0, 0.0), ("a", 2.0, 1.0, 0.0, 0.0)), 2.0),
        (offers(("only", 6.0, 3.0, 0.25, 0.0)), 0.01),
        (offers(("two parts", 6.0, 1.0, 0.005, 0.0)), 0.005),
        (offers(("half a minute", 6.0, 1.0, 0.0, 1.508)), 1.0),
        (offers(("free", 0.0, 0.1, 0.0, 0.0), ("paid", 1.0, 1.0, 0.0, 0.0)), 1.0),
        (offers(("a cluster", 9e5, 1.0, 0.0, 0.0), ("another", 8e5, 1.0, 0.0, 0.0)), 1e6),
        (offers(*((f"gpu{k}", 3 - k / 100, 1.0, 0.0, 0.0) for k in range(100))), 2.0),
        (offers(("a", 2.01e-6, 1.0, 0.0, 0.0), ("tiny", 2e-6, 1.0, 0.0, 0.0)), 1.0),
        (offers(("one", 1.0, 1.0, 0.0, 0.0), ("one", 2.0, 1.0, 0.0, 0.0)), 1.0),
        (offers(("a", 0.0201, 1.0, 0.0, 0.0), ("less than a cent", 0.02, 1.0, 0.0, 0.0)), 1.0),
    ),
    reference=least_cost,
    promises=Cases(any_offers, count=40),
    means="Any way to compute it is right.",
    hints=(
        "A GPU of speed 2 needs half the hours, and the set-up takes as long as anywhere.",
        "Minutes are rounded up: `ceil(60 * (setup + hours / speed))`.",
        "At least `least` hours are paid for: `price * max(least, minutes / 60)`.",
        "`min(offers, key=cost)` gives the first of equals.",
    ),
    explanation="""
The price of an hour says little: what you pay for is a finished job. A faster GPU at a higher
price is often cheaper, and the set-up (booting, loading data and weights, compiling) costs the
same hour as the work. For short jobs it decides. So does what is billed while nothing runs:
disks, an idle machine over night, data on its way out.
""",
    mutants=(
        mutant("lowest price of an hour", kinds.WRONG, ("key=cost", "key=lambda offer: offer[1]")),
        mutant("speed ignored", kinds.WRONG, ("hours / speed", "hours")),
        mutant("set-up ignored", kinds.WRONG, ("setup + hours", "hours")),
        mutant(
            "set-up made faster", kinds.WRONG, ("setup + hours / speed", "(setup + hours) / speed")
        ),
        mutant("no least", kinds.WRONG, ("max(least, minutes / 60)", "(minutes / 60)")),
        mutant("rounded down", kinds.WRONG, ("ceil(", "int(")),
        mutant(
            "each part rounded up",
            kinds.WRONG,
            (
                "ceil(round(60 * (setup + hours / speed), 6))",
                "ceil(60 * setup) + ceil(60 * hours / speed)",
            ),
        ),
        mutant(
            "of equals the first by name",
            kinds.WRONG,
            ("key=cost", "key=lambda offer: (cost(offer), offer[0])"),
        ),
        mutant("compared by cents", kinds.WRONG, ("key=cost", "key=lambda o: round(cost(o), 2)")),
        mutant(
            "compared to five digits", kinds.WRONG, ("key=cost", "key=lambda o: round(cost(o), 5)")
        ),
        mutant(
            "looked up by name",
            kinds.WRONG,
            (
                "return best[0], cost(best)",
                "return best[0], cost({offer[0]: offer for offer in offers}[best[0]])",
            ),
        ),
        mutant("the first five", kinds.WRONG, ("min(offers", "min(offers[:5]")),
        mutant(
            "what is free does not count",
            kinds.WRONG,
            ("key=cost", 'key=lambda offer: cost(offer) or float("inf")'),
        ),
        mutant(
            "never more than a million",
            kinds.WRONG,
            ("key=cost", "key=lambda offer: min(cost(offer), 1e6)"),
        ),
        mutant("the dearest", kinds.WRONG, ("min(offers", "max(offers")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return best[0], cost(best)", "best")),
    ),
)
