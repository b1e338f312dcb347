"""The floating-point work of an instruction, read off its name."""

import pytest

from course_utils.emulator import instructions  # noqa: F401  (each says its work)
from course_utils.emulator.isa import ptx
from course_utils.emulator.isa.instruction_set import flops_of


def work(opcode, modifiers):
    scope = ptx.Scope(None, None)
    return flops_of(ptx.Instruction(opcode, tuple(modifiers), (), None, (), scope, opcode))


@pytest.mark.parametrize(
    ("opcode", "modifiers", "expected"),
    [
        ("fma", "rn.ftz.f32", ("f32", "ffma", 2, 1)),
        ("sub", "f64", ("f64", "dadd", 1, 1)),
        ("fma", "rn.f16x2", ("f16", "hfma", 4, 1)),
        ("mul", "bf16", ("bf16", "hmul", 1, 1)),
        (
            "mma",
            "sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
            ("bf16 (tensor cores)", "", 2 * 16 * 8 * 16, 32),
        ),
        (
            "wmma",
            "mma.sync.aligned.row.col.m16n16k16.f32.f32",
            ("f16 (tensor cores)", "", 2 * 16**3, 32),
        ),
        (
            "wgmma",
            "mma_async.sync.aligned.m64n128k16.f32.bf16.bf16",
            ("bf16 (tensor cores)", "", 2 * 64 * 128 * 16, 128),
        ),
    ],
)
def test_the_flops_of_an_instruction_follows_from_its_name(opcode, modifiers, expected):
    found = work(opcode, modifiers.split("."))
    assert (found.type, found.operation, found.flops, found.threads) == expected


@pytest.mark.parametrize(
    "opcode",
    [
        "add.s32",
        "mad.lo.u32",
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
        "wgmma.fence.sync.aligned",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16",
        "ld.global.f32",
    ],
)
def test_work_on_integers_and_moves_are_no_flops(opcode):
    name, *modifiers = opcode.split(".")
    assert work(name, modifiers) is None
