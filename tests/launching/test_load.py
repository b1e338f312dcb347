"""Loading and launching: the same calls, checks and messages on both devices."""

import re

import ml_dtypes
import numpy as np
import pytest

from course_utils import cp, device, load, sanitize
from course_utils.compiling.diagnostics import CompileError
from course_utils.compiling.includes import included_files
from course_utils.devices import emulated_cupy
from course_utils.devices.limits import LaunchError
from course_utils.emulator import UNINITIALISED
from course_utils.errors import LessonError
from course_utils.launching.kernels import LaunchFault
from course_utils.launching.modules import _signatures, _text_tells

N = 1000


@pytest.fixture(scope="module")
def vec_add():
    return load("04_first_kernels/threads/vec_add.cu")


def arrays(n: int = N, dtype=np.float32):
    generator = np.random.default_rng(1)
    a, b = (cp.asarray(generator.standard_normal(n).astype(dtype)) for _ in range(2))
    return a, b, cp.full(n, cp.nan, dtype)


def test_a_kernel_file_runs_and_is_right(vec_add):
    a, b, c = arrays()
    vec_add((4,), (256,), (a, b, c, N))
    assert (c == a + b).all()


def test_grid_and_block_may_be_plain_numbers(vec_add):
    a, b, c = arrays()
    vec_add.vec_add(4, 256, (a, b, c, N))
    assert (c == a + b).all()


def test_a_kernel_knows_itself(vec_add):
    kernel = vec_add.vec_add
    assert kernel.name == "vec_add"
    assert [p.name for p in kernel.signature.parameters] == ["a", "b", "c", "n"]
    assert "__global__" in kernel.source
    assert kernel.attributes["max_threads_per_block"] == 1024
    assert "vec_add.cu" in repr(kernel)


@pytest.mark.emulator
def test_the_last_launch_is_kept_on_the_emulator(vec_add):
    a, b, c = arrays()
    vec_add((4,), (256,), (a, b, c, N))
    assert vec_add.vec_add.last_launch.counts.thread_instructions > N


@pytest.mark.gpu
def test_the_same_kernel_runs_on_the_emulator_too(vec_add):
    a, b, c = arrays()
    vec_add((4,), (256,), (a, b, c, N))
    x, y, z = (
        emulated_cupy.asarray(a.get()),
        emulated_cupy.asarray(b.get()),
        emulated_cupy.empty(N, np.float32),
    )
    vec_add.emulated((4,), (256,), (x, y, z, N))
    assert z.get().tobytes() == c.get().tobytes()


# --- what is refused before anything runs ---


def refused(kernel, grid, block, args, **kwargs) -> str:
    with pytest.raises(LaunchError) as caught:
        kernel(grid, block, args, **kwargs)
    return str(caught.value)


def test_a_wrong_dtype_names_the_parameter_and_the_remedy(vec_add):
    a, b, c = arrays()
    text = refused(vec_add, 4, 256, (a, b.astype(np.float64), c, N))
    assert "argument 2 (const float *b)" in text
    assert "float64" in text and ".astype(cp.float32)" in text


def test_too_few_arguments_name_what_is_missing(vec_add):
    text = refused(vec_add, 4, 256, arrays())
    assert "3 given, 4 wanted" in text and text.endswith("n.")


def test_too_many_arguments_are_refused(vec_add):
    assert "too many" in refused(vec_add, 4, 256, (*arrays(), N, N))


@pytest.mark.parametrize("number", [2.0, np.float32(2), 2.5])
def test_a_float_for_an_int_is_refused(vec_add, number):
    text = refused(vec_add, 4, 256, (*arrays(), number))
    assert "(int n)" in text and "whole number" in text


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_a_number_beyond_its_type_is_refused(vec_add, number):
    assert "does not fit" in refused(vec_add, 4, 256, (*arrays(), number))


def test_an_array_where_a_number_belongs_says_how_to_take_it_out(vec_add):
    a, b, c = arrays()
    assert "int(...)" in refused(vec_add, 4, 256, (a, b, c, a.sum()))


def test_a_number_where_an_array_belongs_is_refused(vec_add):
    a, b, c = arrays()
    assert "in order?" in refused(vec_add, 4, 256, (N, a, b, c))


def test_a_numpy_array_is_refused(vec_add):
    a, b, c = arrays()
    text = refused(vec_add, 4, 256, (a.get(), b, c, N))
    assert "(const float *a)" in text and "cp.asarray" in text


