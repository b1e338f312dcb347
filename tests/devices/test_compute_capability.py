"""Which GPU there is, and an older one that it stands in for."""

import pytest

from course_utils.devices import compute_capability as module
from course_utils.devices.selection import ON_GPU, DeviceError


@pytest.fixture
def hopper(monkeypatch):
    """A machine with an sm_90 GPU, as far as this module asks."""
    monkeypatch.setattr(module, "ON_GPU", True)
    monkeypatch.setattr(module, "own_capability", lambda: 90)
    module.pretended.cache_clear()
    yield monkeypatch
    module.pretended.cache_clear()


def test_the_emulator_has_none():
    assert (module.own_capability() == 0) == (not ON_GPU)


def test_a_gpu_is_what_it_is(hopper):
    hopper.delenv(module.PRETEND, raising=False)
    assert module.capability() == 90
    assert module.shared_limit(232_448) == 232_448


def test_a_gpu_stands_in_for_an_older_one(hopper):
    hopper.setenv(module.PRETEND, "75")
    assert module.capability() == 75
    assert module.shared_limit(232_448) == 64 * 1024


@pytest.mark.parametrize("text", ("sm_75", "100", "7.5", "0"))
def test_what_no_gpu_can_stand_in_for_is_refused(hopper, text):
    hopper.setenv(module.PRETEND, text)
    with pytest.raises(DeviceError, match=rf"'{text}'.*sm_90.*75, 80, 86"):
        module.capability()
