"""Kernels with one planted bug each, and what the sanitizer must say; and kernels with none.

A body holds both versions of a line, ``<<wrong|right>>``. The line that the report must name ends
in ``// !``, the other line that it names in ``// ?`` (the same line when no ``// ?`` is there but
the report names two). ``python -m tests.emulator.planted_bugs`` writes PLANTED_BUGS.md anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import blackwell
from asynchrony import ptx

import course_utils.launching.tensor_maps as tensor_maps
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.emulated_arrays import plain
from course_utils.emulator import (
    ALL_CHECKS,
    ASSERTION,
    BAD_TENSOR_MAP,
    BAD_TEXTURE,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    ENDLESS_LOOP,
    ERROR,
    IN_FLIGHT,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    TRAP,
    UNINITIALISED,
    USE_AFTER_FREE,
    WARNING,
    EmulatedModule,
    Finding,
    KernelFault,
    Options,
    Surface,
    Texels,
    Texture,
)
from course_utils.emulator.machine.emulated_module import Entry

PAGE = Path(__file__).parents[2] / "course_utils" / "emulator" / "PLANTED_BUGS.md"
CHOICE = re.compile(r"<<(.*?)\|(.*?)>>", re.S)


@dataclass(frozen=True)
class Bug:
    """One mistake. ``says`` are words that the report must hold; ``thread`` and ``other`` who it
    names; ``args`` makes the arguments."""

    name: str
    kind: str
    body: str
    says: str
    thread: tuple[int, int, int] | None = (0, 0, 0)
    other: tuple[int, int, int] | None = None
    parameters: str = "float* x, float* y, int n"
    args: Callable = lambda: (zeros(64), zeros(64), np.int32(3))
    grid: int = 1
    block: int = 64
    shared: int = 0
    prefix: str = ""
    before: str = ""
    budget: int | None = 100_000
    blackwell: bool = False
    also: tuple[str, ...] = ()  # kinds of what follows from the mistake
    level: str = ERROR

    @property
    def kinds(self) -> set[str]:
        return {self.kind, *self.also}

    def source(self, right: bool = False) -> str:
        return CHOICE.sub(lambda m: m[2 if right else 1], self.body).strip("\n")

    def line(self, mark: str) -> int | None:
        """The number of the line that ends in ``// mark`` in the wrong version."""
        lines = self.source().splitlines()
        return next((n for n, text in enumerate(lines, 1) if text.endswith(f"// {mark}")), None)

    def findings(self, right: bool = False, seed: int = 0) -> list[Finding]:
        kernel = _kernel(self, right)
        return _findings(self, kernel, seed if kernel.asynchronous else 0)


def ptx_of(bug: Bug, right: bool) -> str:
    body = re.sub(r" *// [!?]$", "", bug.source(right), flags=re.M)
    compiled = blackwell.ptx if bug.blackwell else ptx
    return compiled(bug.parameters, body, prefix=bug.prefix, before=bug.before)


@cache
def _kernel(bug: Bug, right: bool) -> Entry:
    return EmulatedModule(ptx_of(bug, right)).entry("f")


@cache
def _findings(bug: Bug, kernel: Entry, seed: int) -> list[Finding]:
    names = [p.split()[-1].strip("*") for p in bug.parameters.split(",")]
    options = Options(checks=ALL_CHECKS, budget=bug.budget, seed=seed)
    on_gpu, tensor_maps.ON_GPU = tensor_maps.ON_GPU, False
    try:
        args = bug.args()
        return kernel.launch(bug.grid, bug.block, args, bug.shared, names, options).findings
    except KernelFault as fault:
        return [*fault.earlier, fault.finding]
    finally:
        tensor_maps.ON_GPU = on_gpu


def zeros(count: int) -> np.ndarray:
    return np.zeros(count, np.float32)


def empty(count: int) -> np.ndarray:
    return plain(cp.empty(count, np.float32))


def numbers(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float32)


def padded() -> np.ndarray:
    """16 rows of four numbers, the last of which is uninitialised."""
    made = empty(64)
    made.reshape(16, 4)[:, :3] = 1
    return made


@cache
def _pictures() -> tuple[Texture, Surface]:
    texels = Texels(np.zeros((1, 2, 64, 1), np.float32), 2)
    return Texture(texels), Surface(texels)


def pictures() -> list[np.uint64]:
    """A texture and a surface of 2 rows of 64 numbers."""
    return [np.uint64(one.handle) for one in _pictures()]


def freed() -> np.uint64:
    """The address of an array that is gone."""
    from course_utils.emulator import GLOBAL

    return np.uint64(GLOBAL.pointer(np.zeros(64, np.float32), "old"))


KEPT = numbers(64).reshape(8, 8)  # maps hold an address, not the array


def the_map() -> np.ndarray:
    return tensor_maps.tensor_map(KEPT, (8, 8))


STORE_1D = """__device__ void store_1d(const TensorMap* m, int x, const void* from) {
    ASM("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
        :: "l"(m), "r"(smem(from)), "r"(x) : "memory"); }
"""
ADD_2D = """__device__ void add_2d(const TensorMap* m, int x, int y, const void* from) {
    ASM("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
        " [%0, {%2, %3}], [%1];"
        :: "l"(m), "r"(smem(from)), "r"(x), "r"(y) : "memory"); }
"""
WRITTEN = """__device__ void written() { ASM("cp.async.bulk.wait_group 0;" ::: "memory"); }
"""
LOAD_AND_TELL = """__device__ void load_and_tell(void* to, const TensorMap* m, u32 barrier) {
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {0, 0}], [%2];" :: "r"(smem(to)), "l"(m), "r"(barrier) : "memory"); }
"""
LOAD_FOR_BOTH = """__device__ void load_for_both(void* to, const TensorMap* m, u64* b) {
    ASM("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {0, 0}], [%2], 3;"
        :: "r"(smem(to)), "l"(m), "r"(smem(b)) : "memory"); }
"""
MULTICAST = """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
cluster_sync(); // 1
if (threadIdx.x == 0) { EXPECT; }
if (threadIdx.x == 0 && rank() == 0) load_for_both(s, &map, &bar); // !
wait(&bar, 0);
y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
cluster_sync();"""
WGMMA = """__device__ inline void mma(float (&d)[4], const void* tile) {
    ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"((u64)(smem(tile) >> 4))); }
#define FENCE ASM("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT ASM("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT ASM("wgmma.wait_group.sync.aligned 0;" ::: "memory")
"""

WG_HEAD = """__shared__ alignas(1024) u32 tile[128];
tile[threadIdx.x % 128] = 0x3c003c00;
fence(); __syncthreads(); float d[4] = {0, 0, 0, 0};
"""

TELL = """__device__ inline void tell(u64* b) {
    ASM("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" :: "r"(smem(b)) : "memory"); }
"""

TWO = "__cluster_dims__(2, 1, 1)"
CLUSTER = """__shared__ float s[32];
s[threadIdx.x] = threadIdx.x;
cluster_sync(); // 1
y[blockIdx.x * 32 + threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1)); // 2
cluster_sync(); // 3
"""

MEMORY = [
    Bug(
        "reading past the end",
        OUT_OF_BOUNDS,
        """
int i = blockIdx.x * blockDim.x + threadIdx.x;
<<|if (i < 100)>> y[i % 64] = x[i]; // !""",
        "reads x[100]",
        (36, 0, 0),
        args=lambda: (zeros(100), zeros(64), np.int32(0)),
        grid=2,
        before="// two blocks share y: only reads of x matter here",
    ),
    Bug(
        "writing before the start",
        OUT_OF_BOUNDS,
        "x[(int)threadIdx.x - <<1|0>>] = 2; // !",
        "writes x[-1]",
    ),
    Bug(
        "writing over the neighbour array",
        OUT_OF_BOUNDS,
        """
x[threadIdx.x + <<n|0>>] = 1; // !
y[threadIdx.x] = 2;""",
        "writes x[64]",
        (61, 0, 0),
    ),
    Bug(
        "a pointer from nowhere",
        OUT_OF_BOUNDS,
        """
float* p = <<(float*)0x123456789000|x>>;
p[threadIdx.x] = 1; // !""",
        "where no array lies",
    ),
    Bug(
        "an overflow of a shared array into the next one",
        OUT_OF_BOUNDS,
        """
__shared__ float a[64], b[64];
b[threadIdx.x] = 1;
a[threadIdx.x + <<1|0>>] = 2; // !
__syncthreads();
y[threadIdx.x] = a[<<63|threadIdx.x>>] + b[threadIdx.x];""",
        "writes a[64] in shared memory",
        (63, 0, 0),
    ),
    Bug(
        "more dynamic shared memory than the launch gives",
        OUT_OF_BOUNDS,
        """
extern __shared__ float s[];
s[threadIdx.x<< + 4|>>] = 1; // !
y[threadIdx.x] = s[threadIdx.x<< + 4|>>];""",
        "writes s[64] in shared memory",
        (60, 0, 0),
        shared=256,
    ),
    Bug(
        "an overflow of a local array",
        OUT_OF_BOUNDS,
        """
float a[4] = {1, 2, 3, 4};
for (int i = 0; i < n; ++i) a[<<2 * i|i>>] += x[i]; // !
y[threadIdx.x] = a[n % 4];""",
        "in local memory",
        args=lambda: (zeros(64), zeros(64), np.int32(4)),
    ),
    Bug(
        "a misaligned vector load",
        MISALIGNED,
        """
float4 v = *(float4*)(x + <<1|4>>); // !
y[threadIdx.x] = v.x + v.y * v.z + v.w;""",
        "reads 16 bytes at once",
    ),
    Bug(
        "a null pointer",
        NULL_POINTER,
        """
<<x|y>>[threadIdx.x] = 1; // !""",
        "writes 4 bytes through a pointer that is NULL",
        args=lambda: (np.uint64(0), zeros(64), np.int32(3)),
    ),
    Bug(
        "an array that was freed before the launch",
        USE_AFTER_FREE,
        "y[threadIdx.x] = <<((float*)old)|x>>[threadIdx.x]; // !",
        "reads old[0]",
        parameters="float* x, float* y, unsigned long long old",
        args=lambda: (zeros(64), zeros(64), freed()),
    ),
    Bug(
        "device memory used after free()",
        USE_AFTER_FREE,
        """
float* p = (float*)malloc(16);
p[1] = x[threadIdx.x];
<<free(p);|>>
y[threadIdx.x] = p[1]; // !
<<|free(p);>>""",
        "reads device malloc[1]",
    ),
    Bug(
        "device memory freed twice",
        USE_AFTER_FREE,
        """
void* p = malloc(16);
free(p);
<<free(p); // !|>>""",
        "has been freed already",
    ),
]

