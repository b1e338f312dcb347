"""Chapter 09's network: its gradients, and what it keeps when it is saved and loaded."""

from importlib.util import find_spec
from runpy import run_path

import numpy as np
import pytest

from course_utils import cp, digits
from course_utils.errors import LessonError
from course_utils.paths import KERNELS

MODULE = run_path(str(KERNELS / "09_mnist_cnn" / "network.py"))
Network, prepared, SHAPES = MODULE["Network"], MODULE["prepared"], MODULE["SHAPES"]
IMAGES, LABELS = digits()


def gradients(network, n):
    """The first n digits, their labels, the tensors of the way forward, and the gradients."""
    x, labels = prepared(IMAGES[:n]), cp.asarray(LABELS[:n])
    at = network.forward(x, training=True)
    return x, labels, at, network.backward(at, labels)


def bits(network):
    return {name: cp.asnumpy(array).tobytes() for name, array in network._arrays().items()}


@pytest.mark.skipif(not find_spec("torch"), reason="compares with PyTorch")
@pytest.mark.parametrize("n", [2, 7])
def test_every_gradient_is_that_of_pytorch(n):
    import torch
    from torch.nn import functional

    network = Network(seed=3)
    start = {k: torch.from_numpy(cp.asnumpy(v).copy()) for k, v in network.running.items()}
    x, labels, at, found = gradients(network, n)
    p = {
        name: torch.from_numpy(cp.asnumpy(array).copy()).requires_grad_()
        for name, array in network.parameters.items()
    }
    way = torch.from_numpy(cp.asnumpy(x))
    for k in ("1", "2"):
        way = functional.conv2d(way, p["conv" + k], padding=1)
        running = start["mean" + k], start["variance" + k]
        way = functional.batch_norm(way, *running, p["gamma" + k], p["beta" + k], training=True)
        way = functional.max_pool2d(functional.relu(way), 2)
    way = functional.relu(functional.linear(way.flatten(1), p["weight3"], p["bias3"]))
    logits = functional.linear(way, p["weight4"], p["bias4"])
    np.testing.assert_allclose(cp.asnumpy(at["logits"]), logits.detach(), rtol=1e-4, atol=1e-4)
    functional.cross_entropy(logits, torch.from_numpy(LABELS[:n]).long()).backward()
    for name, gradient in found.items():
        want = p[name].grad.numpy()
        error = np.abs(cp.asnumpy(gradient) - want).max()
        assert error < 1e-4 * np.abs(want).max(), name
    for name, array in network.running.items():
        np.testing.assert_allclose(cp.asnumpy(array), start[name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_a_gradient_is_the_slope_of_the_loss(name):
    network = Network(seed=5)
    x, labels, _, found = gradients(network, 3)
    gradient = cp.asnumpy(found[name]).astype(np.float64)
    length = float((gradient**2).sum()) ** 0.5
    weights = network.parameters[name]
    start, way, losses = cp.asnumpy(weights).copy(), gradient / length, []
    reach = min(0.001, 0.01 / length)  # short, since a maximum or a ReLU may change over
    for sign in (1, -1):
        weights[...] = cp.asarray((start + sign * reach * way).astype(np.float32))
        at = network.forward(x, training=True)
        losses.append(float(MODULE["layers"].cross_entropy(at["logits"], labels).mean()))
    slope = (losses[0] - losses[1]) / (2 * reach)
    assert slope == pytest.approx(length, rel=0.03)


def test_a_network_learns_the_digits_it_is_shown():
    network = Network(seed=1)
    losses = network.train(IMAGES[:8], LABELS[:8], epochs=4, batch=8, rate=0.1)
    assert len(losses) == 4
    assert losses[-1] < 0.5 * losses[0]
    assert network.steps == 4


def test_training_that_was_stopped_and_resumed_gives_the_same_bits(tmp_path):
    def train(network, until=None):
        given = IMAGES[:5], LABELS[:5]
        return network.train(*given, epochs=2, batch=2, rate=0.05, seed=7, until=until)

    whole, half, rest = Network(2), Network(2), Network(9)
    losses = train(whole)
    assert train(half, until=3) == losses[:3]
    half.save(tmp_path / "half.npz")
    rest.load(tmp_path / "half.npz")
    assert train(rest) == losses[3:]
    assert bits(rest) == bits(whole)


@pytest.fixture
def saved(tmp_path):
    """A saved network as a dict of arrays, and a function that writes one."""
    path = tmp_path / "network.npz"
    Network(4).save(path)
    with np.load(path) as file:
        arrays = dict(file)

    def write(**changed):
        kept = {k: v for k, v in {**arrays, **changed}.items() if v is not None}
        np.savez(path, **kept)
        return path

    return write


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"conv2": None}, "has no conv2"),
        ({"steps": None}, "has no steps"),
        ({"bias3": np.zeros(7, np.float32)}, r"bias3 has shape \(7,\), wanted \(128,\)"),
        ({"bias4": np.zeros(10)}, "bias4 holds float64, wanted float32"),
        ({"beta1": np.full(16, np.nan, np.float32)}, "beta1 has values that no training gives"),
        ({"steps": np.array(-1)}, "steps has values"),
        ({"steps": np.array(1.5)}, "steps holds float64, wanted an integer"),
        ({"variance1": np.full(16, -1, np.float32)}, "variance1 has values"),
    ],
)
def test_a_file_that_is_no_saved_network_is_refused_and_changes_nothing(saved, changed, words):
    network = Network(6)
    before = bits(network)
    with pytest.raises(LessonError, match=words):
        network.load(saved(**changed))
    assert bits(network) == before
    network.load(saved())
    assert bits(network) == bits(Network(4))


@pytest.mark.parametrize("content", [b"", b"PK\3\4 and no more", b"words"])
def test_a_broken_file_is_refused(tmp_path, content):
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(LessonError, match="cannot be read as a saved network"):
        Network().load(path)
    with pytest.raises(LessonError, match="cannot be read"):
        Network().load(tmp_path / "absent.npz")


def test_images_that_fill_no_batch_are_refused():
    with pytest.raises(LessonError, match="3 images do not fill a batch of 4"):
        Network().train(IMAGES[:3], LABELS[:3], epochs=1, batch=4, rate=0.1)
