"""Compiling: PTX and cubins without a GPU, and errors a beginner can act on."""

import pytest

from course_utils.compiling.diagnostics import MAX_ERRORS_SHOWN, CompileError
from course_utils.compiling.headers import include_paths
from course_utils.compiling.nvrtc import compile_cubin, compile_ptx, compile_source, each_once
from course_utils.paths import ROOT

NAME = "kernels/04_first_kernels/student.cu"


def error_of(source: str, filename: str = NAME, **kwargs) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile_ptx(source, filename=filename, **kwargs)
    return caught.value


def test_a_kernel_becomes_ptx_with_line_information():
    ptx = compile_ptx('extern "C" __global__ void f(int *a) { *a = 1; }', filename=NAME)
    assert ".visible .entry f(" in ptx
    assert ".loc" in ptx and NAME in ptx
    assert "\0" not in ptx


def test_a_cubin_for_hopper_needs_no_gpu():
    assert compile_cubin("__global__ void f() {}", filename=NAME, arch="sm_90a")[:4] == b"\x7fELF"


def test_float_arithmetic_flushes_denormals_as_cupy_does():
    ptx = compile_ptx("__global__ void f(float *a) { *a += 1; }", filename=NAME)
    assert "add.ftz.f32" in ptx


def test_a_template_is_instantiated_by_its_name_expression():
    source = "template <int N> __global__ void f(int *a) { *a = N; }"
    compiled = compile_source(source, filename=NAME, arch="compute_90a", names=("f<3>",))
    assert f".entry {compiled.mangled['f<3>']}(" in compiled.code


@pytest.mark.parametrize(
    "header",
    ["cuda_fp16.h", "cuda_bf16.h", "mma.h", "cooperative_groups.h", "cuda/std/cstdint"],
)
def test_cuda_headers_are_found(header):
    compile_ptx(f"#include <{header}>\n__global__ void f() {{}}", filename=NAME)


def test_an_error_shows_file_line_source_and_caret():
    error = error_of("__global__ void f(int *a)\n{\n    a[0] = b;\n}")
    assert (error.file, error.line, error.column) == (NAME, 3, 12)
    rows = str(error).splitlines()
    assert rows[0] == f'{NAME}:3: error: identifier "b" is undefined'
    assert rows[1].index("b;") == rows[2].index("^")


@pytest.mark.parametrize("folder", ["José Müller", "course (1)", "(1) course", 'a "b"', "a\\b"])
def test_an_error_names_its_file_whatever_letters_are_in_its_path(folder):
    error = error_of("__global__ void f(int *a)\n{\n    a[0] = b;\n}", f"{folder}/x.cu")
    assert (error.file, error.line) == (f"{folder}/x.cu", 3)
    assert str(error).startswith(f'{folder}/x.cu:3: error: identifier "b" is undefined')


def test_an_error_in_an_included_file_names_it_whatever_letters_are_in_its_path(tmp_path):
    header = tmp_path / "José Müller" / "größe (1).cuh"
    header.parent.mkdir()
    header.write_text("\nconstexpr int kSize = b;\n")
    error = error_of(f'#include "{header.name}"\n', options=(f"-I{header.parent}",))
    assert (error.file, error.line) == (str(header), 2)


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("__global__ void f(int *a) {\n int i = 0\n a[i] = 1; }", "end of the line before"),
        ("#include <iostream>", "printf, which needs no #include"),
        ("#include <vector>", "<cuda/std/...>"),
        ('#include "nothing.cuh"', "kernels/common"),
        ("__global__ void f(half *a) { }", "cuda_fp16.h"),
        ("__global__ void f(int *a) { a[0] = std::max(1, 2); }", "plain function"),
        ("__global__ int f(int *a) { }", "returns nothing"),
        ("__global__ void f(int *a) { *a = 1;", "closing brace"),
        ("__host__ int f() { return 1; }", "remove the host function"),
        (
            "__global__ void f() {}\nint main() { f<<<1, 1>>>(); }",
            "Remove main and every <<<...>>>",
        ),
    ],
)
def test_common_mistakes_come_with_their_remedy(source, remedy):
    assert remedy in str(error_of(source))


