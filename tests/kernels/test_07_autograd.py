"""Chapter 07's automatic differentiation: every operation and its gradient, in NumPy and on the
course's kernels, against finite differences and against PyTorch."""

from importlib.util import find_spec
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.paths import KERNELS

FOLDER = KERNELS / "07_pytorch_extensions"
grad = SimpleNamespace(**run_path(str(FOLDER / "autograd.py")))
Kernels = run_path(str(FOLDER / "tensor_kernels.py"))["Kernels"]
MACHINES = {"NumPy": grad.NumPy, "kernels": Kernels}
LABELS = np.array([2, 0, 1, 1, 2], np.int32)

# name: (what is computed of tensors, the shapes of those)
OPERATIONS = {
    "add, alike": (lambda a, b: a + b, (3, 5), (3, 5)),
    "add a row": (lambda a, b: a + b, (3, 5), (5,)),
    "add a column": (lambda a, b: a + b, (3, 1), (3, 5)),
    "add column and row": (lambda a, b: a + b, (3, 1), (1, 5)),
    "add one number": (lambda a, b: a + b, (), (3, 5)),
    "multiply, alike": (lambda a, b: a * b, (3, 5), (3, 5)),
    "multiply by a row": (lambda a, b: a * b, (3, 5), (5,)),
    "multiply column and row": (lambda a, b: a * b, (3, 1), (1, 5)),
    "multiply by one number": (lambda a, b: a * b, (3, 5), (1, 1)),
    "difference": (lambda a, b: a - b, (5,), (3, 5)),
    "square": (lambda a: a * a, (4, 3)),
    "constants": (lambda a: 2.0 * a + 3.0, (4, 3)),
    "product": (lambda a, b: a @ b, (3, 5), (5, 2)),
    "long product": (lambda a, b: a @ b, (3, 1500), (1500, 2)),
    "product of many rows": (lambda a, b: a @ b, (1100, 2), (2, 3)),
    "long sum": (lambda a: a.sum(0), (1500, 3)),
    "long mean": (lambda a: a.mean(), (1100,)),
    "product, used twice": (lambda a: a @ a, (4, 4)),
    "sum": (lambda a: a.sum(), (3, 5)),
    "sum over rows": (lambda a: a.sum(0), (3, 5)),
    "sum over columns": (lambda a: a.sum(-1), (3, 5)),
    "mean": (lambda a: a.mean(), (3, 5)),
    "tanh": (lambda a: a.tanh(), (3, 5)),
    "relu": (lambda a: a.relu(), (3, 5)),
    "fan-out": (lambda a, b: (a * b).tanh() + a * (a + b), (3, 5), (5,)),
}


def values(shapes):
    return [np.random.default_rng(k).standard_normal(shape) for k, shape in enumerate(shapes)]


def weighted(result, make):
    """A number: the sum of the result's elements, each with a weight of its own."""
    weights = np.random.default_rng(9).standard_normal(result.shape)
    return (result * make(weights)).sum()


def gradients(machine, compute, arrays):
    ops = MACHINES[machine]()
    leaves = [grad.tensor(a, ops, learns=True) for a in arrays]
    loss = weighted(compute(*leaves), lambda w: grad.tensor(w, ops))
    loss.backward()
    for leaf in leaves:
        assert ops.host(leaf.grad).shape == leaf.shape
    return float(loss.numpy()), [ops.host(leaf.grad) for leaf in leaves]


SHORT = [name for name in OPERATIONS if "long" not in name and "many" not in name]


