"""The formats of kernels/07_pytorch_extensions/low_precision, and what its launchers refuse."""

from runpy import run_path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from launchers import draw

from course_utils import cp
from course_utils.benchmarks.cases.pytorch_extensions import low_precision
from course_utils.errors import LessonError
from course_utils.paths import KERNELS

formats = SimpleNamespace(
    **run_path(str(KERNELS / "07_pytorch_extensions" / "low_precision" / "formats.py"))
)
DTYPES = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "E5M2": ml_dtypes.float8_e5m2,
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E2M1": ml_dtypes.float4_e2m1fn,
}


def numbers_up_to(largest):
    """Of every size that the format has, and halfway between many of its numbers."""
    x = np.exp2(np.random.default_rng(1).uniform(-30, 16, 4000)) * np.sign(draw(4000))
    near = np.round(draw(4000) * 64) / 16
    return np.concatenate([x, near, [0.0, -0.0]]).clip(-largest, largest).astype(np.float32)


@pytest.mark.parametrize("form", DTYPES)
def test_rounding_is_that_of_ml_dtypes(form):
    x = numbers_up_to(formats.FORMATS[form][2])
    want = x.astype(DTYPES[form])
    assert (formats.rounded(x, form) == want.astype(float)).all()
    if form.startswith("E"):
        bits = formats.codes_of(formats.rounded(x, form), form)
        minus_zero = (want.astype(float) == 0) & np.signbit(want)
        assert (bits == want.view(np.uint8))[~minus_zero].all()


@pytest.mark.parametrize("form", DTYPES)
def test_what_is_too_large_becomes_the_largest(form):
    largest = formats.FORMATS[form][2]
    assert float(np.array(largest).astype(DTYPES[form])) == largest
    assert formats.rounded(np.array([3 * largest, -3 * largest]), form).tolist() == [
        largest,
        -largest,
    ]


def test_scales_fill_their_tiles_and_rows_32_apart_are_neighbours():
    places = formats.scale_places(256, 8)
    assert np.sort(places.ravel()).tolist() == list(range(formats.room_for_scales(256, 8)))
    assert places[[0, 32, 64, 96, 1], 0].tolist() == [0, 4, 8, 12, 16]
    assert (places[0, 4], places[128, 0]) == (512, 1024)


def test_the_places_of_two_of_four_lead_back():
    x = draw((3, 32))
    kept, places = formats.two_of_four(x)
    at = places[..., None] >> 2 * np.arange(8, dtype=np.uint16) & 3
    back = np.zeros((3, 8, 4))
    np.put_along_axis(back, at.reshape(3, 8, 2), kept.reshape(3, 8, 2), axis=-1)
    least_kept = np.sort(np.abs(x).reshape(3, 8, 4))[..., 2:3]
    assert (back == np.where(np.abs(x).reshape(3, 8, 4) >= least_kept, x.reshape(3, 8, 4), 0)).all()


def test_four_bits_are_off_by_half_a_step_at_most():
    w = draw((5, 256)) * np.float32(0.01)
    whole, scales = formats.int4_groups(w)
    steps = scales.astype(float).repeat(128, axis=1)
    assert (np.abs(w - whole * steps) <= 0.51 * steps).all()
    packed = formats.nibbles(whole)
    assert (packed & 15).tolist() == (whole[:, ::2] + 8).tolist()


@pytest.mark.parametrize(
    "name, rows, columns",
    [("gemv_int4", 12, 128), ("gemv_int4", 8, 192), ("gemv_fp16", 8, 8200), ("gemv_fp16", 8, 12)],
)
def test_a_shape_that_a_stream_cannot_take_is_refused(name, rows, columns):
    x, y = cp.zeros(columns, np.float16), cp.zeros(rows, np.float32)
    with pytest.raises(LessonError, match=f"not {rows} x {columns}"):
        low_precision.stream_call(name, x, x, x, y)


@pytest.mark.parametrize("rows, columns", [(0, 128), (6, 128), (8, 64), (8, 1 << 15)])
def test_the_bulk_copies_say_what_they_take(rows, columns):
    x, y = cp.empty(columns, cp.float16), cp.empty(rows, cp.float32)
    with pytest.raises(LessonError, match=f"not {rows} x {columns}"):
        low_precision.bulk_call(x, x, x, y)


@pytest.mark.parametrize(
    "name, early",
    [
        ("gemv_fp16", True),
        ("gemv_int4", False),
        ("gemv_int4_bytes", False),
        ("gemv_int4_bulk", True),
    ],
)
def test_products_in_a_row_are_a_graph_and_the_two_compared_begin_early(name, early):
    case = next(each for each in low_precision.CASES if each.name == name)
    one, row = case.make((1, 8, 128)), case.make((2, 8, 128))
    assert (one.as_a_graph, row.as_a_graph) == (False, True)
    assert [call.early for call in one.launches + row.launches] == [False, early, early]


def test_blocks_of_bulk_copies_have_equal_runs_unless_they_begin_early(monkeypatch):
    monkeypatch.setattr(low_precision, "sm_count", lambda: 132)
    x, y = cp.empty(128, cp.float16), cp.empty(8192, cp.float32)
    assert low_precision.bulk_call(x, x, x, y).grid == 128
    assert low_precision.bulk_call(x, x, x, y, EARLY=1).grid == 132
