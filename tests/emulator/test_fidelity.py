"""The report on fidelity and the walk through the machine say what is there."""

import json
import re
from pathlib import Path

from departures import DEPARTURES
from fidelity import (
    CLOSE,
    DIFFERENT,
    EQUAL,
    ON_EMULATOR,
    ON_GPU,
    PAGE,
    PARTS,
    SKIPPED,
    record,
    render,
    report,
)

EMULATOR = PAGE.parent
HOW_IT_WORKS = (EMULATOR / "HOW_IT_WORKS.md").read_text(encoding="utf-8")


def test_the_report_is_what_its_records_give():
    assert PAGE.read_text(encoding="utf-8") == report()


def test_every_random_program_of_the_record_came_out_equal():
    found = json.loads(ON_EMULATOR.read_text(encoding="utf-8"))
    for part in ("programs", "kernels"):
        assert found[part]["equal"] == found[part]["count"] > 0


def test_nothing_of_the_gpus_record_is_different_or_unfinished():
    gpu = json.loads(ON_GPU.read_text(encoding="utf-8"))
    items = [(part, item) for part, items in gpu["parts"].items() for item in items]
    assert [(p, i["name"]) for p, i in items if i["verdict"] == DIFFERENT] == []
    assert gpu["unfinished"] == [] and set(gpu["parts"]) == set(PARTS)


def test_the_gpus_record_has_every_departure_from_the_manual():
    gpu = json.loads(ON_GPU.read_text(encoding="utf-8"))
    assert {i["name"] for i in gpu["parts"]["departures"]} == {d.name for d in DEPARTURES}


def test_a_record_of_a_gpu_is_counted_and_what_differs_is_named():
    items = [
        record("add.f32", EQUAL),
        record("ex2.approx.f32", CLOSE, error=1e-8, bound=4.8e-7),
        record("mul.f32", DIFFERENT, why="lane 3"),
        record("cvt.x", SKIPPED, why="the driver refuses it"),
    ]
    machine = dict.fromkeys(("gpu", "driver", "nvrtc", "numpy", "date"), "?")
    gpu = {"machine": machine, "parts": {"forms": items}, "unfinished": ["course 1"]}
    page = render(json.loads(ON_EMULATOR.read_text(encoding="utf-8")), gpu)
    assert "| 3 | 1 | 1 | 1 | 1 |" in page
    assert "1.00e-08 of 4.80e-07 allowed (ex2.approx.f32)" in page
    assert "- forms mul.f32: lane 3" in page and "course 1" in page


def test_its_table_names_every_folder():
    there = {path.parent.name for path in EMULATOR.glob("*/__init__.py")}
    table = HOW_IT_WORKS.partition("## The folders")[2]
    named = set(re.findall(r"`(\w+)/`", table))
    assert named == there


def test_the_entry_it_shows_as_an_example_stands_in_the_code():
    tests = Path(__file__).parent
    places = {
        EMULATOR / "instructions" / "integer.py": ('"sad": (3, lambda', '@form("div rem min'),
        EMULATOR / "machine" / "operands.py": ("def act(group: Group) -> None:\n",),
        tests / "test_instructions_integer.py": ("sad.s32         |",),
        tests / "instruction_forms.py": ('"sad." + INTEGER,',),
    }
    blocks = re.findall(r"```(?:python)?\n(.*?)```", HOW_IT_WORKS, re.S)
    for file, starts in places.items():
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        for start in starts:
            block = next(b for b in blocks if b.strip().startswith(start))
            for line in block.strip().splitlines():
                assert line.strip() in lines, (file.name, line)


def test_its_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", HOW_IT_WORKS):
        assert (EMULATOR / target).exists(), target
