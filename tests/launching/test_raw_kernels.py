"""What observes kernels of ``load`` observes those of ``cp.RawModule`` and ``cp.RawKernel`` too."""

import pytest

from course_utils import cp, load, occupancy, profile, sanitize, trace
from course_utils.devices import emulated_cupy
from course_utils.devices.limits import LaunchError
from course_utils.emulator import OUT_OF_BOUNDS
from course_utils.errors import LessonError
from course_utils.launching.emulation import on_emulator

SCALE = r"""
extern "C" __global__ void scale(float *x, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= LAST) x[i] *= factor;
}
"""
RIGHT, WRONG = ("-DLAST=n-1",), ("-DLAST=n",)
N = 100


class CupyKernel:
    """What can be read of CuPy's own RawKernel, which only a GPU has: cupy/_core/raw.pyx and .pxd.

    Its name expressions are private to its C code: ``__getstate__`` alone tells of them.
    """

    def __init__(self, code, name, options=(), file_path=None, name_expressions=None):
        self.code, self.file_path, self.name, self.__name__ = code, file_path, name, name
        self.options, self.backend, self.enable_cooperative_groups = options, "nvrtc", False
        self._state = {
            "code": code,
            "name": name,
            "options": options,
            "backend": "nvrtc",
            "translate_cucomplex": False,
            "file_path": file_path,
            "name_expressions": name_expressions,
            "enable_cooperative_groups": False,
            "jitify": None,
            "raw_ver": 2,
        }

    def __getstate__(self):
        return self._state


def of_module(options):
    return cp.RawModule(code=SCALE, options=options).get_function("scale")


def of_code(options):
    return cp.RawKernel(SCALE, "scale", options)


def of_cupy(options):
    return CupyKernel(SCALE, "scale", options)


def arguments():
    return cp.ones(N, cp.float32), cp.float32(2), cp.int32(N)


every_kind = pytest.mark.parametrize("make", [of_module, of_code, of_cupy])


@every_kind
def test_sanitize_names_the_array_and_the_line(make):
    assert sanitize(make(RIGHT), (1,), (128,), arguments()).clean
    report = sanitize(make(WRONG), (1,), (128,), arguments())
    finding = report.findings[0]
    assert (finding.kind, finding.array, finding.index) == (OUT_OF_BOUNDS, "x", N)
    assert "5 |     if (i <= LAST) x[i] *= factor;" in str(report)


@every_kind
def test_profile_counts_what_it_counts_for_a_loaded_kernel(make):
    loaded = profile(load(source=SCALE, options=RIGHT), (1,), (128,), arguments())
    found = profile(make(RIGHT), (1,), (128,), arguments())
    assert found.counts == loaded.counts
    assert found.by_line("sectors") == loaded.by_line("sectors")
    assert found.by_line("sectors")[5] > 0


@every_kind
def test_trace_follows_the_lines_of_the_code(make):
    steps = trace(make(RIGHT), (1,), (128,), arguments(), warp=3)
    assert sum(steps.at(5)[-1].active) == N - 3 * 32
    assert steps.text(5) == "if (i <= LAST) x[i] *= factor;"


@every_kind
def test_occupancy_is_that_of_a_loaded_kernel(make):
    loaded = occupancy(load(source=SCALE, options=RIGHT), 256)
    assert occupancy(make(RIGHT), 256) == loaded
    assert loaded.resources.registers > 0


def test_numbers_are_passed_as_cupy_passes_them():
    """2.0 goes as a double, of which a float parameter gets the low half: observing must not
    repair what a launch would not."""
    x = emulated_cupy.ones(N, emulated_cupy.float32)
    sanitize(of_cupy(RIGHT), (1,), (128,), (x, 2.0, emulated_cupy.int32(N)))
    assert not x.get().any()


@pytest.mark.emulator
def test_a_raw_kernel_and_its_observers_share_their_variables():
    code = '__device__ int calls; extern "C" __global__ void f(int *x) { *x = ++calls; }'
    module = cp.RawModule(code=code)
    kernel, x = module.get_function("f"), cp.zeros(1, cp.int32)
    kernel((1,), (1,), (x,))
    sanitize(kernel, (1,), (1,), (x,))
    assert x.tolist() == [2]
    assert kernel.last_launch.counts.thread_instructions > 0


TEMPLATE = "template <typename T> __global__ void one(T *x) { x[threadIdx.x] = 1; }"
NAMES = ("one<float>", "one<double>")


def test_an_instance_of_a_template_is_found_by_its_expression_and_by_its_symbol():
    """CuPy's get_function gives a kernel whose name is the mangled one."""
    x = cp.zeros(4, cp.float64)
    by_symbol = CupyKernel(TEMPLATE, "_Z3oneIdEvPT_", name_expressions=NAMES)
    by_name = cp.RawModule(code=TEMPLATE, name_expressions=NAMES).get_function(NAMES[1])
    for kernel in (by_symbol, by_name):
        finding = sanitize(kernel, (1,), (8,), (x,)).findings[0]
        assert (finding.array, finding.index) == ("x", 4)
        assert on_emulator(kernel).name == NAMES[1]
        assert occupancy(kernel, 64).resources.registers > 0


def test_a_kernel_without_its_source_is_refused_with_a_remedy():
    with pytest.raises(LessonError, match=r"f was loaded .*'f\.cubin'.* load_ptx"):
        sanitize(CupyKernel(None, "f", file_path="f.cubin"), (1,), (1,), ())


@pytest.mark.parametrize("observe", [sanitize, profile, trace])
def test_what_is_no_kernel_is_refused(observe):
    with pytest.raises(LessonError, match="get_function"):
        observe(cp.RawModule(code=SCALE, options=RIGHT), (1,), (128,), arguments())
    with pytest.raises(LessonError, match="Wanted a kernel of load"):
        observe(len, (1,), (128,), arguments())


@pytest.mark.gpu
def test_cupy_s_own_kernels_are_observed():
    import cupy

    for make in (of_module, of_code):
        assert isinstance(make(RIGHT), cupy.RawKernel)
        x, factor, n = arguments()
        make(RIGHT)((1,), (128,), (x, factor, n))
        assert sanitize(make(WRONG), (1,), (128,), (x, factor, n)).findings[0].array == "x"
        assert (x == 2).all()  # copied for the emulator: what lives on the GPU stays as it is
        assert profile(make(RIGHT), (1,), (128,), (x, factor, n)).counts.flops == N
        assert len(trace(make(RIGHT), (1,), (128,), (x, factor, n)))
        assert occupancy(make(RIGHT), 256).resources.registers > 0
    instance = cp.RawModule(code=TEMPLATE, name_expressions=NAMES).get_function(NAMES[0])
    report = sanitize(instance, (1,), (8,), (cp.zeros(4, cp.float32),))
    assert (report.findings[0].array, report.kernel) == ("x", NAMES[0])


@pytest.mark.gpu
def test_a_kernel_on_the_emulator_takes_arrays_of_a_gpu_and_they_get_what_it_wrote():
    kernel = load(source=SCALE, options=RIGHT, device="emulator")
    x = cp.ones((10, 10), cp.float32)
    kernel((1,), (128,), (x, 2.0, N))
    assert (x == 2).all()
    with pytest.raises(LaunchError, match="not contiguous"):
        kernel((1,), (128,), (x.T, 2.0, N))
