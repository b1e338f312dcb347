"""The exercises of "A custom operator"."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise

# --- a tensor, described so that both processes know it ---

VIEWS: dict[str, Callable[..., Any]] = {  # of a tensor with three rows or more and columns
    "as it is": lambda t: t,
    "transposed": lambda t: t.T,
    "every other column": lambda t: t[:, ::2],
    "without its first row": lambda t: t[1:],
    "without its first column": lambda t: t[:, 1:],
    "one row, expanded": lambda t: t[:1].expand(4, -1),
    "one column": lambda t: t[:, :1],
    "one element": lambda t: t[2, 0],
    "no rows": lambda t: t[:0],
    "a row of a transpose": lambda t: t.T[:1],
    "a part of a row": lambda t: t[1:2, 1:],
    "channels last": lambda t: t.T[None, :, :, None],
    "a column of one dimension": lambda t: t[:, 0],
}
ODD_VIEWS: dict[str, Callable[..., Any]] = {
    "no columns, transposed": lambda t: t[:, :0].T,
    "one number, expanded": lambda t: t[:1, :1].expand(3, 4),
    "one column, expanded": lambda t: t[:, :1].expand(-1, 4),
    "each number twice": lambda t: t[:, :, None].expand(-1, -1, 2),
    "rows that overlap": lambda t: t.flatten().unfold(0, 3, 1),
    "a dimension of one with a stride of 0": lambda t: t.as_strided(
        (len(t), 1, t.shape[1]), (t.shape[1], 0, 1)
    ),
    "one number with strides of 7 and 3": lambda t: t.as_strided((1, 1), (7, 3)),
    "three dimensions, channels last": lambda t: t.T[None, :, None, :, None],
    "one matrix of several": lambda t: t[:, None, :].transpose(0, 1),
    "three dimensions, two of them exchanged": lambda t: (
        t[:, None, :].repeat(1, 2, 1).transpose(0, 1)
    ),
}


@dataclass(frozen=True)
class Described:
    """Random numbers from ``seed``, rows x columns of ``dtype`` on ``device``, seen as ``view``."""

    view: str
    rows: int = 3
    columns: int = 5
    dtype: str = "float32"
    device: str = "cpu"
    seed: int = 1

    def __repr__(self) -> str:
        where = "" if self.device == "cpu" else f" on {self.device}"
        return f"<{self.rows} x {self.columns} {self.dtype}{where}, {self.view}>"

    def numbers(self) -> np.ndarray:
        drawn = np.random.default_rng(self.seed).standard_normal((self.rows, self.columns))
        return drawn if self.dtype == "float64" else np.round(4 * drawn) / 4  # exact in any type

    def tensor(self) -> Any:
        import torch

        whole = torch.from_numpy(self.numbers()).to(getattr(torch, self.dtype)).to(self.device)
        return (VIEWS | ODD_VIEWS)[self.view](whole)


def outside(tensor: Any) -> list[Any]:
    """A tensor without its numbers. Of anything else it's the name of the type."""
    if type(tensor).__name__ != "Tensor":
        return [type(tensor).__name__]
    shape, strides = tuple(tensor.shape), tuple(tensor.stride())
    contiguous = contiguous_strides(shape, strides)
    # The stride of a dimension of one element does not matter.
    pairs = zip(shape, strides, contiguous, strict=True)
    effective = [right if size == 1 else found for size, found, right in pairs]
    effective = effective if tensor.numel() else []
    return [str(tensor.dtype), list(tensor.shape), effective, tensor.device.type]


def any_view(
    rng: np.random.Generator, views: Collection[str] = tuple(VIEWS), **more: Any
) -> Described:
    view = str(rng.choice(list(views)))
    rows, columns, seed = (
        int(rng.integers(3, 9)),
        int(rng.integers(1, 9)),
        int(rng.integers(1 << 30)),
    )
    return Described(view, rows, columns, seed=seed, **more)


# --- refuse or copy ---

TAKEN = ("float32", "float64")
REFUSED = (
    *("float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool"),
    *("complex64", "complex128"),
)
NAMED = "names what x has"


