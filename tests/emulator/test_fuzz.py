"""Whatever the PTX, a reader gets a result or a report: mutations of real kernels, and examples of
what they found."""

import numpy as np
import pytest
from fuzz_ptx import mutations, outcome
from planted_bugs import BUGS, CORRECT

from course_utils.emulator import (
    ALL_CHECKS,
    EMULATOR_ERROR,
    KINDS,
    UNKNOWN_INSTRUCTION,
    EmulatedModule,
    KernelFault,
    Options,
    PtxError,
)
from course_utils.emulator.instructions import atomics
from tests.turns import has_turn, turn

KERNEL = """
.version 8.6
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.visible .entry f(.param .u64 p)
{
.reg .b64 a; .reg .f32 x, y; .reg .pred q;
.loc 1 7 1
ld.param.u64 a, [p];
ld.global.f32 x, [a];
STATEMENT
st.global.f32 [a], x;
END
}
"""


def launch(statement: str, end: str = "ret;") -> np.ndarray:
    y = np.array([2], np.float32)
    text = KERNEL.replace("STATEMENT", statement).replace("END", end)
    EmulatedModule(text).entry("f").launch(1, 1, (y,))
    return y


def test_a_mutated_kernel_runs_or_is_reported():
    """A third of 300. 10,000 of them: ``python -m tests.emulator.fuzz_ptx 10000``."""
    kernels = [*BUGS, *CORRECT][::12]
    outcomes = {}
    for n, (bug, text, checks) in enumerate(mutations(kernels, 300, seed=2)):
        if not has_turn(n, turn()):
            continue
        outcomes.setdefault(outcome(bug, text, checks), []).append((n, bug.name))
    assert EMULATOR_ERROR not in outcomes, outcomes[EMULATOR_ERROR]
    assert set(outcomes) <= {"runs", "refused", *KINDS}
    assert {"runs", "refused", UNKNOWN_INSTRUCTION} <= set(outcomes)


@pytest.mark.parametrize(
    "statement, trouble",
    [
        ("add.f32 x, x;", "it has 1 sources where 2 are needed"),
        ("add.f32 x, !y, x;", "y after ! isn't a predicate"),
        ("add.f32 x, x, [;", "an operand cannot be read"),
        ("add.f32 x, x, (;", "a register is needed, and there is another operand"),
        ("@p add.f32 x, x, x;", "unknown predicate"),
        ("bra elsewhere;", "unknown label elsewhere"),
        ("mov.u64 a, nowhere;", "unknown symbol nowhere"),
        ("ld.global.f32;", "its operands or modifiers are unexpected"),
        ("shfl.sync.bfly.b32 x;", "its operands or modifiers are unexpected"),
        ("7up x;", "cannot read the instruction"),
        ("cp.async.ca.shared.global [a], [a], 7;", "it copies 4, 8 or 16 bytes"),
        ("cp.async.ca.shared.global [a], [a], x;", "it copies 4, 8 or 16 bytes"),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {x, y, x}, [a];", "3 registers where 4"),
    ],
)
def test_a_statement_that_cannot_be_made_out_is_named_with_its_line(statement, trouble):
    with pytest.raises(KernelFault) as caught:
        launch(statement)
    finding = caught.value.finding
    assert finding.kind == UNKNOWN_INSTRUCTION and finding.location.line == 7
    assert trouble in finding.message and statement.rstrip(";") in finding.message
    assert "kernel.cu:7" in finding.message and "please report it" in finding.message


def test_it_is_no_trouble_to_lanes_that_never_come_to_it():
    assert launch("setp.gt.f32 q, x, 0f00000000; @q bra on; add.f32 x; on:").tolist() == [2]


def test_an_addition_of_a_form_that_there_is_not_is_unknown():
    with pytest.raises(KernelFault, match="does not know the instruction `add.ne.s64`"):
        launch("add.ne.s64 a, a, 0;")


def test_a_wait_for_what_is_no_number_is_no_trouble_of_the_checks():
    text = KERNEL.replace("STATEMENT", "wgmma.wait_group.sync.aligned nowhere;").replace("END", "")
    text = text.replace(".target sm_90\n", ".target sm_90a\n")
    kernel = EmulatedModule(text).entry("f")
    with pytest.raises(KernelFault) as caught:
        kernel.launch(1, 1, (np.zeros(1, np.float32),), options=Options(checks=ALL_CHECKS))
    assert caught.value.finding.kind == UNKNOWN_INSTRUCTION


def test_shared_memory_beyond_a_multiprocessor_s_is_refused():
    text = KERNEL.replace("STATEMENT", ".shared .b32 s[99999999];").replace("END", "")
    kernel = EmulatedModule(text).entry("f")
    with pytest.raises(ValueError, match="399,999,996 bytes of shared memory"):
        kernel.launch(1, 1, (np.zeros(1, np.float32),))


def test_a_special_register_that_is_not_there_is_named_with_its_line():
    with pytest.raises(KernelFault, match=r"special register %pm0 \(kernel.cu:7\)"):
        launch("mov.u32 x, %pm0;")


@pytest.mark.parametrize("end", ["", "@q ret;", "@q bra last; last:"])
def test_a_body_may_end_without_a_return(end):
    assert launch("setp.lt.f32 q, x, 0f00000000;", end).tolist() == [2]


@pytest.mark.parametrize("update", ["atom.global.add.f32 x, [a], 1.0;", "st.global.f32 [a], 1.0;"])
def test_a_store_or_an_update_of_read_only_memory_is_a_fault(update):
    """The address is that of the parameter itself, which a kernel may only read."""
    with pytest.raises(KernelFault, match="Write to read-only memory: .*kernel.cu:7"):
        launch("cvta.to.global.u64 a, p; " + update.replace("1.0", "0f3F800000"))


def test_what_the_machine_did_not_expect_is_reported_as_a_mistake_of_its_own(monkeypatch):
    def broken(*_):
        raise KeyError("u128")

    monkeypatch.setattr(atomics, "_in_turn", broken)
    with pytest.raises(KernelFault) as caught:
        launch("atom.global.exch.b32 x, [a], y;")
    finding = caught.value.finding
    assert finding.kind == EMULATOR_ERROR and finding.location.line == 7
    assert finding.message == (
        "Emulator error at kernel.cu:7: KeyError: 'u128'.\n"
        "  atom.global.exch.b32 x, [a], y\n"
        "This is a mistake of the emulator and no sign of one in the kernel: please report it, "
        "with this message and the kernel's source."
    )


@pytest.mark.parametrize("text", [".reg .b7 x;", ".shared .b99 x;", ".loc;"])
def test_a_declaration_that_cannot_be_read_is_refused(text):
    head = KERNEL.replace("STATEMENT", "").replace("END", "")
    with pytest.raises(PtxError, match="cannot read"):
        EmulatedModule(head.replace(".reg .b64 a;", text)).entry("f")
