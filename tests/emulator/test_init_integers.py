"""Uninitialised values in products of integers, which have no NaN to follow."""

import numpy as np
import pytest
from asynchrony import run

from course_utils.devices import emulated_cupy as cp
from course_utils.emulator import UNINITIALISED

INTEGERS = {
    "s8": ("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 2, 1),
    "u8 and s8": ("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32", 4, 2),
    "s4": ("mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32", 2, 1),
}
READ = {"a": 0, "b": 4, "c": 6}  # the first register of each operand


def findings(form, bad, reads, values=0):
    """What is said of a product some of whose registers (lane, register) are uninitialised, when
    the lanes ``reads`` store their first result."""
    opcode, a, b = INTEGERS[form]
    names = [
        ", ".join(f"%{4 + first + k}" for k in range(count))
        for first, count in ((READ["a"], a), (READ["b"], b), (READ["c"], 4))
    ]
    holes = " ".join(f"if (!(threadIdx.x == {lane} && k == {r}))" for lane, r in bad)
    body = f"""__shared__ u32 s[10][32];
for (int k = 0; k < 10; ++k) {holes} s[k][threadIdx.x] = {values};
__syncwarp();
u32 r[10], d[4];
for (int k = 0; k < 10; ++k) r[k] = s[k][threadIdx.x];
ASM("{opcode} {{%0, %1, %2, %3}}, {{{names[0]}}}, {{{names[1]}}}, {{{names[2]}}};"
    : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
    : {", ".join(f'"r"(r[{k}])' for k in range(10))});
if (1u << threadIdx.x & {reads}u) y[threadIdx.x] = d[0];"""
    y = np.zeros(32, np.uint32)
    return run("u32* y", body, 1, 32, (y,), checks=("uninitialised",)).findings


@pytest.mark.parametrize("form", INTEGERS)
@pytest.mark.parametrize("values", [0, 0xFFFFFFFF, 0x12345678])
@pytest.mark.parametrize("operand", READ)
def test_a_result_of_an_uninitialised_integer_is_reported(form, values, operand):
    (found,) = findings(form, [(0, READ[operand])], 1, values)
    assert found.kind == UNINITIALISED
    assert (found.location.line, found.thread) == (9, (0, 0, 0))
    assert "s[" in found.message


@pytest.mark.parametrize("form", INTEGERS)
def test_a_result_of_two_uninitialised_integers_is_reported(form):
    assert findings(form, [(0, 0), (0, 4)], 1)
    assert findings(form, [(0, 0), (0, 4), (0, 6)], 1)


@pytest.mark.parametrize("form", INTEGERS)
@pytest.mark.parametrize(
    ("operand", "clean"),
    [("a", 0xFFFFFFF0), ("b", 0xEEEEEEEE), ("c", 0xFFFFFFFE)],
    ids=["a: another row", "b: another column", "c: another element"],
)
def test_results_that_do_not_depend_on_it_are_clean(form, operand, clean):
    assert findings(form, [(0, READ[operand])], clean) == []


@pytest.mark.parametrize("form", INTEGERS)
def test_products_of_integers_with_values_are_clean(form):
    assert findings(form, [], 0xFFFFFFFF, 7) == []


WMMA = """using namespace nvcuda;
wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
wmma::load_matrix_sync(left, a, 16);
wmma::load_matrix_sync(right, b, 16);
wmma::fill_fragment(sum, 0);
wmma::mma_sync(sum, left, right, sum);
wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);"""


@pytest.mark.parametrize("missing", ["", "a", "b"])
def test_a_fragment_of_wmma_that_was_loaded_from_uninitialised_memory_is_reported(missing):
    make = {True: cp.empty, False: cp.ones}
    a, b = (make[name == missing]((16, 16), np.int8) for name in "ab")
    parameters, d = "const signed char* a, const signed char* b, int* d", cp.zeros((16, 16), "i4")
    result = run(
        parameters,
        WMMA,
        1,
        32,
        (a, b, d),
        before="#include <mma.h>",
        checks=("uninitialised",),
    )
    assert [f.kind for f in result.findings] == [UNINITIALISED] * bool(missing)
    assert all(f.location.line == 9 for f in result.findings)
