"""What a common compile error is about is recognised, and its hint names the thing itself."""

from __future__ import annotations

import pytest

from course_utils import load
from course_utils.compiling.device_functions import (
    functions_without_attribute,
    missing_kernel,
    why_no_kernel,
)
from course_utils.compiling.diagnostics import CompileError
from course_utils.compiling.known_errors import HINTS
from course_utils.compiling.nvrtc import compile_ptx, compile_source
from course_utils.devices import emulated_cupy
from course_utils.devices.limits import LaunchError
from course_utils.devices.selection import EMULATOR, cp
from course_utils.errors import LessonError
from course_utils.paths import KERNELS

KERNEL = 'extern "C" __global__ void k(float* x, int n) { %s }'
WHOLE_PROGRAM = """#include <stdio.h>
#include <cuda_runtime.h>
#define CHECK(call) if (call != cudaSuccess) exit(1)
__global__ void k(float* x) { x[threadIdx.x] = 1; }
int main()
{
    float* d;
    cudaMalloc(&d, 128);
    k<<<1, 32>>>(d);
    CHECK(cudaDeviceSynchronize());
    printf("done\\n");
    return 0;
}
"""
# A source, the hint's name, and a word that it says.
MISTAKES = {
    "a whole program": (WHOLE_PROGRAM, "host code", "#ifndef __CUDACC_RTC__"),
    "a launch": ("__global__ void f() {}\nint main() { f<<<1, 1>>>(); }", "host code", "main"),
    "a program to run": ("int main() { exit(1); }", "host code", "course_utils.emulator run"),
    "a program's header": ("#include <iostream>\nint main() { }", "host code", "main"),
    "a program that fails": ("int main() { exit(1); }", "host code", "main"),
    "a kernel called norm": (KERNEL.replace("k(", "norm("), "taken name", "norm"),
    "a variable called y1": ("float y1;", "taken name", "y1"),
    "one name twice": (
        'extern "C" __global__ void f(int* x) {}\nextern "C" __global__ void f(float* x) {}',
        "taken name",
        "one function of a name",
    ),
    "a launch in a kernel": (
        "// {\n__global__ void c() {}\nint d() {}\n__global__ void p()\n{\n c<<<1, 1>>>(); }",
        "launch in a kernel",
        "dynamic parallelism",
    ),
    "a launch in a function": (
        "__global__ void c() {}\nvoid p()\n{\n c<<<1, 1>>>(); }",
        "host code",
        "run FILE.cu",
    ),
    "cuRAND": ("#include <curand_no_kernel.h>", "curand", "nvidia-curand-cu12"),
    "a value, not an address": (KERNEL % "atomicAdd(x[0], 1.0f);", "overload", "written &x"),
    "a value too few": (KERNEL % "atomicAdd(&x[0]);", "overload", "two arguments"),
    "a value too many": (KERNEL % "atomicAdd(&x[0], 1, 2);", "overload", "two arguments"),
    "two addresses": (KERNEL % "atomicAdd(&x[0], &x[1]);", "overload", "two arguments"),
    "an atomic of size_t": (
        KERNEL % "__shared__ size_t c; atomicAdd(&c, 1);",
        "overload",
        "(unsigned long long *)",
    ),
    "CAS of a float": (
        KERNEL % "atomicCAS(&x[0], 1.0f, 2.0f);",
        "overload",
        "__float_as_int",
    ),
    "no mask": (KERNEL % "x[0] = __shfl_down_sync(x[1], 1);", "overload", "0xffffffff"),
    "uint": (KERNEL % "uint i = 0; x[i] = 0;", "undefined", "Write unsigned"),
    "a power of two": (KERNEL % "x[0] = 2 ** n;", "habit of Python", "isn't a power"),
    "arithmetic on an array": (KERNEL % "x[0] = 2 * x;", "whole array", "`x[i]`"),
    "a division that hides a semicolon": (
        KERNEL % "int h = n // 2;\n x[h] = 0;",
        "habit of Python",
        "rounds towards 0",
    ),
    "an old shuffle": (KERNEL % "x[0] = __shfl_down(x[n], 1);", "old shuffle", "__shfl_down_sync("),
    "an old texture": ("texture<float, 1> t;", "old texture", "cudaTextureObject_t"),
    "a letter too few": (KERNEL % "__syncthread();", "undefined", "__syncthreads"),
    "small letters": (KERNEL % "x[threadidx.x] = 1;", "undefined", "threadIdx"),
    "a name of one's own": (KERNEL % "int total = n; x[0] = totl;", "undefined", "total"),
    "NumPy's float": (KERNEL.replace("float*", "float32*") % "", "undefined", "C++ it is float"),
    "None": (KERNEL % "if (x == None) return;", "undefined", "nullptr"),
    "len": (KERNEL % "x[0] = len(x);", "undefined", "parameter"),
    "no type": (KERNEL % "\nwhere = n;\n", "habit of Python", "int where"),
    "shared memory by the launch": (
        KERNEL % "__shared__ float s[blockDim.x]; s[0] = 1;",
        "array size",
        "extern __shared__ float s[]",
    ),
    "a local array by a parameter": (KERNEL % "float s[n];", "array size", "size of s"),
    "a maximum of floats": (KERNEL % "atomicMax(x, 1.0f);", "overload", "atomicMax for float"),
    "a sum of signed long": (
        KERNEL % "atomicAdd((long long*)x, 1ll);",
        "overload",
        "unsigned long long *",
    ),
    "an atomic on const": (
        KERNEL.replace("float*", "const float*") % "atomicAdd(x, 1.0f);",
        "overload",
        "const float",
    ),
    "cuda::barrier": (
        KERNEL % "cuda::barrier<cuda::thread_scope_block> b;",
        "namespace",
        "<cuda/barrier>",
    ),
    "cooperative groups": (
        KERNEL % "cooperative_groups::this_grid().sync();",
        "namespace",
        "<cooperative_groups.h>",
    ),
    "Python's comment": (KERNEL % "\n# a comment\n", "habit of Python", "//"),
    "Python's conditional": (
        KERNEL % "\nx[0] = 1 if n > 2 else 2;\n",
        "habit of Python",
        "c ? a : b",
    ),
    "Python's for": (KERNEL % "\nfor (d in [1, 2]) x[0] = d;\n", "habit of Python", "for (int"),
    "Python's if": (KERNEL % "\nif n > 2: x[0] = 1;\n", "habit of Python", "parentheses"),
    "a template in extern C": (
        'extern "C" { template <class T> __global__ void f(T* x) {} }',
        "template in extern C",
        "names=",
    ),
    "the arguments of RawKernel swapped": ("twice", "no type", "no CUDA C++"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_first_hint_is_about_the_mistake(mistake):
    source, name, says = MISTAKES[mistake]
    with pytest.raises(CompileError) as caught:
        compile_ptx(source, filename="k.cu")
    error = caught.value
    assert error.hints[0] == name
    assert says in str(error).split("\n  -> ", 1)[1].split("\n\n")[0]


@pytest.mark.parametrize(
    ("mistake", "errors"),
    [
        ("a whole program", 1),
        ("NumPy's float", 1),
        ("cuda::barrier", 1),
        ("an old texture", 1),
        ("a maximum of floats", 1),
    ],
)
def test_what_follows_from_one_mistake_is_not_told(mistake, errors):
    with pytest.raises(CompileError) as caught:
        compile_ptx(MISTAKES[mistake][0], filename="k.cu")
    assert str(caught.value).count("error: ") == errors


def test_two_mistakes_in_one_line_are_two():
    with pytest.raises(CompileError) as caught:
        compile_ptx(KERNEL % "x[0] = first + second;", filename="k.cu")
    assert 'identifier "second" is undefined' in str(caught.value)


def test_overloads_that_do_not_fit_take_one_row():
    with pytest.raises(CompileError) as caught:
        compile_ptx(MISTAKES["a maximum of floats"][0], filename="k.cu")
    assert "  it takes (int *, int), (unsigned int *, unsigned int), (long" in str(caught.value)
    assert "Note" not in str(caught.value)


def test_hints_have_no_name_without_a_text():
    assert all(hint.name and hint.pattern and hint.text for hint in HINTS)


HELPERS = """float square(float v) { return v * v; }
#define HD __host__ __device__
HD float both(float v) { return v; }
constexpr int two() { return 2; }
#if 0
float old(float v) { return v; }
#endif
template <class T> T same(T v) { return v; }
namespace mine { __device__ int g(int v) { return v; } }
struct Pair { float a; float sum() { return a; } };
__global__ void k(float* x) { if (x) { x[0] = square(both(x[1])) + same(two()); } }
"""


def test_a_helper_without_device_is_warned_of_with_its_line():
    log = compile_source(HELPERS, filename="k.cu", arch="compute_90a").log
    warned = [line.partition(": warning #nvcc: ") for line in log.splitlines() if "#nvcc" in line]
    assert [(at, text.split()[0]) for at, _, text in warned] == [
        ("k.cu(1)", "square"),
        ("k.cu(8)", "same"),
    ]


def test_the_loader_s_lines_are_those_of_the_source():
    module = load(source=f"// one\n{HELPERS}", device=EMULATOR)
    assert "kernel.cu(2): warning #nvcc: square has no __device__" in module.warnings


def test_the_course_s_solutions_have_their_attributes():
    files = KERNELS.glob("04_*/exercises/*.cu")
    assert not [file for file in files if functions_without_attribute(file.read_text("utf-8"))]


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ('extern "C" void k(float* x) { x[0] = 1; }', "k has no __global__"),
        ("__device__ float* k(float* x) { return x; }", "k has no __global__"),
        ("template <class T> __global__ void f(T* x) {}", "f is a template"),
        ("int main() { return 0; }", "no function"),
        ("// nothing", "no function"),
    ],
)
def test_a_source_without_a_kernel_is_told_why(source, says):
    assert says in why_no_kernel(source)
    with pytest.raises(LaunchError, match=says):
        load(source=source, device=EMULATOR).kernel  # noqa: B018


