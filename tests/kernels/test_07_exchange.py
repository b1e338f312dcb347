"""Tokens that travel to their experts, on one rank: the program that times it on several."""

import importlib
import sys
from dataclasses import replace

import pytest

from course_utils.benchmarks.experiments.several_gpus import EXPERTS
from course_utils.paths import KERNELS

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = KERNELS / EXPERTS
    sys.path.insert(0, str(file.parent))
    try:
        module = importlib.import_module(file.stem)
    finally:
        sys.path.remove(str(file.parent))
    store = torch.distributed.FileStore(str(tmp_path_factory.mktemp("ranks") / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield module
    torch.distributed.destroy_process_group()


def test_a_layer_is_right_whatever_is_sent_and_nothing_is_timed_without_gpus(program):
    found = program.case(8, 2, 0, 1, torch.device("cpu"))
    assert found["exchange"] == {what: {"rows": 0} for what in program.COPIES}  # all are at home
    assert "layer_us" not in found


def test_a_copy_for_each_expert_is_as_many_rows_as_tokens_choose_experts(program):
    layer = program.drawn_layer(8, 2, 0, 1, torch.device("cpu"))
    rows = {
        each: len(program.planned(layer, 0, len(layer.x), each).tokens) for each in (True, False)
    }
    assert rows == {True: 2 * len(layer.x), False: len(layer.x)}


def test_a_wrong_weight_is_found(program, monkeypatch):
    right = program.planned

    def wrong(*arguments):
        plan = right(*arguments)
        return replace(plan, weight=plan.weight.flip(0))

    monkeypatch.setattr(program, "planned", wrong)
    with pytest.raises(ValueError, match="8 experts, top 2, a copy per expert: off by"):
        program.case(8, 2, 0, 1, torch.device("cpu"))
