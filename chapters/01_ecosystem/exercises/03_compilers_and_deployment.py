"""The exercises of "Compilers and deployment"."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.claims import choose_and_defend
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import PythonExercise

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
# A kernel that only reads another type into the same bits, and one with nothing to write.
CONVERTED_HLO = """
ENTRY %m (x: f32[6]) -> s32[0] {
  %x = f32[6]{0} parameter(0)
  %bitcast-convert.1 = s32[6]{0} bitcast-convert(%x)
  ROOT %slice.1 = s32[0]{0} slice(%bitcast-convert.1), slice={[6:6]}
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
    lines: list[str] = []
    names: list[str] = []
    for k in range(int(rng.integers(2, 9))):
        dtype = str(rng.choice(list(BYTES)))
        shape = ",".join(str(n) for n in rng.integers(1, 50, int(rng.integers(0, 7))))
        operation = (
            str(rng.choice(["fusion", "dot", "reduce", "copy", "bitcast-convert", *FREE]))
            if k
            else "parameter"
        )
        given = [names[i] for i in rng.choice(len(names), int(rng.integers(1, 7)))] if names else []
        if operation in ("parameter", "constant"):
            inside = str(k)
        else:
            inside = ", ".join(
                f"%{name}" for name in (given[:1] if operation.startswith("bitcast") else given)
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
        (CONVERTED_HLO,),
        (WIDE_HLO,),
    ),
    reference=counted,
    contract=DrawnCases(any_module),
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

    def __getitem__(self, index: Any) -> Traced:
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

    def __array_function__(
        self, function: Any, _: object, given: tuple[Any, ...], named: dict[str, Any]
    ) -> object:
        found = function(*known(given), **known(named))
        return found if function in (np.shape, np.ndim, np.size) else Traced(found)

    def __repr__(self) -> str:
        return f"a traced array of shape {self.shape}" if self.recording else repr(self._numbers)


def known(value: Any) -> Any:
    """``value`` with the numbers of the traced arrays in it, which no answer gets to see."""
    if isinstance(value, Traced):
        return value._numbers
    if isinstance(value, (tuple, list)):
        return type(value)(map(known, value))
    return {k: known(v) for k, v in value.items()} if isinstance(value, dict) else value


def numbers_of(function: Callable[..., Any], x: Traced) -> object:
    """What the recorded graph gives. A plain array would have come out of the graph before."""
    Traced.recording = True
    try:
        found = function(x)
    finally:
        Traced.recording = False
    if isinstance(found, np.ndarray):
        raise TypeError("the result is no traced array: it does not come from x")
    return known(found)


def traced(*values: float | list[float]) -> tuple[Traced]:
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
    contract=DrawnCases(any_traced),
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
    cases=SITUATIONS, reference=by_table, contract="All 36 situations are tried."
)

DELIVERIES = {
    1: ("PTX", "c"),
    2: ("cubin", "f"),
    3: ("fatbinary", "a"),
    4: ("ONNX", "e"),
    5: ("torch.export", "b"),
    6: ("vLLM", "h"),
}

DELIVER = choose_and_defend(
    DELIVERIES,
    '{1: ("PTX", "a")}',
    start="Take one delivery at a time: who loads it, on which machine, and with which compiler?",
    contract="There are six deliveries.",
)


def offers(*rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    return list(rows)


def any_offers(rng: np.random.Generator) -> tuple[list[tuple[Any, ...]], float]:
    """Up to twelve offers. No time is so near to a whole number of minutes that a right formula
    could come to the next one by rounding."""
    hours = float(rng.integers(1, 3000)) / 60
    rows: list[tuple[Any, ...]] = []
    count = int(rng.integers(1, 13))
    while len(rows) < count:
        price, speed = float(rng.integers(1, 400)) / 50, float(rng.integers(1, 40)) / 10
        setup, least = float(rng.integers(0, 600)) / 600, float(rng.choice([0, 0, 1, 24]))
        minutes = 60 * setup + 60 * hours / speed
        if abs(minutes - round(minutes)) > 1e-3:
            rows.append((f"gpu{20 - len(rows)}", price, speed, setup, least))
    return rows, hours


def least_cost(rows: list[tuple[Any, ...]], hours: float) -> tuple[str, float]:
    best: tuple[str, float] | None = None
    for name, price, speed, setup, least in rows:
        minutes = -int(-round(60 * setup + 60 * hours / speed, 6) // 1)
        cost = max(least * price, price * minutes / 60)
        if best is None or cost < best[1] * (1 - 1e-12):
            best = name, cost
    if best is None:
        raise ValueError("no GPU to choose from")
    return best


CHEAPEST = PythonExercise(
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
    contract=DrawnCases(any_offers, count=40),
)
