"""Small kernels of every style of access, and the course's products: what is counted both ways."""

from __future__ import annotations

from ...integers import ceil_div
from .counted_launches import (
    COLUMN_ROW,
    SIDE,
    TRANSPOSE_TILED,
    WIDE,
    Counted,
    by_tma,
    matmul,
    product,
    rung,
    shared,
    stream_k,
    tiled,
    vectors,
)

CASES = (
    # --- global memory ---
    Counted("copy", "coalesced, 4 bytes a lane", "b[i] = a[i];"),
    Counted("copy_char", "coalesced, 1 byte a lane", "b[i] = a[i];", "char"),
    Counted("copy_short", "coalesced, 2 bytes a lane", "b[i] = a[i];", "short"),
    Counted("copy_double", "coalesced, 8 bytes a lane", "b[i] = a[i];", "double"),
    Counted("copy_float4", "coalesced, 16 bytes a lane", "b[i] = a[i];", "float4"),
    Counted("reversed", "coalesced, lanes in reverse", "b[i] = a[16383 - i];"),
    Counted("offset_1", "misaligned by one element", "b[i] = a[i + 1];"),
    Counted("stride_2", "loads of every 2nd element", "b[i] = a[2 * i];"),
    Counted("stride_8", "stores to every 8th element", "b[8 * i] = a[i];"),
    Counted("stride_32", "loads of every 32nd element", "b[i] = a[32 * i & 0x7ffff];"),
    Counted("broadcast", "all lanes load one element", "b[i] = a[blockIdx.x];"),
    Counted("gather", "scattered loads", "b[i] = a[i * 7919 & 65535];"),
    Counted("scatter", "scattered stores", "b[i * 7919 & 65535] = a[i];"),
    Counted("every_third", "one lane in three takes part", "if (i % 3 == 0) b[i] = a[i];"),
    Counted("tail", "the last warps partly idle", "if (i < 16001) b[i] = a[i] + 1.0f;"),
    Counted("triples", "structs of three floats", "b[i] = a[3 * i] + a[3 * i + 1] * a[3 * i + 2];"),
    Counted(
        "row_sums",
        "a thread walks a row",
        """
    float s = 0;
    if (i < 100) {
        for (int k = 0; k < 100; k++) s += a[100 * i + k];
        b[i] = s;
    }""",
    ),
    tiled(
        "tiles_2d",
        "two-dimensional blocks on an odd width",
        COLUMN_ROW + "if (column < n && row < n) b[row * n + column] = 2 * a[row * n + column];",
    ),
    Counted(
        "vec_add",
        "the course's first kernel",
        file="04_first_kernels/threads/vec_add.cu",
        arguments=vectors(16001),
    ),
    # --- transposes ---
    tiled(
        "transpose_naive",
        "reads rows, writes columns",
        COLUMN_ROW + "for (int j = 0; j < 32; j += 8) if (column < n && row + j < n) "
        "b[column * n + row + j] = a[(row + j) * n + column];",
    ),
    tiled(
        "transpose_32",
        "tile of 32 × 32: one bank",
        COLUMN_ROW + TRANSPOSE_TILED.replace("WIDTH", "32"),
    ),
    tiled(
        "transpose_33",
        "tile of 32 × 33: all banks",
        COLUMN_ROW + TRANSPOSE_TILED.replace("WIDTH", "33"),
    ),
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
    Counted(
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
    Counted("atomic_bins", "atomics without a result", "atomicAdd(&b[i & 255], a[i]);"),
    Counted("atomic_same_bin", "atomics, four lanes a bin", "atomicAdd(&b[i / 4], a[i] + 1);"),
    Counted(
        "atomic_old", "atomics whose result is used", "b[i + 65536] = atomicExch(&b[2 * i], a[i]);"
    ),
    Counted(
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
    Counted(
        "if_else",
        "even and odd lanes part",
        """
    float v = a[i];
    if (t & 1) { for (int k = 0; k < 9; k++) v = v * v + a[k]; }
    else { for (int k = 0; k < 5; k++) v = sqrtf(v) - a[k]; }
    b[i] = v;""",
    ),
    Counted(
        "lane_loop",
        "each lane its own number of turns",
        "float v = a[i]; for (int k = 0; k < (t & 31); k++) v = v * a[k] + 1.5f; b[i] = v;",
    ),
    Counted(
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
    Counted(
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
    Counted(
        "doubles",
        "float64 arithmetic",
        "b[i] = a[i] * a[i + 1] + b[i] + (a[i] + 1.0);",
        "double",
    ),
    Counted(
        "halves",
        "packed float16 arithmetic",
        """
    const __half2 *x = (const __half2 *)a;
    ((__half2 *)b)[i] = __hfma2(x[i], x[i + 1], __hadd2(x[i], x[i + 2]));""",
        head="#include <cuda_fp16.h>",
    ),
    Counted(
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
    Counted(
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
    Counted(
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
        Counted(
            name,
            f"the course's {name}",
            file=matmul(file),
            defines=defines,
            grid=(ceil_div(SIDE, side),) * 2,
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
    *(
        rung(f"sgemm_{name}", 200, 200, 100, tile, threads)
        for name, tile, threads in (
            ("column_tile", (64, 64), 512),
            ("register_tile", (128, 128), 256),
            ("vector", (128, 128), 256),
            ("conflict_free", (128, 128), 256),
            ("warp_tile", (128, 128), 256),
            ("double_buffer", (128, 128), 256),
            ("cp_async", (128, 128), 256),
        )
    ),
    # Rows of 150 floats do not begin where 16 bytes do: the narrow loads of the edges.
    rung("sgemm_vector", 150, 150, 50, (128, 128), 256, name="sgemm_vector_150"),
    rung("sgemm_cp_async", 150, 150, 50, (128, 128), 256, name="sgemm_cp_async_150"),
    rung("sgemm_autotuned", 256, 512, 64, (128, 256), 256, shared=3 * WIDE),
    rung("sgemm_ordered", 256, 512, 64, (128, 256), 256, shared=4 * WIDE),
    Counted(
        "sgemm_stream_k",
        "the course's sgemm_stream_k, 3 blocks for 4 tiles",
        file=matmul("sgemm_stream_k"),
        grid=(3,),
        shared=4 * WIDE,
        arguments=stream_k(3, 256, 512, 64),
    ),
    *(
        rung(f"hgemm_{name}", 200, 200, 136, (128, 128), 256, dtype="f2")
        for name in ("wmma", "mma", "ldmatrix", "swizzle")
    ),
    rung("hgemm_swizzle", 150, 150, 75, (128, 128), 256, "hgemm_swizzle_150", dtype="f2"),
    rung("gemm_tf32", 200, 200, 100, (128, 128), 256),
    rung("igemm_dp4a", 200, 200, 100, (128, 128), 256, dtype="i1", result="i4"),
    Counted(
        "gemm_bf16_pipeline",
        "the course's gemm_bf16_pipeline",
        file=matmul("gemm_bf16_pipeline"),
        defines={"STAGES": 3},
        grid=(4,),
        shared=3 * (128 + 256) * 64 * 2,
        arguments=product(256, 512, 256, "u2", "u2"),
    ),
    *(
        Counted(
            f"gemm_{kind}_specialized",
            f"the course's gemm_{kind}_specialized, 3 blocks",
            file=matmul(f"gemm_{kind}_specialized"),
            arch="sm_90a",
            grid=(3,),
            block=(384,),
            shared=3 * (128 + 256) * 128,
            arguments=by_tma(3, 256, 512, k, dtype),
        )
        for kind, k, dtype in (("bf16", 256, "u2"), ("tf32", 128, "f4"), ("int8", 512, "i1"))
    ),
)


def launch_all() -> None:
    """Make every launch in order, for Nsight Compute to watch."""
    for case in CASES:
        kernel, grid, block, args, shared_bytes = case.launch()
        kernel(grid, block, args, shared_mem=shared_bytes)
