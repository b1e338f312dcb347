"""Reading kernels' parameter lists."""

import numpy as np
import pytest

from course_utils.compiling.signature import kernels


def only(parameters: str):
    (signature,) = kernels(f'extern "C" __global__ void f({parameters}) {{ }}').values()
    return signature


@pytest.mark.parametrize(
    ("text", "name", "pointer", "dtype"),
    [
        ("float *x", "x", True, "float32"),
        ("const float* __restrict__ x", "x", True, "float32"),
        ("float const *const x", "x", True, "float32"),
        ("int x[16]", "x", True, "int32"),
        ("unsigned int n", "n", False, "uint32"),
        ("unsigned n", "n", False, "uint32"),
        ("long long int n", "n", False, "int64"),
        ("unsigned long long n", "n", False, "uint64"),
        ("size_t n", "n", False, "uint64"),
        ("std::uint8_t *x", "x", True, "uint8"),
        ("int8_t *x", "x", True, "int8"),
        ("unsigned char *x", "x", True, "uint8"),
        ("bool flag", "flag", False, "bool"),
        ("__half *x", "x", True, "float16"),
        ("const __nv_bfloat16 *x", "x", True, "bfloat16"),
        ("const bfloat16_t *x", "x", True, "bfloat16"),
        ("half_t x", "x", False, "float16"),
        ("double x = 2.0", "x", False, "float64"),
        ("int const k", "k", False, "int32"),
        ("int", "argument 1", False, "int32"),
    ],
)
def test_a_parameter_has_a_name_and_a_dtype(text, name, pointer, dtype):
    (parameter,) = only(text).parameters
    assert (parameter.name, parameter.pointer) == (name, pointer)
    assert parameter.dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "text",
    [
        "float4 *x",
        "float4 x",
        "void *x",
        "int **x",
        "const __grid_constant__ CUtensorMap map",
        "cuda::std::array<int, 3> x",
        "int &x",
    ],
)
def test_an_unknown_type_is_opaque(text):
    (parameter,) = only(text).parameters
    assert parameter.dtype is None


def test_const_tells_inputs_from_outputs():
    given, out = only("const float *given, float *out").parameters
    assert given.const and not out.const


def test_kernels_without_parameters_have_none():
    assert only("").parameters == only("void").parameters == ()


def test_attributes_between_global_and_the_name_are_skipped():
    source = "__global__ void __launch_bounds__(BM * 2, 1) __cluster_dims__(2, 1, 1) f(int n) {}"
    assert list(kernels(source)) == ["f"]


def test_comments_and_declarations_are_no_kernels():
    source = "// __global__ void a() {}\n/* __global__ void b() {} */ __global__ void c(int n);"
    assert kernels(source) == {}


def test_aliases_of_the_source_and_of_macros_are_followed():
    source = (
        "#define real float\nusing index = unsigned int;\ntypedef real scalar;\n"
        "__global__ void f(scalar *x, index n, T y) {}"
    )
    dtypes = [p.dtype for p in kernels(source, {"T": "double"})["f"].parameters]
    assert dtypes == [np.float32, np.uint32, np.float64]


def test_an_instance_of_a_template_takes_its_types():
    source = "template <typename T, int N = 4>\n__global__ void f(const T *x, T y, int n) {}"
    template = kernels(source)["f"]
    assert template.template == ("T", "N")
    assert template.parameters[0].dtype is None
    instance = template.specialise("f<unsigned int, 8>")
    assert [p.dtype for p in instance.parameters] == [np.uint32, np.uint32, np.int32]


def test_a_signature_reads_like_its_source():
    assert str(only("const float *x, float *y, int n")) == "f(const float *x, float *y, int n)"