def at_the_door(ready: Callable[..., Any], given: Described) -> dict[str, str]:
    """The answer of ``ready`` to the tensor, and whether it left that alone."""
    x = given.tensor()
    before = x if given.device == "meta" else x.clone()
    was = outside(x)
    try:
        result = ready(x)
    except (TypeError, ValueError) as error:
        name = "meta" if given.device == "meta" else given.dtype
        named = NAMED if name in str(error) else str(error)
        return {"raises": type(error).__name__, "its message": named}
    same = "x itself" if result is x else "another tensor"
    if type(result) is not type(x):
        return {"result": f"an object of type {type(result).__name__}"}
    if given.device == "meta":
        return {"result": same}
    untouched = outside(x) == was and bool((x == before).all())
    equal = result.shape == x.shape and result.dtype == x.dtype and bool((result == before).all())
    return {
        "result": same,
        "its memory": "contiguous" if result.is_contiguous() else "not contiguous",
        "its values": "equal to x" if equal else "not equal to x",
        "x afterwards": "as it was" if untouched else "changed",
    }


def expected_at_the_door(given: Described) -> dict[str, str]:
    if given.dtype not in TAKEN:
        return {"raises": "TypeError", "its message": NAMED}
    if given.device == "meta":
        return {"raises": "ValueError", "its message": NAMED}
    shape, strides = layout(given)
    pairs = zip(shape, strides, contiguous_strides(shape, strides), strict=True)
    contiguous = all(size == 1 or found == right for size, found, right in pairs)
    return {
        "result": "x itself" if contiguous else "another tensor",
        "its memory": "contiguous",
        "its values": "equal to x",
        "x afterwards": "as it was",
    }


def layout(given: Described) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape and the strides of the view, in elements, by hand."""
    r, c = given.rows, given.columns
    found = {
        "as it is": ((r, c), (c, 1)),
        "transposed": ((c, r), (1, c)),
        "every other column": ((r, ceil_div(c, 2)), (c, 2)),
        "without its first row": ((r - 1, c), (c, 1)),
        "without its first column": ((r, c - 1), (c, 1)),
        "one row, expanded": ((4, c), (0, 1)),
        "one column": ((r, 1), (c, 1)),
        "one element": ((), ()),
        "no rows": ((0, c), (c, 1)),
        "a row of a transpose": ((1, r), (1, c)),
        "a part of a row": ((1, c - 1), (c, 1)),
        "channels last": ((1, c, r, 1), (r * c, 1, c, 1)),
        "a column of one dimension": ((r,), (c,)),
        "no columns, transposed": ((0, r), (1, c)),
        "one number, expanded": ((3, 4), (0, 0)),
        "one column, expanded": ((r, 4), (c, 0)),
        "each number twice": ((r, c, 2), (c, 1, 0)),
        "rows that overlap": ((r * c - 2, 3), (1, 1)),
        "a dimension of one with a stride of 0": ((r, 1, c), (c, 0, 1)),
        "one number with strides of 7 and 3": ((1, 1), (7, 3)),
        "three dimensions, channels last": ((1, c, 1, r, 1), (0, 1, 0, c, 0)),
        "one matrix of several": ((1, r, c), (0, c, 1)),
        "three dimensions, two of them exchanged": ((2, r, c), (c, 2 * c, 1)),
    }
    return found[given.view]


def contiguous_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Those of a contiguous tensor of this shape; ``strides`` where it has no elements."""
    if 0 in shape:
        return strides
    wanted, step = list(strides), 1
    for axis in reversed(range(len(shape))):
        wanted[axis] = step
        step *= shape[axis]
    return tuple(wanted)


def any_door(rng: np.random.Generator) -> tuple[Described]:
    if rng.random() < 0.3:
        return (any_view(rng, dtype=str(rng.choice(REFUSED))),)
    return (any_view(rng, (*VIEWS, *ODD_VIEWS), dtype=str(rng.choice(TAKEN))),)


CONTIGUOUS_OR_REFUSED = PythonExercise(
    function="ready",
    needs=("torch",),
    call=at_the_door,
    cases=(
        (Described("as it is"),),
        (Described("transposed"),),
        (Described("every other column", dtype="float64"),),
        (Described("as it is", dtype="float16"),),
        (Described("as it is", device="meta"),),
        (Described("one row, expanded"),),
        (Described("without its first row"),),
        (Described("without its first column"),),
        (Described("a row of a transpose"),),
        (Described("one element"),),
        (Described("no rows"),),
        (Described("transposed", dtype="int64"),),
        (Described("transposed", device="meta"),),
        *((Described("as it is", dtype=dtype),) for dtype in REFUSED),
        (Described("no rows", dtype="float16"),),
        (Described("no rows", device="meta"),),
        (Described("one element", dtype="float16"),),
        (Described("one element", device="meta"),),
        (Described("a part of a row"),),
        (Described("channels last"),),
        *((Described(view, dtype="float64"),) for view in ODD_VIEWS),
    ),
    reference=expected_at_the_door,
    contract=DrawnCases(any_door),
)

