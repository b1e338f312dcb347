"""What benchmarks measure: launched, compared with what is expected; and what tools print, read."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.benchmarks import Case, KernelCall, Workload
from course_utils.benchmarks.experiments import profilers, sums
from course_utils.benchmarks.experiments.single_launch import launch_of
from course_utils.benchmarks.harness import nsight_compute, sass
from course_utils.benchmarks.harness.case import PEAKS
from course_utils.checking import difference, judge
from course_utils.errors import LessonError


def test_a_wrong_element_is_named_with_what_it_should_be():
    out = cp.asarray(np.array([1.0, 5.0, 3.0], np.float32))
    work = Workload((), out, lambda: cp.asarray(np.array([1.0, 2.0, 3.0])), rtol=1e-6)
    assert work.wrong() == "1 of 3 elements are wrong; element 1 is 5.0, expected 2.0"


def test_a_result_of_another_shape_is_named():
    work = Workload((), cp.zeros(3), lambda: cp.ones((3, 1)))
    assert work.wrong() == "its shape is (3,), expected (3, 1)"


@pytest.mark.parametrize(
    "got, tolerance, right",
    [
        ([1.0, 2.0], 0.0, True),
        ([1.0, 2.1], 0.2, True),
        ([1.0, 2.1], 0.01, False),
        ([1.0, np.nan], 9.0, False),
        ([0.0, 0.0], 9.0, False),
    ],
)
def test_benchmarks_and_check_decide_alike(got, tolerance, right):
    got, want = cp.asarray(np.array(got, np.float32)), cp.asarray(np.array([1.0, 2.0]))
    assert (difference(got, want, tolerance, 0.0) == "") == right
    assert judge(got, want, rtol=tolerance, atol=0.0).passed == right


class Counted(np.ndarray):
    """An array that cannot be copied to the host, as far as ``difference`` can tell."""

    def get(self):
        raise AssertionError("copied to the host")


def test_large_arrays_are_compared_where_they_lie():
    array = np.ones(5, np.float32).view(Counted)
    assert difference(array, array, 0.0, 0.0) == ""


def test_work_clears_what_its_kernel_adds_to():
    kernel = load(source='extern "C" __global__ void count(int *x) { atomicAdd(x, 1); }').kernel
    out = cp.full(1, 7, cp.int32)
    work = Workload(
        (KernelCall(kernel, 1, 32, (out,)),), out, lambda: cp.full(1, 32.0), cleared=(out,)
    )
    work()
    work()
    assert not work.wrong()


@pytest.mark.parametrize("n", [1, 5, 4099])
def test_reading_everything_keeps_nothing_unless_it_is_no_number(n):
    words, never = cp.ones(4 * n, cp.float32), cp.zeros(1, cp.float32)
    read = load("04_first_kernels/coalescing/read_only.cu")
    read((2,), (256,), (words, never, n))
    assert never.get()[0] == 0
    words[-1] = cp.nan
    read((2,), (256,), (words, never, n))
    assert np.isnan(never.get()[0])


# --- what tools print ---

RAW_PAGE = """==PROF== Connected
"ID","Kernel Name","dram__bytes.sum","gpu__time_duration.sum","odd.pct"
"","","byte","ns",""
"0","copy","1,048,576","2,500.5","n/a"
"1","copy","0","2000","3"
"""


def test_ncu_s_raw_page_is_read_a_launch_at_a_time():
    metrics = "dram__bytes.sum", "gpu__time_duration.sum", "odd.pct", "missing.sum"
    first, second = nsight_compute.read(RAW_PAGE, metrics)
    assert first == ("copy", {"dram__bytes.sum": 1048576, "gpu__time_duration.sum": 2500.5})
    assert second.metrics["odd.pct"] == 3 and second.metrics["dram__bytes.sum"] == 0
    assert nsight_compute.read("==ERROR== no permission", metrics) == []


def test_without_ncu_nothing_is_counted(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(LessonError, match="no ncu on the PATH"):
        nsight_compute.counts("", "copy", ["dram__bytes.sum"])


def test_a_launch_to_count_runs_the_case_alone():
    code, kernel = launch_of("sum_warp_shuffle", 1000)
    exec(code)
    assert kernel == "sum_warp_shuffle"


DISASSEMBLED = """
.text.sum:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   STS [R7], R5 ;
        /*0020*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_1:
        /*0030*/               @P0 LDS  R6, [R7] ;
        /*0040*/                   ISETP.GT.AND P1, PT, R3, 0x3f, PT ;
        /*0050*/               @P0 FADD R6, R6, R9 ;
        /*0060*/               @P0 STS  [R7], R6 ;
        /*0070*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
"""


def test_a_step_of_a_tree_is_found_in_the_machine_code():
    listing = sass.read(DISASSEMBLED)
    assert len(listing) == 8 and listing[3] == "@P0 LDS R6, [R7]"
    expected = "BAR.SYNC.DEFER_BLOCKING 0x0|@P0 LDS R6, [R7]|@P0 FADD R6, R6, R9|@P0 STS [R7], R6"
    assert sums.one_step(listing) == expected.split("|")


def test_the_same_sum_ten_times_is_one_result_or_several():
    found = sums.ten_sums("sum_single_pass", 1000)
    assert found["different"] == 1 and found["least"] == found["largest"] != 0


def test_stalls_are_named_in_words_and_those_that_are_nothing_left_out():
    counted = {profilers.STALL.format("drain"): 1.234, profilers.STALL.format("wait"): 0.004}
    assert profilers.stall_cycles(counted) == {"last stores (drain)": 1.23}


def event(name, start, end, device, parent=None):
    """As PyTorch's profiler has them, in microseconds."""
    times = SimpleNamespace(start=start, end=end)
    of_device = f"DeviceType.{device}"
    return SimpleNamespace(name=name, time_range=times, device_type=of_device, cpu_parent=parent)


def test_spans_begin_at_the_first_layer_and_tell_host_from_gpu():
    seen = [
        event("warm-up", 0, 500, "CUDA"),
        event("layer 0", 1000, 2000, "CPU"),
        event("layer 0", 1500, 2000, "CUDA"),
        event("gemm", 1600, 2600, "CUDA"),
        event("cudaDeviceSynchronize", 2000, 2700, "CPU"),
        event("aten::relu", 2000, 2100, "CPU"),
    ]
    assert profilers.spans(seen) == [
        ("host: layers", "0", 0.0, 1.0),
        ("GPU: kernels", "", 0.6, 1.6),
        ("host: waits", "", 1.0, 1.7),
    ]


def test_the_spans_of_a_step_are_its_parts_and_the_kernels_or_where_there_are_none_operators():
    forward, backward = event("forward", 1000, 2000, "CPU"), event("backward", 2000, 4000, "CPU")
    seen = [
        backward,
        forward,
        event("aten::relu", 500, 600, "CPU"),
        event("aten::conv2d", 1100, 1900, "CPU", forward),
        event("aten::convolution", 1200, 1800, "CPU", event("aten::conv2d", 1100, 1900, "CPU")),
        event("autograd::engine::evaluate_function: ReluBackward0", 2100, 2200, "CPU"),
    ]
    parts = [("host", "forward", 0.0, 1.0), ("host", "backward", 1.0, 3.0)]
    assert profilers.step_spans(seen, ("forward", "backward")) == [
        *parts,
        ("operators", "conv2d", 0.1, 0.9),
        ("operators", "ReluBackward0", 1.1, 1.2),
    ]
    seen += [event("forward", 1500, 2500, "CUDA"), event("gemm", 1600, 2600, "CUDA")]
    found = profilers.step_spans(seen, ("forward", "backward"))
    assert found == [*parts, ("GPU", "", 0.6, 1.6)]


def test_the_roofline_of_a_gpu_whose_peaks_are_unknown_is_unknown_where_it_computes():
    rates = {"copy": 1e12, "read": 2e12}
    copy, product = (
        Case("k", "k", ("k.cu",), None, lambda n: 8 * n, flops, ())
        for flops in (lambda n: 0, lambda n: n**3)
    )
    assert copy.roofline_ms(1000, rates, "another GPU") == pytest.approx(8e-6)
    assert product.roofline_ms(1000, rates, "another GPU") is None
    peaks = PEAKS["NVIDIA H200"]
    assert product.roofline_ms(1000, rates, "NVIDIA H200") == pytest.approx(1e12 / peaks["fp32"])
