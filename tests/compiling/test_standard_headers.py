"""Headers of C++ that NVRTC lacks, and options of nvcc that it does not know."""

from __future__ import annotations

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.compiling.diagnostics import CompileError
from course_utils.compiling.headers import STANDARD
from course_utils.launching import modules

HEADERS = sorted(
    path.name
    for path in STANDARD.iterdir()
    if path.is_file() and path.suffix != ".md" and path.name != "sstream"
)

USES = {
    "algorithm": "std::min(n, 3) + std::max<int>(n, 4) + std::clamp(n, 6, 9)",  # 3 + 5 + 6
    "array": "std::array<int, 3>{7, n, 2}[0] + 7",
    "cfloat": "FLT_MAX > 1e38f ? 14 : 0",
    "climits": "INT_MAX - 2147483647 + CHAR_BIT + 6",
    "cmath": "(int)std::sqrt(4.0f * n * n) + (int)std::fabs(-4.0f)",
    "cstdint": "(int)(std::uint8_t)(n + 265) + (sizeof(int64_t) == sizeof(uint64_t) ? 0 : n)",
    "cstring": "std::memcpy(y, &n, 4) == y ? n + 9 : 0",
    "cuda.h": "sizeof(CUtensorMap) == 128 ? 14 : n",
    "functional": "std::plus<int>()(n, 9)",
    "limits": "std::numeric_limits<float>::infinity() > n ? 14 : 0",
    "numeric": "std::gcd(28 * n, 14 + 0 * n)",
    "tuple": "std::get<1>(std::make_tuple(2.0f, n + 9))",
    "type_traits": "std::is_same_v<int, std::remove_const_t<const int>> ? n + 9 : 0",
    "utility": "std::pair<int, int>(n, 9).first + 9",
}


def test_kernels_use_what_they_include_and_the_whole_of_std():
    lines = [f"    y[{n}] = {use};" for n, use in enumerate(USES.values(), 1)]
    source = "\n".join(
        [
            *(f"#include <{header}>" for header in ("cuda_runtime.h", *HEADERS, "cuda.h")),
            "using namespace std;",
            'extern "C" __global__ void f(int* y, int n)',
            "{",
            *lines,
            "    assert(n > 0);",
            '    if (y[1] != 14) std::printf("%d", max(n, 7));',
            "    y[0] = min(n, 3) + (int)std::sqrt((float)n) + (int)std::isnan((double)n);",
            "}",
        ]
    )
    y = cp.zeros(1 + len(USES), dtype=cp.int32)
    load(source=source).kernel(1, 1, (y, 5))
    assert y.tolist() == [5, *[14] * len(USES)]


def test_what_cmath_has_needs_no_std_after_using_it():
    source = """#include <cmath>
        using namespace std;
        extern "C" __global__ void f(float* y) { y[0] = sqrt(9.0f) + fabs(-1.0f); }"""
    y = cp.zeros(1, dtype=cp.float32)
    load(source=source).kernel(1, 1, (y,))
    assert y.tolist() == [4]


LAMBDAS = """template <class F> __device__ void each(int n, F f)
{
    if (threadIdx.x < n) f(threadIdx.x);
}
__host__ __device__ constexpr int square(int i) { return i * i; }
constexpr int plain(int i) { return i + 1; }
extern "C" __global__ void f(int* y, int n)
{
    each(n, [=] __device__ (int i) { y[i] = plain(square(i)); });
    each(n, [&] __host__ __device__ (int i) { y[i] += n; });
}"""


@pytest.mark.parametrize("dashes", ["--", "-"])
def test_lambdas_marked_for_the_device_and_constexpr_functions(dashes):
    y = cp.zeros(8, dtype=cp.int32)
    options = [f"{dashes}extended-lambda", f"{dashes}expt-relaxed-constexpr"]
    module = load(source=LAMBDAS, options=options)
    module.kernel(1, 32, (y, 6))
    expected = np.where(np.arange(8) < 6, np.arange(8) ** 2 + 7, 0)
    assert np.array_equal(np.asarray(y.tolist()), expected)
    assert ".entry f" in module.compiled("compute_90a").ptx


def test_a_toolkit_does_not_come_before_them(monkeypatch):
    """CuPy brings CCCL: a toolkit's <cccl/cuda/std/tuple> next to it does not compile."""
    monkeypatch.setattr(modules, "cuda_header_paths", lambda: ("/toolkit/include",))
    source = '#include <cutlass/cutlass.h>\nextern "C" __global__ void f() {}'
    options = load(source=source, device="emulator")._flags[0]
    assert options.index(f"-I{STANDARD}") < options.index("-I/toolkit/include")


@pytest.mark.emulator
def test_a_kernel_gets_its_parts_of_cub_and_the_constants_of_math():
    source = """#include <cmath>
        #include <cub/cub.cuh>
        #include <thrust/swap.h>
        extern "C" __global__ void total(const int* x, double* y) {
            using Reduce = cub::BlockReduce<int, 64>;
            __shared__ Reduce::TempStorage room;
            int sum = Reduce(room).Sum(x[threadIdx.x]), other = 1;
            thrust::swap(sum, other);
            if (threadIdx.x == 0) y[0] = other + M_PI * M_1_PI + M_SQRT2 * M_SQRT1_2;
        }"""
    y = cp.zeros(1, dtype=cp.float64)
    load(source=source).kernel(1, 64, (cp.arange(64, dtype=cp.int32), y))
    assert abs(float(y[0]) - 2018) < 1e-9


@pytest.mark.emulator
def test_a_kernel_computes_with_complex_numbers_of_thrust():
    source = """#include <thrust/complex.h>
        using number = thrust::complex<float>;
        extern "C" __global__ void f(const number* x, number* y) {
            number z = x[threadIdx.x];
            y[threadIdx.x] = z * z + thrust::exp(z) / thrust::conj(z) + thrust::sqrt(z)
                + thrust::abs(z) + thrust::pow(z, 2.0f) + thrust::polar(1.0f, 0.5f);
        }"""
    z = (np.arange(1, 33) / 8 + 1j * np.arange(32) / 8).astype(np.complex64)
    y = cp.zeros(32, dtype=cp.complex64)
    load(source=source).kernel(1, 32, (cp.asarray(z), y))
    expected = 2 * z * z + np.exp(z) / z.conj() + np.sqrt(z) + abs(z) + np.exp(0.5j)
    assert np.allclose(y.get(), expected, rtol=1e-5)


@pytest.mark.emulator
def test_streams_are_refused_with_what_to_do():
    with pytest.raises(CompileError, match="printf"):
        load(source='#include <sstream>\nextern "C" __global__ void f() {}')