# --- a kernel that handles strides ---

STRIDES: dict[
    int, Callable[[int, int], tuple[int, int]]
] = {  # of a view of rows x columns, by a number that stands for how it came about
    0: lambda rows, columns: (columns, 1),  # contiguous
    1: lambda rows, columns: (1, rows),  # transposed
    2: lambda rows, columns: (2 * columns + 3, 2),  # every other column of wider rows
    3: lambda rows, columns: (0, 1),  # one row, expanded
    4: lambda rows, columns: (1, 0),  # one column, expanded
    5: lambda rows, columns: (3, 3 * rows + 1),  # every third row, transposed
    6: lambda rows, columns: (columns + 5, 1),  # the first columns of wider rows
    7: lambda rows, columns: (3 * columns + 1, 3),  # every third column of wider rows
    8: lambda rows, columns: (columns, 0),  # one column of a matrix of as many, expanded
    9: lambda rows, columns: (columns, 2),  # rows that overlap: a row begins within the one before
}


def strided(rng: np.random.Generator, size: tuple[int, int, int]) -> dict[str, Any]:
    rows, columns, view = size
    down, across = STRIDES[view](rows, columns)
    return {
        "x": floats(rng, (rows - 1) * down + (columns - 1) * across + 1),
        "y": empty(rows * columns),
        **int32s(rows=rows, columns=columns, row_stride=down, column_stride=across),
    }


def square_plus_of_view(given: dict[str, Any]) -> dict[str, Any]:
    row, column = np.ogrid[: given["rows"], : given["columns"]]
    x = given["x"].astype(np.float64)[row * given["row_stride"] + column * given["column_stride"]]
    return {"y": (x * x + x + 1).ravel()}