def test_a_list_is_refused(vec_add):
    a, b, c = arrays()
    assert "cp.array" in refused(vec_add, 4, 256, ([1.0, 2.0], b, c, N))


def test_an_array_with_gaps_is_refused(vec_add):
    a, b, c = arrays(2 * N)
    assert "cp.ascontiguousarray" in refused(vec_add, 4, 256, (a[::2], b, c, N))


def test_arguments_that_are_no_tuple_are_refused(vec_add):
    a, _, _ = arrays()
    assert "(a,)" in refused(vec_add, 4, 256, a)


@pytest.mark.parametrize(
    ("grid", "block", "message"),
    [
        (0, 256, "nothing would run"),
        ((4, 0), 256, "along y"),
        (4, 0, "no threads"),
        (4, 2048, "1,024 threads"),
        (4, (64, 32), "2,048 threads"),
        (4, (1, 1, 65), "64 threads along z"),
        ((1, 65536), 1, "65,535 blocks along y"),
        ((1, 1, 65536), 1, "65,535 blocks along z"),
        (N / 256, 256, "Divide integers with //"),
        ((1, 1, 1, 1), 256, "one to three"),
        (-1, 256, "at least 1"),
    ],
)
def test_a_launch_shape_that_cannot_be_is_refused(vec_add, grid, block, message):
    assert message in refused(vec_add, grid, block, (*arrays(), N))


def test_too_much_shared_memory_is_refused(vec_add):
    text = refused(vec_add, 4, 256, (*arrays(), N), shared_mem=228 * 1024)
    assert "shared_mem" in text and "KB" in text


def test_a_declaration_of_more_than_48_kb_of_shared_memory_is_refused():
    source = """extern "C" __global__ void f(float *x) {
        __shared__ float tile[12289]; tile[threadIdx.x] = 1; x[0] = tile[3]; }"""
    kernel = load(source=source, device="emulator").kernel
    text = refused(kernel, 1, 64, (emulated_cupy.zeros(1, np.float32),))
    assert "49,156 bytes" in text and "at most 49,152" in text


def test_static_and_dynamic_shared_memory_are_added_up():
    most = cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"]
    kernel = load(
        source="__global__ void f(float *x) { __shared__ float tile[64]; extern __shared__ "
        "float more[]; tile[threadIdx.x] = more[threadIdx.x] = 1; __syncthreads(); "
        "x[threadIdx.x] = tile[63 - threadIdx.x] + more[63 - threadIdx.x]; }"
    )
    x = cp.zeros(64, np.float32)
    assert "256 declared in the kernel" in refused(kernel, 1, 64, (x,), shared_mem=most)
    kernel(1, 64, (x,), shared_mem=most - 1024)  # more than 48 KB is asked for by itself
    assert (x == 2).all()


def test_launch_bounds_limit_the_block():
    kernel = load(source="__global__ void __launch_bounds__(64) f(int *x) { *x = 1; }")
    assert "__launch_bounds__" in refused(kernel, 1, 128, (cp.zeros(1, np.int32),))


# --- how numbers and arrays arrive ---


@pytest.mark.parametrize(
    ("c_type", "number", "dtype"),
    [
        ("float", 2, np.float32),
        ("float", 2.5, np.float32),
        ("float", np.float64(2.5), np.float32),
        ("double", 0.1, np.float64),
        ("int", -3, np.int32),
        ("int", np.int64(5), np.int32),
        ("unsigned char", 200, np.uint8),
        ("long long", 2**40, np.int64),
        ("size_t", 2**63, np.uint64),
        ("bool", True, np.bool_),
        ("short", -5, np.int16),
    ],
)
def test_a_number_arrives_in_its_parameters_type(c_type, number, dtype):
    source = f"__global__ void f({c_type} *out, {c_type} value) {{ *out = value; }}"
    out = cp.zeros(1, dtype)
    load(source=source)(1, 1, (out, number))
    assert out.get()[0] == dtype(number)


def test_half_and_bfloat16_numbers_arrive():
    source = (
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
        "__global__ void f(float *out, half h, __nv_bfloat16 b) "
        "{ out[0] = __half2float(h); out[1] = __bfloat162float(b); }"
    )
    out = cp.zeros(2, np.float32)
    load(source=source)(1, 1, (out, 0.1, 0.1))
    assert out.get().tolist() == [np.float32(np.float16(0.1)), np.float32(0.10009765625)]