INITIALISATION = [
    Bug(
        "an input that nobody filled",
        UNINITIALISED,
        "y[threadIdx.x] = <<x[threadIdx.x] + |>>1; // !",
        "x[0], read by thread (0, 0, 0)",
        other=(0, 0, 0),
        args=lambda: (empty(64), empty(64), np.int32(3)),
    ),
    Bug(
        "adding to an output that starts with no value",
        UNINITIALISED,
        "y[threadIdx.x] <<+=|=>> x[threadIdx.x]; // !",
        "stores in y[0]",
        other=(0, 0, 0),
        args=lambda: (numbers(64), empty(64), np.int32(3)),
    ),
    Bug(
        "an atomic sum that starts with no value",
        UNINITIALISED,
        """
<<|if (threadIdx.x == 0) y[0] = 0;>>
__syncthreads();
atomicAdd(y, x[threadIdx.x]); // !""",
        "y[0], read by thread (0, 0, 0)",
        other=(0, 0, 0),
        args=lambda: (numbers(64), empty(64), np.int32(3)),
    ),
    Bug(
        "an exchange for a value that is not there yet",
        UNINITIALISED,
        """
__shared__ int ticket;
<<|if (threadIdx.x == 0) ticket = 0;>>
__syncthreads();
if (threadIdx.x == 0) y[0] = atomicExch(&ticket, 1); // !""",
        "ticket[0] in shared memory, read by thread (0, 0, 0)",
        other=(0, 0, 0),
    ),
    Bug(
        "a tile of which the last element was never loaded",
        UNINITIALISED,
        """
__shared__ float s[64];
if (threadIdx.x < <<63|64>>) s[threadIdx.x] = x[threadIdx.x];
__syncthreads();
float v = s[63 - threadIdx.x]; // ?
y[threadIdx.x] = 2 * v; // !""",
        "s[63] in shared memory",
        other=(0, 0, 0),
    ),
    Bug(
        "dynamic shared memory that starts with no value",
        UNINITIALISED,
        """
extern __shared__ int bins[];
<<|bins[threadIdx.x] = 0;>>
__syncthreads();
atomicAdd(&bins[threadIdx.x % 4], 1); // !
__syncthreads();
if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];""",
        "bins[0] in shared memory",
        other=(0, 0, 0),
        shared=256,
    ),
    Bug(
        "a local array that is filled in part",
        UNINITIALISED,
        """
float a[8];
for (int i = 0; i < <<n|8>>; ++i) a[(i * 5) % 8] = x[i];
float v = a[(n + threadIdx.x) % 8]; // ?
y[threadIdx.x] = v; // !""",
        "in local memory",
        (0, 0, 0),
        other=(0, 0, 0),
    ),
    Bug(
        "a variable that only some ways set",
        UNINITIALISED,
        """
float sum<<| = 0>>;
for (int i = 0; i < n; ++i) sum += x[i];
y[threadIdx.x] = sum; // !""",
        "a variable that was never given a value",
    ),
    Bug(
        "a branch on an uninitialised value",
        UNINITIALISED,
        "if (<<y|x>>[threadIdx.x] > 0) x[threadIdx.x] = 1; // !",
        "decides a branch by",
        other=(0, 0, 0),
        args=lambda: (numbers(64), empty(64), np.int32(3)),
    ),
    Bug(
        "an uninitialised index",
        UNINITIALISED,
        """
int i = ((int*)<<y|x>>)[threadIdx.x] & 63; // ?
x[i] = 0; // !""",
        "works out an address from",
        other=(0, 0, 0),
        args=lambda: (zeros(64), empty(64), np.int32(3)),
    ),
    Bug(
        "a shuffle from lanes that are not there",
        UNINITIALISED,
        """
float v = x[threadIdx.x];
v += __shfl_down_sync(~0u, v, <<16|8>>); // ?
if (threadIdx.x % 32 < 8) y[threadIdx.x] = v; // !""",
        "a lane that takes no part in the shuffle",
        (32, 0, 0),
        block=48,
    ),
    Bug(
        "an uninitialised value that came by a shuffle",
        UNINITIALISED,
        """
__shared__ float s[64];
if (threadIdx.x < <<63|64>>) s[threadIdx.x] = 1;
__syncthreads();
float v = s[threadIdx.x]; // ?
v += __shfl_xor_sync(~0u, v, 16);
y[threadIdx.x] = v; // !""",
        "s[63] in shared memory",
        (47, 0, 0),
        (63, 0, 0),
    ),
    Bug(
        "a tile for tensor cores that is filled in part",
        UNINITIALISED,
        """
__shared__ alignas(128) u32 s[128];
if (threadIdx.x < <<28|32>>)
    for (int i = 0; i < 4; ++i) s[4 * threadIdx.x + i] = 0x3c003c00;
__syncthreads();
u32 a[4]; float d[4] = {0, 0, 0, 0};
ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(smem(&s[threadIdx.x % 32 * 4]))); // ?
ASM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
    "{%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
y[threadIdx.x] = d[2]; // !""",
        "s[224] in shared memory",
        (16, 0, 0),
        block=32,
    ),
    Bug(
        "a copy of uninitialised memory",
        UNINITIALISED,
        """
__shared__ alignas(128) float s[64];
if (threadIdx.x < <<60|64>>) s[threadIdx.x] = 1;
fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); bulk_wait(); } // !""",
        "copies to y[",
        other=(0, 0, 0),
    ),
]

SHARED_RACES = [
    Bug(
        "read after write between warps",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
<<|__syncthreads();>>
y[threadIdx.x] = s[63 - threadIdx.x]; // !""",
        "read after write",
        (0, 0, 0),
        (63, 0, 0),
    ),
    Bug(
        "write after read between warps",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x];
__syncthreads();
float v = s[63 - threadIdx.x]; // ?
<<|__syncthreads();>>
s[threadIdx.x] = 2; // !
__syncthreads();
y[threadIdx.x] = v + s[threadIdx.x];""",
        "write after read",
        (0, 0, 0),
        (63, 0, 0),
    ),
    Bug(
        "two threads that store different values",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x<< / 2|>>] = threadIdx.x; // !
__syncthreads();
y[threadIdx.x] = s[threadIdx.x<< / 2|>>];""",
        "write after write",
        (1, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "neighbours within a warp and no __syncwarp()",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
<<|__syncwarp();>>
y[threadIdx.x] = s[threadIdx.x ^ 1]; // !""",
        "__syncwarp()",
        (0, 0, 0),
        (1, 0, 0),
        level=WARNING,
    ),
    Bug(
        "a shuffle in place of __syncwarp()",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
float v = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
<<|__syncwarp();>>
y[threadIdx.x] = v + s[threadIdx.x ^ 1]; // !""",
        "at the shuffle at kernel.cu:3, so this mostly comes out right",
        (0, 0, 0),
        (1, 0, 0),
        level=WARNING,
    ),
    Bug(
        "lanes on the two sides of a branch",
        DATA_RACE,
        """
__shared__ float s[64];
if (threadIdx.x % 32 < 16) {
    s[threadIdx.x] = x[threadIdx.x]; // ?
<<} else {|} __syncwarp(); if (threadIdx.x % 32 >= 16) {>>
    y[threadIdx.x] = s[threadIdx.x - 16]; // !
}""",
        "__syncwarp()",
        (16, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "a sum of a warp's lanes with no atomic",
        DATA_RACE,
        """
if (threadIdx.x < 32) <<x[0] += 1|atomicAdd(x, 1)>>; // !""",
        "with no __syncwarp()",
    ),
    Bug(
        "lanes that wait for others than their neighbours",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
__syncwarp(<<0x55555555u << threadIdx.x % 2|3u << threadIdx.x % 32 / 2 * 2>>);
y[threadIdx.x] = s[threadIdx.x ^ 1]; // !""",
        "__syncwarp()",
        (0, 0, 0),
        (1, 0, 0),
    ),
    Bug(
        "an atomic sum read too early",
        DATA_RACE,
        """
__shared__ int s;
if (threadIdx.x == 0) s = 0;
__syncthreads();
atomicAdd(&s, 1); // ?
<<|__syncthreads();>>
y[threadIdx.x] = s; // !""",
        "read after write",
        None,
        None,
    ),
    Bug(
        "lanes of a warp that overwrite what others still read",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x];
__syncwarp();
float v = s[threadIdx.x ^ 1]; // ?
<<|__syncwarp();>>
s[threadIdx.x] = 2; // !
y[threadIdx.x] = v;""",
        "write after read",
        (0, 0, 0),
        (1, 0, 0),
        level=WARNING,
    ),
    Bug(
        "two warps that store different values",
        DATA_RACE,
        """
__shared__ float s;
if (threadIdx.x <<% 32|>> == 0) s = threadIdx.x; // !
__syncthreads();
y[threadIdx.x] = s;""",
        "write after write",
        (32, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "a barrier for half of the threads that exchange",
        DATA_RACE,
        """
__shared__ float s[64];
s[threadIdx.x] = x[threadIdx.x]; // ?
ASM("bar.sync %0, <<32|64>>;" :: "r"(<<1 + threadIdx.x / 32|1>>) : "memory");
y[threadIdx.x] = s[63 - threadIdx.x]; // !""",
        "read after write",
        (0, 0, 0),
        (63, 0, 0),
    ),
]

GLOBAL_RACES = [
    Bug(
        "blocks that update one element",
        DATA_RACE,
        "<<x[0] += 1.0f;|atomicAdd(x, 1.0f);>> // !",
        "on x[0]",
        None,
        None,
        grid=4,
        block=1,
    ),
    Bug(
        "blocks that store different values in one element",
        DATA_RACE,
        "<<x[0] = blockIdx.x + 1;|x[blockIdx.x] = 1;>> // !",
        "write after write",
        (0, 0, 0),
        (0, 0, 0),
        grid=2,
        block=1,
    ),
    Bug(
        "lanes that store different values in one element",
        DATA_RACE,
        "x[threadIdx.x<< % 32|>>] = threadIdx.x; // !",
        "write after write",
        None,
        None,
    ),
    Bug(
        "overwriting what another warp still reads",
        DATA_RACE,
        """
float v = x[63 - threadIdx.x]; // ?
<<|__syncthreads();>>
x[threadIdx.x] = v + 1; // !""",
        "write after read",
        None,
        None,
        args=lambda: (numbers(64), zeros(64), np.int32(0)),
    ),
    Bug(
        "an atomic sum read by another block",
        DATA_RACE,
        "atomicAdd(x, 1.0f); // ?\n<<y[blockIdx.x] = x[0];|>> // !",
        "read after write",
        None,
        None,
        grid=2,
        block=1,
    ),
    Bug(
        "reading what a neighbouring block writes",
        DATA_RACE,
        "<<x|y>>[blockIdx.x] = x[blockIdx.x + 1]; // !",
        "nothing orders two blocks",
        None,
        None,
        args=lambda: (numbers(64), zeros(64), np.int32(3)),
        grid=2,
        block=1,
    ),
    Bug(
        "two warps of a block and no barrier",
        DATA_RACE,
        """
x[threadIdx.x] = threadIdx.x; // ?
<<|__syncthreads();>>
y[threadIdx.x] = x[63 - threadIdx.x]; // !""",
        "read after write",
        None,
        None,
    ),
    Bug(
        "two lanes of a warp and no __syncwarp()",
        DATA_RACE,
        """
x[threadIdx.x] = threadIdx.x; // ?
<<|__syncwarp();>>
y[threadIdx.x] = x[threadIdx.x ^ 1]; // !""",
        "read after write",
        None,
        None,
        block=32,
        level=WARNING,
    ),
    Bug(
        "a barrier does not order two blocks",
        DATA_RACE,
        """
x[blockIdx.x] = 1.0f + blockIdx.x; // ?
__syncthreads();
y[blockIdx.x] = x[<<1 - blockIdx.x|blockIdx.x>>]; // !""",
        "nothing orders two blocks",
        None,
        None,
        grid=2,
        block=1,
    ),
]