STRIDED_POLYNOMIAL = KernelExercise(
    inputs=strided,
    reference=square_plus_of_view,
    launch=lambda size: Launch((ceil_div(size[0] * size[1], 256),), (256,)),
    small=((7, 45, 0), (7, 45, 1), (5, 3, 2), (33, 9, 5), (5, 9, 7), (2, 4099, 0), (1, 1, 0)),
    full=(4096, 4099, 1),
    contract=Domain(
        sizes=domain.shapes(
            rows=(1, 2, 31, 33, 257), columns=(1, 2, 31, 33, 257), view=tuple(STRIDES)
        )
        .with_outlier(rows=65_543, columns=4099)
        .limited_in("view"),
        values=(
            domain.data(
                "x", *domain.ORDINARY, domain.SOME_NAN, domain.PLUS_INFINITY, domain.VERY_LARGE
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(32, 32, 0)),
        method.no_redundant_work(1.5, size=(32, 32, 0)),
    ),
)

# --- a fake function ---


def faked(fake: Callable[..., Any], given: Described, length: int, step: int) -> list[Any]:
    """The fake function's two results, and whether they share x's memory."""
    x = given.tensor()
    found = fake(x, length, step)
    if type(found) is not tuple or len(found) != 2:
        return [f"a {type(found).__name__}, not two tensors"]
    if given.device == "cpu" and any(type(f) is type(x) and f.numel() for f in found):
        place = {f.untyped_storage().data_ptr() for f in (x, *found) if type(f) is type(x)}
        if len(place) < 3:
            return ["tensors that share memory"]
    return [outside(tensor) for tensor in found]


def expected_fake(given: Described, length: int, step: int) -> list[Any]:
    shape, _ = layout(given)
    windows = len(range(0, shape[-1] - length + 1, step))
    wide = "float32" if given.dtype in ("float16", "bfloat16") else given.dtype
    result = (*shape[:-1], windows)
    strides = [] if 0 in result else list(np.cumprod([1, *result[:0:-1]])[::-1])
    strides = [int(stride) for stride in strides]
    where = [list(result), strides, given.device]
    return [[f"torch.{wide}", *where], ["torch.int64", *where]]


def any_windows(rng: np.random.Generator) -> tuple[Described, int, int]:
    dtype = str(rng.choice(["float32", "float64", "float16", "bfloat16"]))
    device = str(rng.choice(["cpu", "meta"]))
    given = any_view(rng, dtype=dtype, device=device)
    while not given_shape(given):
        given = any_view(rng, dtype=dtype, device=device)
    return given, int(rng.integers(1, 7)), int(rng.integers(1, 5))


def given_shape(given: Described) -> tuple[int, ...]:
    return layout(given)[0]


FAKE_WINDOWS = PythonExercise(
    needs=("torch",),
    call=faked,
    cases=(
        (Described("as it is"), 2, 1),
        (Described("as it is", device="meta"), 2, 2),
        (Described("as it is", dtype="float16"), 3, 2),
        (Described("as it is", dtype="bfloat16", device="meta"), 1, 1),
        (Described("transposed", dtype="float64", device="meta"), 1, 1),
        (Described("transposed", rows=9), 4, 3),
        (Described("as it is"), 5, 1),
        (Described("as it is"), 6, 1),
        (Described("as it is", device="meta"), 9, 2),
        (Described("as it is"), 1, 1),
        (Described("a column of one dimension", rows=7), 3, 2),
        (Described("no rows"), 2, 1),
        (Described("one row, expanded", dtype="float64"), 2, 3),
        (Described("three dimensions, two of them exchanged"), 2, 1),
        (Described("three dimensions, two of them exchanged", dtype="float16"), 2, 1),
    ),
    reference=expected_fake,
    contract=DrawnCases(any_windows),
)

# --- the gradient ---


def slope_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict[str, Any]:
    n, count = size
    return {
        "x": floats(rng, n),
        "c": floats(rng, count),
        "dy": floats(rng, n),
        "dx": empty(n),
        **int32s(count=count, n=n),
    }


def slope_of(given: dict[str, Any]) -> dict[str, Any]:
    x, c = given["x"].astype(np.float64), given["c"].astype(np.float64)
    slope = sum((k * c[k] * x ** (k - 1) for k in range(1, len(c))), np.zeros_like(x))
    return {"dx": given["dy"] * slope}


def straight_line(given: Given, rng: np.random.Generator) -> Given:
    """Powers of x that are no floats, times coefficients of 0."""
    c = given["c"].copy()
    c[2:] = 0
    return {"c": c, "x": 1e20 * given["x"].astype(np.float64)}


def infinite_slope(given: domain.Given, rng: np.random.Generator) -> dict[str, Any]:
    """c[1] is infinite, and so is every slope; every third of dy is 0."""
    c = given["c"].copy()
    c[1] = np.inf
    return {"c": c, "dy": np.where(np.arange(len(given["dy"])) % 3, given["dy"], 0)}


POLYNOMIAL_SLOPE = KernelExercise(
    inputs=slope_inputs,
    reference=slope_of,
    launch=lambda size: Launch((ceil_div(size[0], 256),), (256,)),
    reduction=lambda size: 4 * size[1],
    small=((1000, 5), (257, 3), (33, 2), (1, 4)),
    full=(1 << 24, 4),
    contract=Domain(
        sizes=domain.shapes(n=domain.LENGTHS, count=(2, 3, 4, 7))
        .with_outlier(count=67)
        .limited_in("count"),
        values=(
            domain.data("x", domain.ZEROS, domain.NEGATIVE, domain.TIES, domain.MIDDLING),
            domain.data("c", *domain.ORDINARY),
            (
                *domain.data("dy", *domain.ORDINARY, domain.VERY_SMALL),
                domain.InputClass("c[1] infinite, some of dy 0", infinite_slope),
                domain.InputClass("a straight line, x about 1e20", straight_line),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(1024, 3)),
        method.no_redundant_work(3.0, size=(1024, 3)),
    ),
)

# --- gradients of gradients ---


def derivatives(
    gradients: Callable[..., Any], x: np.ndarray, c: np.ndarray, dy: np.ndarray, seed: int
) -> tuple[list[Any], ...]:
    """First, second and third derivatives that come of ``gradients`` as an operator's backward."""
    import torch

    class Polynomial(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, c: Any) -> Any:
            ctx.save_for_backward(x, c)
            if c.dim() != 1 or len(c) == 0:
                raise ValueError(f"polynomial: c is a row of at least one, not {tuple(c.shape)}")
            return torch.from_numpy(np.asarray(value_of(x.detach().numpy(), c.detach().numpy())))

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return gradients(Polynomial.apply, *ctx.saved_tensors, dy)

    u, v = (torch.from_numpy(a) for a in directions(x, c, seed))
    x_, c_, dy_ = (torch.from_numpy(a.copy()).requires_grad_() for a in (x, c, dy))

    def slopes(result: Any, *of: Any) -> tuple[Any, ...]:
        if not result.requires_grad:  # it depends on none of them, as a slope of 0 may
            return tuple(map(torch.zeros_like, of))
        whole = {"create_graph": True, "allow_unused": True, "materialize_grads": True}
        return torch.autograd.grad(result, of, **whole)

    first = slopes((Polynomial.apply(x_, c_) * dy_).sum(), x_, c_)
    second = slopes((first[0] * u).sum() + (first[1] * v).sum(), x_, c_, dy_)
    (third,) = slopes((second[0] * u).sum(), x_)
    every = (*first, *second, third)
    return joined([found.detach().numpy() for found in every])


def joined(arrays: Sequence[np.ndarray]) -> tuple[list[Any], ...]:
    """The shape and the numbers of each."""
    return tuple([list(array.shape), array.ravel().tolist()] for array in arrays)


def value_of(x: np.ndarray, c: np.ndarray) -> np.ndarray:
    return sum(c[k] * x**k for k in range(len(c)))


def directions(x: np.ndarray, c: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    whole = -2.0, -1.0, 1.0, 2.0  # a case can be worked by hand
    return np.asarray(rng.choice(whole, x.shape)), rng.choice(whole, c.shape)


def polynomial_and_directions(
    x: np.ndarray, c: np.ndarray, dy: np.ndarray, seed: int
) -> dict[str, np.ndarray]:
    """The inputs as a verdict shows them."""
    u, v = directions(x, c, seed)
    return {"x": x, "c": c, "dy": dy, "u": u, "v": v}


def by_formula(x: np.ndarray, c: np.ndarray, dy: np.ndarray, seed: int) -> tuple[Any, ...]:
    """The same by the formulas: p is a sum of powers, and each derivative is written out."""
    u, v = directions(x, c, seed)

    def slope(a: np.ndarray, order: int) -> np.ndarray:
        """The derivative of that order of the polynomial with coefficients ``a``."""
        found = np.zeros_like(x)
        for k in range(order, len(a)):
            factor = float(np.prod([k - j for j in range(order)])) if order else 1.0
            found = found + factor * a[k] * x ** (k - order)
        return found

    units = np.eye(len(c))
    dx = dy * slope(c, 1)
    dc = np.array([(dy * slope(unit, 0)).sum() for unit in units])
    by_x = u * dy * slope(c, 2) + dy * slope(v, 1)
    by_c = np.array([(u * dy * slope(unit, 1)).sum() for unit in units])
    by_dy = u * slope(c, 1) + slope(v, 0)
    third = u * (u * dy * slope(c, 3) + dy * slope(v, 2))
    return joined((dx, dc, by_x, by_c, by_dy, third))


def some_polynomial(seed: int, shape: tuple[int, ...], count: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    x = np.round(4 * rng.standard_normal(shape)) / 4  # zeros among them
    return np.asarray(x), rng.standard_normal(count), np.asarray(rng.standard_normal(shape)), seed


def any_polynomial(rng: np.random.Generator) -> tuple[Any, ...]:
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 4))))
    return some_polynomial(int(rng.integers(1 << 30)), shape, int(rng.integers(1, 7)))


