"""pytest rewrites the asserts of tests alone."""

import importlib

import pytest


@pytest.mark.parametrize("name", ("launching.modules", "emulator.machine.scheduler", "paths"))
def test_a_module_of_the_course_is_loaded_as_python_loads_it(name):
    module = importlib.import_module(f"course_utils.{name}")
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"


def test_a_test_s_asserts_show_their_values():
    loader = importlib.import_module(__name__).__spec__.loader
    assert type(loader).__name__ == "AssertionRewritingHook"
