"""``compare_ptx`` counts what a PTX text is made of."""

import pytest

from course_utils import compare_ptx
from course_utils.observing.ptx_kinds import kinds_of, opcodes_of

PTX = """
// comment; with a semicolon
.visible .entry f(.param .u64 x)
{
    .reg .f32 %f<3>;
    ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
    @%p1 ld.global.f32 %f1, [%rd2];
    @!%p1 bra LATER;
    shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;
    add.f32 %f2, %f1, %f1;
    bar.sync 0;
LATER:
    ret;
}
"""


def test_an_instruction_is_of_one_kind_whatever_its_predicate():
    counts = {kind: count for kind, count in kinds_of(PTX).items() if count}
    assert counts == {
        "loads of 16 bytes": 1,
        "loads of 4 bytes": 1,
        "shuffles": 1,
        "barriers": 1,
        "other fp32 arithmetic": 1,
        "jumps": 1,
        "everything else": 1,
    }


@pytest.mark.parametrize(
    "instruction, kind",
    [
        ("ld.global.nc.v2.u64 {%rd1, %rd2}, [%rd3]", "loads of 16 bytes"),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd3]", "loads of 8 bytes"),
        ("ld.global.u64 %rd1, [%rd3]", "loads of 8 bytes"),
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3]", "loads of 16 bytes"),
        ("ld.global.u16 %rs1, [%rd3]", "other loads"),
        ("st.global.v2.u64 [%rd3], {%rd1, %rd2}", "stores of 16 bytes"),
        ("st.global.b32 [%rd3], %r1", "stores of 4 bytes"),
        ("st.global.v4.u16 [%rd3], {%rs1, %rs2, %rs3, %rs4}", "other stores"),
        ("cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16", "asynchronous copies"),
        ("cp.async.wait_all", "waits for copies"),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1}",
            "products of matrices",
        ),
        ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r2]", "loads of matrices"),
        ("xor.b32 %r1, %r2, %r3", "exclusive ors"),
        ("cp.async.commit_group", "everything else"),
    ],
)
def test_an_access_is_of_the_width_of_all_its_parts(instruction, kind):
    assert kinds_of(f"    {instruction};\n")[kind] == 1


def test_operands_may_stand_in_lines_of_their_own():
    text = "\tmma.sync.aligned.m16n8k16\n\t\t{%r1, %r2},\n\t\t{%r3};\n\tret;\n"
    assert opcodes_of(text) == ["mma.sync.aligned.m16n8k16", "ret"]


def test_an_opcode_is_named_without_its_predicate_and_operands():
    assert opcodes_of("    @!%p1 bra LATER;\n    add.s32 %r1, %r2, %r3;\n") == ["bra", "add.s32"]


def test_the_table_has_a_column_for_each_text_and_leaves_out_what_none_has(capsys):
    compare_ptx({"one": PTX, "other": "    ret;\n"})
    printed = capsys.readouterr().out
    assert "one" in printed and "other" in printed and "exponentials" not in printed
    assert printed.splitlines()[-1].split() == ["all", "7", "1"]
