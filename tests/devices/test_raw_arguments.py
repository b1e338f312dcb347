"""A raw launch passes what CuPy passes, refuses what CuPy refuses, and names what is misread."""

import numpy as np
import pytest

from course_utils.devices import emulated_cupy as cp

CODE = r"""
struct P { char kind; double weight; };
extern "C" __global__ void f(const float *x, float s, int n, long long big, unsigned char small,
                             P p, bool b)
{
}
template <typename T> __global__ void g(T *x, T s) { *x = s; }
"""
FIELDS = [("kind", "i1"), ("weight", "f8")]


@pytest.fixture(scope="module")
def module():
    return cp.RawModule(code=CODE, name_expressions=("g<float>",))


@pytest.fixture
def launch(module, capsys):
    """Launches f with one argument of its own and right ones else; returns what stderr got."""

    def launched(name, value):
        given = {
            "x": cp.ones(8, cp.float32),
            "s": np.float32(2),
            "n": np.int32(1),
            "big": 1,
            "small": 3,
            "p": np.zeros(1, np.dtype(FIELDS, align=True))[0],
            "b": True,
        }
        module.get_function("f")((1,), (1,), tuple({**given, name: value}.values()))
        return capsys.readouterr().err

    return launched


MISREAD = {
    "a Python float": ("s", lambda: 2.0, ("float s", "the Python float 2.0", "np.float32(2.0)")),
    "a Python int for a float": ("s", lambda: 1, ("float s", "1e-45", "np.float32(1)")),
    "a float for an int": ("n", lambda: 2.5, ("int n", "2.5")),
    "an int that is too large": ("n", lambda: 1 << 31, ("int n", "-2147483648", "2,147,483,647")),
    "fewer bytes": ("big", lambda: np.int32(3), ("long long big", "np.int64(3)")),
    "a bool": ("n", lambda: True, ("int n", "the Python bool True")),
    "a large int for a byte": ("small", lambda: 300, ("unsigned char small", "44")),
    "an int64 array": ("x", lambda: cp.arange(8), ("float *x", "int64", ".astype(cp.float32)")),
    "a float64 array": ("x", lambda: cp.ones(8), ("float *x", "float64")),
    "an int32 array for floats": ("x", lambda: cp.ones(8, cp.int32), ("float *x", "int32")),
    "a transpose": ("x", lambda: cp.ones((2, 4), cp.float32).T, ("x", "ascontiguousarray")),
    "a step": ("x", lambda: cp.ones(8, cp.float32)[::2], ("x", "ascontiguousarray")),
    "a number for a pointer": ("x", lambda: np.int32(8), ("float *x", "int32 8")),
    "a packed struct": ("p", lambda: np.zeros(1, FIELDS)[0], ("P p", "16", "9", "align=True")),
    "a number for a struct": ("p", lambda: 5, ("P p", "16", "the Python int 5")),
}


@pytest.mark.parametrize("name, value, words", MISREAD.values(), ids=MISREAD)
def test_one_line_names_the_parameter_the_value_and_the_fix(launch, name, value, words):
    line = launch(name, value())
    assert line.startswith("warning: f: ") and line.count("\n") == 1
    assert not [word for word in words if word not in line]


READ_RIGHT = {
    "a Python int that fits": ("n", lambda: 8),
    "a zero": ("s", lambda: 0.0),
    "a bool for a byte": ("small", lambda: True),
    "an array of one number": ("s", lambda: np.ones(1, np.float32)),
    "an address": ("x", lambda: 1 << 40),
    "a pointer": ("x", lambda: cp.ones(8, cp.float32).data),
    "a contiguous part": ("x", lambda: cp.ones(8, cp.float32)[2:]),
    "columns in memory": ("x", lambda: cp.ones((2, 4), cp.float32, order="F")),
}


@pytest.mark.parametrize("name, value", READ_RIGHT.values(), ids=READ_RIGHT)
def test_what_the_kernel_reads_as_meant_needs_no_line(launch, name, value):
    assert launch(name, value()) == ""


def test_a_kernel_warns_once_of_a_parameter(module, capsys):
    """An instance of a template knows its types."""
    kernel, x = module.get_function("g<float>"), cp.ones(1, cp.float32)
    for _ in range(2):
        kernel((1,), (1,), (x, 2.0))
    assert capsys.readouterr().err.count("float s has 4 bytes") == 1
    assert x.tolist() == [0]


REFUSED = {
    "a list": ("x", lambda: [1.0], "Unsupported type <class 'list'>.*cp.asarray"),
    "bytes": ("x", lambda: b"123", "Unsupported type <class 'bytes'>"),
    "a NumPy array": ("x", lambda: np.ones(4, np.float32), "to the device: cp.asarray"),
    "None": ("x", lambda: None, r"None.*np.uint64\(0\)"),
    "a list for a number": ("n", lambda: [1], r"Unsupported type.*np.int32\("),
    "a tuple for a struct": ("p", lambda: (1, 2), "Unsupported type.*align=True"),
    "an array for a number": ("s", lambda: cp.ones(3).sum(), r"float s.*address.*item\(\)"),
}


@pytest.mark.parametrize("name, value, text", REFUSED.values(), ids=REFUSED)
def test_what_cupy_refuses_is_refused_with_the_fix(launch, name, value, text):
    with pytest.raises(TypeError, match=text):
        launch(name, value())


class Tensor:
    """As a torch tensor shows itself, without the seconds that torch takes to import."""

    def data_ptr(self):
        return 1 << 40


def test_a_torch_tensor_is_refused(launch):
    with pytest.raises(TypeError, match=r"Unsupported type.*Tensor.*cp.asarray\(tensor\)"):
        launch("x", Tensor())


def test_a_type_that_an_option_defines_is_the_kernel_s(capsys):
    source = """
    #ifndef ELEMENT
    #define ELEMENT float
    #endif
    extern "C" __global__ void first(const ELEMENT *x, int *y) { y[0] = sizeof(*x); }
    """
    module = cp.RawModule(code=source, options=("-DELEMENT=short",))
    y = cp.zeros(1, cp.int32)
    module.get_function("first")((1,), (1,), (cp.zeros(4, cp.int16), y))
    assert y.get()[0] == 2 and capsys.readouterr().err == ""
