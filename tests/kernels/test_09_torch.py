"""Chapter 09 in PyTorch: it trains as the course's own kernels, and exercises answer alike."""

from importlib.util import find_spec
from runpy import run_path

import numpy as np
import pytest

from course_utils import cp, digits
from course_utils.exercises.authoring.registry import find
from course_utils.paths import ASSETS, KERNELS

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="compares with PyTorch")
FOLDER = KERNELS / "09_mnist_cnn"
own_program = run_path(str(FOLDER / "network.py"))
IMAGES, LABELS = digits()


@pytest.fixture(scope="module")
def theirs():
    return run_path(str(FOLDER / "torch_network.py"))


def arrays_of(network):
    return {name: cp.asnumpy(array) for name, array in network._arrays().items()}


def test_from_the_same_weights_both_programs_train_alike(theirs):
    own, net = own_program["Network"](seed=4), theirs["network"]()
    theirs["put"](net, arrays_of(own))
    how = {"epochs": 2, "batch": 2, "rate": 0.05, "seed": 7}
    expected = own.train(IMAGES[:3], LABELS[:3], **how)
    assert theirs["train"](net, IMAGES[:3], LABELS[:3], **how) == pytest.approx(expected, rel=1e-3)
    state = {name: net.state_dict()[place].numpy() for name, place in theirs["PLACES"].items()}
    for name, array in arrays_of(own).items():
        np.testing.assert_allclose(state[name], array, rtol=1e-2, atol=1e-3, err_msg=name)


def gradients_in(precision, theirs, start, n):
    """The gradients of PyTorch's network with these arrays, computed in that precision."""
    import torch

    net, images = theirs["network"](), cp.asnumpy(own_program["prepared"](IMAGES[:n]))
    theirs["put"](net, start)
    net = net.to(getattr(torch, precision)).train()
    logits = net(torch.from_numpy(images.astype(precision)))
    torch.nn.functional.cross_entropy(logits, torch.from_numpy(LABELS[:n]).long()).backward()
    state = dict(net.named_parameters())
    places = theirs["PLACES"].items()
    return {name: state[place].grad.numpy() for name, place in places if place in state}


def test_the_fused_fp32_gradients_are_as_near_to_float64_as_pytorchs(theirs):
    fast = run_path(str(FOLDER / "fast_network.py"))
    n, rate = 4, 64.0  # so large that the rounding of the weights does not count
    network = fast["FastNetwork"](seed=1)
    start = arrays_of(network)
    given = cp.asarray(IMAGES[:n].reshape(n, -1)), cp.asarray(LABELS[:n])
    step = fast["Step"](network, *given, n, rate, total=1)
    step.order[...] = cp.arange(n, dtype=cp.int32)
    step.begin(0)
    step()
    exact, single = (gradients_in(p, theirs, start, n) for p in ("float64", "float32"))
    for name, wanted in exact.items():
        wanted = wanted.ravel()
        after = cp.asnumpy(network.parameters[name]).astype(np.float64)
        ours = (start[name] - after).ravel() / rate
        error, of_pytorch = (np.linalg.norm(x - wanted) for x in (ours, single[name].ravel()))
        assert error < 10 * of_pytorch, name


def test_the_weights_that_come_with_the_course_read_digits(theirs):
    network, net = own_program["Network"](), theirs["network"]()
    network.load(ASSETS / "data" / "mnist_network.npz")
    theirs["put"](net, arrays_of(network))
    tests, answers = digits("test")
    taken = theirs["classify"](net, tests)
    assert (taken == answers).mean() > 0.97
    assert np.array_equal(network.classify(tests[:5]), taken[:5])


def test_the_batch_norm_of_the_exercise_is_that_of_pytorch():
    import torch

    exercise = find("09.batch_norm")
    rng = np.random.default_rng(2)
    drawn = [exercise.contract.draw(rng) for _ in range(20)]
    for x, seen, gamma, beta, training in (*exercise.cases, *drawn):
        if training and x[:, 0].size == 1:
            continue  # PyTorch refuses one value a channel
        layer = torch.nn.BatchNorm2d(len(gamma), dtype=torch.float64)
        with torch.no_grad():
            layer.weight[:], layer.bias[:] = torch.from_numpy(gamma), torch.from_numpy(beta)
            for batch in seen:
                layer(torch.from_numpy(batch))
            y = layer.train(training)(torch.from_numpy(x)).numpy()
        np.testing.assert_allclose(exercise.reference(x, seen, gamma, beta, training), y, rtol=1e-9)