NARROW = {
    "__nv_bfloat16": (ml_dtypes.bfloat16, "cuda_bf16.h"),
    "__nv_fp8_e4m3": (ml_dtypes.float8_e4m3fn, "cuda_fp8.h"),
    "__nv_fp8_e5m2": (ml_dtypes.float8_e5m2, "cuda_fp8.h"),
}


def narrow(c_type):
    """A kernel that adds a number to every element, and the dtype of the elements."""
    dtype, header = NARROW[c_type]
    source = (
        f"#include <{header}>\n__global__ void f({c_type} *x, {c_type} add) "
        f"{{ x[threadIdx.x] = {c_type}(float(x[threadIdx.x]) + float(add)); }}"
    )
    return load(source=source), dtype


@pytest.mark.emulator
@pytest.mark.parametrize("c_type", NARROW)
def test_arrays_and_numbers_of_ml_dtypes_arrive(c_type):
    kernel, dtype = narrow(c_type)
    x = cp.asarray(np.arange(8).astype(dtype))
    kernel(1, 8, (x, 0.75))
    kernel(1, 8, (x, dtype(1)))
    expected = ((np.arange(8) + 0.75).astype(dtype).astype(np.float32) + 1).astype(dtype)
    assert x.dtype == dtype
    assert x.get().tolist() == expected.tolist()


@pytest.mark.parametrize("c_type", NARROW)
def test_their_bits_arrive_too(c_type):
    kernel, dtype = narrow(c_type)
    bits = f"u{np.dtype(dtype).itemsize}"
    x = cp.asarray(np.arange(8).astype(dtype).view(bits))
    kernel(1, 8, (x, 1))
    assert x.get().view(dtype).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.emulator
def test_another_narrow_format_is_refused():
    for c_type, other in (("__nv_fp8_e4m3", "__nv_fp8_e5m2"), ("__nv_bfloat16", "__nv_fp8_e4m3")):
        x = cp.zeros(8, NARROW[other][0])
        with pytest.raises(LaunchError, match=r"dtype=ml_dtypes\."):
            narrow(c_type)[0](1, 8, (x, 1))


@pytest.mark.emulator
@pytest.mark.parametrize("c_type", NARROW)
def test_an_array_of_ml_dtypes_that_nobody_wrote_is_nan_and_known_as_uninitialised(c_type):
    kernel, dtype = narrow(c_type)
    x = cp.empty(8, dtype)
    assert np.isnan(x.get().astype(np.float32)).all()
    assert sanitize(kernel, 1, 8, (x, 1)).findings[0].kind == UNINITIALISED


def test_none_is_a_null_pointer():
    kernel = load(source="__global__ void f(int *out, float *x) { *out = x == nullptr; }")
    out = cp.zeros(1, np.int32)
    kernel(1, 1, (out, None))
    assert out.get()[0] == 1


def test_bytes_may_be_called_char_or_unsigned_char():
    kernel = load(source="__global__ void f(char *x) { *x = 1; }")
    for dtype in (np.uint8, np.int8, np.bool_):
        x = cp.zeros(1, dtype)
        kernel(1, 1, (x,))
        assert x.get()[0] == 1


def test_a_torch_tensor_is_passed_without_a_copy(vec_add):
    torch = pytest.importorskip("torch")
    where = "cuda" if device() == "cuda" else "cpu"
    a, b = (torch.rand(N, device=where) for _ in range(2))
    c = torch.zeros(N, device=where)
    vec_add(4, 256, (a, b, c, N))
    assert torch.equal(c, a + b)


def test_a_torch_tensor_whose_gradient_is_asked_for_is_passed_too(vec_add):
    torch = pytest.importorskip("torch")
    where = "cuda" if device() == "cuda" else "cpu"
    a, b = (torch.rand(N, device=where, requires_grad=True) for _ in range(2))
    c = torch.zeros(N, device=where)
    vec_add(4, 256, (a, b, c, N))
    assert torch.equal(c, (a + b).detach())


def test_advice_for_a_torch_tensor_is_torch_s(vec_add):
    torch = pytest.importorskip("torch")
    where = "cuda" if device() == "cuda" else "cpu"
    a, b, c = (torch.zeros(2 * N, device=where) for _ in range(3))
    narrow = refused(vec_add, 4, 256, (a.double(), b, c, N))
    assert ".to(torch.float32)" in narrow and "cp." not in narrow
    apart = refused(vec_add, 4, 256, (a[::2], b, c, N))
    assert ".contiguous()" in apart and "cp." not in apart