def test_a_raw_kernel_that_cannot_be_found_is_told_why():
    source = "__global__ void f(int* x) {}\ntemplate <class T> __global__ void g(T* x) {}"
    assert 'extern "C"' in missing_kernel("f", source, ["_Z1fPi"])
    assert "name_expressions=('g<int>',)" in missing_kernel("g<int>", source, ["_Z1fPi"])
    assert missing_kernel("h", source, ["_Z1fPi"]).endswith("this module has _Z1fPi.")


def test_an_instance_that_was_not_asked_for_is_named_in_full():
    module = load(
        source="__global__ void f(int* x) {}\ntemplate <class T> __global__ void g(T* x) {}",
        device=EMULATOR,
    )
    with pytest.raises(AttributeError, match=r'names=\["g<double>"\]'):
        module["g<double>"]


def test_a_reference_is_refused_and_shown_as_it_is_written():
    kernel = load(source=KERNEL.replace("int n", "int& n") % "x[0] = n;", device=EMULATOR).k
    assert str(kernel.signature) == "k(float *x, int& n)"
    with pytest.raises(LaunchError, match=r"no references, and n is one \(int& n\)"):
        kernel(1, 1, (cp.zeros(1, cp.float32), 3))


def test_the_raw_module_s_error_is_a_lesson_error_and_a_key_error():
    module = emulated_cupy.RawModule(code="__global__ void f(int* x) {}")
    with pytest.raises(KeyError) as caught:
        module.get_function("f")
    assert isinstance(caught.value, LessonError) and str(caught.value).startswith("no kernel is")
