"""The exercises of "Frameworks"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import PythonExercise


def matrix(*shape: int, dtype: str = "float32") -> tuple[Any, ...]:
    return ("array", shape, dtype)


def any_calls(rng: np.random.Generator) -> tuple[list[Any]]:
    """Calls of one to four arguments, drawn from few, so that many repeat."""
    kinds_of = [
        matrix(4),
        matrix(4, 1),
        matrix(1, 4),
        matrix(4, dtype="float16"),
        matrix(4, dtype="int32"),
        ("number", 2),
        ("number", 5),
        ("number", 9),
        ("number", 70_000),
        ("number", 2.0),
        ("static", 2),
        ("static", "relu"),
    ]
    some = [kinds_of[k] for k in rng.choice(len(kinds_of), int(rng.integers(2, 7)))]
    picked = rng.integers(0, len(some), (int(rng.integers(1, 15)), int(rng.integers(1, 5))))
    return ([[some[k] for k in call] for call in picked],)


def compiled(calls: list[Any]) -> int:
    def key(argument: tuple[Any, ...]) -> str:
        if argument[0] == "number":
            return type(argument[1]).__name__
        return repr(argument)

    return len({"|".join(map(key, call)) for call in calls})


COMPILATIONS = PythonExercise(
    cases=(
        ([[matrix(8, 3)], [matrix(8, 3)], [matrix(5, 3)]],),
        (
            [
                [matrix(8), ("number", 2)],
                [matrix(8), ("number", 7)],
                [matrix(8), ("number", 9.0)],
                [matrix(8), ("number", 9)],
                [matrix(8), ("number", 70_000)],
            ],
        ),
        ([[matrix(8), ("static", 2)], [matrix(8), ("static", 7)], [matrix(8), ("static", 2)]],),
        ([[matrix(8)], [matrix(8, dtype="float16")], [matrix(8, 1)], [matrix(1, 8)]],),
        ([[matrix(1, 23)], [matrix(12, 3)], [matrix(123)]],),
        ([[("number", 3)]] * 20,),
        ([[("static", "1"), ("static", "23")], [("static", "12"), ("static", "3")]],),
        ([[("static", 1)], [("static", "1")], [("static", "1.0")]],),
        (
            [
                [matrix(4, dtype=t)]
                for t in ("float64", "float32", "bfloat16", "int64", "uint8", "bool")
            ],
        ),
        ([[("static", value)] for value in (0, None, "", ())],),
        ([],),
        ([[matrix(4), matrix(4), matrix(4)], [matrix(4), matrix(4), ("static", 4)]],),
        ([[*[matrix(4)] * 20, ("number", 1)], [*[matrix(4)] * 20, ("number", 1.0)]],),
        ([[("static", value)] for value in ("relu", "relu6", "relu_", 2, 1002, 2 + 2**32)],),
        ([[matrix(rows)] for rows in (2, 2 + 2**12, 2 + 2**16, 2 + 2**32)],),
        ([[matrix(rows)] for rows in range(1, 301)] * 2,),  # past any list of the last few
    ),
    reference=compiled,
    contract=DrawnCases(any_calls),
)


def by_hand() -> tuple[np.ndarray, list[np.ndarray]]:
    """Two samples and two layers with small integers. A number before each relu, and one of the
    outputs, is below 0."""
    first, second = np.array([[1.0, -1], [2, 0], [0, 1]]), np.array([[1.0, 1, 1]])
    return np.array([[1.0, 2], [3, -1]]), [first, np.array([0.0, 1, -2]), second, np.array([-10.0])]


def layers(
    seed: int, *widths: int, rows: int = 3, scale: float = 1.0
) -> tuple[np.ndarray, list[np.ndarray]]:
    """A batch, and the weights and biases of layers of those widths, in PyTorch's shapes. Batch and
    biases are multiplied by ``scale``, and so is what comes out."""
    rng = np.random.default_rng(seed)
    arrays = []
    for inputs, outputs in zip(widths, widths[1:], strict=False):
        arrays += [rng.standard_normal((outputs, inputs)), scale * rng.standard_normal(outputs)]
    return scale * rng.standard_normal((rows, widths[0])), arrays


def sharing_layers(seed: int, width: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Three square layers, the first and the last of which have one and the same weight."""
    x, arrays = layers(seed, *[width] * 4)
    arrays[4] = arrays[0]
    return x, arrays


