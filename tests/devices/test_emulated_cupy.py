"""The CuPy-shaped namespace over NumPy: what CuPy allows works, what it refuses is refused."""

import numpy as np
import pytest

from course_utils.devices import emulated_cupy as cp
from course_utils.devices.emulated_cuda import NoTimesError


def test_asarray_of_a_numpy_array_is_a_copy():
    host = np.zeros(3)
    cp.asarray(host)[...] = 1
    assert not host.any()


def test_asarray_of_a_cp_array_is_the_same_memory():
    a = cp.zeros(3)
    cp.asarray(a)[0] = 1
    assert a[0] == 1


def test_from_dlpack_shares_the_memory_of_a_torch_tensor_and_may_write_to_it():
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(3)
    array = cp.from_dlpack(tensor)
    array[0] = 1  # NumPy 2.1 would refuse
    assert tensor[0] == 1 and isinstance(array, cp.ndarray)


def test_asarray_of_a_torch_tensor_shares_its_memory():
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(3)
    cp.asarray(tensor)[...] = 2
    assert tensor.tolist() == [2, 2, 2]


def test_get_returns_a_plain_copy():
    a = cp.ones(2)
    host = a.get()
    host[0] = 5
    assert type(host) is np.ndarray and a[0] == 1


def test_set_copies_from_the_host():
    a = cp.zeros(2, cp.float32)
    a.set(np.array([1, 2], np.float32))
    assert a.tolist() == [1, 2]
    with pytest.raises(ValueError, match="float32"):
        a.set(np.array([1.0, 2.0]))


def test_unwritten_memory_shows():
    assert cp.isnan(cp.empty(3, cp.float32)).all()
    assert int(cp.empty(3, cp.int32)[0]) == -842150451
    assert cp.isnan(cp.empty_like(cp.ones((2, 2)))).all()


@pytest.mark.parametrize(
    "mix",
    [
        lambda a, h: a + h,
        lambda a, h: h + a,
        lambda a, h: cp.add(a, h),
        lambda a, h: np.dot(a, h),
        lambda a, h: a.__setitem__(slice(None), h),
        lambda a, h: cp.sum(h),
    ],
)
def test_mixing_with_numpy_arrays_is_refused(mix):
    with pytest.raises(TypeError, match="cp.asarray"):
        mix(cp.ones(2), np.ones(2))


def test_numbers_mix_freely():
    a = cp.ones(2, cp.float32)
    assert (2 * a + np.float32(1)).tolist() == [3, 3]
    a += 1
    assert type(a) is cp.ndarray and a.dtype == cp.float32


@pytest.mark.parametrize(
    "make",
    [
        lambda a: a.sum(),
        lambda a: a[0, 1],
        lambda a: a.mean(),
        lambda a: a.argmax(),
        lambda a: cp.max(a),
        lambda a: cp.linalg.norm(a),
        lambda a: cp.allclose(a, a),
        lambda a: np.sum(a),
    ],
)
def test_a_single_number_is_an_array_of_no_dimensions(make):
    found = make(cp.arange(6.0).reshape(2, 3))
    assert type(found) is cp.ndarray and found.shape == ()
    float(found)


def test_an_element_is_a_view():
    a = cp.zeros(3)
    a[1][...] = 7
    assert a.tolist() == [0, 7, 0]


def test_arrays_print_as_numpys_do():
    assert repr(cp.arange(3)) == "array([0, 1, 2])"
    assert f"{cp.ones(1).sum():.2f}" == "1.00"


def test_everything_else_is_numpys_with_cp_arrays_out():
    assert type(cp.linspace(0, 1, 5)) is cp.ndarray
    assert type(cp.random.rand(3, dtype=cp.float32)) is cp.ndarray
    assert cp.random.rand(3, dtype=cp.float32).dtype == cp.float32
    assert type(cp.random.default_rng(1).standard_normal(3)) is cp.ndarray
    assert type(cp.stack([cp.ones(2), cp.ones(2)])) is cp.ndarray
    assert all(type(part) is cp.ndarray for part in cp.split(cp.arange(4), 2))
    assert cp.float32 is np.float32 and cp.pi == np.pi


def test_an_unknown_name_is_explained():
    with pytest.raises(AttributeError, match="emulator"):
        cp.nothing_of_that_name  # noqa: B018


def test_the_modelled_device_is_an_sm_90_with_132_processors():
    device = cp.cuda.Device()
    assert device.compute_capability == "90"
    assert device.attributes["MultiProcessorCount"] == 132
    assert b"emulated" in cp.cuda.runtime.getDeviceProperties(0)["name"]


def test_times_are_never_invented():
    with cp.cuda.Stream():
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        end.record()
        end.synchronize()
    with pytest.raises(NoTimesError, match="measured on a GPU only"):
        cp.cuda.get_elapsed_time(start, end)


SCALE = r"""
extern "C" __global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
"""


def test_a_raw_module_runs_as_in_cupy():
    module = cp.RawModule(code=SCALE, options=("-std=c++17",))
    x = cp.arange(5, dtype=cp.float32)
    module.get_function("scale")((1,), (32,), (x, cp.float32(2), cp.int32(5)))
    assert x.tolist() == [0, 2, 4, 6, 8]


def test_a_python_float_is_passed_as_a_double_as_in_cupy():
    x = cp.ones(1, dtype=cp.float32)
    cp.RawKernel(SCALE, "scale")((1,), (1,), (x, 2.0, 1))
    assert x.tolist() == [0]  # the low half of the double 2.0


def test_a_template_is_reached_by_name_expression():
    source = "template <typename T> __global__ void one(T *x) { *x = 1; }"
    module = cp.RawModule(code=source, name_expressions=("one<int>", "one<double>"))
    x = cp.zeros(1)
    module.get_function("one<double>")((1,), (1,), (x,))
    assert x.tolist() == [1]


def test_a_constant_variable_is_reached_through_its_pointer():
    source = '__constant__ int table[2]; extern "C" __global__ void f(int *x) { *x = table[1]; }'
    module = cp.RawModule(code=source)
    table = cp.ndarray((2,), cp.int32, module.get_global("table"))
    table[...] = cp.array([3, 4])
    x = cp.zeros(1, cp.int32)
    module.get_function("f")((1,), (1,), (x,))
    assert x.tolist() == [4]


def test_an_array_keeps_its_address():
    a = cp.zeros(8, cp.float32)
    address = a.data.ptr
    assert a.data.ptr == address
    assert a[2:].data.ptr == address + 8


def test_printf_is_printed(capsys):
    source = r'extern "C" __global__ void f(int n) { printf("n is %d\n", n); }'
    cp.RawKernel(source, "f")((1,), (1,), (cp.int32(7),))
    assert capsys.readouterr().out == "n is 7\n"