# --- modules ---


def test_defines_reach_the_kernel():
    kernel = load(
        source="__global__ void f(int *x) { *x = SIZE + FLAG; }",
        defines={
            "SIZE": 40,
            "FLAG": True,
        },
    )
    x = cp.zeros(1, np.int32)
    kernel(1, 1, (x,))
    assert x.get()[0] == 41


def test_templates_are_reached_by_their_names():
    source = "template <typename T> __global__ void fill(T *x, T value) { *x = value; }"
    module = load(source=source, names=["fill<float>", "fill<int>"])
    x = cp.zeros(1, np.int32)
    module["fill<int>"](1, 1, (x, 3))
    assert x.get()[0] == 3
    assert "int32" in refused(module["fill<int>"], 1, 1, (cp.zeros(1, np.float32), 3))
    with pytest.raises(AttributeError, match="fill<float>"):
        module.fill  # noqa: B018
    assert load(source=source, names=["fill<float>"]).fill.name == "fill<float>"


def test_a_template_with_no_instance_says_how_to_name_one():
    module = load(source="template <int N> __global__ void f(int *x) { *x = N; }")
    with pytest.raises(AttributeError, match="names="):
        module.f  # noqa: B018


def test_a_module_of_two_kernels_asks_which_one():
    module = load(source="__global__ void f(int *x) {}\n__global__ void g(int *x) {}")
    with pytest.raises(LaunchError, match="f, g"):
        module(1, 1, (None,))
    assert [kernel.name for kernel in module] == ["f", "g"]


def test_a_kernel_that_does_not_exist_is_explained(vec_add):
    with pytest.raises(AttributeError, match="no kernel 'add'; it has vec_add"):
        vec_add.add  # noqa: B018


def test_a_device_variable_is_an_array():
    module = load(
        source="__constant__ float w[3];\n__global__ void f(float *x) "
        "{ x[threadIdx.x] = w[threadIdx.x]; }"
    )
    module.variable("w", (3,), np.float32)[...] = cp.asarray(np.array([1, 2, 3], np.float32))
    x = cp.zeros(3, np.float32)
    module(1, 3, (x,))
    assert x.get().tolist() == [1, 2, 3]


def test_a_file_that_is_not_there_is_suggested_from_elsewhere():
    with pytest.raises(LessonError, match="04_first_kernels/threads/vec_add.cu"):
        load("vec_add.cu")
    with pytest.raises(LessonError, match="below kernels/"):
        load("no_such_kernel.cu")


@pytest.mark.parametrize(
    "path, place",
    [
        ("06_matmul_and_fft/sgemm_naive.cu", "06_matmul_and_fft/sgemm/01_sgemm_naive.cu"),
        ("06_matmul_and_fft/sgemm/07_sgemm_naive.cu", "06_matmul_and_fft/sgemm/01_sgemm_naive.cu"),
        ("04_first_kernels/conv3x3.cu", "04_first_kernels/fusion/conv3x3.cu"),
        ("04_first_kernels/threads/vec_add", "04_first_kernels/threads/vec_add.cu"),
        ("04_first_kernels/threads/vecadd.cu", "04_first_kernels/threads/vec_add.cu"),
    ],
)
def test_a_path_without_the_topic_or_with_a_slip_is_corrected(path, place):
    with pytest.raises(LessonError, match=f"Did you mean '{place}'"):
        load(path)


def test_a_compile_error_names_the_students_line():
    with pytest.raises(CompileError) as caught:
        load(source="__global__ void f(int *x)\n{\n    *x = y;\n}", filename="mine.cu")
    assert str(caught.value).startswith('mine.cu:3: error: identifier "y" is undefined')


def test_included_files_are_found_whatever_includes_them(tmp_path):
    (tmp_path / "inner.cuh").write_text("int inner;")
    (tmp_path / "outer.cuh").write_text('#include "inner.cuh"')
    found = included_files('#include "outer.cuh"\n#include <cuda_fp16.h>', tmp_path)
    assert [path.name for path in found] == ["inner.cuh", "outer.cuh"]


