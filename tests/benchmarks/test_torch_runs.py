"""What PyTorch's compiler is asked for: one graph, or an error instead of its eager kernels."""

import sys
from types import SimpleNamespace

import pytest

from course_utils.benchmarks.harness import torch_runs


@pytest.fixture
def asked(monkeypatch):
    """The keywords of each call of torch.compile, in order, and torch's ``config``."""
    calls, config = [], SimpleNamespace(recompile_limit=8)

    def compiler(function, **given):
        calls.append(given)
        return function

    torch = SimpleNamespace(compile=compiler, _dynamo=SimpleNamespace(config=config))
    monkeypatch.setattr(torch_runs, "torch_on_gpu", lambda: torch)
    return SimpleNamespace(calls=calls, config=config)


def test_a_compiled_rival_never_falls_to_eager_kernels(asked):
    runs = torch_runs.compiled(lambda x: x + 1, 2, graph=True)
    assert [run() for run in runs.values()] == [3, 3]
    modes = "max-autotune-no-cudagraphs", "max-autotune"
    wanted = [{"dynamic": False, "fullgraph": True, "mode": mode} for mode in modes]
    assert asked.calls == wanted
    assert asked.config.recompile_limit == torch_runs.MOST_SHAPES > 8  # or the ninth shape fails


def test_torch_is_found_without_a_search_that_its_compiler_cannot_follow(monkeypatch):
    torch = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: True))
    monkeypatch.setattr(torch_runs, "ON_GPU", True)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(torch_runs.importlib.util, "find_spec", None)  # would fail if called
    assert torch_runs.torch_on_gpu() is torch
