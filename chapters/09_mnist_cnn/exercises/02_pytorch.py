"""The exercises of "The network in PyTorch". None of them needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.spec import PythonExercise


def images_of(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """N x C x H x W numbers, each channel with a mean and a deviation of its own."""
    spread = rng.uniform(0.5, 3, (shape[1], 1, 1))
    return spread * rng.standard_normal(shape) + rng.uniform(-2, 2, (shape[1], 1, 1))


def a_layer(
    seed: int, channels: int, side: int, batch: int, seen: tuple[int, ...], training: bool
) -> tuple[Any, ...]:
    """x of ``batch`` images, and earlier batches of as many images as ``seen`` says."""
    rng = np.random.default_rng(seed)
    x, *before = (images_of(rng, n, channels, side, side + 1) for n in (batch, *seen))
    gamma, beta = rng.uniform(0.5, 2, channels), rng.uniform(-1, 1, channels)
    return x, before, gamma, beta, training


def any_layer(rng: np.random.Generator) -> tuple[Any, ...]:
    """Up to three channels and four earlier batches, of two images or more."""
    channels, side, batch = (int(n) for n in rng.integers(1, 4, 3))
    seen = tuple(int(n) for n in rng.integers(2, 5, int(rng.integers(0, 5))))
    return a_layer(
        int(rng.integers(1 << 30)), channels, side, batch, seen, bool(rng.random() < 0.4)
    )


def as_torch_does(
    x: np.ndarray, seen: list[np.ndarray], gamma: np.ndarray, beta: np.ndarray, training: bool
) -> np.ndarray:
    """What a test compares with nn.BatchNorm2d: channel by channel, the sums by hand."""
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        mean, variance = 0.0, 1.0
        for batch in seen:
            values = batch[:, c].ravel()
            own = values.sum() / len(values)
            unbiased = ((values - own) ** 2).sum() / (len(values) - 1)
            mean, variance = 0.9 * mean + 0.1 * own, 0.9 * variance + 0.1 * unbiased
        if training:
            mean = x[:, c].sum() / x[:, c].size
            variance = ((x[:, c] - mean) ** 2).sum() / x[:, c].size
        y[:, c] = gamma[c] * (x[:, c] - mean) * (variance + 1e-5) ** -0.5 + beta[c]
    return y


class Loss:
    """A mean loss, and what its gradient goes to."""

    def __init__(self, value: float, gradient: np.ndarray, model: Model) -> None:
        self._value, self._gradient, self._model = value, gradient, model

    def item(self) -> float:
        return self._value

    def backward(self) -> None:
        self._model.gradient = self._model.gradient + self._gradient


class Model:
    """A linear classifier behind a batch norm, in NumPy, that is called as PyTorch's modules are.

    It is its own optimiser's whole world: ``weight`` and its ``gradient``. It has memory for
    ``most`` samples at once.
    """

    def __init__(self, rng: np.random.Generator, inputs: int, classes: int, most: int) -> None:
        self.most = most
        self.weight = rng.standard_normal((inputs, classes))
        self.gradient = np.zeros_like(self.weight)
        self.mean, self.variance, self.training = np.zeros(inputs), np.ones(inputs), True

    def train(self) -> None:
        self.training = True

    def eval(self) -> None:
        self.training = False

    def zero_grad(self, set_to_none: bool = True) -> None:
        """As PyTorch's, but with 0 for a gradient that is None there."""
        self.gradient = np.zeros_like(self.weight)

    def loss(self, x: np.ndarray, labels: np.ndarray) -> Loss:
        """The mean cross entropy of samples x, n x inputs. MemoryError for too many of them."""
        if len(x) > self.most:
            raise MemoryError(f"{len(x)} samples at once, and memory for {self.most}")
        mean, variance = self.mean, self.variance
        if self.training:
            mean, variance = x.mean(0), x.var(0)
            self.mean = self.mean + 0.1 * (mean - self.mean)
            self.variance = self.variance + 0.1 * (variance - self.variance)
        h = (x - mean) / np.sqrt(variance + 1e-5)
        z = h @ self.weight
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        right = np.arange(len(x)), labels
        value = float(-np.log(p[right]).mean())
        p[right] -= 1
        return Loss(value, h.T @ p / len(x), self)


class Optimiser:
    """Plain SGD."""

    def __init__(self, model: Model, rate: float) -> None:
        self._model, self._rate = model, rate

    def zero_grad(self, set_to_none: bool = True) -> None:
        self._model.zero_grad(set_to_none)

    def step(self) -> None:
        self._model.weight = self._model.weight - self._rate * self._model.gradient


@dataclass(frozen=True)
class Training:
    """How many images, tests and epochs there are, and how many images a batch has."""

    seed: int
    images: int
    tests: int
    epochs: int
    batch: int

    def run(self, losses_after: Callable[..., Any], most: int | None = None) -> list[float]:
        """What ``losses_after`` finds, of a new model and new data each time."""
        rng = np.random.default_rng(self.seed)
        model = Model(rng, 5, 3, most or self.batch)
        centres = 2 * rng.standard_normal((3, 5))
        labels, answers = (rng.integers(0, 3, n) for n in (self.images, self.tests))
        images, tests = (centres[k] + rng.standard_normal((len(k), 5)) for k in (labels, answers))
        orders = [rng.permutation(self.images) for _ in range(self.epochs)]
        return losses_after(
            model, Optimiser(model, 0.5), images, labels, tests, answers, orders, self.batch
        )


def by_the_book(training: Training) -> list[float]:
    return training.run(_by_the_book, most=max(training.images, training.tests))