FLAGS = [
    Bug(
        "a result published with no fence before the flag",
        DATA_RACE,
        """
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    <<|__threadfence();>>
    flag[0] = 1;
} else {
    while (flag[0] == 0) { }
    __threadfence();
    y[1] = x[0]; // !
}""",
        "and nothing orders the store at kernel.cu:3 before the flag that thread (0, 0, 0) of "
        "block (0, 0, 0) sets at kernel.cu:5:\n  put __threadfence() between them.",
        (0, 0, 0),
        (0, 0, 0),
        grid=2,
        block=1,
    ),
    Bug(
        "a fence after the flag in place of before it",
        DATA_RACE,
        """
int* flag = (int*)y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    <<|__threadfence();>>
    atomicExch(flag, 1);
    <<__threadfence();|>>
} else {
    while (atomicAdd(flag, 0) == 0) { }
    __threadfence();
    y[1] = x[0]; // !
}""",
        "nothing orders the store at kernel.cu:3 before the flag",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "no fence between a flag that is read and the result",
        DATA_RACE,
        """
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    __threadfence();
    flag[0] = 1;
} else {
    while (flag[0] == 0) { }
    <<|__threadfence();>>
    y[1] = x[0]; // !
}""",
        "and nothing orders the read at kernel.cu:9 after the flag that thread (0, 0, 0) of block "
        "(1, 0, 0) reads at kernel.cu:7:\n  put __threadfence() between them.",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "a fence that counts for one block only",
        DATA_RACE,
        """
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    <<__threadfence_block|__threadfence>>();
    flag[0] = 1;
} else {
    while (flag[0] == 0) { }
    __threadfence();
    y[1] = x[0]; // !
}""",
        "__threadfence_block() counts for its own block only, and nothing orders the store at "
        "kernel.cu:3",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "a flag set before the other threads of the block have stored",
        DATA_RACE,
        """
int* flag = (int*)y;
if (blockIdx.x == 0) {
    x[threadIdx.x] = 42; // ?
    <<|__syncthreads();>>
    if (threadIdx.x == 0) { __threadfence(); atomicExch(flag, 1); }
} else {
    if (threadIdx.x == 0) { while (atomicAdd(flag, 0) == 0) { } __threadfence(); }
    __syncthreads();
    y[1 + threadIdx.x % 32] = x[32 + threadIdx.x % 32]; // !
}""",
        "before the flag that thread (0, 0, 0) of block (0, 0, 0) sets at kernel.cu:5:\n"
        "  put __syncthreads() and then __threadfence() between them.",
        (0, 0, 0),
        (32, 0, 0),
        grid=2,
    ),
    Bug(
        "a flag set by st.relaxed, not by st.release",
        DATA_RACE,
        """
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    ASM("st.<<relaxed|release>>.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
} else {
    while (!seen) ASM("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    y[1] = x[0]; // !
}""",
        "nothing orders the store at kernel.cu:3 before the flag",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "a flag read by ld.relaxed, not by ld.acquire",
        DATA_RACE,
        """
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42; // ?
    ASM("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
} else {
    while (!seen)
        ASM("ld.<<relaxed|acquire>>.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    y[1] = x[0]; // !
}""",
        "nothing orders the read at kernel.cu:8 after the flag",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "a count of all blocks by an atomic whose scope is one block",
        DATA_RACE,
        """
atomicAdd<<_block|>>((int*)y, 1); // !""",
        "the scope of the one at kernel.cu:1 is its own block: for others it is no atomic",
        (0, 0, 0),
        (31, 0, 0),
        grid=2,
        block=32,
    ),
    Bug(
        "a flag released and acquired in the scope of a block, for another block",
        DATA_RACE,
        """
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42;
    __threadfence();
    ASM("st.relaxed.<<cta|gpu>>.global.s32 [%0], 1;" :: "l"(flag) : "memory"); // !
} else {
    while (!seen) ASM("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag)); // ?
    __threadfence();
    y[1] = x[0];
}""",
        "the scope of the one at kernel.cu:5 is its own block",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "a flag that another block reads in the scope of its own",
        DATA_RACE,
        """
int* flag = (int*)y; int seen = 0;
if (blockIdx.x == 0) {
    x[0] = 42;
    ASM("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory"); // !
} else {
    while (!seen) ASM("ld.acquire.<<cta|gpu>>.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag)); // ?
    y[1] = x[0];
}""",
        "the scope of the one at kernel.cu:6 is its own block",
        grid=2,
        block=1,
        other=(0, 0, 0),
    ),
    Bug(
        "an atomic of a cluster's scope, for blocks of two clusters",
        DATA_RACE,
        """
int old;
#define ADD(scope) "atom.add.relaxed." scope ".global.s32 %0, [%1], 1;"
ASM(ADD(<<"cluster"|"gpu">>) : "=r"(old) : "l"(y) : "memory"); // !""",
        "the scope of the one at kernel.cu:3 is its own cluster",
        None,
        None,
        grid=4,
        block=32,
        prefix="__cluster_dims__(2, 1, 1)",
    ),
    Bug(
        "a flag that is set by an ordinary store",
        DATA_RACE,
        """
volatile float* flag = y;
if (blockIdx.x == 0) {
    x[0] = 42;
    __threadfence();
    <<y|flag>>[0] = 1; // !
} else {
    while (flag[0] == 0) { } // ?
    __threadfence();
    y[1] = x[0];
}""",
        "on y[0]",
        None,
        None,
        grid=2,
        block=1,
    ),
    Bug(
        "the last block adds up, and no block has fenced its sum",
        DATA_RACE,
        """
__shared__ bool last;
int* done = (int*)y;
if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x; // ?
    <<|__threadfence();>>
    last = atomicAdd(done, 1) == gridDim.x - 1;
}
__syncthreads();
if (last) {
    __threadfence();
    if (threadIdx.x < gridDim.x) atomicAdd(y + 1, x[threadIdx.x]); // !
}""",
        "and nothing orders the store at kernel.cu:4 before the flag that thread (0, 0, 0) of "
        "block (0, 0, 0) sets at kernel.cu:6:\n  put __threadfence() between them.",
        (0, 0, 0),
        (0, 0, 0),
        grid=8,
        block=32,
    ),
    Bug(
        "the last block adds up before a fence of its own",
        DATA_RACE,
        """
__shared__ bool last;
int* done = (int*)y;
if (threadIdx.x == 0) {
    x[blockIdx.x] = blockIdx.x; // ?
    __threadfence();
    last = atomicAdd(done, 1) == gridDim.x - 1;
}
__syncthreads();
if (last) {
    <<|__threadfence();>>
    if (threadIdx.x < gridDim.x) atomicAdd(y + 1, x[threadIdx.x]); // !
}""",
        "and nothing orders the read at kernel.cu:11 after the flag that thread (0, 0, 0) of block "
        "(7, 0, 0) reads at kernel.cu:6:\n  put __threadfence() between them.",
        (0, 0, 0),
        (0, 0, 0),
        level=WARNING,
        grid=8,
        block=32,
    ),
    Bug(
        "a lock that is released with no fence",
        DATA_RACE,
        """
int* lock = (int*)x;
while (atomicCAS(lock, 0, 1) != 0) { }
__threadfence();
y[0] += 1; // !
<<|__threadfence();>>
atomicExch(lock, 0);""",
        "nothing orders the store at kernel.cu:4 before the flag that thread (0, 0, 0) of block",
        None,
        (0, 0, 0),
        grid=8,
        block=1,
    ),
    Bug(
        "a lock that is taken with no fence",
        DATA_RACE,
        """
int* lock = (int*)x;
while (atomicCAS(lock, 0, 1) != 0) { }
<<|__threadfence();>>
y[0] += 1; // !
__threadfence();
atomicExch(lock, 0);""",
        "nothing orders the read at kernel.cu:4 after the flag that thread (0, 0, 0) of block",
        None,
        (0, 0, 0),
        grid=8,
        block=1,
    ),
    Bug(
        "a barrier for the grid whose blocks do not fence",
        DATA_RACE,
        """
unsigned* count = (unsigned*)(y + 63);
x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x + 1; // ?
__syncthreads();
if (threadIdx.x == 0) {
    <<|__threadfence();>>
    atomicAdd(count, 1u);
    while (*(volatile unsigned*)count < gridDim.x) { }
    __threadfence();
}
__syncthreads();
y[blockIdx.x * 8 + threadIdx.x % 8] = x[(blockIdx.x + 1) % 2 * 32]; // !""",
        "nothing orders the store at kernel.cu:2 before the flag that thread (0, 0, 0) of block",
        None,
        None,
        grid=2,
        block=32,
    ),
]

