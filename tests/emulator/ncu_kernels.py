"""Small kernels of every style of access, which the emulator and Nsight Compute both count.

Each :class:`Case` is one launch. :func:`launch_all` makes all of them in order, for a profiler to
watch; ``ncu_record.py`` runs ncu on it and writes what ncu found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from course_utils import cp, load
from course_utils.benchmarks.cases.matmul import specialized_arguments
from course_utils.paths import kernel_file

GRID, BLOCK = 64, 256
SIDE = 100  # of the matrices: no multiple of a tile or of a warp


@dataclass(frozen=True, eq=False)
class Case:
    """One launch: of a kernel with this ``body``, on ``const T *a, T *b``, or of a course kernel's
    ``file``."""

    name: str
    style: str
    body: str = ""
    element: str = "float"
    head: str = ""
    file: str = ""
    defines: dict = field(default_factory=dict)
    arch: str | None = None
    grid: tuple[int, ...] = (GRID,)
    block: tuple[int, ...] = (BLOCK,)
    shared: int = 0
    arguments: Callable[[], tuple] | None = None

    @property
    def kernel_name(self) -> str:
        return self.name if self.body else self.file.rpartition("/")[2].removesuffix(".cu")

    def source(self) -> str:
        return f"""{self.head}
extern "C" __global__ void {self.name}(const {self.element} *a, {self.element} *b)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x;
{self.body}
}}
"""

    def launch(self) -> tuple:
        """(kernel, grid, block, args, shared bytes)."""
        if self.file:
            kernel = load(self.file, defines=self.defines, arch=self.arch).kernel
        else:
            kernel = load(source=self.source(), filename=f"{self.name}.cu").kernel
        args = self.arguments() if self.arguments else two_arrays(self.element)
        return kernel, self.grid, self.block, args, self.shared


DTYPES = {"float": "f4", "double": "f8", "char": "i1", "short": "i2", "int": "i4", "unsigned": "u4"}
BYTES = 1 << 21


def two_arrays(element: str) -> tuple:
    dtype = cp.dtype(DTYPES.get(element, "f4"))
    if element in DTYPES:
        return tuple(zeros(BYTES // dtype.itemsize, dtype) for _ in range(2))
    return tuple(zeros(BYTES // 4, dtype) for _ in range(2))  # float2, float4


def zeros(shape, dtype="f4"):
    """Zeros by a copy from the host: cp.zeros would launch a kernel of its own."""
    import numpy as np

    return cp.asarray(np.zeros(shape, dtype))


def product(m: int, n: int, k: int, dtype: str = "f4", result: str = "f4") -> Callable[[], tuple]:
    """A, B and C of a matrix product, and its sizes; B may be stored turned."""
    return lambda: (zeros((m, k), dtype), zeros((k, n), dtype), zeros((m, n), result), m, n, k)


def stream_k(blocks: int, m: int, n: int, k: int) -> Callable[[], tuple]:
    """The same, with room for two tiles of each block and a count for each tile of C."""

    def make() -> tuple:
        a, b, c, *sizes = product(m, n, k)()
        partial, arrived = zeros((2 * blocks, 128, 256)), zeros((m // 128) * (n // 256), "i4")
        return a, b, c, partial, arrived, *sizes

    return make


def by_tma(blocks: int, m: int, n: int, k: int, dtype: str) -> Callable[[], tuple]:
    """The same as ``stream_k``, with A and B as tensor maps of tiles that are 128 bytes wide."""
    kept = []  # a tensor map does not keep its array

    def make() -> tuple:
        result = {"i1": "i4", "u2": "u2", "f4": "f4"}[dtype]
        a, b, c = zeros((m, k), dtype), zeros((n, k), dtype), zeros((m, n), result)
        kept.extend((a, b))
        return specialized_arguments(a, b, c, blocks)

    return make


def vectors(n: int) -> Callable[[], tuple]:
    return lambda: (*(zeros(n) for _ in range(3)), n)


TILES = {"grid": (4, 4), "block": (32, 8)}
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


def shared(name: str, style: str, element: str, place: str) -> Case:
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
    return Case(name, style, body, shared=1024 * 4 * components)


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
) -> Case:
    """A course kernel with a block for each ``tile`` (rows, columns) of C."""
    return Case(
        name or file, f"the course's {file}, {m} × {n} × {k}", file=matmul(file),
        grid=(-(-n // tile[1]), -(-m // tile[0])), block=(threads,), shared=shared,
        arguments=product(m, n, k, dtype, result),
    )  # fmt: skip


CASES = (
    # --- global memory ---
    Case("copy", "coalesced, 4 bytes a lane", "b[i] = a[i];"),
    Case("copy_char", "coalesced, 1 byte a lane", "b[i] = a[i];", "char"),
    Case("copy_short", "coalesced, 2 bytes a lane", "b[i] = a[i];", "short"),
    Case("copy_double", "coalesced, 8 bytes a lane", "b[i] = a[i];", "double"),
    Case("copy_float4", "coalesced, 16 bytes a lane", "b[i] = a[i];", "float4"),
    Case("reversed", "coalesced, lanes in reverse", "b[i] = a[16383 - i];"),
    Case("offset_1", "misaligned by one element", "b[i] = a[i + 1];"),
    Case("stride_2", "loads of every 2nd element", "b[i] = a[2 * i];"),
    Case("stride_8", "stores to every 8th element", "b[8 * i] = a[i];"),
    Case("stride_32", "loads of every 32nd element", "b[i] = a[32 * i & 0x7ffff];"),
    Case("broadcast", "all lanes load one element", "b[i] = a[blockIdx.x];"),
    Case("gather", "scattered loads", "b[i] = a[i * 7919 & 65535];"),
    Case("scatter", "scattered stores", "b[i * 7919 & 65535] = a[i];"),
    Case("every_third", "one lane in three takes part", "if (i % 3 == 0) b[i] = a[i];"),
    Case("tail", "the last warps partly idle", "if (i < 16001) b[i] = a[i] + 1.0f;"),
    Case("triples", "structs of three floats", "b[i] = a[3 * i] + a[3 * i + 1] * a[3 * i + 2];"),
    Case(
        "row_sums",
        "a thread walks a row",
        """
    float s = 0;
    if (i < 100) {
        for (int k = 0; k < 100; k++) s += a[100 * i + k];
        b[i] = s;
    }""",
    ),
    Case(
        "tiles_2d",
        "two-dimensional blocks on an odd width",
        COLUMN_ROW + "if (column < n && row < n) b[row * n + column] = 2 * a[row * n + column];",
        **TILES,
    ),
    Case("vec_add", "the course's first kernel", file="04_first_kernels/threads/vec_add.cu",
         arguments=vectors(16001)),
    # --- transposes ---
    Case(
        "transpose_naive",
        "reads rows, writes columns",
        COLUMN_ROW
        + "for (int j = 0; j < 32; j += 8) if (column < n && row + j < n) "
        "b[column * n + row + j] = a[(row + j) * n + column];",
        **TILES,
    ),
    Case("transpose_32", "tile of 32 × 32: one bank", COLUMN_ROW
         + TRANSPOSE_TILED.replace("WIDTH", "32"), **TILES),
    Case("transpose_33", "tile of 32 × 33: all banks", COLUMN_ROW
         + TRANSPOSE_TILED.replace("WIDTH", "33"), **TILES),
    # --- shared memory ---
    shared("shared_1", "shared, stride 1", "float", "T"),
    shared("shared_2", "shared, stride 2", "float", "2 * T"),
    shared("shared_3", "shared, stride 3", "float", "3 * T"),
    shared("shared_8", "shared, stride 8", "float", "8 * T"),
    shared("shared_32", "shared, stride 32", "float", "32 * T"),
    shared("shared_33", "shared, stride 33", "float", "33 * T"),
    shared("shared_all", "shared, one word for all lanes", "float", "T / 32 + 3"),
    shared("shared2_1", "shared float2, stride 1", "float2", "T"),
    shared("shared2_2", "shared float2, stride 2", "float2", "2 * T"),
    shared("shared2_16", "shared float2, stride 16", "float2", "16 * T"),
    shared("shared2_all", "shared float2, one for all lanes", "float2", "T / 32"),
    shared("shared4_1", "shared float4, stride 1", "float4", "T"),
    shared("shared4_2", "shared float4, stride 2", "float4", "2 * T"),
    shared("shared4_8", "shared float4, stride 8", "float4", "8 * T"),
    shared("shared4_all", "shared float4, one for all lanes", "float4", "T / 32"),
    # --- local memory: an array whose index the compiler cannot know ---
    Case(
        "local_array",
        "a local array, each lane its own index",
        """
    float v[16];
    #pragma unroll 1
    for (int k = 0; k < 16; k++) v[(k + t) & 15] = a[i + k];
    float s = 0;
    #pragma unroll 1
    for (int k = 0; k < 16; k++) s += v[(k * 5 + (t & 3)) & 15];
    b[i] = s;""",
    ),
    # --- atomics ---
    Case("atomic_bins", "atomics without a result", "atomicAdd(&b[i & 255], a[i]);"),
    Case("atomic_same_bin", "atomics, four lanes a bin", "atomicAdd(&b[i / 4], a[i] + 1);"),
    Case("atomic_old", "atomics whose result is used",
         "b[i + 65536] = atomicExch(&b[2 * i], a[i]);"),
    Case(
        "atomic_shared",
        "a histogram in shared memory",
        """
    __shared__ int bins[64];
    if (t < 64) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[a[i] + t * 7 & 63], 1);
    __syncthreads();
    if (t < 64) atomicAdd(&b[t], bins[t]);""",
        "int",
    ),
    # --- divergence, warp-wide instructions, reductions ---
    Case(
        "if_else",
        "even and odd lanes part",
        """
    float v = a[i];
    if (t & 1) { for (int k = 0; k < 9; k++) v = v * v + a[k]; }
    else { for (int k = 0; k < 5; k++) v = sqrtf(v) - a[k]; }
    b[i] = v;""",
    ),
    Case(
        "lane_loop",
        "each lane its own number of turns",
        "float v = a[i]; for (int k = 0; k < (t & 31); k++) v = v * a[k] + 1.5f; b[i] = v;",
    ),
    Case(
        "block_sum",
        "a tree in shared memory, then shuffles",
        """
    __shared__ float part[256];
    part[t] = a[i];
    __syncthreads();
    for (int half = 128; half >= 32; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        float v = part[t];
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
        if (t == 0) b[blockIdx.x] = v;
    }""",
    ),
    Case(
        "stencil",
        "neighbours through shared memory",
        """
    __shared__ float s[258];
    s[t + 1] = a[i + 1];
    if (t == 0) s[0] = a[i];
    if (t == 255) s[257] = a[i + 2];
    __syncthreads();
    b[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];""",
    ),
    # --- arithmetic of other types, tensor cores ---
    Case(
        "doubles",
        "float64 arithmetic",
        "b[i] = a[i] * a[i + 1] + b[i] + (a[i] + 1.0);",
        "double",
    ),
    Case(
        "halves",
        "packed float16 arithmetic",
        """
    const __half2 *x = (const __half2 *)a;
    ((__half2 *)b)[i] = __hfma2(x[i], x[i + 1], __hadd2(x[i], x[i + 2]));""",
        head="#include <cuda_fp16.h>",
    ),
    Case(
        "mma",
        "tensor cores, tiles of 16 × 8 × 16",
        """
    unsigned x[4], y[2];
    float z[4] = {};
    for (int k = 0; k < 4; k++) {
        for (int r = 0; r < 4; r++) x[r] = a[32 * (4 * k + r) + (t & 31)];
        for (int r = 0; r < 2; r++) y[r] = a[1024 + 32 * (2 * k + r) + (t & 31)];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    b[i] = __float_as_uint(z[0] + z[1] + z[2] + z[3]);""",
        "unsigned",
    ),
    Case(
        "ldmatrix",
        "ldmatrix of rows of 16 and of 128 bytes",
        """
    __shared__ __align__(16) unsigned s[4096];
    for (int k = t; k < 4096; k += 256) s[k] = k;
    __syncthreads();
    unsigned near = __cvta_generic_to_shared(s) + (t & 31) * 16;
    unsigned far = __cvta_generic_to_shared(s) + (t & 31) * 128;
    unsigned r[4], q[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(near));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                 : "=r"(q[0]), "=r"(q[1]) : "r"(far));
    b[i] = r[0] + r[1] + r[2] + r[3] + q[0] + q[1];""",
        "unsigned",
    ),
    Case(
        "async_copy",
        "cp.async from global to shared memory",
        """
    __shared__ __align__(16) float s[1024];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\\ncp.async.wait_all;"
                 :: "r"((unsigned)__cvta_generic_to_shared(s + 4 * t)), "l"(a + 4 * i) : "memory");
    __syncthreads();
    b[i] = s[t ^ 5];""",
    ),
    # --- matrix products of the course ---
    *(
        Case(
            name,
            f"the course's {name}",
            file=matmul(file),
            defines=defines,
            grid=(-(-SIDE // side),) * 2,
            block=(side, side),
            arguments=product(SIDE, SIDE, SIDE),
        )
        for name, file, side, defines in (
            ("sgemm_naive", "sgemm_naive", 32, {}),
            ("sgemm_coalesced", "sgemm_coalesced", 32, {}),
            ("sgemm_shared_16", "sgemm_shared", 16, {"TILE": 16}),
            ("sgemm_shared_32", "sgemm_shared", 32, {"TILE": 32}),
        )
    ),
    *(rung(f"sgemm_{name}", 200, 200, 100, tile, threads) for name, tile, threads in (
        ("column_tile", (64, 64), 512), ("register_tile", (128, 128), 256),
        ("vector", (128, 128), 256), ("conflict_free", (128, 128), 256),
        ("warp_tile", (128, 128), 256), ("double_buffer", (128, 128), 256),
        ("cp_async", (128, 128), 256),
    )),
    # Rows of 150 floats do not begin where 16 bytes do: the narrow loads of the edges.
    rung("sgemm_vector", 150, 150, 50, (128, 128), 256, name="sgemm_vector_150"),
    rung("sgemm_cp_async", 150, 150, 50, (128, 128), 256, name="sgemm_cp_async_150"),
    rung("sgemm_autotuned", 256, 512, 64, (128, 256), 256, shared=3 * WIDE),
    rung("sgemm_ordered", 256, 512, 64, (128, 256), 256, shared=4 * WIDE),
    Case("sgemm_stream_k", "the course's sgemm_stream_k, 3 blocks for 4 tiles",
         file=matmul("sgemm_stream_k"), grid=(3,), shared=4 * WIDE,
         arguments=stream_k(3, 256, 512, 64)),
    *(rung(f"hgemm_{name}", 200, 200, 136, (128, 128), 256, dtype="f2")
      for name in ("wmma", "mma", "ldmatrix", "swizzle")),
    rung("hgemm_swizzle", 150, 150, 75, (128, 128), 256, "hgemm_swizzle_150", dtype="f2"),
    rung("gemm_tf32", 200, 200, 100, (128, 128), 256),
    rung("igemm_dp4a", 200, 200, 100, (128, 128), 256, dtype="i1", result="i4"),
    Case("gemm_bf16_pipeline", "the course's gemm_bf16_pipeline",
         file=matmul("gemm_bf16_pipeline"), defines={"STAGES": 3}, grid=(4,),
         shared=3 * (128 + 256) * 64 * 2, arguments=product(256, 512, 256, "u2", "u2")),
    *(Case(f"gemm_{kind}_specialized", f"the course's gemm_{kind}_specialized, 3 blocks",
           file=matmul(f"gemm_{kind}_specialized"), arch="sm_90a", grid=(3,),
           block=(384,), shared=3 * (128 + 256) * 128, arguments=by_tma(3, 256, 512, k, dtype))
      for kind, k, dtype in (("bf16", 256, "u2"), ("tf32", 128, "f4"), ("int8", 512, "i1"))),
)  # fmt: skip


def launch_all() -> None:
    for case in CASES:
        kernel, grid, block, args, shared_bytes = case.launch()
        kernel(grid, block, args, shared_mem=shared_bytes)


if __name__ == "__main__":
    launch_all()
