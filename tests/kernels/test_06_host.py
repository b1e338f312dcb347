"""The C rungs of the matrix product: right for any shape, and no access outside the arrays."""

from __future__ import annotations

import ctypes
import platform
import subprocess

import numpy as np
import pytest

from course_utils.checking import check
from course_utils.compiling.host_compilers import host_compiler
from course_utils.paths import ROOT

HOST = ROOT / "kernels/06_matmul_and_fft/host"
RUNGS = ("matmul_ijk", "matmul_ikj", "matmul_blocked", "matmul_registers", "matmul_packed")
NATIVE = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
FLAGS = {"plain": ("-O2", "-fno-tree-vectorize"), "SIMD": ("-O3", NATIVE)}
SHAPES = [
    (1, 1, 1),
    (6, 16, 4),
    (7, 33, 5),
    (61, 83, 101),
    (13, 1, 300),
    (1, 1031, 67),
    (97, 64, 513),
]
MATRIX = np.ctypeslib.ndpointer(np.float32, ndim=2, flags="C_CONTIGUOUS")
CANARY = 1e30

COMPILER = host_compiler("c")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


def built(folder, name, flags) -> ctypes.CDLL:
    library = folder / f"{name}.so"
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-psabi")
    command = [*COMPILER.command, *flags, *warnings, "-shared", "-fPIC", HOST / f"{name}.c"]
    subprocess.run([*command, "-o", library], check=True)
    return ctypes.CDLL(library)


@pytest.fixture(scope="module", params=[(n, f) for n in RUNGS for f in FLAGS], ids="-".join)
def product(request, tmp_path_factory):
    name, flags = request.param
    function = getattr(built(tmp_path_factory.mktemp("built"), name, FLAGS[flags]), name)
    function.argtypes = [MATRIX] * 3 + [ctypes.c_int] * 3
    function.restype = None
    return function


def fenced(values: np.ndarray, fence: float) -> tuple[np.ndarray, np.ndarray]:
    """``values`` in the middle of a larger array that is full of ``fence``; both."""
    space = np.full(values.size + 512, fence, np.float32)
    inside = space[256 : 256 + values.size].reshape(values.shape)
    inside[...] = values
    return space, inside


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_rung_is_right_for_any_shape_and_reads_nothing_from_outside(product, shape):
    M, N, K = shape
    rng = np.random.default_rng(M + N + K)
    _, A = fenced(rng.standard_normal((M, K)), np.nan)  # a NaN that is read spoils the result
    _, B = fenced(rng.standard_normal((K, N)), np.nan)
    C = np.full((M, N), np.nan, np.float32)
    product(A, B, C, M, N, K)
    check(C, A.astype(np.float64) @ B.astype(np.float64), reduction=K)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_rung_writes_nothing_outside_c(product, shape):
    M, N, K = shape
    space, C = fenced(np.zeros((M, N)), CANARY)
    product(np.ones((M, K), np.float32), np.ones((K, N), np.float32), C, M, N, K)
    assert (space == CANARY).sum() == 512 and (C == K).all()


def test_the_peak_s_loop_does_what_it_counts(tmp_path):
    peak = built(tmp_path, "fma_peak", (*FLAGS["SIMD"], "-DCHAINS=5")).fma_peak
    peak.argtypes = [np.ctypeslib.ndpointer(np.float32), ctypes.c_long]
    peak.restype = ctypes.c_double
    numbers = np.full(16, 0.25, np.float32)
    one, ten = peak(numbers.copy(), 1), peak(numbers, 10)
    assert ten == 10 * one > 0
    chains = 0.25 + np.arange(5)
    for _ in range(10):
        chains = chains * 0.75 + 0.75
    assert numbers[0] == pytest.approx(chains.sum(), rel=1e-5)


@pytest.mark.parametrize("path", sorted(HOST.glob("*.c")), ids=lambda path: path.name)
def test_a_c_file_says_how_it_is_built(path):
    head = path.read_text().partition("\n\n")[0].splitlines()
    assert 3 <= len(head) <= 8 and all(line.startswith("//") for line in head)
    assert head[-1].startswith("// Build: cc -O") and head[-1].endswith(f"-o {path.stem}.so")