def _by_the_book(
    model: Any,
    optimiser: Any,
    images: Any,
    labels: Any,
    tests: Any,
    answers: Any,
    orders: Any,
    batch: Any,
) -> list[float]:
    found = []
    for order in orders:
        model.training = True
        for row in order[: len(order) // batch * batch].reshape(-1, batch):
            optimiser.zero_grad()
            model.loss(images[row], labels[row]).backward()
            optimiser.step()
        model.training = False
        found.append(model.loss(tests, answers).item())
    return found


def any_training(rng: np.random.Generator) -> tuple[Training]:
    batch = int(rng.integers(2, 7))
    images, tests = (
        batch * int(rng.integers(2, 5)) + int(rng.integers(batch)),
        int(rng.integers(1, 20)),
    )
    return (Training(int(rng.integers(1 << 30)), images, tests, int(rng.integers(1, 4)), batch),)


TRAINING_LOOP = PythonExercise(
    function="losses_after",
    bug=kinds.WRONG,
    call=lambda function, training: training.run(function),
    cases=(
        (Training(1, 12, 4, 1, 4),),
        (Training(2, 12, 4, 2, 4),),
        (Training(3, 13, 9, 3, 4),),
        (Training(4, 10, 1, 2, 3),),
    ),
    reference=by_the_book,
    start="Begin with the first epoch: which rows does each step take, and does the model "
    "keep anything from the step before? If each step is right, how much does each test count?",
    contract=DrawnCases(any_training),
)

BATCH_NORM = PythonExercise(
    cases=(
        (np.array([1.0, 5, 5, 1]).reshape(2, 1, 1, 2), [], np.array([3.0]), np.array([1.0]), True),
        (np.array([0.0, 2, 4, 6]).reshape(2, 1, 1, 2), [], np.array([2.0]), np.array([1.0]), False),
        a_layer(1, 2, 3, 4, (), True),
        a_layer(2, 2, 3, 4, (), False),
        a_layer(3, 3, 2, 1, (4,), False),
        a_layer(4, 2, 1, 2, (2, 3, 2), False),
        a_layer(5, 1, 1, 3, (2, 2), True),
        a_layer(6, 9, 2, 2, (2, 3, 1, 2) * 3, False),
        a_layer(7, 2, 20, 3, (3, 2), False),
        a_layer(8, 2, 2, 2, (2, 3, 1) * 14, False),
    ),
    reference=as_torch_does,
    contract=DrawnCases(any_layer),
)


def any_kernels(rng: np.random.Generator) -> tuple[list[tuple[float, float]]]:
    """Up to twelve kernels of one to three streams, in any order."""
    found = []
    for _ in range(int(rng.integers(1, 4))):
        clock = float(rng.uniform(0, 20))
        for _ in range(int(rng.integers(1, 5))):
            start = clock + float(rng.choice([0.0, rng.uniform(0, 15)]))
            clock = start + float(rng.uniform(0.5, 10))
            found.append((start, clock))
    return ([found[k] for k in rng.permutation(len(found))],)


def by_moments(kernels: list[tuple[float, float]]) -> tuple[float, float]:
    """Cut the time at every start and end; each piece is busy or not."""
    moments = sorted({moment for kernel in kernels for moment in kernel})
    idle = longest = run = 0.0
    for left, right in zip(moments, moments[1:], strict=False):
        busy = any(start <= left and right <= end for start, end in kernels)
        run = 0.0 if busy else run + right - left
        idle, longest = idle + (0.0 if busy else right - left), max(longest, run)
    return 1 - idle / (moments[-1] - moments[0]), longest


IDLE_GPU = PythonExercise(
    cases=(
        ([(0.0, 2.0), (5.0, 7.0), (8.0, 10.0)],),
        ([(8.0, 10.0), (0.0, 2.0), (5.0, 7.0)],),
        ([(10.0, 14.0)],),
        ([(0.0, 10.0), (2.0, 4.0), (12.0, 14.0)],),
        ([(0.0, 4.0), (1.0, 6.0), (6.0, 7.0)],),
        ([(0.0, 2.0), (4.0, 12.0), (6.0, 8.0)],),
        ([(3.0 * n, 3.0 * n + 1 + n % 2) for n in range(200, 0, -1)],),
        ([(-5.0, -4.0), (-3.999, -3.99), (1e6, 1e6 + 0.5)],),
    ),
    reference=by_moments,
    contract=DrawnCases(any_kernels),
)


def first_accurate(measured: list[tuple[int, float, int | None]]) -> tuple[int, float] | None:
    found = [(ms * steps, batch) for batch, ms, steps in measured if steps is not None]
    return None if not found else (min(found)[1], min(found)[0] / 1000)


def some_runs(rng: np.random.Generator) -> tuple[Any, ...]:
    batches = [int(b) for b in rng.permutation([16, 32, 64, 256, 1024])[: rng.integers(0, 6)]]
    return (
        [
            (
                batch,
                float(rng.integers(1, 30) / 8),
                int(rng.integers(1, 40)) if rng.integers(4) else None,
            )
            for batch in batches
        ],
    )


CHOOSE_BATCH = PythonExercise(
    cases=(
        ([(64, 0.1, 2000), (1024, 0.8, 400)],),
        ([(1024, 0.5, 400), (64, 0.1, 2000)],),
        ([(16, 0.1, None), (64, 0.2, 900)],),
        ([(16, 0.1, None)],),
        ([],),
        ([(256, 0.25, 1000), (32, 0.125, 4000), (1024, 1.0, 200)],),
    ),
    reference=first_accurate,
    start="How many seconds does each batch take until it's accurate?",
    rtol=1e-9,
    contract=DrawnCases(some_runs, 24),
)