COPIES = [
    Bug(
        "cp.async and no wait",
        DATA_RACE,
        """
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); // ?
<<|wait_group<0>();>>
__syncthreads();
y[threadIdx.x] = s[255 - threadIdx.x]; // !
<<wait_group<0>();|>>""",
        "started an asynchronous copy into it",
        (0, 0, 0),
        (63, 0, 0),
        args=lambda: (numbers(256), zeros(64), np.int32(0)),
    ),
    Bug(
        "cp.async waited for, but no barrier after it",
        DATA_RACE,
        """
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
commit(); wait_group<0>();
<<|__syncthreads();>>
y[threadIdx.x] = s[255 - threadIdx.x]; // !""",
        "read after write",
        (0, 0, 0),
        (63, 0, 0),
        args=lambda: (numbers(256), zeros(64), np.int32(0)),
    ),
    Bug(
        "cp.async waited for behind the barrier",
        DATA_RACE,
        """
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); // ?
<<__syncthreads(); wait_group<0>();|wait_group<0>(); __syncthreads();>>
y[threadIdx.x] = s[255 - threadIdx.x]; // !""",
        "and waits for it at kernel.cu:3\n"
        "  thread (0, 0, 0) reads it at kernel.cu:4\n"
        "  with no __syncthreads() in between.\n"
        "  That wait covers only the thread's own copies",
        (0, 0, 0),
        (63, 0, 0),
        args=lambda: (numbers(256), zeros(64), np.int32(0)),
    ),
    Bug(
        "cp.async in two stages, the wait of a step behind its barrier",
        DATA_RACE,
        """
__shared__ alignas(16) float tile[2][256];
int t = threadIdx.x;
cp16(&tile[0][4 * t], x + 4 * t); commit(); // ?
for (int i = 0; i < n; ++i) {
    if (i + 1 < n) cp16(&tile[(i + 1) % 2][4 * t], x + (i + 1) * 256 + 4 * t);
    commit();
    <<__syncthreads(); wait_group<1>();|wait_group<1>(); __syncthreads();>>
    for (int j = 0; j < 4; ++j) y[i * 256 + j * 64 + t] = tile[i % 2][255 - j * 64 - t]; // !
    __syncthreads();
}""",
        "That wait covers only the thread's own copies",
        (0, 0, 0),
        (63, 0, 0),
        args=lambda: (numbers(1024), empty(1024), np.int32(4)),
    ),
    Bug(
        "cp.async waited for, and at once read by another lane of the warp",
        DATA_RACE,
        """
__shared__ alignas(16) float s[128];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
commit(); wait_group<0>();
<<|__syncwarp();>>
y[threadIdx.x] = s[127 - threadIdx.x]; // !""",
        "with no __syncwarp() or __syncthreads() in between",
        (0, 0, 0),
        (31, 0, 0),
        block=32,
        level=WARNING,
        args=lambda: (numbers(128), zeros(32), np.int32(0)),
    ),
    Bug(
        "cp.async that an mbarrier is told of, and a wait for one's own copies",
        DATA_RACE,
        """
__shared__ alignas(16) float s[256]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 64);
__syncthreads();
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
tell(&bar); commit();
<<wait_group<0>();|wait(&bar, 0);>>
y[threadIdx.x] = s[255 - threadIdx.x]; // !""",
        "Only a wait for that mbarrier covers the copies of other threads",
        (0, 0, 0),
        (63, 0, 0),
        before=TELL,
        args=lambda: (numbers(256), zeros(64), np.int32(0)),
    ),
    Bug(
        "an ordinary arrival for cp.async, which does not wait for the copies",
        DATA_RACE,
        """
__shared__ alignas(16) float s[256]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 64);
__syncthreads();
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); // ?
<<arrive|tell>>(&bar);
wait(&bar, 0);
y[threadIdx.x] = s[255 - threadIdx.x]; // !
<<commit(); wait_group<0>();|>>""",
        "started an asynchronous copy into it",
        (0, 0, 0),
        (63, 0, 0),
        before=TELL,
        args=lambda: (numbers(256), zeros(64), np.int32(0)),
    ),
    Bug(
        "cp.async left behind at the end",
        IN_FLIGHT,
        """
__shared__ alignas(16) float s[256];
cp16(&s[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); // !
<<|wait_group<0>();>>
y[threadIdx.x] = 1;""",
        "ended without waiting for it",
        (0, 0, 0),
        args=lambda: (numbers(256), zeros(64), np.int32(0)),
        level=WARNING,
    ),
    Bug(
        "a bulk copy that nobody waits for",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(s, x, 256, &bar); } // ?
<<|wait(&bar, 0);>>
y[threadIdx.x] = s[threadIdx.x]; // !
wait(&bar, 0);""",
        "before anybody has waited",
        (0, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "the wrong parity",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(s, x, 256, &bar); } // ?
wait(&bar, <<1|0>>);
y[threadIdx.x] = s[threadIdx.x]; // !
wait(&bar, 0);""",
        "before anybody has waited",
        (0, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "a TMA load that nobody waits for",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, &map, 0, 0, &bar); } // ?
<<|wait(&bar, 0);>>
y[threadIdx.x] = s[threadIdx.x]; // !
wait(&bar, 0);""",
        "before anybody has waited",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(64)),
    ),
    Bug(
        "a TMA load that one thread waits for, and others do not",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, &map, 0, 0, &bar); } // ?
<<if (threadIdx.x < 32)|>> wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x]; // !""",
        "First comes a wait for the mbarrier bar, its phase of parity 0.",
        (32, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(64)),
    ),
    Bug(
        "a TMA load whose bytes nobody announced",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { <<arrive(&bar)|expect(&bar, 256)>>; load_2d(s, &map, 0, 0, &bar); } // ?
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x]; // !
<<wait(&bar, 1);|>>""",
        "the mbarrier bar expects 0 bytes now, and 256 are on their way",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(64)),
        also=(DEADLOCK,),
    ),
    Bug(
        "no fence between mbarrier.init and a TMA load",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1); // ?
<<|if (threadIdx.x == 0) fence();>>
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, &map, 0, 0, &bar); } // !
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];""",
        "with no fence.mbarrier_init or fence.proxy.async after the initialisation",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(64)),
    ),
    Bug(
        "a TMA store whose group was not committed",
        IN_FLIGHT,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); <<|bulk_commit();>> bulk_wait(); } // !""",
        "ended without waiting for it",
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
    ),
    Bug(
        "a TMA store that another thread waits for",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); } // ?
if (threadIdx.x == <<32|0>>) bulk_wait();
__syncthreads();
s[threadIdx.x] = 2; // !
if (threadIdx.x == 0) bulk_wait();""",
        "by the thread that started it",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
    ),
    Bug(
        "no fence.proxy.async before a TMA reduction",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
<<|fence();>>
__syncthreads();
if (threadIdx.x == 0) { add_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); } // !""",
        "no fence.proxy.async in between",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
        before=ADD_2D,
    ),
    Bug(
        "a multicast that the other block does not expect",
        DATA_RACE,
        MULTICAST.replace(
            "EXPECT", "if (<<rank() == 0|true>>) expect(&bar, 256); else arrive(&bar)"
        )
        .replace("// !", "// ?")
        .replace("s[threadIdx.x];", "s[threadIdx.x]; // !"),
        "the mbarrier bar of block (1, 0, 0) is told of its end",
        None,
        grid=2,
        before=LOAD_FOR_BOTH,
        prefix=TWO,
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(128)),
        also=(IN_FLIGHT,),
    ),
    Bug(
        "a multicast into a stage that the other block still reads",
        DATA_RACE,
        """__shared__ alignas(128) float s[64]; __shared__ u64 full, empty;
int t = threadIdx.x;
if (t == 0) { init(&full, 1); init(&empty, rank() == 0 ? <<64|128>> : 64); fence(); }
cluster_sync();
if (t == 64)
    for (int i = 0; i < 3; ++i) {
        wait(&empty, i & 1 ^ 1); expect(&full, 256);
        if (rank() == 0) load_for_both(s, &map, &full); // !
    }
else if (t < 64)
    for (int i = 0; i < 3; ++i) {
        wait(&full, i & 1);
        y[blockIdx.x * 64 + t] = s[63 - t];
        arrive(&empty);
        <<|if (rank() == 1) arrive_remote(map_rank(&empty, 0));>>
    }
cluster_sync();""",
        "the mbarrier full of block (1, 0, 0) is told of its end",
        None,
        grid=2,
        block=96,
        before=LOAD_FOR_BOTH,
        prefix=TWO,
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(128)),
    ),
    Bug(
        "a multicast to a block that may not have made its mbarrier",
        BARRIER,
        MULTICAST.replace("cluster_sync(); // 1", "<<__syncthreads();|cluster_sync();>>").replace(
            "EXPECT", "expect(&bar, 256)"
        ),
        "before it is certain that this block has started",
        None,
        grid=2,
        before=LOAD_FOR_BOTH,
        prefix=TWO,
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(128)),
        also=(DATA_RACE,),
    ),
    Bug(
        "a bulk store whose source is overwritten",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); <<|bulk_wait();>> } // ?
__syncthreads();
s[threadIdx.x] = 2; // !
if (threadIdx.x == 0) bulk_wait();""",
        "started an asynchronous copy out of it",
        (0, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "a bulk store left behind at the end",
        IN_FLIGHT,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); <<|bulk_wait();>> } // !""",
        "ended without waiting for it",
    ),
    Bug(
        "a bulk store that is read back once its source has been read",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); <<bulk_wait|written>>(); } // ?
__syncthreads();
x[threadIdx.x] = y[threadIdx.x]; // !""",
        "not .wait_group.read: that waits until the source has been read",
        (0, 0, 0),
        (0, 0, 0),
        before=WRITTEN,
    ),
    Bug(
        "a bulk store whose thread alone knows that it is written",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); written(); } // ?
<<|__syncthreads();>>
x[threadIdx.x] = y[threadIdx.x]; // !""",
        "covers only the thread's own copies: others need a barrier after it",
        (1, 0, 0),
        (0, 0, 0),
        before=WRITTEN,
    ),
    Bug(
        "two TMA stores that overlap",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); <<bulk_wait|written>>(); } // ?
