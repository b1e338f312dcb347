"""A kernel that dies as it starts is started again, and not for ever."""

import pytest

from tests.kernel_start import TRIES, tried_again


def dying(times: int):
    """A start that fails so many ``times``; it returns how often it was called."""
    calls = []

    def start(name):
        calls.append(name)
        if len(calls) <= times:
            raise RuntimeError("Kernel died before replying to kernel_info")
        return len(calls)

    return start


@pytest.mark.parametrize("times", range(TRIES))
def test_a_start_is_tried_again(times):
    assert tried_again(dying(times))("python3") == times + 1


def test_a_kernel_that_never_starts_is_an_error():
    with pytest.raises(RuntimeError, match="Kernel died"):
        tried_again(dying(TRIES))("python3")