def test_a_changed_header_is_compiled_anew(tmp_path):
    (tmp_path / "value.cuh").write_text("constexpr int kValue = 1;")
    kernel = tmp_path / "kernel.cu"
    kernel.write_text('#include "value.cuh"\nextern "C" __global__ void f(int *x) { *x = kValue; }')
    x = cp.zeros(1, np.int32)
    load(kernel)(1, 1, (x,))
    (tmp_path / "value.cuh").write_text("constexpr int kValue = 2;")
    load(kernel)(1, 1, (x,))
    assert x.get()[0] == 2


def test_a_target_cupy_cannot_name_is_compiled_by_us():
    kernel = load(source='extern "C" __global__ void f(int *x) { *x = 1; }', arch="sm_90a")
    x = cp.zeros(1, np.int32)
    kernel(1, 1, (x,))
    assert x.get()[0] == 1


def test_printf_is_printed(capfd):
    kernel = load(source=r'__global__ void f(int n) { printf("n is %d\n", n); }')
    kernel(1, 1, (7,))
    assert capfd.readouterr().out == "n is 7\n"


# --- faults ---


@pytest.mark.emulator
def test_a_fault_is_the_report_alone(vec_add):
    with pytest.raises(LaunchFault) as caught:
        vec_add(5, 256, (*arrays(), N + 1))
    assert caught.value.finding.kind == "out of bounds"
    *report, note = caught.value._render_traceback_()
    assert report == str(caught.value).splitlines() and "Out of bounds" in note
    assert re.search(r"kernels/04_first_kernels/threads/vec_add.cu:\d+", str(caught.value))


WRITES = "int* y) {{ y[threadIdx.x] = {}; }}"
NAMES = {
    "an inactive #if": (
        f"#if 0\n__global__ void old({WRITES.format(1)}\n#endif\n"
        f"__global__ void run({WRITES.format(2)}",
        {"run": 2},
    ),
    'extern "C" elsewhere': (
        f'extern "C" __device__ int two() {{ return 2; }}\n__global__ void run({WRITES.format(2)}\n'
        f'extern "C" __global__ void other({WRITES.format(3)}',
        {"run": 2, "other": 3},
    ),
    "a template with launch bounds": (
        "constexpr int A = 8, B = 4;\n"
        f"template <int N> __launch_bounds__(A * B) __global__ void made({WRITES.format('N')}\n"
        f"__global__ void run({WRITES.format(2)}",
        {"run": 2, "made<5>": 5},
    ),
    "a namespace": (
        f"namespace mine {{ namespace inner {{ __global__ void run({WRITES.format(2)} }} }}",
        {"run": 2, "mine::inner::run": 2},
    ),
    "overloads": (
        f"__global__ void run({WRITES.format(2)}\n"
        "__global__ void run(int* y, float) { y[threadIdx.x] = 3; }",
        {"_Z3runPi": 2},
    ),
    "a macro": (
        f"#define MAKE(n) __global__ void make_##n({WRITES.format('n')}\nMAKE(2) MAKE(3)",
        {"make_2": 2, "make_3": 3},
    ),
    "a static kernel": (f"static __global__ void run({WRITES.format(2)}", {"run": 2}),
}


@pytest.mark.parametrize("case", NAMES)
def test_the_compiler_says_which_kernels_there_are(case):
    source, kernels = NAMES[case]
    module = load(source=source, names=[name for name in kernels if "<" in name])
    for name, value in kernels.items():
        y = cp.zeros(4, cp.int32)
        module[name](1, 4, (y,))
        assert (y == value).all()
    assert "old" not in repr(module)


@pytest.mark.parametrize("case", NAMES)
def test_the_compiler_is_asked_wherever_the_text_does_not_tell(case):
    """On a GPU. A name that is read and is no kernel is the compiler's error, and it is asked then;
    a kernel that is not read would be missing."""
    source, kernels = NAMES[case]
    names = tuple(name for name in kernels if "<" in name)
    read = [name for name, found in _signatures(source, {}, {}).items() if not found.template]
    if _text_tells(source, read, names):
        assert len({*read, *names}) >= len(kernels)


def test_overloads_are_told_apart_by_their_symbols():
    module = load(source=NAMES["overloads"][0])
    with pytest.raises(AttributeError, match=r"run has several instances: .*_Z3runPi"):
        module.run  # noqa: B018
    y = cp.zeros(4, cp.int32)
    module["_Z3runPif"](1, 4, (y, np.float32(1)))
    assert (y == 3).all()
