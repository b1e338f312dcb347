"""Uninitialised values in products of integers, which have no NaN to follow."""

import numpy as np
import pytest
from asynchrony import run

from course_utils.devices import emulated_cupy as cp
from course_utils.devices.emulated_arrays import plain
from course_utils.emulator import UNINITIALISED

F32 = np.float32
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
    parameters, d = "const signed char* a, const signed char* b, int* d", np.zeros((16, 16), "i4")
    result = run(
        parameters,
        WMMA,
        1,
        32,
        (plain(a), plain(b), d),
        before="#include <mma.h>",
        checks=("uninitialised",),
    )
    assert [f.kind for f in result.findings] == [UNINITIALISED] * bool(missing)
    assert all(f.location.line == 9 for f in result.findings)


@pytest.mark.parametrize("missing", ["", "a", "b"])
@pytest.mark.parametrize(
    ("form", "kind", "after"),
    [("m64n8k32.s32.s8.s8", "r", ""), ("m64n8k16.f32.f16.f16", "f", ", 1, 1, 0, 0")],
)
def test_a_tile_of_wgmma_with_uninitialised_elements_is_reported(form, kind, after, missing):
    sums = ", ".join(f'"+{kind}"(d[{k}])' for k in range(4))
    body = f"""__shared__ alignas(1024) u32 a[512], b[64];
for (int k = threadIdx.x; k < 512; k += 128) if ({int(missing != "a")} || k != 5) a[k] = 0;
if (threadIdx.x < 64 && ({int(missing != "b")} || threadIdx.x != 9)) b[threadIdx.x] = 0;
fence(); __syncthreads();
{"int" if kind == "r" else "float"} d[4] = {{0, 0, 0, 0}};
u64 form = 8ull << 16 | 16ull << 32;
ASM("wgmma.fence.sync.aligned;" ::: "memory");
ASM("wgmma.mma_async.sync.aligned.{form} {{%0, %1, %2, %3}}, %4, %5, 1{after};"
    : {sums} : "l"(form | smem(a) >> 4), "l"(form | smem(b) >> 4));
ASM("wgmma.commit_group.sync.aligned;" ::: "memory");
ASM("wgmma.wait_group.sync.aligned 0;" ::: "memory");
for (int k = 0; k < 4; ++k) y[4 * threadIdx.x + k] = d[k];"""
    result = run("float* y", body, 1, 128, (np.zeros(512, F32),), checks=("uninitialised",))
    assert {f.kind for f in result.findings} == ({UNINITIALISED} if missing else set())
    assert all(f"{missing}[" in f.message for f in result.findings)
