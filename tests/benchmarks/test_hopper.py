"""How the rungs of the Hopper product are launched, and the bits of fp8 that they multiply."""

import numpy as np
import pytest
from ml_dtypes import float8_e4m3fn

from course_utils import ceil_div, cp
from course_utils.benchmarks.cases import hopper
from course_utils.benchmarks.harness.float_bits import from_e4m3, to_e4m3

OF_A_BLOCK = 227 * 1024  # bytes of shared memory
STATIC = 1024  # bytes that a block has beside those of its launch: barriers, and up to a boundary


@pytest.mark.parametrize("rung", hopper.RUNGS.values(), ids=hopper.RUNGS)
def test_the_stages_of_a_rung_fit_shared_memory(rung):
    assert rung.shared_bytes + STATIC <= OF_A_BLOCK


@pytest.mark.parametrize(
    "m, n, blocks",
    [
        (8192, 8192, 128),  # 1024 tiles for clusters: 16 rounds of 64, as 66 would need
        (2304, 2816, 100),  # 99 tiles: two rounds of 50
        (1, 1, 2),
    ],
)
def test_blocks_that_stay_are_the_fewest_that_need_no_more_rounds(monkeypatch, m, n, blocks):
    monkeypatch.setattr(hopper, "ON_GPU", True)
    monkeypatch.setattr(hopper, "sm_count", lambda: 132)
    assert hopper.RUNGS["gemm_multicast"].grid(m, n) == blocks


LAYERS = (1024, 8192), (4096, 4096), (4096, 14336), (14336, 4096), (8192, 28672), (128256, 4096)


@pytest.fixture
def h200(monkeypatch):
    monkeypatch.setattr(hopper, "ON_GPU", True)
    monkeypatch.setattr(hopper, "sm_count", lambda: 132)


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize("rows", [1, 16, 33, 64, 200])
@pytest.mark.parametrize("shape", LAYERS, ids=str)
def test_plans_for_few_rows_fit_and_sliced_ones_run_at_once(rows, shape):
    n, k = shape
    plan = hopper.small_m_plan(rows, n, k)
    shared = hopper.small_m_bytes(plan)
    assert shared + hopper.SHARED_BESIDES <= 228 * 1024 // plan["BLOCKS"]
    tiles = ceil_div(n, plan["BN"]) * ceil_div(rows, plan["ROWS"])
    if plan["CLUSTER"] > 1:
        assert tiles * plan["CLUSTER"] <= plan["BLOCKS"] * 132
    assert plan["STAGES"] >= 3


@pytest.mark.usefixtures("h200")
@pytest.mark.parametrize(
    ("size", "plan"),
    [  # m, n, k: BN, CLUSTER, DEPTH, BLOCKS
        ((1, 1024, 8192), (64, 4, 2, 1)),
        ((64, 4096, 4096), (64, 2, 4, 1)),
        ((16, 4096, 14336), (64, 2, 2, 2)),
        ((1, 6144, 4096), (64, 1, 2, 2)),
        ((64, 8192, 8192), (64, 2, 2, 2)),
        ((16, 14336, 4096), (128, 1, 2, 1)),
        ((128, 8192, 8192), (128, 1, 2, 1)),  # two tiles of 64 rows one below the other
        ((1, 64, 256), (64, 1, 2, 2)),  # too short to be cut
    ],
    ids=str,
)
def test_few_rows_get_tile_and_slices_by_how_many_tiles_there_are(size, plan):
    found = hopper.small_m_plan(*size)
    assert tuple(found[name] for name in ("BN", "CLUSTER", "DEPTH", "BLOCKS")) == plan


def test_fp8_numbers_are_rounded_as_ml_dtypes_rounds_them():
    rng = np.random.default_rng(0)
    scales = np.array([[2e-3], [0.05], [1], [100]], np.float32)
    x = (scales * rng.standard_normal((4, 1000), np.float32)).ravel()
    x = np.append(x, np.float32([0, -0.0, 2**-10, 3 * 2**-10, 2**-6, 464, 1e6, -1e6]))
    bits = cp.asnumpy(to_e4m3(cp.asarray(x)))
    exact = np.clip(x, -448, 448).astype(float8_e4m3fn)
    assert bits.tobytes() == exact.tobytes()
    found = cp.asnumpy(from_e4m3(cp.asarray(bits)))
    assert found.tobytes() == exact.astype(np.float32).tobytes()