@pytest.mark.parametrize("name", SHORT)
def test_a_gradient_is_the_slope_of_the_loss(name):
    compute, *shapes = OPERATIONS[name]
    arrays = values(shapes)
    loss, found = gradients("NumPy", compute, arrays)
    for array, gradient in zip(arrays, found, strict=True):
        for place in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                before = array[place]
                array[place] += step
                ends.append(gradients("NumPy", compute, arrays)[0])
                array[place] = before
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradient[place], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_kernels_find_what_numpy_finds(name):
    compute, *shapes = OPERATIONS[name]
    loss, wanted = gradients("NumPy", compute, values(shapes))
    on_device, found = gradients("kernels", compute, values(shapes))
    assert on_device == pytest.approx(loss, rel=1e-5, abs=1e-5)
    for gradient, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(gradient, want, rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(not find_spec("torch"), reason="compares with PyTorch")
@pytest.mark.parametrize("name", OPERATIONS)
def test_pytorch_finds_the_same(name):
    import torch

    compute, *shapes = OPERATIONS[name]
    leaves = [torch.tensor(a, requires_grad=True) for a in values(shapes)]
    loss = weighted(compute(*leaves), torch.tensor)
    loss.backward()
    own, found = gradients("NumPy", compute, values(shapes))
    assert own == pytest.approx(loss.item(), rel=1e-12)
    for gradient, leaf in zip(found, leaves, strict=True):
        np.testing.assert_allclose(gradient, leaf.grad.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.skipif(not find_spec("torch"), reason="compares with PyTorch")
@pytest.mark.parametrize("machine, error", [("NumPy", 1e-9), ("kernels", 1e-4)])
def test_a_network_trains_as_in_pytorch(machine, error):
    import torch

    ops = MACHINES[machine]()
    points, labels = grad.two_moons(20)
    net = grad.MLP((2, 5, 4, 2), ops, seed=3, activation="relu" if machine == "NumPy" else "tanh")
    how = {"momentum": 0.8, "decay": 0.01}
    optimiser = grad.SGD(net.parameters, 0.3, **how)
    theirs = [torch.tensor(p.numpy().astype(np.float64), requires_grad=True)
              for p in net.parameters]  # fmt: skip
    other = torch.optim.SGD(theirs, lr=0.3, momentum=0.8, weight_decay=0.01)
    act = torch.relu if machine == "NumPy" else torch.tanh
    for _ in range(4):
        loss = grad.cross_entropy(net(grad.tensor(points, ops)), ops.labels(labels))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        a, b, c, d, e, f = theirs
        logits = act(act(torch.tensor(points) @ a + b) @ c + d) @ e + f
        wanted = torch.nn.functional.cross_entropy(logits, torch.tensor(labels).long())
        other.zero_grad()
        wanted.backward()
        other.step()
        assert float(loss.numpy()) == pytest.approx(wanted.item(), rel=error)
    for own, their in zip(net.parameters, theirs, strict=True):
        np.testing.assert_allclose(own.numpy(), their.detach().numpy(), rtol=error, atol=error)


def test_cross_entropy_copes_with_large_logits_and_has_the_slope_of_the_mean():
    z = values([(5, 3)])[0] + 1000
    ops = grad.NumPy()
    leaf = grad.tensor(z, ops, learns=True)
    grad.cross_entropy(leaf, LABELS).backward()
    power = np.exp(z - z.max(1, keepdims=True))
    want = (power / power.sum(1, keepdims=True) - np.eye(3)[LABELS]) / 5
    np.testing.assert_allclose(leaf.grad, want, rtol=1e-12, atol=1e-15)


def test_a_leaf_keeps_its_gradient_until_it_is_cleared_and_results_do_not():
    ops = grad.NumPy()
    a = grad.tensor([1.0, 2.0], ops, learns=True)
    loss = (a * a).sum()
    loss.backward()
    loss.backward()
    np.testing.assert_array_equal(a.grad, [4, 8])
    a.grad = None
    loss.backward()
    np.testing.assert_array_equal(a.grad, [2, 4])


def test_no_gradient_is_changed_by_another_that_shares_its_array():
    """The sum hands one array to both of its parents, and a is used again."""
    ops = grad.NumPy()
    a, b = (grad.tensor([1.0, 2.0], ops, learns=True) for _ in range(2))
    late = a * 3.0
    ((a + b) + late).sum().backward()
    np.testing.assert_array_equal(a.grad, [4, 4])
    np.testing.assert_array_equal(b.grad, [1, 1])


def test_what_does_not_learn_gets_no_gradient_and_keeps_no_graph():
    ops = grad.NumPy()
    x, w = grad.tensor([[1.0, 2.0]], ops), grad.tensor([[1.0], [2.0]], ops, learns=True)
    (x @ w).sum().backward()
    assert x.grad is None and w.grad is not None
    assert not (x * x).learns and (x * x).edges == ()


def test_a_chain_may_be_longer_than_pythons_stack():
    x = grad.tensor([1.0], grad.NumPy(), learns=True)
    y = x
    for _ in range(5000):
        y = y + 0.0
    y.sum().backward()
    np.testing.assert_array_equal(x.grad, [1.0])


def test_both_learn_the_moons_and_step_by_step_alike():
    points, labels = grad.two_moons(100, noise=0.12)
    losses = {}
    for machine, make in MACHINES.items():
        ops, losses[machine] = make(), []
        net = grad.MLP((2, 16, 16, 2), ops, seed=1)
        optimiser = grad.SGD(net.parameters, 0.6)
        x, known = grad.tensor(points, ops), ops.labels(labels)
        for _ in range(40 if machine == "NumPy" else 6):
            loss = grad.cross_entropy(net(x), known)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses[machine].append(float(loss.numpy()))
    assert losses["kernels"] == pytest.approx(losses["NumPy"][:6], rel=1e-4)
    assert losses["NumPy"][-1] < 0.05 * losses["NumPy"][0]


@pytest.mark.parametrize("split", [False, True])
def test_a_long_sum_is_cut_into_slices_where_it_may_be(split):
    ops = Kernels(split=split)
    x = np.random.default_rng(0).standard_normal((2000, 3)).astype(np.float32)
    on_device = ops.array(x)
    wide = np.random.default_rng(1).standard_normal((3, 2000)).astype(np.float32)
    np.testing.assert_allclose(ops.host(ops.sum(on_device, 0))[0], x.sum(0), rtol=1e-4, atol=1e-4)
    product = ops.host(ops.matmul(ops.array(wide), on_device))
    np.testing.assert_allclose(product, wide @ x, rtol=1e-4, atol=1e-4)
    found = (
        {"tensor_matmul": 2, "tensor_sum": 2} if split else {"tensor_matmul": 1, "tensor_sum": 1}
    )
    assert ops.launches == found


def test_launches_are_counted_by_name():
    ops = Kernels()
    a = grad.tensor(np.ones((2, 3)), ops, learns=True)
    (a @ grad.tensor(np.ones((3, 2)), ops)).sum().backward()
    assert ops.launches == {"tensor_matmul": 2, "tensor_sum": 1, "tensor_expand": 1}


def test_mistakes_are_told_in_words():
    ops = grad.NumPy()
    a = grad.tensor(np.ones((2, 3)), ops, learns=True)
    with pytest.raises(LessonError, match=r"shape \(2, 3\). Call .sum\(\)"):
        a.backward()
    with pytest.raises(LessonError, match=r"\(2, 3\) and \(2, 3\): give M x K"):
        a @ a
    with pytest.raises(LessonError, match=r"at most two axes, and the shape is \(2, 3, 4\)"):
        three = grad.tensor(np.ones((2, 3, 4)), Kernels())
        three + three


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("axis", [2, -3, 1.0, (0, 1)])
def test_a_sum_over_an_axis_that_does_not_exist_is_refused(machine, axis):
    ops = MACHINES[machine]()
    with pytest.raises(LessonError, match=r"no axis .* in the shape \(2, 3\): give .* -2 to 1\."):
        grad.tensor(np.ones((2, 3)), ops).sum(axis)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("axis", [2, -3])
def test_operations_refuse_such_an_axis_too(machine, axis):
    ops = MACHINES[machine]()
    with pytest.raises(IndexError, match=f"axis {axis} is out of bounds"):
        ops.sum(ops.array(np.ones((2, 3))), axis)


def test_a_number_has_no_axis():
    with pytest.raises(LessonError, match=r"no axis 0 in the shape \(\): give sum no axis"):
        grad.tensor(3.0, grad.NumPy()).sum(0)


@pytest.mark.parametrize("machine", MACHINES)
def test_operations_count_an_axis_from_the_end_alike(machine):
    ops, x = MACHINES[machine](), np.arange(6.0).reshape(2, 3)
    for axis in (-2, -1):
        found = ops.host(ops.sum(ops.array(x), axis))
        np.testing.assert_array_equal(found, x.sum(axis, keepdims=True))


# --- the references of the exercises ---


@pytest.mark.skipif(not find_spec("torch"), reason="compares with PyTorch")
def test_the_gradients_of_the_exercises_are_those_of_pytorch():
    import torch

    exercise, rng = find("07.gradients"), np.random.default_rng(3)
    for (steps,) in (*exercise.cases, *(exercise.contract.draw(rng) for _ in range(20))):
        made = []
        for name, *of in steps:
            if name == "input":
                made.append(torch.tensor(of[0], dtype=torch.float64, requires_grad=True))
            elif name == "tanh":
                made.append(made[of[0]].tanh())
            else:
                a, b = (made[k] for k in of)
                made.append(a + b if name == "+" else a * b)
        if made[-1].grad_fn is None:
            continue
        wanted = torch.autograd.grad(made[-1], made, allow_unused=True)
        wanted = [0.0 if w is None else float(w) for w in wanted]
        assert exercise.reference(steps) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.skipif(not find_spec("torch"), reason="compares with PyTorch")
def test_the_unbroadcast_of_the_exercise_is_that_of_pytorch():
    import torch

    exercise, rng = find("07.unbroadcast"), np.random.default_rng(3)
    for dy, shape in (*exercise.cases, *(exercise.contract.draw(rng) for _ in range(20))):
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        x.expand(dy.shape).backward(torch.from_numpy(np.asarray(dy)))
        np.testing.assert_allclose(exercise.reference(dy, shape), x.grad.numpy(), rtol=1e-12)