if (threadIdx.x == 0) { store_2d(&map, 0, 4, s); bulk_commit(); bulk_wait(); } // !""",
        "before anybody has waited for the end of the copy",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
        before=WRITTEN,
    ),
    Bug(
        "two blocks whose TMA stores overlap",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = blockIdx.x; fence(); __syncthreads();
if (threadIdx.x == 0) {
    store_2d(&map, 0, <<4|8>> * blockIdx.x, s); // !
    bulk_commit(); bulk_wait();
}""",
        "Two blocks run in any order, or at once",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
        grid=2,
    ),
    Bug(
        "a bulk load of what a bulk store is still writing",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64], t[64]; __shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1);
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) {
    bulk_store(y, s, 256); // ?
    bulk_commit(); <<bulk_wait|written>>();
    expect(&bar, 256);
    bulk_load(t, y, 256, &bar); // !
}
__syncthreads();
wait(&bar, 0);
x[threadIdx.x] = t[threadIdx.x];""",
        "not .wait_group.read: that waits until the source has been read",
        (0, 0, 0),
        (0, 0, 0),
        before=WRITTEN,
    ),
    Bug(
        "no fence.proxy.async before a bulk store",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
<<|fence();>>
__syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); bulk_wait(); } // !""",
        "no fence.proxy.async in between",
        (0, 0, 0),
        (0, 0, 0),
    ),
    Bug(
        "no fence.proxy.async before a TMA store",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
<<|fence();>>
__syncthreads();
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); } // !""",
        "no fence.proxy.async in between",
        (0, 0, 0),
        (0, 0, 0),
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
    ),
    Bug(
        "a fence of the storing thread alone, before the others have written",
        DATA_RACE,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; // ?
<<if (threadIdx.x == 0) fence();|>>
__syncthreads();
<<|if (threadIdx.x == 0) fence();>>
if (threadIdx.x == 0) { store_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); } // !""",
        "no fence.proxy.async in between",
        (0, 0, 0),
        (32, 0, 0),
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
    ),
    Bug(
        "a bulk copy that starts at an odd place",
        MISALIGNED,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y + <<1|4>>, s, 128); bulk_commit(); bulk_wait(); } // !""",
        "whose destination is no multiple of 16 bytes",
    ),
    Bug(
        "a bulk copy past the end of its source",
        OUT_OF_BOUNDS,
        """
__shared__ alignas(128) float s[128]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, <<512|256>>); bulk_load(s, x, <<512|256>>, &bar); } // !
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];""",
        "reads x[64]",
    ),
    Bug(
        "a column taken for a byte of a surface",
        MISALIGNED,
        """
surf2Dwrite(x[threadIdx.x], s, <<threadIdx.x|threadIdx.x * 4>>, 1); // !
y[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f);""",
        "must be a multiple of the 4",
        thread=(1, 0, 0),
        parameters="cudaTextureObject_t t, cudaSurfaceObject_t s, float* x, float* y",
        args=lambda: (*pictures(), zeros(64), zeros(64)),
    ),
    Bug(
        "a write past the last row of a surface",
        OUT_OF_BOUNDS,
        """
surf2Dwrite(1.0f, s, threadIdx.x * 4, <<2|1>>); // !
y[threadIdx.x] = tex2D<float>(t, 0.5f, 0.5f);""",
        "at x = 0, y = 2",
        parameters="cudaTextureObject_t t, cudaSurfaceObject_t s, float* x, float* y",
        args=lambda: (*pictures(), zeros(64), zeros(64)),
    ),
    Bug(
        "a surface where a texture is wanted",
        BAD_TEXTURE,
        "y[threadIdx.x] = tex2D<float>(<<s|t>>, threadIdx.x, 0); // !",
        "stands for none, but for a surface",
        parameters="cudaTextureObject_t t, cudaSurfaceObject_t s, float* x, float* y",
        args=lambda: (*pictures(), zeros(64), zeros(64)),
    ),
    Bug(
        "no tensor map where one should be",
        BAD_TENSOR_MAP,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
const TensorMap* m = <<(const TensorMap*)y|&map>>;
if (threadIdx.x == 0) { expect(&bar, 256); load_2d(s, m, 0, 0, &bar); } // !
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];""",
        "there is no tensor map at that address",
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(64)),
    ),
    Bug(
        "a tensor map of other dimensions",
        BAD_TENSOR_MAP,
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) {
    <<store_1d(&map, 0, s)|store_2d(&map, 0, 0, s)>>; // !
    bulk_commit(); bulk_wait();
}""",
        "the map has 2 dimensions and the instruction 1",
        parameters="const __grid_constant__ TensorMap map",
        args=lambda: (the_map(),),
        before=STORE_1D,
    ),
]

TENSOR_CORES = [
    Bug(
        "a result of wgmma used before wait_group",
        DATA_RACE,
        WG_HEAD
        + """
FENCE; mma(d, tile); COMMIT; // ?
<<|WAIT;>>
y[threadIdx.x] = d[0]; // !
<<WAIT;|>>""",
        "Result used too early",
        None,
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "no wgmma.fence before the first wgmma",
        DATA_RACE,
        WG_HEAD
        + """
<<|FENCE;>>
mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];""",
        "with no wgmma.fence before it",
        None,
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "no wgmma.fence after accumulators were changed",
        DATA_RACE,
        WG_HEAD
        + """
FENCE; mma(d, tile); COMMIT; WAIT;
for (int i = 0; i < 4; ++i) d[i] *= x[i]; // ?
<<|FENCE;>>
mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];""",
        "with no wgmma.fence since",
        None,
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "a tile is overwritten while wgmma may still read it",
        DATA_RACE,
        WG_HEAD
        + """
FENCE; mma(d, tile); COMMIT; // !
<<|WAIT;>>
__syncthreads();
tile[threadIdx.x % 128] = 1; // ?
__syncthreads();
<<WAIT;|>>
y[threadIdx.x] = d[0];""",
        "may read it until the wgmma.wait_group at kernel.cu:10",
        None,
        None,
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "no fence.proxy.async between threads' stores and wgmma",
        DATA_RACE,
        WG_HEAD.replace("fence();", "<<|fence();>>")
        .replace("0x3c003c00;", "0x3c003c00; // ?")
        .replace("__syncthreads(); float", "\n__syncthreads(); float")
        + """
FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];""",
        "no fence.proxy.async in between",
        None,
        None,
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "no barrier between the stores of a tile and wgmma",
        DATA_RACE,
        WG_HEAD.replace("0x3c003c00;", "0x3c003c00; // ?").replace(
            "__syncthreads();", "\n<<|__syncthreads();>>"
        )
        + """
FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];""",
        "read after write",
        None,
        None,
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "wgmma by an incomplete warpgroup",
        BARRIER,
        WG_HEAD
        + """
FENCE; mma(d, tile); // !
COMMIT; WAIT;
y[threadIdx.x] = d[0];""",
        "needs all 128 threads of a warpgroup",
        None,
        block=160,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(160), np.int32(0)),
    ),
]

BARRIERS = [
    Bug(
        "__syncthreads() where half of a warp comes by",
        BARRIER,
        """
<<if (threadIdx.x < 16)|>>
    __syncthreads(); // !
x[threadIdx.x] = 1;
__syncthreads();
y[threadIdx.x] = x[63 - threadIdx.x];""",
        "only some threads of a warp come by",
    ),
    Bug(
        "warps at two different __syncthreads()",
        BARRIER,
        """
__shared__ float s[64];
s[threadIdx.x] = 1;
if (<<threadIdx.x|n>> < 32) {
    __syncthreads(); // ?
    y[threadIdx.x] = s[threadIdx.x ^ 32];
} else {
    __syncthreads(); // !
    y[threadIdx.x] = s[threadIdx.x ^ 32] + 1;
}""",
        "these are two barriers",
        (32, 0, 0),
    ),
    Bug(
        "threads that returned before __syncthreads()",
        BARRIER,
        """
if (threadIdx.x >= <<50|64>>) return;
__syncthreads(); // !
y[threadIdx.x] = 1;""",
        "14 of the 64 threads",
        None,
    ),
    Bug(
        "a barrier that lets go when the others return",
        BARRIER,
        """
if (<<threadIdx.x|n>> < 32) {
    y[threadIdx.x] = 1;
    __syncthreads(); // !
}""",
        "32 of the 64 threads",
        None,
    ),
    Bug(
        "a barrier for part of a warp",
        BARRIER,
        """
ASM("bar.sync 1, <<48|64>>;" ::: "memory"); // !
y[threadIdx.x] = 1;""",
        "the count must be a multiple of 32",
    ),
    Bug(
        "a barrier that more threads come to than it counts",
        BARRIER,
        """
ASM("bar.sync 1, <<32|64>>;" ::: "memory"); // !
y[threadIdx.x] = 1;""",
        "is one of 64 that come to barrier 1",
    ),
    Bug(
        "warps that count differently at one barrier",
        BARRIER,
        """
if (threadIdx.x < 32) ASM("bar.arrive 1, 96;" ::: "memory"); // ?
else if (threadIdx.x < 64) ASM("bar.arrive 1, <<64|96>>;" ::: "memory"); // !
else ASM("bar.sync 1, 96;" ::: "memory");
x[threadIdx.x % 64] = 0;""",
        "where it waits for 64 threads",
        (32, 0, 0),
        block=96,
        also=(DEADLOCK,),
    ),
    Bug(
        "an arrival that nobody waits for",
        BARRIER,
        """
if (threadIdx.x < 32) ASM("bar.arrive 1, 64;" ::: "memory"); // !
<<|else ASM("bar.sync 1, 64;" ::: "memory");>>
y[threadIdx.x] = 1;""",
        "its block ended before",
    ),
    Bug(
        "a barrier that a block does not have",
        BARRIER,
        """
ASM("bar.sync %0, 64;" :: "r"(<<16|15>> + n - 3) : "memory"); // !
y[threadIdx.x] = 1;""",
        "names barrier 16",
    ),
    Bug(
        "warps that wait at two named barriers",
        DEADLOCK,
        """
if (threadIdx.x < 32) ASM("bar.sync 1, 64;"); // !
else ASM("bar.sync <<2|1>>, 64;");
y[threadIdx.x] = 1;""",
        "nobody is left to release them",
    ),
    Bug(
        "a lane that its own mask does not name",
        BARRIER,
        """
float v = x[threadIdx.x];
v += __shfl_xor_sync(<<0xffff|~0u>>, v, 1); // !
y[threadIdx.x] = v;""",
        "does not name",
        (16, 0, 0),
        also=(UNINITIALISED,),
    ),
    Bug(
        "__syncwarp() with a mask for others",
        BARRIER,
        """
if (threadIdx.x % 32 < 8) __syncwarp(<<0xf|0xff>>); // !
y[threadIdx.x] = 1;""",
        "does not name",
        (4, 0, 0),
    ),
    Bug(
        "__syncwarp() for lanes that went another way",
        BARRIER,
        """
if (threadIdx.x < 16)
    __syncwarp(<<~0u|0xffff>>); // !
else
    y[threadIdx.x] = 1;
__syncthreads();
x[threadIdx.x] = 1;""",
        "waiting at kernel.cu:2",
    ),
]

