"""The short verdict on arrays of whichever device."""

from types import SimpleNamespace

import numpy as np

from course_utils.checking import on_device
from course_utils.devices import emulated_cupy


def test_beside_a_gpu_an_emulated_array_is_compared_with_numpys(monkeypatch):
    monkeypatch.setattr(on_device, "cp", SimpleNamespace(get_array_module=lambda *_: np))
    actual, expected = emulated_cupy.arange(3.0), np.array([0.0, 1.0, 5.0])
    assert on_device.difference(actual, emulated_cupy.arange(3.0), 0.0, 0.0) == ""
    assert on_device.difference(actual, expected, 0.0, 0.0) == (
        "1 of 3 elements are wrong; element 2 is 2.0, expected 5.0"
    )
