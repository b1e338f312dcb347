"""Uses of uninitialised values: what counts as written, and how values are followed."""

import numpy as np
import pytest

from course_utils import load, sanitize
from course_utils.compiling.nvrtc import compile_ptx
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.emulated_arrays import plain
from course_utils.emulator import (
    ALL_CHECKS,
    OUT_OF_BOUNDS,
    UNINITIALISED,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.memory.init_shadows import InitShadow

F32 = np.float32
COPY = "y[threadIdx.x] = x[threadIdx.x];"


def entry(body, parameters="const float* x, float* y", before=""):
    source = (
        f'{before}\nextern "C" __global__ void f({parameters}) {{\n#line 1 "kernel.cu"\n{body}\n}}'
    )
    return EmulatedModule(compile_ptx(source, filename="k.cu")).entry("f")


def findings(body, args, block=32, **form):
    return launched(entry(body, **form), args, block, names=("x", "y"), checks=ALL_CHECKS).findings


def launched(kernel, args, block=32, names=(), **options):
    args = [plain(array) for array in args]
    return kernel.launch(1, block, args, names=names, options=Options(**options))


def test_a_new_array_is_uninitialised_until_somebody_writes_it():
    x, y = cp.empty(32, F32), cp.zeros(32, F32)
    (found,) = findings(COPY, (x, y))
    assert found.kind == UNINITIALISED
    assert found.message == (
        "Uninitialised read: thread (0, 0, 0) of block (0, 0, 0) stores in y[0] a result of "
        "uninitialised memory, at kernel.cu:1:\n"
        "  x[0], read by thread (0, 0, 0) at kernel.cu:1."
    )
    assert (found.array, found.index, found.repeats) == ("x", 0, 0)


@pytest.mark.parametrize(
    "fill",
    [
        lambda x: x.fill(1),
        lambda x: x.set(np.full(32, np.nan, F32)),
        lambda x: cp.copyto(x, cp.arange(32, dtype=F32)),
        lambda x: cp.add(cp.ones(32, F32), 1, out=x),
        lambda x: x.reshape(4, 8).__setitem__(slice(None), cp.ones((4, 8), F32)),
    ],
    ids=["fill", "set", "copyto", "out", "a view"],
)
def test_what_the_host_fills_is_defined(fill):
    x = cp.empty(32, F32)
    fill(x)
    assert findings(COPY, (x, cp.empty(32, F32))) == []


def test_the_part_that_the_host_left_out_is_not():
    x = cp.empty(32, F32)
    x[:20] = 1
    (found,) = findings(COPY, (x, cp.empty(32, F32)))
    assert (found.array, found.index, found.thread) == ("x", 20, (20, 0, 0))


def test_a_read_that_races_with_the_write_of_its_element_says_who_writes_it():
    body = """__shared__ int first;
if (threadIdx.x == 0) first = (int)x[0];
y[threadIdx.x] = first;"""
    found = findings(body, (cp.zeros(64, F32), cp.zeros(64, F32)), block=64)
    (read, *_) = [f for f in found if f.kind == UNINITIALISED]
    assert (read.cause, read.array) == (Cause.READ_BEFORE_WRITE, "first")
    assert "Thread (0, 0, 0) writes first[0] at kernel.cu:2" in read.message


@pytest.mark.parametrize("watched", [True, False])
def test_what_an_earlier_launch_wrote_is_defined(watched):
    x, y = cp.empty(32, F32), cp.empty(32, F32)
    write = entry("y[threadIdx.x] = 3;")
    launched(write, (y, x), checks=ALL_CHECKS if watched else ())
    assert findings(COPY, (x, y)) == []


def test_bytes_that_happen_to_look_unwritten_are_defined_once_written():
    x, y = cp.empty(32, np.uint8), cp.zeros(32, F32)
    write = "y[threadIdx.x] = threadIdx.x % 2 ? 0xCD : 1;"
    launched(entry(write, "const float* x, unsigned char* y"), (y, x))
    assert findings(COPY, (x, y), parameters="const unsigned char* x, float* y") == []


def test_reading_on_the_host_what_nobody_wrote_is_no_finding(tmp_path):
    path = tmp_path / "half.cu"
    path.write_text('extern "C" __global__ void half(float* y) { y[threadIdx.x] = 1; }')
    y = cp.empty(64, F32)
    report = sanitize(load(path), 1, 32, (y,))
    assert report.clean and np.isnan(y.get()[32:]).all()


@pytest.mark.parametrize(
    "use",
    [
        "float v = x[threadIdx.x]; if (threadIdx.x > 99) y[0] = v;",
        "float v = x[threadIdx.x]; y[threadIdx.x] = blockDim.x > 99 ? v : 1.0f;",
        "float4 v = ((const float4*)x)[0]; __shared__ float4 s[32]; s[threadIdx.x] = v;"
        "y[threadIdx.x] = 1;",
        "unsigned v = ((const unsigned*)x)[threadIdx.x]; y[threadIdx.x] = (v >> 8 & 0) + 1;",
    ],
    ids=["never stored", "thrown away", "moved to shared memory", "masked"],
)
def test_reading_alone_is_harmless(use):
    assert findings(use, (cp.empty(32, F32), cp.zeros(32, F32))) == []


def test_a_byte_of_a_word_is_followed_by_itself():
    before = "struct Two { unsigned char low, high; };"
    body = """__shared__ alignas(4) unsigned char s[128];
s[4 * threadIdx.x] = 1;
__syncthreads();
unsigned word = ((unsigned*)s)[threadIdx.x];
y[threadIdx.x] = USE;"""
    args = (cp.zeros(32, F32), cp.zeros(32, F32))
    assert findings(body.replace("USE", "word & 0xff"), args, before=before) == []
    assert len(findings(body.replace("USE", "word >> 8"), args, before=before)) == 1


def test_values_are_followed_into_functions_and_back():
    before = "__device__ __noinline__ float half(float v, int i) { return v * 0.5f + i; }"
    body = "y[threadIdx.x] = half(x[threadIdx.x], threadIdx.x);"
    assert findings(body, (cp.ones(32, F32), cp.empty(32, F32)), before=before) == []
    (found,) = findings(body, (cp.empty(32, F32), cp.empty(32, F32)), before=before)
    assert (found.array, found.index) == ("x", 0)


def test_values_are_followed_through_shared_memory():
    body = """__shared__ float s[32];
s[threadIdx.x] = x[threadIdx.x];
__syncthreads();
y[threadIdx.x] = s[31 - threadIdx.x];"""
    (found,) = findings(body, (cp.empty(32, F32), cp.empty(32, F32)))
    assert (found.location.line, found.other_location.line) == (4, 2)
    assert (found.thread, found.other_thread, found.index) == ((0, 0, 0), (31, 0, 0), 31)


def test_an_uninitialised_index_is_told_before_the_fault_it_leads_to():
    body = "y[((const int*)x)[threadIdx.x]] = 1;"
    with pytest.raises(KernelFault) as caught:
        findings(body, (cp.empty(32, F32), cp.zeros(32, F32)))
    assert caught.value.finding.kind == OUT_OF_BOUNDS
    assert [f.kind for f in caught.value.earlier] == [UNINITIALISED]


def test_ordinary_launches_do_not_look():
    x, y = cp.empty(32, F32), cp.zeros(32, F32)
    assert launched(entry(COPY), (x, y)).findings == []


WMMA = """#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void f(const __half* a, float* c, float* d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, a, 16);
    wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}"""


def wmma_findings(c, d):
    """What is found when ``WMMA`` adds the square of a matrix of ones to ``c``."""
    ones = cp.ones((16, 16), cp.float16)
    kernel = EmulatedModule(compile_ptx(WMMA, filename="f.cu")).entry("f")
    names = "a", "c", "d"
    return launched(kernel, (ones, c, d), names=names, checks=ALL_CHECKS).findings


def test_a_tile_stored_into_an_uninitialised_array_arrives_there():
    d = cp.empty((16, 16), cp.float32)
    assert not wmma_findings(cp.ones((16, 16), cp.float32), d)
    assert (d == 17).all()


def test_a_tile_that_adds_to_uninitialised_memory_is_told_when_it_is_stored():
    (found,) = wmma_findings(cp.empty((16, 16), cp.float32), cp.empty((16, 16), cp.float32))
    assert found.kind == UNINITIALISED and "in d a result of uninitialised memory" in found.message


@pytest.mark.parametrize(
    "instructions, clean",
    [
        ("or.b32 %r3, %r2, %r1;", True),
        ("xor.b32 %r3, %r2, %r1;", True),
        ("lop3.b32 %r3, %r2, %r1, 0, 0xfc;", True),
        ("lop3.b32 %r3, %r1, %r5, 0x00ffff00, 0xf8;", True),  # a | b & c
        ("lop3.b32 %r3, %r1, %r5, 0xffffff01, 0xf8;", False),
        ("not.b32 %r3, %r2;", True),
        ("or.b32 %r3, %r1, %r5;", False),
        ("xor.b32 %r3, %r5, %r1;", False),
        ("lop3.b32 %r3, %r1, %r1, %r5, 0xc0;", True),  # a & b
        ("lop3.b32 %r3, %r1, %r1, %r5, 0x80;", False),
        ("add.u32 %r3, %r2, %r1;", False),
    ],
)
def test_bits_are_joined_byte_by_byte(instructions, clean):
    """Of %r5 no byte was ever given a value, of %r2 the lowest one, and that decides the branch."""
    text = f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry joined(.param .u64 p) {{
 .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %q;
 ld.param.u64 %rd1, [p];
 mov.u32 %r1, %tid.x;
 and.b32 %r2, %r5, -256;
 {instructions}
 and.b32 %r4, %r3, 255;
 setp.gt.u32 %q, %r4, 7;
 @%q st.global.u32 [%rd1], %r4;
 ret;
}}"""
    options = Options(checks={"uninitialised"})
    entry = EmulatedModule(text).entry("joined")
    found = entry.launch(1, 1, (np.zeros(1, np.uint32),), options=options).findings
    assert [f.cause for f in found] == ([] if clean else [Cause.VARIABLE_NOT_INITIALISED])


BIT_FIELDS = "struct Flags { unsigned low : 1, high : 2, next : 8; };"


@pytest.mark.parametrize(
    ("read", "clean"),
    [("t.low + 2 * t.high", True), ("t.next", False), ("u.low", False)],
)
def test_a_bit_field_is_set_without_reading_its_neighbours(read, clean):
    """Unoptimised code keeps the other bits of the byte, of which none was written before."""
    source = f"""{BIT_FIELDS}
extern "C" __global__ void f(const float *x, float *y)
{{
    Flags t, u;
    t.low = threadIdx.x;
    t.high = threadIdx.x >> 1;
    y[threadIdx.x] = {read};
}}"""
    kernel = EmulatedModule(compile_ptx(source, filename="k.cu", options=("-G",))).entry("f")
    y = cp.zeros(32, F32)
    found = launched(kernel, (cp.zeros(32, F32), y), names=("x", "y"), checks=ALL_CHECKS).findings
    assert [f.kind for f in found] == ([] if clean else [UNINITIALISED])
    if clean:
        assert (y.get() == np.arange(32) % 8).all()


def test_memory_that_a_graph_allocates_anew_is_looked_at_from_end_to_end():
    """A look narrows the bytes where a read may find something. New memory widens them again."""
    shadow = InitShadow(64)
    shadow.forget(64)
    shadow.write(np.arange(8, 16), 4, None)
    assert not shadow.complete()
    assert (shadow.low, shadow.high) == (0, 31)
    shadow.forget(64)
    assert (shadow.low, shadow.high) == (0, 64)
    assert shadow.untouched(64)