MBARRIERS = [
    Bug(
        "an mbarrier used before its initialisation",
        BARRIER,
        """
__shared__ u64 bar;
<<|if (threadIdx.x == 0) init(&bar, 64);>>
__syncthreads();
arrive(&bar); // !
wait(&bar, 0);
y[threadIdx.x] = 1;""",
        "was never initialised",
    ),
    Bug(
        "an mbarrier initialised twice",
        BARRIER,
        """
__shared__ u64 bar;
if (threadIdx.x < <<2|1>>) init(&bar, 64); // !
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;""",
        "in use already",
        (1, 0, 0),
    ),
    Bug(
        "an mbarrier for no arrivals",
        BARRIER,
        """
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, <<0|64>>); // !
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;""",
        "for 0 arrivals",
    ),
    Bug(
        "more arrivals than an mbarrier waits for",
        BARRIER,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x < <<2|1>>) expect(&bar, 256); // !
if (threadIdx.x == 0) bulk_load(s, x, 256, &bar);
wait(&bar, 0);
y[threadIdx.x] = s[threadIdx.x];""",
        "its phase waits for 0 more of 1 arrivals",
        (1, 0, 0),
    ),
    Bug(
        "an arrival that is missing",
        DEADLOCK,
        """
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, <<65|64>>);
__syncthreads();
arrive(&bar);
wait(&bar, 0); // !
y[threadIdx.x] = 1;""",
        "missing: 1 of 65 arrivals",
    ),
    Bug(
        "bytes announced that never come",
        DEADLOCK,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, <<512|256>>); bulk_load(s, x, 256, &bar); }
wait(&bar, 0); // !
y[threadIdx.x] = s[threadIdx.x];""",
        "256 more bytes",
    ),
    Bug(
        "fewer bytes announced than come",
        DEADLOCK,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, <<128|256>>); bulk_load(s, x, 256, &bar); }
wait(&bar, 0); // !
y[threadIdx.x] = s[threadIdx.x];""",
        "of the mbarrier bar: 128 bytes announced at kernel.cu:4, 256 bytes copied at kernel.cu:4",
    ),
    Bug(
        "a producer that waits for the wrong parity in the first lap",
        DEADLOCK,
        """__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64)
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1<<| ^ 1>>); // !
        expect(&full[i % 2], 256);
        bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
    }
else if (t < 64)
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }""",
        "for the mbarrier empty[0] (byte 0) (missing: 64 of 64 arrivals)",
        None,
        block=96,
        args=lambda: (numbers(320), zeros(320), np.int32(5)),
    ),
    Bug(
        "consumers that do not say that a stage is empty",
        DEADLOCK,
        """__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64)
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1); // !
        expect(&full[i % 2], 256);
        bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
    }
else if (t < 64)
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        <<|arrive(&empty[i % 2]);>>
    }""",
        "for the mbarrier empty[0] (byte 0) (missing: 64 of 64 arrivals)",
        None,
        block=96,
        args=lambda: (numbers(320), zeros(320), np.int32(5)),
    ),
    Bug(
        "bytes announced that nobody waits for and that never come",
        BARRIER,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); } // !
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, <<512|256>>); bulk_load(s, x, 256, &bar); }
<<while (n++ < 60000) __syncthreads();|wait(&bar, 0);>>
y[threadIdx.x] = 1;""",
        "256 bytes were announced that never came",
        None,
        budget=1_000_000,
    ),
    Bug(
        "a producer that does not wait for an empty stage",
        BARRIER,
        """__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64)
    for (int i = 0; i < n; ++i) {
        <<|wait(&empty[i % 2], i / 2 & 1 ^ 1);>>
        expect(&full[i % 2], 256); // !
        bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
    }
else if (t < 64)
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }""",
        "full[0]",
        (64, 0, 0),
        block=96,
        args=lambda: (numbers(320), zeros(320), np.int32(5)),
    ),
    Bug(
        "waiting for the mbarrier of another block",
        BARRIER,
        """
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 64);
cluster_sync();
arrive(&bar);
u32 a = <<map_rank(&bar, rank() ^ 1)|smem(&bar)>>; u32 done;
ASM("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
    "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(a) : "memory"); // !
cluster_sync();
y[threadIdx.x] = 1;""",
        "mbarrier of another block",
        None,
        grid=2,
        prefix="__cluster_dims__(2, 1, 1)",
    ),
]

CLUSTERS = [
    Bug(
        "reaching into a block that may not have started",
        BARRIER,
        CLUSTER.replace("cluster_sync(); // 1", "<<|cluster_sync();>>").replace("// 2", "// !"),
        "before it is certain that this block has started",
        None,
        grid=2,
        block=32,
        prefix=TWO,
        also=(DATA_RACE,),
    ),
    Bug(
        "an arrival for the cluster, and no wait before another block is reached",
        BARRIER,
        """
__shared__ float s[32];
ASM("barrier.cluster.arrive.aligned;" ::: "memory");
for (int i = 0; i < n; ++i) __syncthreads();
<<|ASM("barrier.cluster.wait.aligned;" ::: "memory");>>
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], rank() ^ 1)), "f"(1.0f) : "memory"); // !
<<ASM("barrier.cluster.wait.aligned;" ::: "memory");|>>
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];""",
        "before it is certain that this block has started",
        None,
        grid=2,
        block=32,
        prefix=TWO,
    ),
    Bug(
        "a copy that tells an mbarrier of another block than the one it fills",
        BARRIER,
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
cluster_sync();
if (threadIdx.x == 0) {
    expect(&bar, 256);
    load_and_tell(s, &map, <<map_rank(&bar, 0)|smem(&bar)>>); // !
}
wait(&bar, 0);
y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
cluster_sync();""",
        "starts a copy into block (1, 0, 0) that tells an mbarrier of block (0, 0, 0)",
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), zeros(128)),
        grid=2,
        prefix=TWO,
        before=LOAD_AND_TELL,
    ),
    Bug(
        "a block that may end while others read it",
        DATA_RACE,
        CLUSTER.replace("cluster_sync(); // 3", "<<|cluster_sync();>>").replace("// 2", "// !"),
        "may end, and its s with it",
        None,
        grid=2,
        block=32,
        prefix=TWO,
    ),
    Bug(
        "a block that may end before another arrives at its mbarrier",
        DATA_RACE,
        """
__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
if (rank() == 1) {
    ASM("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
        :: "r"(map_rank(&bar, 0)) : "memory"); // !
} else {
    y[threadIdx.x] = 1;
}
<<|cluster_sync();>>""",
        "may end, and its bar with it",
        None,
        grid=2,
        block=32,
        prefix=TWO,
    ),
    Bug(
        "reaching into a block that has ended",
        OUT_OF_BOUNDS,
        """
__shared__ float s[32];
s[threadIdx.x] = 1;
cluster_sync();
<<if (rank() == 1) return;|>>
for (int i = 0; i < 300 * n; ++i) __syncthreads();
if (rank() == 0) y[threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], 1)); // !
<<|cluster_sync();>>""",
        "which has ended",
        None,
        grid=2,
        block=32,
        prefix=TWO,
    ),
    Bug(
        "a rank that the cluster does not have",
        OUT_OF_BOUNDS,
        """
__shared__ float s[32];
s[threadIdx.x] = 1;
cluster_sync();
y[threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], <<2|1>>)); // !
cluster_sync();""",
        "of rank 2, but its cluster has 2 blocks",
        None,
        grid=2,
        block=32,
        prefix=TWO,
        parameters="float* x, float* y, int n",
    ),
    Bug(
        "writing what a neighbouring block still reads",
        DATA_RACE,
        """
__shared__ float s[32];
s[threadIdx.x] = 1; cluster_sync();
float v = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1)); // ?
<<|cluster_sync();>>
s[threadIdx.x] = 2; // !
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = v + s[threadIdx.x];""",
        "write after read",
        None,
        None,
        grid=2,
        block=32,
        prefix=TWO,
    ),
    Bug(
        "a relaxed arrival after what the other block reads",
        DATA_RACE,
        """
__shared__ float s[32];
cluster_sync();
ASM("st.shared::cluster.f32 [%0], %1;"
    :: "r"(map_rank(&s[threadIdx.x], rank() ^ 1)), "f"(1.0f) : "memory"); // ?
ASM("barrier.cluster.arrive.<<relaxed|release>>.aligned;" ::: "memory");
ASM("barrier.cluster.wait.acquire.aligned;" ::: "memory");
y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x]; // !""",
        "Let it be barrier.cluster.arrive.release, or put a fence.acq_rel.cluster before it.",
        grid=2,
        block=32,
        prefix=TWO,
        other=(0, 0, 0),
    ),
    Bug(
        "a relaxed arrival at an mbarrier, and a fence for too few",
        DATA_RACE,
        """
__shared__ u64 bar; __shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 32);
cluster_sync();
if (rank() == 1) {
    ASM("st.shared::cluster.f32 [%0], %1;"
        :: "r"(map_rank(&s[threadIdx.x], 0)), "f"(1.0f) : "memory"); // ?
    ASM("fence.acq_rel.<<cta|cluster>>;" ::: "memory");
    ASM("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];"
        :: "r"(map_rank(&bar, 0)) : "memory");
} else {
    wait(&bar, 0);
    y[threadIdx.x] = s[threadIdx.x]; // !
}
cluster_sync();""",
        "Let it be mbarrier.arrive.release, or put a fence.acq_rel.cluster before it.",
        grid=2,
        block=32,
        prefix=TWO,
        other=(0, 0, 0),
    ),
    Bug(
        "waiting for the cluster without an arrival",
        BARRIER,
        """
<<|ASM("barrier.cluster.arrive;");>>
ASM("barrier.cluster.wait;"); // !
y[blockIdx.x * 32 + threadIdx.x] = 1;""",
        "without having arrived",
        None,
        grid=2,
        block=32,
        prefix=TWO,
    ),
]

ENDS = [
    Bug(
        "a loop without an end",
        ENDLESS_LOOP,
        """
int i = 0;
while (i < n) { // !
    x[threadIdx.x] += 1.0f;
    <<|++i;>>
}""",
        "still running after",
        None,
        budget=20_000,
    ),
    Bug(
        "a spin on a flag that nobody raises",
        ENDLESS_LOOP,
        """
volatile float* flag = y;
<<|if (threadIdx.x == 0) flag[0] = 1;>>
while (threadIdx.x == 32 && flag[0] == 0) { } // !
""",
        "still running after",
        (32, 0, 0),
        budget=20_000,
    ),
    Bug(
        "a failed assertion",
        ASSERTION,
        """
assert(x[threadIdx.x] < <<5|99>>); // !
y[threadIdx.x] = 1;""",
        "x[threadIdx.x] < 5",
        (5, 0, 0),
        args=lambda: (numbers(64), zeros(64), np.int32(0)),
    ),
    Bug(
        "a trap",
        TRAP,
        """
if (threadIdx.x == <<7|99>>) __trap(); // !
y[threadIdx.x] = 1;""",
        "with a trap",
        (7, 0, 0),
    ),
]

TMEM = """__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
u32 where = a + threadIdx.x / 32 * 0x200000, v = threadIdx.x;
"""
FREE = """
sync();
if (threadIdx.x < 32) dealloc(a, 32);"""