TWICE_DIFFERENTIABLE = PythonExercise(
    function="gradients",
    needs=("torch",),
    call=derivatives,
    shows=polynomial_and_directions,
    start="result[0] is the gradient of x and result[1] the gradient of c, each as its shape "
    "and its numbers. Work these two out by hand first. The others are the gradients of x, c and "
    "dy from the directions u and v of these two, and the third derivative of x.",
    cases=(
        (np.array([2.0, -1.0]), np.array([1.0, 3.0, 5.0]), np.array([1.0, 2.0]), 6),
        some_polynomial(1, (3,), 3),
        some_polynomial(2, (2, 3), 4),
        some_polynomial(3, (), 2),
        some_polynomial(4, (4,), 1),
        some_polynomial(5, (1, 5), 6),
        some_polynomial(7, (3,), 12),
        some_polynomial(9, (2,), 67),
        some_polynomial(8, (0, 3), 3),
        (np.zeros(3), np.array([1.0, 2, 3, 4]), np.ones(3), 6),
    ),
    reference=by_formula,
    contract=DrawnCases(any_polynomial),
)

# --- find what opcheck would name ---


@dataclass(frozen=True)
class Rows(Described):
    """As :class:`Described`, with a first row of zeros, or all of it brought to magnitude 1, or
    very small, or subnormal, or with NaN in its rows."""

    special: str = ""

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}{', ' if self.special else ''}{self.special}>"

    def numbers(self) -> np.ndarray:
        found = super().numbers()
        if self.special == "zeros":
            found[0] = 0
            found[:, 0] = 0
        if self.special == "magnitude 1":
            found = np.sign(found) + (found == 0)
        if self.special == "negative":
            found = -np.abs(found) - 0.25
        if self.special == "very small":
            found *= 2.0**-115
        if self.special == "subnormal":
            steps = np.arange(found.size).reshape(found.shape) + 1
            found = np.sign(found) * steps * 2e-41
        if self.special == "NaN":
            found[:, -1] = np.nan
        return found


