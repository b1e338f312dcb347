"""What the filters by transforms get beside the numbers: a spectrum, and the length of segments."""

import numpy as np
import pytest

from course_utils import cp
from course_utils.benchmarks.cases.library_filters import CASES, SPLITS, TAPS, points_for
from course_utils.benchmarks.libraries.filter_libraries import of_image, of_signal, spectrum
from course_utils.devices.selection import ON_GPU


@pytest.mark.parametrize("taps", [1, 2, 33, 64])
def test_results_that_are_not_spoiled_stand_at_the_front(taps):
    rng = np.random.default_rng(taps)
    x, h = rng.standard_normal(64), rng.standard_normal(taps)
    y = np.fft.ifft(np.fft.fft(x) * spectrum(h, 64)) * 64
    valid = np.convolve(x, h, "valid")
    np.testing.assert_allclose(y[: len(valid)].real, valid, atol=1e-12)


@pytest.mark.parametrize("taps", TAPS)
def test_a_segment_keeps_nearly_half_of_its_results_or_more(taps):
    points = points_for(taps)
    assert points in SPLITS and points - taps + 1 >= 0.49 * points


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_without_a_gpu_no_library_is_compared_with():
    x = cp.ones(9, cp.float32)
    assert of_signal(x, x) == {} == of_image(x, x)


@pytest.mark.skipif(not ON_GPU, reason="needs a GPU")
@pytest.mark.parametrize("size", [(70, 7), (200, 31)])
def test_every_library_filters_an_image(size):
    (case,) = (case for case in CASES if case.name == "filter_window_2d")
    work = case.make(size)
    assert {name: work.wrong(run()) for name, run in work.libraries.items()} == {
        "cuDNN": "",
        "torch.fft": "",
        "cuFFT": "",
    }