TENSOR_MEMORY_BUGS = [
    Bug(
        "columns of tensor memory that are not given back",
        TENSOR_MEMORY,
        """
__shared__ u32 a;
if (threadIdx.x < 32) {
    alloc(&a, 64); // !
    __syncwarp();
    <<|dealloc(a, 64);>>
}""",
        "were never given back",
        blackwell=True,
    ),
    Bug(
        "a number of columns that is no power of two",
        TENSOR_MEMORY,
        """
__shared__ u32 a;
if (threadIdx.x < 32) {
    alloc(&a, <<48|64>>); // !
    __syncwarp();
    dealloc(a, <<48|64>>);
}""",
        "must be a power of two",
        blackwell=True,
    ),
    Bug(
        "columns that one thread allocates",
        TENSOR_MEMORY,
        """
__shared__ u32 a;
if (threadIdx.x < <<1|32>>) alloc(&a, 32); // !
sync();
if (threadIdx.x < 32) dealloc(a, 32);""",
        "all of them execute it together",
        blackwell=True,
    ),
    Bug(
        "columns that one thread gives back",
        TENSOR_MEMORY,
        """
__shared__ u32 a;
if (threadIdx.x < 32) alloc(&a, 32);
sync();
if (threadIdx.x < <<1|32>>) dealloc(a, 32); // !""",
        "executes a tcgen05.dealloc with 1 of the 32 threads of its warp there",
        blackwell=True,
    ),
    Bug(
        "the lanes of another warp",
        TENSOR_MEMORY,
        TMEM + "st1(where, 7); wait_st();\nv = ld1(<<a + 0x200000|where>>); // !\n"
        "wait_ld(); y[threadIdx.x] = v;" + FREE,
        "",
        None,
        blackwell=True,
    ),
    Bug(
        "columns beyond those that were allocated",
        OUT_OF_BOUNDS,
        TMEM + "st1(where + <<32|31>>, 7); wait_st(); // !\ny[threadIdx.x] = v;" + FREE,
        "allocated columns 0 to 31",
        None,
        blackwell=True,
    ),
    Bug(
        "a value used before tcgen05.wait::ld",
        DATA_RACE,
        TMEM + "st1(where, 7); wait_st();\nv = ld1(where); // ?\n<<|wait_ld();>>\n"
        "y[threadIdx.x] = v; // !\n<<wait_ld();|>>" + FREE,
        "",
        None,
        blackwell=True,
    ),
]

GROUPS = {
    "Bounds, alignment, memory that is gone": MEMORY,
    "Uninitialised values": INITIALISATION,
    "Races in shared memory": SHARED_RACES,
    "Races in global memory": GLOBAL_RACES,
    "Flags and fences": FLAGS,
    "Asynchronous copies": COPIES,
    "Tensor cores of a warpgroup": TENSOR_CORES,
    "Tensor memory of Blackwell": TENSOR_MEMORY_BUGS,
    "Barriers and warps": BARRIERS,
    "mbarriers": MBARRIERS,
    "Clusters": CLUSTERS,
    "Programs that do not end as they should": ENDS,
}
COOPERATIVE = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"

