"""What all tests share."""

import os

os.environ.setdefault("MPLBACKEND", "Agg")

import pytest

from course_utils.devices.selection import ON_GPU


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a CUDA device")
    config.addinivalue_line("markers", "emulator: about the emulator as the machine's device")


def pytest_collection_modifyitems(items):
    for item in items:
        if "gpu" in item.keywords and not ON_GPU:
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))
        if item.get_closest_marker("emulator") and ON_GPU:
            item.add_marker(pytest.mark.skip(reason="the machine's device is a GPU"))