def checked(scaled_rows: Callable[..., Any], given: Rows) -> tuple[Any, ...]:
    """Both results, whether x was left alone, what shares memory, and how the fake ones differ."""
    import torch

    operator, fake = scaled_rows()
    x = given.tensor()
    before = x.clone()
    y, scale = operator(x)
    first = y.tolist(), scale.tolist()
    same = (x == before) | (x.isnan() & before.isnan())
    touched = "x is as it was" if bool(same.all()) else "x was changed"
    places = {t.untyped_storage().data_ptr() for t in (x, y, scale) if t.numel()}
    parted = len(places) == sum(bool(t.numel()) for t in (x, y, scale))
    memory = "no memory is shared" if parted else "results that share memory"
    real = [outside(t) for t in (y, scale)]
    told = []
    for probe in (x, x.to("meta"), torch.empty_strided(x.shape, x.stride(), dtype=x.dtype)):
        said = [outside(t) for t in fake(probe)]
        want = [[*r[:3], probe.device.type] for r in real]
        told.append("as the operator's" if said == want else f"{said}, the operator's {want}")
    operator(-3 * x)
    if repr((y.tolist(), scale.tolist())) != repr(first):
        memory = "a second call writes to the first one's results"
    return touched, memory, *first, told, real


def as_promised(given: Rows) -> tuple[Any, ...]:
    x = view_of(given)
    scale = np.abs(x).max(axis=1, keepdims=True) if x.size else np.ones((len(x), 1), x.dtype)
    scale[scale == 0] = 1
    real = []
    for array in (x, scale):
        strides = [array.shape[1], 1] if array.size else []
        real.append([f"torch.{given.dtype}", list(array.shape), strides, "cpu"])
    told = ["as the operator's"] * 3
    return "x is as it was", "no memory is shared", (x / scale).tolist(), scale.tolist(), told, real


def view_of(given: Rows) -> np.ndarray:
    """The view's numbers, in NumPy."""
    whole = given.numbers().astype(given.dtype)
    found = {
        "as it is": whole,
        "transposed": whole.T,
        "every other column": whole[:, ::2],
        "without its first row": whole[1:],
        "one row, expanded": np.broadcast_to(whole[:1], (4, whole.shape[1])),
        "one column": whole[:, :1],
        "no rows": whole[:0],
        "a row of a transpose": whole.T[:1],
    }
    return np.ascontiguousarray(found[given.view])


ROW_VIEWS = (
    *("as it is", "transposed", "every other column", "without its first row", "one column"),
    *("one row, expanded", "no rows", "a row of a transpose"),
)


def any_rows(rng: np.random.Generator) -> tuple[Rows]:
    special = str(rng.choice(["", "zeros", "magnitude 1", "negative", "very small", "NaN"]))
    rows, columns, seed = (
        int(rng.integers(3, 9)),
        int(rng.integers(1, 9)),
        int(rng.integers(1 << 30)),
    )
    view, dtype = str(rng.choice(ROW_VIEWS)), str(rng.choice(TAKEN))
    return (Rows(view, rows, columns, dtype, seed=seed, special=special),)


THREE_LIES = PythonExercise(
    function="scaled_rows",
    rtol=1e-5,
    needs=("torch",),
    call=checked,
    cases=(
        (Rows("as it is"),),
        (Rows("as it is", dtype="float64"),),
        (Rows("as it is", special="magnitude 1"),),
        (Rows("as it is", special="zeros"),),
        (Rows("transposed"),),
        (Rows("transposed", special="magnitude 1", dtype="float64"),),
        (Rows("every other column", columns=8),),
        (Rows("one column", special="negative"),),
        (Rows("one row, expanded"),),
        (Rows("no rows", dtype="float64"),),
        (Rows("as it is", special="very small"),),
        (Rows("as it is", special="subnormal"),),
        (Rows("as it is", special="NaN"),),
    ),
    reference=as_promised,
    contract=DrawnCases(any_rows),
)