CORRECT = [
    Bug(
        "TMA reductions and atomics of several blocks at one place",
        "",
        """
__shared__ alignas(128) float s[64];
s[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { add_2d(&map, 0, 0, s); bulk_commit(); bulk_wait(); }
atomicAdd(y + threadIdx.x, 1.0f);""",
        "",
        parameters="const __grid_constant__ TensorMap map, float* y",
        args=lambda: (the_map(), KEPT.reshape(-1)),
        grid=3,
        before=ADD_2D,
    ),
    Bug(
        "an exchange as the first store, its old value unused",
        "",
        """
__shared__ int count;
if (threadIdx.x == 0) atomicExch(&count, 0);
__syncthreads();
atomicAdd(&count, 1);
__syncthreads();
y[threadIdx.x] = count;""",
        "",
    ),
    Bug(
        "an atomic from compare-and-swap, with a plain first look",
        "",
        """
unsigned* word = (unsigned*)y;
unsigned old = *word, seen;
do {
    seen = old;
    old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + x[threadIdx.x]));
} while (old != seen);""",
        "",
    ),
    Bug(
        "a sum in a warp by shuffles, then one of the warps' sums",
        "",
        """
__shared__ float sums[2];
float v = x[threadIdx.x];
for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
__syncthreads();
if (threadIdx.x == 0) y[0] = sums[0] + sums[1];""",
        "",
    ),
    Bug(
        "a warp that works in shared memory with __syncwarp()",
        "",
        """
__shared__ float s[64];
float* mine = s + threadIdx.x / 32 * 32;
int lane = threadIdx.x % 32;
mine[lane] = x[threadIdx.x];
for (int d = 16; d; d /= 2) {
    __syncwarp();
    float v = lane < d ? mine[lane + d] : 0;
    __syncwarp();
    if (lane < d) mine[lane] += v;
}
if (lane == 0) y[threadIdx.x / 32] = mine[0];""",
        "",
    ),
    Bug(
        "halves of a warp that go different ways, each under its own mask",
        "",
        """
__shared__ float s[64];
if (threadIdx.x % 32 < 16) {
    s[threadIdx.x] = 1; __syncwarp(0xffff); y[threadIdx.x] = s[threadIdx.x ^ 1];
} else {
    s[threadIdx.x] = 2; __syncwarp(0xffff0000); y[threadIdx.x] = s[threadIdx.x ^ 1];
}""",
        "",
    ),
    Bug(
        "a warp that is not full, with a mask of the lanes that are there",
        "",
        """
unsigned mask = __ballot_sync(__activemask(), threadIdx.x < 48);
float v = x[threadIdx.x];
int last = 31 - __clz(mask);
float w = __shfl_down_sync(mask, v, 1);
y[threadIdx.x] = threadIdx.x % 32 < last ? v + w : v;""",
        "",
        block=48,
    ),
    Bug(
        "producer and consumer warps at named barriers",
        "",
        """
__shared__ float s[2][32];
int lane = threadIdx.x % 32;
if (threadIdx.x < 32) {
    for (int i = 0; i < 4; ++i) {
        if (i > 1) ASM("bar.sync %0, 64;" :: "r"(3 + i % 2) : "memory");
        s[i % 2][lane] = x[lane] + i;
        ASM("bar.arrive %0, 64;" :: "r"(1 + i % 2) : "memory");
    }
} else {
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        ASM("bar.sync %0, 64;" :: "r"(1 + i % 2) : "memory");
        sum += s[i % 2][31 - lane];
        if (i < 2) ASM("bar.arrive %0, 64;" :: "r"(3 + i % 2) : "memory");
    }
    y[lane] = sum;
}""",
        "",
    ),
    Bug(
        "a barrier for the whole grid, of atomics",
        "",
        """
unsigned* count = (unsigned*)(y + 63);
x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
__syncthreads();
if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1u);
    while (*(volatile unsigned*)count < gridDim.x) { }
    __threadfence();
}
__syncthreads();
y[blockIdx.x * 8 + threadIdx.x % 8] = x[(blockIdx.x + 1) % 2 * 32];""",
        "",
        grid=2,
        block=32,
    ),
    Bug(
        "this_grid().sync()",
        "",
        """
x[blockIdx.x * 32 + threadIdx.x] = blockIdx.x;
cg::this_grid().sync();
y[blockIdx.x * 32 + threadIdx.x] = x[(blockIdx.x + 1) % 2 * 32 + threadIdx.x];""",
        "",
        grid=2,
        block=32,
        before=COOPERATIVE,
    ),
    Bug(
        "a grid whose blocks wait for each other twice, and a count that starts anew",
        "",
        """
unsigned* count = (unsigned*)(y + 63);
for (int turn = 1; turn <= 2; ++turn) {
    x[blockIdx.x * 32 + threadIdx.x] += x[(blockIdx.x + turn) % gridDim.x * 32 + 1024];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1u);
        while (*(volatile unsigned*)count < turn * gridDim.x) { }
    }
    __syncthreads();
    __threadfence();
    x[blockIdx.x * 32 + threadIdx.x + 1024] = x[(blockIdx.x + 1) % gridDim.x * 32 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count + turn - 3, 1u);
        while (atomicAdd(count + turn - 3, 0u) < gridDim.x) { }
        __threadfence();
    }
    __syncthreads();
}
if (blockIdx.x == 0 && threadIdx.x == 0) count[-1] = 0;""",
        "",
        args=lambda: (np.ones(2048, np.float32), zeros(64), np.int32(3)),
        grid=8,
        block=32,
    ),
    Bug(
        "a sum handed from block to block",
        "",
        """
volatile int* ready = (volatile int*)y;
if (threadIdx.x == 0) {
    float before = 0;
    if (blockIdx.x > 0) {
        while (ready[blockIdx.x - 1] == 0) { }
        __threadfence();
        before = x[blockIdx.x - 1] + x[0];
    }
    x[blockIdx.x] = before + 1;
    __threadfence();
    ready[blockIdx.x] = 1;
}""",
        "",
        args=lambda: (zeros(300), zeros(300), np.int32(3)),
        grid=300,
        block=32,
        budget=None,
    ),
    Bug(
        "flags with .release and .acquire, handed on by a third block",
        "",
        """
int* flag = (int*)y; int seen = 0;
#define SET(p) ASM("red.release.gpu.global.add.s32 [%0], 1;" :: "l"(p) : "memory")
#define WAIT(p) while (!seen) \\
    ASM("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(p) : "memory")
if (blockIdx.x == 0) { x[0] = 1; SET(flag); }
if (blockIdx.x == 1) { WAIT(flag); x[1] = 2; SET(flag + 1); }
if (blockIdx.x == 2) { WAIT(flag + 1); x[0] += x[1]; }""",
        "",
        grid=3,
        block=1,
    ),
    Bug(
        "every thread takes a lock",
        "",
        """
int* lock = (int*)x;
for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
        __threadfence();
        y[0] += 1;
        __threadfence();
        atomicExch(lock, 0);
        done = true;
    }
}""",
        "",
        grid=2,
        block=64,
        budget=None,
    ),
    Bug(
        "atomics of a block's scope within each block, of a cluster's within each cluster",
        "",
        """
int* count = (int*)y; int old;
atomicAdd_block(count + blockIdx.x, 1);
ASM("atom.add.relaxed.cluster.global.s32 %0, [%1], 1;"
    : "=r"(old) : "l"(count + 32 + blockIdx.x / 2) : "memory");""",
        "",
        grid=4,
        block=64,
        prefix="__cluster_dims__(2, 1, 1)",
    ),
    Bug(
        "a lock of one block, with fences for the block",
        "",
        """
int* lock = (int*)x + blockIdx.x;
if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence_block();
    y[blockIdx.x] += 1;
    __threadfence_block();
    atomicExch(lock, 0);
}""",
        "",
        grid=2,
        block=128,
    ),
    Bug(
        "a lock in shared memory",
        "",
        """
__shared__ int lock, count;
if (threadIdx.x == 0) lock = count = 0;
__syncthreads();
if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) { }
    __threadfence_block();
    count += 1;
    __threadfence_block();
    atomicExch(&lock, 0);
}
__syncthreads();
y[threadIdx.x % 32] = count;""",
        "",
        block=128,
    ),
    Bug(
        "a ticket for each block, and the last one starts the count anew",
        "",
        """
int* count = (int*)x;
if (threadIdx.x == 0 && atomicAdd(count, 1) == gridDim.x - 1) count[0] = 0;""",
        "",
        grid=300,
        block=32,
    ),
    Bug(
        "one waits until all blocks have counted, and starts the count anew",
        "",
        """
int* count = (int*)x;
if (threadIdx.x == 0) atomicAdd(count, 1);
if (blockIdx.x == 0 && threadIdx.x == 0) {
    while (*(volatile int*)count < gridDim.x) { }
    count[0] = 0;
}""",
        "",
        grid=8,
        block=32,
    ),
    Bug(
        "flags and results in one word of 64 bits",
        "",
        """
volatile u64* box = (volatile u64*)x;
if (blockIdx.x == 0) box[0] = 42 * 1000 + 1;
else { u64 both; do both = box[0]; while (!(both % 1000)); y[0] = both / 1000; }""",
        "",
        grid=2,
        block=1,
    ),
    Bug(
        "a flag that one thread reads and an mbarrier that tells the others",
        "",
        """
__shared__ u64 bar;
volatile int* flag = (volatile int*)y;
if (threadIdx.x == 0) init(&bar, 1);
fence();
__syncthreads();
if (blockIdx.x == 0) {
    x[threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) flag[0] = 1;
} else {
    if (threadIdx.x == 0) { while (flag[0] == 0) { } __threadfence(); arrive(&bar); }
    wait(&bar, 0);
    y[1 + threadIdx.x % 32] = x[threadIdx.x % 32];
}""",
        "",
        grid=2,
    ),
    Bug(
        "a lock with __threadfence()",
        "",
        """
int* lock = (int*)x;
if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    ((volatile float*)y)[0] += 1;
    __threadfence();
    atomicExch(lock, 0);
}""",
        "",
        grid=8,
        block=32,
    ),
    Bug(
        "the last block adds up what all have written",
        "",
        """
__shared__ bool last;
int* done = (int*)x;
y[1 + blockIdx.x] = blockIdx.x;
__threadfence();
if (threadIdx.x == 0) last = atomicAdd(done, 1) == gridDim.x - 1;
__syncthreads();
if (last && threadIdx.x == 0) {
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += ((volatile float*)y)[1 + b];
    y[0] = sum;
}""",
        "",
        grid=8,
        block=1,
    ),
    Bug(
        "tiles loaded by cp.async while others are computed with",
        "",
        """
__shared__ alignas(16) float tile[2][256];
int t = threadIdx.x;
cp16(&tile[0][4 * t], x + 4 * t); commit();
for (int i = 0; i < n; ++i) {
    if (i + 1 < n) cp16(&tile[(i + 1) % 2][4 * t], x + (i + 1) * 256 + 4 * t);
    commit();
    wait_group<1>();
    __syncthreads();
    for (int j = 0; j < 4; ++j) y[i * 256 + j * 64 + t] = tile[i % 2][255 - j * 64 - t];
    __syncthreads();
}""",
        "",
        args=lambda: (numbers(1024), empty(1024), np.int32(4)),
    ),
    Bug(
        "a warp that loads with cp.async for others, in two stages",
        "",
        """
__shared__ alignas(16) float tile[2][128]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) for (int s = 0; s < 2; ++s) { init(&full[s], 32); init(&empty[s], 64); }
__syncthreads();
if (t >= 64) {
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1);
        cp16(&tile[i % 2][4 * (t - 64)], x + i * 128 + 4 * (t - 64));
        tell(&full[i % 2]);
    }
} else {
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        for (int j = 0; j < 2; ++j) y[i * 128 + j * 64 + t] = tile[i % 2][127 - j * 64 - t];
        arrive(&empty[i % 2]);
    }
}""",
        "",
        block=96,
        before=TELL,
        args=lambda: (numbers(640), empty(640), np.int32(5)),
    ),
    Bug(
        "a warp that loads with TMA for others, in two stages",
        "",
        """
__shared__ alignas(128) float tile[2][64]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t == 64) {
    for (int i = 0; i < n; ++i) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1);
        expect(&full[i % 2], 256);
        load_2d(tile[i % 2], &map, 0, 0, &full[i % 2]);
    }
} else if (t < 64) {
    for (int i = 0; i < n; ++i) {
        wait(&full[i % 2], i / 2 & 1);
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }
}""",
        "",
        parameters="const __grid_constant__ TensorMap map, float* y, int n",
        block=96,
        args=lambda: (the_map(), empty(320), np.int32(5)),
    ),
    Bug(
        "a tile that goes in and out through the asynchronous proxy",
        "",
        """
__shared__ alignas(128) float s[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(s, x, 256, &bar); }
wait(&bar, 0);
s[threadIdx.x] *= 2;
fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, s, 256); bulk_commit(); bulk_wait(); }""",
        "",
        args=lambda: (numbers(64), empty(64), np.int32(0)),
    ),
    Bug(
        "a sum over a cluster through the shared memory of all its blocks",
        "",
        """
__shared__ float sum;
if (threadIdx.x == 0) sum = 0;
__syncthreads();
atomicAdd(&sum, x[blockIdx.x * 32 + threadIdx.x]);
cluster_sync();
if (rank() == 0 && threadIdx.x == 0) {
    float total = 0;
    for (int r = 0; r < 2; ++r) total += load_remote(map_rank(&sum, r));
    y[0] = total;
}
cluster_sync();""",
        "",
        grid=2,
        block=32,
        prefix=TWO,
    ),
    Bug(
        "accumulators of wgmma that start with no value and scale-d 0",
        "",
        WG_HEAD.replace("d[4] = {0, 0, 0, 0}", "d[4]")
        + """
FENCE;
ASM("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, 0, 1, 1, 0, 0;"
    : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"((u64)(smem(tile) >> 4)));
for (int i = 0; i < 3; ++i) mma(d, tile);
COMMIT; WAIT;
y[threadIdx.x] = d[0];""",
        "",
        block=128,
        before=WGMMA,
        args=lambda: (zeros(64), zeros(128), np.int32(0)),
    ),
    Bug(
        "rows of a tile for tensor cores that are never filled, nor used",
        "",
        """
__shared__ alignas(128) u32 s[128];
if (threadIdx.x % 16 < 8) for (int i = 0; i < 4; ++i) s[4 * threadIdx.x + i] = 0x3c003c00;
__syncthreads();
u32 a[4]; float d[4] = {0, 0, 0, 0};
ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(smem(&s[threadIdx.x * 4])));
ASM("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
    "{%4, %6}, {%0, %1, %2, %3};" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
y[threadIdx.x] = d[0] + d[1];""",
        "",
        block=32,
    ),
    Bug(
        "a vector load whose last part is padding",
        "",
        """
float4 v = ((float4*)x)[threadIdx.x];
((float4*)x)[threadIdx.x] = make_float4(1, 2, 3, v.w);
y[threadIdx.x] = v.x + v.y + v.z;""".replace(
            "make_float4(1, 2, 3, v.w)", "make_float4(v.x, 2, 3, 4)"
        ),
        "",
        args=lambda: (padded(), empty(16), np.int32(0)),
        block=16,
    ),
    Bug(
        "structures copied with their padding",
        "",
        """
__shared__ Pair s[64];
Pair p; p.tag = threadIdx.x; p.value = x[threadIdx.x];
s[threadIdx.x] = p;
__syncthreads();
((Pair*)y)[threadIdx.x] = s[63 - threadIdx.x];""",
        "",
        before="struct Pair { char tag; float value; };",
        args=lambda: (zeros(64), empty(128), np.int32(0)),
    ),
    Bug(
        "a padded tile that is transposed",
        "",
        """
__shared__ float tile[8][9];
int row = threadIdx.x / 8, column = threadIdx.x % 8;
tile[row][column] = x[threadIdx.x];
__syncthreads();
y[threadIdx.x] = tile[column][row];""",
        "",
    ),
    Bug(
        "what lies outside is read and then thrown away",
        "",
        """
__shared__ float s[66];
s[threadIdx.x + 1] = x[threadIdx.x];
__syncthreads();
float left = s[threadIdx.x], right = s[threadIdx.x + 2];
y[threadIdx.x] = (threadIdx.x > 0 ? left : 0) + (threadIdx.x < 63 ? right : 0);""",
        "",
    ),
    Bug(
        "many threads that raise one flag",
        "",
        """
__shared__ int flag;
if (threadIdx.x == 0) flag = 0;
__syncthreads();
if (x[threadIdx.x] == 0) flag = 1;
__syncthreads();
if (flag) y[threadIdx.x] = 1;""",
        "",
    ),
    Bug(
        "a histogram of atomics, in shared memory first",
        "",
        """
__shared__ int bins[4];
if (threadIdx.x < 4) bins[threadIdx.x] = 0;
__syncthreads();
atomicAdd(&bins[threadIdx.x % 4], 1);
__syncthreads();
if (threadIdx.x < 4) atomicAdd((int*)y + threadIdx.x, bins[threadIdx.x]);""",
        "",
        grid=4,
    ),
]
BUGS = [bug for group in GROUPS.values() for bug in group]


def render() -> str:
    """The table of bugs and reports, as Markdown."""
    lines = [
        "# Planted bugs, and what the sanitizer says",
        "",
        "Every row is a kernel with one mistake, run with no GPU, and the report it gets; the same "
        "kernel without the mistake gets none. Written by `python -m tests.emulator.planted_bugs` "
        "from `tests/emulator/planted_bugs.py`; a test holds both equal.",
    ]
    for title, bugs in GROUPS.items():
        lines += ["", f"## {title}", "", "| bug | report |", "|---|---|"]
        for bug in bugs:
            report = _cell(bug.findings()[0].message)
            lines.append(f"| {bug.name}<br>{_code(bug)} | {report} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    text = re.sub(r"(multiple of \d+ bytes: )0x[0-9a-f]+", r"\g<1>0x…", text)
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return "<br>".join(line.strip() for line in escaped.splitlines()[:8])


def _code(bug: Bug) -> str:
    """The lines that are wrong, and those that the report names."""
    source = bug.source().splitlines()
    shown = [f"{n}: {text}" for n, text in enumerate(source, 1) if text[-4:-1] == "// "]
    return "<br>".join(f"<code>{_cell(re.sub(' *// [!?]$', '', text))}</code>" for text in shown)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    print(f"{len(BUGS)} bugs: {PAGE.name}")
