"""The CuPy-shaped namespace over NumPy: what CuPy allows works, what it refuses is refused."""

import copy

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
        lambda a, h: cp.stack([a, h]),
        lambda a, h: np.stack([a, h]),
    ],
)
def test_mixing_with_numpy_arrays_is_refused(mix):
    with pytest.raises(TypeError, match="cp.asarray"):
        mix(cp.ones(2), np.ones(2))


REFUSED = {  # what a GPU has refused, or would: an error's words for each
    "x.max(initial=0.0)": "ndarray.max.. got an unexpected keyword argument 'initial'.*keepdims",
    "x.sum(where=x > 0)": "unexpected keyword argument 'where'",
    "x.item(0)": "takes 1 positional argument but 2",
    "np.max(x, initial=0)": "unexpected keyword argument 'initial'",
    "cp.add(x, x, where=x > 0)": "unexpected keyword argument 'where'",
    "np.add(x, x, where=x > 0)": "unexpected keyword argument 'where'",
    "cp.maximum.reduce(x)": "CuPy has no cp.maximum.reduce",
    "cp.insert(x, 0, 1)": "CuPy has no cp.insert",
    "np.insert(x, 0, 1)": "np.insert got a cp array",
    "np.linalg.multi_dot([x, x])": "np.linalg.multi_dot got a cp array",
    "x.argsort(stable=True)": "unexpected keyword argument 'stable'",
    "np.spacing(x)": "np.spacing got a cp array",
    "cp.errstate(all='ignore')": "CuPy has no cp.errstate",
    "x.ctypes": "CuPy has no cp.ndarray.ctypes",
    "x.flags.writeable": "writeable",
    "x.view(np.ndarray)": "no NumPy array",
    "cp.sum([1, 2])": "takes a cp array, got a list",
    "cp.sqrt([1, 2])": "Unsupported type <class 'list'>",
    "cp.zeros_like(np.ones(2))": "mixes a NumPy array",
    "cp.ascontiguousarray(np.ones(2))": "takes a cp array, got ndarray",
    "x.__setitem__(slice(2), [1, 2])": "assigns no list",
    "cp.stack(arrays=[x, x])": "unexpected keyword argument 'arrays'.*tup",
    "cp.array(['a'])": "Unsupported dtype",
    "cp.zeros(2, object)": "Unsupported dtype",
    "cp.random.default_rng(0).normal()": "CuPy has no cp.random.Generator.normal",
    "cp.random.default_rng(0).exponential(dtype='f')": "unexpected keyword argument 'dtype'",
    "cp.testing.assert_allclose(x, x, tolerance=1)": "unexpected keyword argument 'tolerance'",
    "cp.lib.format": "emulator does not",
    "range(x[0])": "integer",
    "[1, 2, 3][x[0]]": "indices",
}
IMPLICIT = (
    "np.asarray(x)",
    "np.array(x)",
    "np.array([x, x])",
    "np.ascontiguousarray(x)",
    "np.stack([x.get(), *x])",
    "np.testing.assert_allclose(x, 1)",
    "np.random.default_rng(0).permutation(x)",
    "np.float32(x)",
)


@pytest.mark.parametrize("code", REFUSED)
def test_what_a_gpu_refuses_is_refused(code):
    names = {"cp": cp, "np": np, "x": cp.ones(3, np.int32)}
    errors = AttributeError, TypeError, ValueError, NotImplementedError
    with pytest.raises(errors, match=REFUSED[code]):
        eval(code, names)


@pytest.mark.parametrize("code", IMPLICIT)
def test_numpy_converts_no_array_of_the_device(code):
    with pytest.raises(TypeError, match="Implicit conversion|mixes a NumPy array"):
        eval(code, {"np": np, "x": cp.ones(3)})
    assert not isinstance(cp.ones(3), np.ndarray)


@pytest.mark.parametrize(
    "code",
    [
        "np.sqrt(x) + np.float32(1)",
        "np.sum(x, axis=0, keepdims=True)",
        "np.stack([x, x])",
        "np.linalg.norm(x)",
        "np.fft.rfft(x)",
        "np.add.reduce(x)",
        "np.maximum(x, 2, out=x)",
        "cp.stack(tup=[x, x], axis=1)",
        "x[np.array([0, 2])]",
        "x[cp.array([True, False, True])]",
        "cp.mgrid[0:3]",
        "cp.random.rand()",
        "cp.random.RandomState(1).normal(size=3, dtype=cp.float32)",
        "x == None",
        "cp.ndarray((3,), cp.float32, x.data)",
        "copy.deepcopy(x)",
        "x.ptp()",
        "divmod(x, 2)[0]",
    ],
)
def test_what_cupy_takes_works(code):
    found = eval(code, {"np": np, "cp": cp, "copy": copy, "x": cp.ones(3, np.float32)})
    assert type(found) is cp.ndarray


def test_an_assignment_to_chosen_elements_takes_a_list_as_in_cupy():
    x = cp.zeros(3)
    x[[0, 2]] = [1, 2]
    x[cp.array([False, True, False])] = 5
    assert x.tolist() == [1, 5, 2]


def test_what_does_not_change_an_array_gives_the_same_one():
    x = cp.ones(3)
    y = x
    y += 1
    assert y is x and x.astype(float, copy=False) is x and cp.asarray(x) is x
    assert np.add(x, 1, out=x) is x and x.tolist() == [3, 3, 3]


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


def test_a_shape_is_set_only_where_that_copies_nothing():
    x = cp.zeros((4, 6))
    pointer = x.data.ptr
    x.shape = (8, -1)
    assert (x.shape, x.data.ptr) == ((8, 3), pointer)
    x.shape = 24
    none = cp.zeros((0, 6)).T
    none.shape = (3, 0)
    assert (x.shape, none.shape) == ((24,), (3, 0))
    turned = cp.zeros((4, 6)).T
    for array, shape in ((turned, 24), (x, (5, 5))):
        with pytest.raises(ValueError, match="copy while reshaping|cannot reshape"):
            array.shape = shape
    assert turned.shape == (6, 4)


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
    with pytest.raises(AttributeError, match="CuPy has no cp.nothing_of_that_name"):
        cp.nothing_of_that_name  # noqa: B018
    with pytest.raises(AttributeError, match="emulator does not"):
        cp.ElementwiseKernel  # noqa: B018


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


def test_the_code_in_place_of_the_name_is_refused_with_the_call_that_was_meant():
    with pytest.raises(TypeError, match=r"RawKernel\(code, 'scale'\)"):
        cp.RawKernel("scale", SCALE)


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


def test_memory_of_the_host_and_managed_memory_hold_numbers():
    managed = cp.ndarray((10,), cp.float32, cp.cuda.malloc_managed(40))
    managed[...] = 3
    pinned = cp.cuda.alloc_pinned_memory(40)
    np.frombuffer(pinned, np.float32, 10)[:] = managed.get()
    assert np.frombuffer(pinned, np.float32).tolist() == [3] * 10
    assert pinned.size() == 40 and pinned.ptr and managed.data.ptr
    cp.cuda.set_allocator(None)
    with pytest.raises(TypeError):
        cp.cuda.set_allocator(5)
