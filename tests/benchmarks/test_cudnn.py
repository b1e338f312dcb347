"""Graphs put to cuDNN: what is described, what is answered, and what runs."""

import numpy as np
import pytest

from course_utils import CudnnGraph, cp, cudnn_library
from course_utils.benchmarks.cases.convolution import convolved
from course_utils.benchmarks.experiments import cudnn_engines
from course_utils.benchmarks.libraries import cudnn_descriptors
from course_utils.benchmarks.libraries.cudnn_graph import MODES, strides_of
from course_utils.checking import difference
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.records.measured_files import REFERENCE, measurements


def test_strides_follow_the_order_of_the_axes():
    assert strides_of((2, 4, 2, 3)) == (24, 6, 3, 1)
    assert strides_of((2, 4, 2, 3), (0, 2, 3, 1)) == (24, 1, 12, 4)


def test_every_attribute_has_a_known_type():
    assert {kind for _, kind in cudnn_descriptors.ATTRIBUTES.values()} <= set(
        cudnn_descriptors.TYPES
    )


def test_a_layer_is_measured_beside_kernels_that_take_it():
    for (kind, layer), names in cudnn_engines.OURS.items():
        for name in names:
            case = cudnn_engines.CASES[name]
            assert case.peak == kind and (*layer, 3) in case.gpu_sizes


def in_fp32(part):
    notes = {"tensor cores", "inputs rounded"}
    return [engine for engine in part["engines"] if not notes & set(engine["notes"])]


def test_the_h200s_record_holds_what_the_notebooks_say_of_it():
    large, _, first, first_last, *_ = measurements("cudnn", REFERENCE)["layers"]
    rounded = [each for each in large["engines"] if each not in in_fp32(large)]
    assert min(each["error"] for each in rounded) > 2e-4
    assert max(each["error"] for each in in_fp32(large)) < 2e-6
    assert {each["behavior"][0] for each in large["engines"] if each["made_ms"] > 5} == {
        "compiled at run time"
    }
    for part, note in ((large, "FFT"), (first_last, "compiled at run time")):
        fastest = min(in_fp32(part), key=lambda each: each["median_ms"])
        assert fastest["from"] == "default" and note in fastest["notes"] + fastest["behavior"]
    (product,) = (each for each in large["engines"] if each["engine"] == 2)
    assert product["workspace_bytes"] >= 4 * 64 * 9 * 256 * 56 * 56  # the matrix of im2col
    assert first["layer"] == first_last["layer"]


@pytest.mark.skipif(ON_GPU, reason="there is a GPU")
def test_without_a_gpu_there_is_no_cudnn_to_call():
    for call in (cudnn_library, lambda: CudnnGraph().tensor((1, 1, 1, 1))):
        with pytest.raises(LessonError, match="runs on a GPU"):
            call()
    with pytest.raises(LessonError, match="needs PyTorch"):
        cudnn_engines.measure()


def small_layer(order, *after):
    """A graph of a small convolution, arrays of small whole numbers, y, and the result."""
    rng = np.random.default_rng(2)
    shapes = {"x": (2, 8, 9, 11), "w": (16, 8, 3, 3), "bias": (1, 16, 1, 1)}
    plain = {
        name: cp.asarray(rng.integers(-3, 4, shape).astype(np.float32))
        for name, shape in shapes.items()
    }
    graph = CudnnGraph()
    tensors = {name: graph.tensor(shape, order=order) for name, shape in shapes.items()}
    y = graph.tensor((2, 16, 9, 11), order=order)
    expected = convolved(plain["x"], plain["w"], 1)
    if after:
        found = graph.pointwise(
            "add", graph.convolution(tensors["x"], tensors["w"], pad=1), tensors["bias"]
        )
        graph.pointwise(*after, found, out=y)
        expected = cp.maximum(expected + plain["bias"], 0)
    else:
        graph.convolution(tensors["x"], tensors["w"], pad=1, out=y)
    axes = order or (0, 1, 2, 3)
    arrays = {
        tensors[name]: cp.ascontiguousarray(plain[name].transpose(axes))
        for name in (shapes if after else ("x", "w"))
    }
    arrays[y] = cp.empty(tuple(y.shape[axis] for axis in axes), cp.float32)
    return graph, arrays, y, expected.transpose(axes)


@pytest.mark.gpu
@pytest.mark.parametrize("after", [(), ("relu",)])
@pytest.mark.parametrize("order", [None, (0, 2, 3, 1)])
def test_an_engine_computes_its_graph_in_both_layouts(order, after):
    graph, arrays, y, expected = small_layer(order, *after)
    ran = 0
    for engine in [each for mode in MODES for each in graph.engines(mode)]:
        try:
            run = engine.plan().bound(arrays)
        except LessonError:  # listed, and not for this
            continue
        arrays[y].fill(np.nan)
        run()
        exact = not {"Winograd", "FFT"} & set(engine.notes)
        assert not difference(arrays[y], expected, 0.0, 0.0 if exact else 1e-3), engine.notes
        ran += 1
    assert ran


@pytest.mark.gpu
def test_a_status_is_told_in_words():
    with pytest.raises(LessonError, match="CUDNN_STATUS_BAD_PARAM"):
        graph = CudnnGraph()
        x, w = graph.tensor((1, 4, 5, 5)), graph.tensor((4, 3, 3, 3))
        graph.convolution(x, w, pad=1)


@pytest.mark.gpu
def test_an_array_that_is_too_small_is_refused():
    graph, arrays, y, _ = small_layer(None)
    with pytest.raises(LessonError, match="elements for a tensor"):
        graph.engines("A")[0].plan().bound({**arrays, y: cp.empty(5, cp.float32)})