def test_a_missing_brace_is_placed_at_the_brace_left_open():
    assert error_of("\n__global__ void f(int *a) {\n").line == 2


def test_only_the_first_errors_are_shown():
    text = str(error_of("__global__ void f() { a = 1; b = 2; c = 3; d = 4; e = 5; }"))
    assert text.count("error:") == MAX_ERRORS_SHOWN
    assert "and 2 more" in text


def test_a_runaway_template_does_not_flood():
    source = (
        "template <int N> struct A { static const int v = A<N + 1>::v; };\n"
        "__global__ void f(int *a) { *a = A<0>::v; }"
    )
    text = str(error_of(source))
    assert len(text.splitlines()) < 40
    assert "specialisation" in text


def test_a_warning_alone_is_no_error():
    compile_ptx("__global__ void f(int *a) { int unused; *a = 1; }", filename=NAME)


def test_an_empty_log_does_not_change_the_one_space_that_all_of_python_shares():
    compile_ptx("__global__ void f() {}", filename=NAME)
    assert bytes([32]) == bytearray([32])


def test_an_unknown_option_is_named():
    assert "--bogus" in str(error_of("", options=("--bogus",)))


def test_an_option_of_the_course_s_is_given_once_and_the_last_one_counts():
    """NVRTC 12.8 refuses a second one, 12.9 does not."""
    given = each_once("-std=c++17", "-lineinfo", "-ftz=true", "--std=c++20", "-ftz=false")
    assert given == ("-lineinfo", "--std=c++20", "-ftz=false")
    assert each_once("-I", "a", "-D", "A", "-D", "B", "-lineinfo", "-lineinfo") == (
        *("-I", "a", "-D", "A", "-D", "B"),
        "-lineinfo",
    )


def test_a_standard_that_is_asked_for_replaces_the_course_s():
    source = "static_assert(__cplusplus == VERSION); __global__ void k() {}"
    for standard, version in (("-std=c++20", "202002L"), ("-std=c++17", "201703L")):
        compile_ptx(source, filename="k.cu", options=(f"-DVERSION={version}", standard))


def test_errors_name_no_absolute_path():
    error = error_of('#include <cuda_fp16.h>\n__global__ void f() { __hadd(1, "2", 3); }')
    assert str(ROOT) not in str(error)
    assert not any(path in str(error) for path in include_paths())


def test_in_a_notebook_only_the_message_is_shown():
    error = error_of("__global__ void f() { a = 1; }")
    *message, note = error._render_traceback_()
    assert message == str(error).splitlines() and error.symptom in note


@pytest.mark.parametrize("constant", ["FLT_MAX", "FLT_EPSILON", "FLT_MIN", "DBL_MAX"])
def test_a_limit_of_a_float_gets_a_header_that_compiles(constant):
    kernel = f'extern "C" __global__ void f(double *a) {{ *a = {constant}; }}'
    assert "#include <float.h>" in str(error_of(kernel)).split("-> ")[1]
    compile_ptx(f"#include <float.h>\n{kernel}", filename=NAME)


def test_constants_that_nvcc_has_by_itself_need_no_header():
    source = """
constexpr float kInfinity = INFINITY, kNaN = NAN, kHuge = HUGE_VALF;
constexpr double kSums = M_PI + INT_MAX + UINT_MAX + LLONG_MIN + LONG_MAX + CHAR_BIT + HUGE_VAL;
extern "C" __global__ void f(float *a) { a[0] = -kInfinity; a[1] = kNaN + kHuge + kSums; }
"""
    found = compile_source(source, filename=NAME, arch="compute_90a")
    assert not found.log and "kInfinity = 0f7F800000" in found.ptx
    again = "#include <cuda/std/cmath>\n#include <cuda/std/climits>\n"
    own = "#define INFINITY 1.0f\n#define CHAR_BIT 8\n"
    for head in (again, own):
        compile_ptx(head + source.replace("constexpr", "const"), filename=NAME)
    error = error_of(source.replace("kSums; }", "kSums + nothing; }"))
    assert error.line == 4 and "nothing" in str(error)
