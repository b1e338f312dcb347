"""Chapter 09's fast network: any tiles, any batch, and all that the plain network promises."""

import numpy as np
import pytest
from fast_step import FAST, IMAGES, LABELS, FastStep

from course_utils import cp
from course_utils.errors import LessonError
from tests.turns import in_turn

TILES = FAST.tiles_for(1024), FAST.Tiles(parts=2, rows3=1), FAST.Tiles(back_parts=2)


def each_in_turn(values):
    """A step takes the emulator seconds: of several ways to do it each turn has one."""
    return [pytest.param(x, marks=in_turn(n, len(values))) for n, x in enumerate(values)]


def bits(network):
    return {name: cp.asnumpy(array).tobytes() for name, array in network._arrays().items()}


@pytest.mark.parametrize("tiles", each_in_turn(TILES))
def test_the_tiles_change_nothing_but_rounding(tiles, monkeypatch):
    monkeypatch.setitem(FAST.Step.__init__.__globals__, "sm_count", lambda: 1)
    one = FastStep(5, False, tiles)
    one.launches["update"]()
    moments = cp.asnumpy(one.step.moments)
    assert np.array_equal(moments[1], moments[0])  # the next step has the same images
    assert not moments[2].any()
    other = FAST.plain.Network(3)
    for key in ("gamma1", "beta1", "gamma2", "beta2"):
        other.parameters[key][...] = FastStep.start(key)
    x, labels = FAST.plain.prepared(IMAGES[one.order]), cp.asarray(LABELS[one.order])
    loss = other.step(x, labels, 0.5)
    assert float(one.step.losses[0]) == pytest.approx(loss, rel=1e-6)
    for name, array in other._arrays().items():
        found = cp.asnumpy(one.network._arrays()[name])
        np.testing.assert_allclose(found, cp.asnumpy(array), rtol=1e-4, atol=1e-5, err_msg=name)


def test_it_trains_as_the_plain_network_does():
    given = IMAGES[:5], LABELS[:5], 2, 2, 0.05
    fast, plain = FAST.FastNetwork(2), FAST.plain.Network(2)
    assert fast.train(*given, seed=7) == pytest.approx(plain.train(*given, seed=7), rel=1e-4)
    assert fast.steps == plain.steps == 4
    assert np.array_equal(fast.classify(IMAGES[:5]), plain.classify(IMAGES[:5]))
    assert fast.train(*given, seed=7) == []  # it has ended


@pytest.mark.parametrize("bf16", each_in_turn([False, True]))
def test_training_that_was_stopped_and_resumed_gives_the_same_bits(bf16, tmp_path):
    def train(network, until=None):
        given = IMAGES[:4], LABELS[:4]
        return network.train(*given, epochs=2, batch=2, rate=0.05, until=until)

    whole, half, rest = (FAST.FastNetwork(seed, bf16) for seed in (2, 2, 9))
    losses = train(whole)
    assert train(half, until=3) == losses[:3]
    half.save(tmp_path / "half.npz")
    rest.load(tmp_path / "half.npz")
    assert train(rest) == losses[3:]
    assert bits(rest) == bits(whole)


def test_images_that_fill_no_batch_are_refused():
    with pytest.raises(LessonError, match="3 images do not fill a batch of 4"):
        FAST.FastNetwork().train(IMAGES[:3], LABELS[:3], epochs=1, batch=4, rate=0.1)
