"""A launch that the emulator and Nsight Compute both count: its kernel, shape and arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.kernels import Kernel
from ...launching.modules import load
from ...paths import kernel_file, unnumbered
from ..cases.matmul import specialized_arguments

Arguments = tuple[Any, ...]  # of a launch: device arrays and numbers
GRID, BLOCK = 64, 256
SIDE = 100  # of the matrices: no multiple of a tile or of a warp


@dataclass(frozen=True, eq=False)
class Counted:
    """One launch: of a kernel with this ``body``, on ``const T *a, T *b``, or of a course kernel's
    ``file``."""

    name: str
    style: str
    body: str = ""
    element: str = "float"
    head: str = ""
    file: str = ""
    defines: Mapping[str, Any] = field(default_factory=dict)
    arch: str | None = None
    grid: tuple[int, ...] = (GRID,)
    block: tuple[int, ...] = (BLOCK,)
    shared: int = 0
    arguments: Callable[[], Arguments] | None = None

    @property
    def kernel_name(self) -> str:
        """The kernel's name in its source."""
        return self.name if self.body else unnumbered(Path(self.file).stem)

    def source(self) -> str:
        """The CUDA C++ of the kernel with this ``body``."""
        return f"""{self.head}
extern "C" __global__ void {self.name}(const {self.element} *a, {self.element} *b)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x;
{self.body}
}}
"""

    def launch(self) -> tuple[Kernel, tuple[int, ...], tuple[int, ...], Arguments, int]:
        """(kernel, grid, block, args, shared bytes)."""
        if self.file:
            kernel = load(self.file, defines=self.defines, arch=self.arch).kernel
        else:
            kernel = load(source=self.source(), filename=f"{self.name}.cu").kernel
        args = self.arguments() if self.arguments else two_arrays(self.element)
        return kernel, self.grid, self.block, args, self.shared


DTYPES = {"float": "f4", "double": "f8", "char": "i1", "short": "i2", "int": "i4", "unsigned": "u4"}
BYTES = 1 << 21


def two_arrays(element: str) -> Arguments:
    """Two device arrays of 2 MiB, zeros of the C type ``element``, or fp32 for a vector type."""
    dtype = cp.dtype(DTYPES.get(element, "f4"))
    if element in DTYPES:
        return tuple(zeros(BYTES // dtype.itemsize, dtype) for _ in range(2))
    return tuple(zeros(BYTES // 4, dtype) for _ in range(2))  # float2, float4


def zeros(shape: int | tuple[int, ...], dtype: Any = "f4") -> Any:
    """Zeros by a copy from the host: cp.zeros would launch a kernel of its own."""
    import numpy as np

    return cp.asarray(np.zeros(shape, dtype))


def product(
    m: int, n: int, k: int, dtype: str = "f4", result: str = "f4"
) -> Callable[[], Arguments]:
    """A, B and C of a matrix product, and its sizes; B may be stored transposed."""
    return lambda: (zeros((m, k), dtype), zeros((k, n), dtype), zeros((m, n), result), m, n, k)


def stream_k(blocks: int, m: int, n: int, k: int) -> Callable[[], Arguments]:
    """The same, with room for two tiles of each block and a count for each tile of C."""

    def make() -> Arguments:
        a, b, c, *sizes = product(m, n, k)()
        sums, arrived = zeros((2 * blocks, 128, 256)), zeros((m // 128) * (n // 256), "i4")
        return a, b, c, sums, arrived, *sizes

    return make


def by_tma(blocks: int, m: int, n: int, k: int, dtype: str) -> Callable[[], Arguments]:
    """The same as ``stream_k``, with A and B as tensor maps of tiles that are 128 bytes wide."""
    kept: list[Any] = []  # a tensor map does not keep its array

    def make() -> Arguments:
        result = {"i1": "i4", "u2": "u2", "f4": "f4"}[dtype]
        a, b, c = zeros((m, k), dtype), zeros((n, k), dtype), zeros((m, n), result)
        kept.extend((a, b))
        return specialized_arguments(a, b, c, blocks)

    return make


def vectors(n: int) -> Callable[[], Arguments]:
    """x, y and z of n fp32 elements, and n."""
    return lambda: (*(zeros(n) for _ in range(3)), n)


tiled = partial(Counted, grid=(4, 4), block=(32, 8))
COLUMN_ROW = f"""
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    constexpr int n = {SIDE};
"""
TRANSPOSE_TILED = """
    __shared__ float tile[32][WIDTH];
    for (int j = 0; j < 32; j += 8)
        if (column < n && row + j < n)
            tile[threadIdx.y + j][threadIdx.x] = a[(row + j) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x;
    row = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (column < n && row + j < n)
            b[(row + j) * n + column] = tile[threadIdx.x][threadIdx.y + j];
"""


def shared(name: str, style: str, element: str, place: str) -> Counted:
    """A store to and a load from dynamic shared memory at element ``place`` (of thread t)."""
    components = {"float": 1, "float2": 2, "float4": 4}[element]
    fields = [f".{x}" for x in "xyzw"[:components]] if components > 1 else [""]
    fill = " ".join(f"v{f} = a[t] + {n};" for n, f in enumerate(fields))
    body = f"""
    extern __shared__ __align__(16) char raw[];
    {element} *s = ({element} *)raw, v;
    {fill}
    s[({place.replace("T", "t")}) & 1023] = v;
    __syncthreads();
    v = s[({place.replace("T", "(t ^ 1)")}) & 1023];
    b[i] = {" + ".join("v" + f for f in fields)};
"""
    return Counted(name, style, body, shared=1024 * 4 * components)


WIDE = 8 * (128 + 4 + 256) * 4  # bytes of a pair of tiles of sgemm_autotuned.cu and after


matmul = partial(kernel_file, chapter="06_matmul_and_fft")


def rung(
    file: str,
    m: int,
    n: int,
    k: int,
    tile: tuple[int, int],
    threads: int,
    name: str = "",
    shared: int = 0,
    dtype: str = "f4",
    result: str = "f4",
) -> Counted:
    """A course kernel with a block for each ``tile`` (rows, columns) of C."""
    return Counted(
        name or file,
        f"the course's {file}, {m} × {n} × {k}",
        file=matmul(file),
        grid=(ceil_div(n, tile[1]), ceil_div(m, tile[0])),
        block=(threads,),
        shared=shared,
        arguments=product(m, n, k, dtype, result),
    )