def any_layers(rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """One to five layers, each of up to six outputs; every other time they are square. The numbers
    are of any magnitude."""
    count = int(rng.integers(1, 6))
    widths = [int(w) for w in rng.integers(1, 7, count + 1)]
    if rng.random() < 0.5:
        widths = [max(2, widths[0])] * (count + 1)
    scale = float(rng.choice([1, 1, 1e-6, 1e8]))
    return layers(int(rng.integers(1 << 30)), *widths, rows=int(rng.integers(1, 6)), scale=scale)


def by_layers(x: np.ndarray, arrays: list[np.ndarray]) -> np.ndarray:
    last = len(arrays) - 2
    for k in range(0, len(arrays), 2):
        x = np.einsum("ri,oi->ro", x, arrays[k]) + arrays[k + 1]
        x = x * (x > 0) if k < last else x
    return x


MLP = PythonExercise(
    cases=(
        by_hand(),
        layers(7, 3, 4, 2),
        layers(2, 3, 3, 3),
        layers(3, 5, 2),
        layers(4, 2, 6, 4, 1),
        layers(5, 1, 1),
        layers(6, *[2] * 120),
        layers(8, 4, 5, 3, scale=1e-6),
        layers(9, 4, 5, 3, scale=1e8),
        layers(11, 4, 5, 3, scale=1e-12),
        layers(13, 4, 5, 3, scale=1e30),
        layers(14, 2, 2, rows=5000),
        layers(10, 70, 300, 130, rows=150),
        sharing_layers(12, 4),
    ),
    reference=by_layers,
    contract=DrawnCases(any_layers),
)


def kernel_of(seed: int, *shape: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(seed).standard_normal(shape).astype(np.float32),)


def any_kernel(rng: np.random.Generator) -> tuple[np.ndarray]:
    """Weights of up to five in each dimension; every other time all four are equal. Some are zeros,
    and any float may be among the others."""
    shape = rng.integers(1, 6, 4)
    if rng.random() < 0.5:
        shape[:] = max(2, shape[0])
    (weights,) = kernel_of(int(rng.integers(1 << 30)), *map(int, shape))
    strange = np.array(
        [0, -0.0, np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e-30, 1e-44], np.float32
    )
    return (np.where(rng.random(shape) < 0.3, rng.choice(strange, shape), weights),)


CONV_LAYOUT = PythonExercise(
    function="to_channels_last",
    bug=kinds.WRONG,
    cases=(
        (np.arange(8, dtype=np.float32).reshape(2, 1, 2, 2),),
        kernel_of(1, 2, 3, 3, 3),
        kernel_of(2, 1, 1, 3, 3),
        kernel_of(3, 4, 1, 3, 2),
        kernel_of(4, 3, 3, 3, 3),
        kernel_of(5, 5, 2, 1, 1),
        (np.random.default_rng(6).standard_normal((2, 3, 3, 2)),),  # float64
        (np.random.default_rng(9).standard_normal((1, 2, 5, 4)),),
        kernel_of(7, 70, 3, 11, 7),
        kernel_of(8, 1, 300, 1, 2),
        kernel_of(10, 3, 2, 9, 9),
    ),
    reference=lambda weights: np.einsum("oirc->rcio", weights).copy(),
    exact=True,
    contract=DrawnCases(any_kernel),
)

# --- a test to write: functions that move a layer, three of them right ---

Layer = tuple[np.ndarray, np.ndarray]


def in_place(weight: np.ndarray, bias: np.ndarray) -> Layer:
    moved = weight.T.copy()
    weight[:] = 0
    return moved, bias


PORTS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], Layer]]] = {
    "makes a view": ("accepted", lambda w, b: (w.T, b)),
    "reshapes": ("refused", lambda w, b: (w.reshape(w.shape[::-1]), b)),
    "leaves squares as they are": (
        "refused",
        lambda w, b: (w if w.shape[0] == w.shape[1] else w.T, b),
    ),
    "reshapes unless it's square": (
        "refused",
        lambda w, b: (w.T if w.shape[0] == w.shape[1] else w.reshape(w.shape[::-1]), b),
    ),
    "makes copies": ("accepted", lambda w, b: (w.T.copy(), b.copy())),
    "turns by 90 degrees": ("refused", lambda w, b: (np.rot90(w), b)),
    "rounds to 16 bits": ("refused", lambda w, b: (w.T.astype(np.float16).astype(w.dtype), b)),
    "loses the bias": ("refused", lambda w, b: (w.T, 0 * b)),
    "goes by einsum": ("accepted", lambda w, b: (np.einsum("oi->io", w), b)),
    "empties its inputs": ("refused", in_place),
    "stops at 32 outputs": (
        "refused",
        lambda w, b: (np.where(np.arange(len(w)) < 32, w.T, 0), b),
    ),
    "drops very small numbers": ("refused", lambda w, b: (np.where(abs(w) < 1e-9, 0, w).T, b)),
    "moves nothing": ("refused", lambda w, b: (w, b)),
}


def tried(function: Callable[[Any], Any], name: str) -> str | None:
    """The verdict of a test on one of the functions."""
    move = PORTS[name][1]

    def port(weight: np.ndarray, bias: np.ndarray) -> Layer:
        with np.errstate(over="ignore"):  # of 16 bits
            return move(weight, bias)

    verdict = function(port)
    return None if verdict is None else "accepted" if verdict else "refused"


TEST_PORT = PythonExercise(
    function="accepts",
    cases=tuple((name,) for name in PORTS),
    reference=lambda name: PORTS[name][0],
    call=tried,
    start="Which weight, and which comparison, would show this mistake?",
    contract="The test is for these thirteen functions.",
)
