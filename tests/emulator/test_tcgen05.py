"""tcgen05's tensor memory: allocation, loads and stores, copies, order. No Blackwell GPU was at
hand; what is expected here comes from CUTLASS 4.2, whose layouts stand here as shape : stride."""

import numpy as np
import pytest
from asynchrony import PTX
from blackwell import WRAPPERS, fault, layout, run

from course_utils.devices import emulated_cupy
from course_utils.emulator import (
    ALL_CHECKS,
    DATA_RACE,
    DEADLOCK,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    UNKNOWN_INSTRUCTION,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.instructions.tcgen05_tiles import SharedTile
from course_utils.launching.modules import load

U32 = np.uint32
SEEDS = (0, 1, 2)

# --- loads and stores -----------------------------------------------------------------------------

# Copy_Traits<SM100_TMEM_LOAD_…>::DstLayout (copy_traits_sm100.hpp): (thread), (bits of its
# registers) -> bit, where the bits of a lane are contiguous, n times ``bits`` of them.
LAYOUTS = {
    "32x32b": (lambda n: ((32,), (32 * n,)), lambda n: ((32 * n,), (1,)), 32, 32),
    "16x64b": (lambda n: ((2, 2, 8), (32, n)), lambda n: ((512 * n, 32, 64 * n), (1, 64)), 64, 16),
    "16x128b": (
        lambda n: ((4, 8), (32, 2, n)),
        lambda n: ((32, 128 * n), (1, 1024 * n, 128)),
        128,
        16,
    ),
    "16x256b": (
        lambda n: ((4, 8), (64, 2, n)),
        lambda n: ((64, 256 * n), (1, 2048 * n, 256)),
        256,
        16,
    ),
    "16x32bx2": (lambda n: ((16, 2), (32 * n,)), lambda n: ((64 * n, 32 * n), (1,)), 64, 16),
}
REGISTERS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}


def cells(shape, n):
    """(lane, column) of each register, both (32, registers), as CUTLASS has it."""
    shapes, strides, bits, _ = LAYOUTS[shape]
    (threads, values), (t, v) = shapes(n), strides(n)
    address = layout(threads, t)[:, None] + layout(values, v)[::32]
    return address // (bits * n), address % (bits * n) // 32


def load_or_store(shape, n, registers, half="", packed=False):
    names = ", ".join(f"%{x}" for x in range(registers))
    pack, unpack = (".pack::16b", ".unpack::16b") if packed else ("", "")
    split = f", {half}" if half else ""
    outputs = ", ".join(f'"=r"(r[{x}])' for x in range(registers))
    inputs = ", ".join(f'"r"(r[{x}])' for x in range(registers))
    load = (
        f'ASM("tcgen05.ld.sync.aligned.{shape}.x{n}{pack}.b32 {{{names}}}, '
        f'[%{registers}]{split};" : {outputs} : "r"(a));'
    )
    names = ", ".join(f"%{x + 1}" for x in range(registers))
    split = f"{half}, " if half else ""
    store = (
        f'ASM("tcgen05.st.sync.aligned.{shape}.x{n}{unpack}.b32 [%0], '
        f'{split}{{{names}}};" :: "r"(a), {inputs} : "memory");'
    )
    return load, store


MOVE = """
__shared__ u32 where;
if (threadIdx.x < 32) alloc(&where, 256);
sync();
u32 t = threadIdx.x, a = where + (t / 32 * 32 + {lane} << 16) + 8;
u32 r[{registers}];
if ({stores}) {{
    fill(where, image, 140);
    for (int x = 0; x < {registers}; ++x) r[x] = data[t * {registers} + x];
    {store}
    wait_st();
    dump(where, image, 140);
}} else {{
    fill(where, image, 140);
    {load}
    wait_ld();
    for (int x = 0; x < {registers}; ++x) data[t * {registers} + x] = r[x];
}}
sync();
if (threadIdx.x < 32) dealloc(where, 256);"""


@pytest.mark.parametrize("stores", [False, True], ids=["ld", "st"])
@pytest.mark.parametrize("packed", [False, True], ids=["whole", "halves"])
@pytest.mark.parametrize("n", [1, 8])
@pytest.mark.parametrize("shape", LAYOUTS)
def test_ld_and_st_reach_the_cells_that_cutlass_says(shape, n, packed, stores):
    registers = REGISTERS[shape] * n
    half = str(n * (2 if packed else 1)) if shape == "16x32bx2" else ""
    load, store = load_or_store(shape, n, registers, half, packed)
    lane = 0 if shape == "32x32b" else 16
    body = MOVE.format(registers=registers, load=load, store=store, stores=int(stores), lane=lane)
    rng = np.random.default_rng(n)
    image = rng.integers(0, 2**32, (128, 140), U32)
    data = rng.integers(0, 2**32, (128, registers), U32)
    before, given = image.copy(), data.copy()
    result = run("u32* image, u32* data", body, 1, 128, (image, data), checks=ALL_CHECKS)
    assert result.findings == []
    lanes, columns = cells(shape, n)
    lanes = np.concatenate([32 * w + lane + lanes for w in range(4)])
    columns = np.tile(columns, (4, 1))
    if not packed:
        got, wanted = (image, before) if stores else (data, before[lanes, 8 + columns])
        if stores:
            wanted[lanes, 8 + columns] = given
    elif stores:
        got, wanted = image, before
        wanted[lanes, 8 + 2 * columns] = given & 0xFFFF
        wanted[lanes, 9 + 2 * columns] = given >> 16
    else:
        low, high = before[lanes, 8 + 2 * columns], before[lanes, 9 + 2 * columns]
        got, wanted = data, low & 0xFFFF | high << 16
    assert np.array_equal(got, wanted)


@pytest.mark.parametrize(
    "shape, n",
    [("32x32b", 128), ("16x64b", 128), ("16x128b", 64), ("16x256b", 32), ("16x32bx2", 128)],
)
def test_the_largest_loads_fill_128_registers(shape, n):
    load, _ = load_or_store(shape, n, 128, "128" if shape == "16x32bx2" else "")
    store = ";"
    body = MOVE.format(registers=128, load=load, store=store, stores=0, lane=0)
    body = body.replace("140", "264").replace("where, 256)", "where, 512)")
    image = np.arange(128 * 264, dtype=U32).reshape(128, 264)
    data = np.zeros((128, 128), U32)
    run("u32* image, u32* data", body, 1, 128, (image, data))
    lanes, columns = cells(shape, n)
    assert np.array_equal(data[32:64], image[32 + lanes, 8 + columns])


# --- allocation -----------------------------------------------------------------------------------

KERNEL = """
__shared__ u32 where;
if (threadIdx.x < 32) alloc(&where, {columns});
sync();
{body}
sync();
if (threadIdx.x < 32) dealloc(where, {columns});"""


def test_two_allocations_are_apart_and_freed_columns_are_given_again():
    out = np.zeros(4, U32)
    body = """__shared__ u32 a[4];
    alloc(&a[0], 64); alloc(&a[1], 32); dealloc(a[0], 64); alloc(&a[2], 32); alloc(&a[3], 32);
    __syncwarp();
    if (threadIdx.x < 4) out[threadIdx.x] = a[threadIdx.x];
    dealloc(a[1], 32); dealloc(a[2], 32); dealloc(a[3], 32); relinquish();"""
    run("u32* out", body, 3, 32, (out,))
    assert out.tolist() == [0, 64, 0, 32]


def test_alloc_waits_until_another_warp_frees_columns():
    out = np.zeros(2, U32)
    body = """__shared__ u32 a[2]; __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x < 32) { alloc(&a[0], 512); if (threadIdx.x == 0) arrive(&bar); __nanosleep(99);
                            dealloc(a[0], 512); }
    else { wait(&bar, 0); alloc(&a[1], 256); __syncwarp();
           if (threadIdx.x == 32) out[1] = a[1] + 1; dealloc(a[1], 256); }"""
    run("u32* out", body, 1, 64, (out,))
    assert out.tolist() == [0, 1]


def test_columns_that_nobody_frees_are_a_deadlock_that_says_what_is_missing():
    body = """__shared__ u32 a[2];
    alloc(&a[0], 512);
    alloc(&a[1], 32);"""
    found = fault("u32* out", body, 1, 32, (np.zeros(1, U32),))
    assert found.kind == DEADLOCK
    assert "32 threads waiting at kernel.cu:3 for 32 columns of tensor memory (0 free)" in str(
        found.message
    )


@pytest.mark.parametrize("columns", [16, 48, 1024])
def test_the_number_of_columns_must_be_a_power_of_two_from_32_to_512(columns):
    found = fault("u32* out", KERNEL.format(columns=columns, body=""), 1, 32, (np.zeros(1, U32),))
    assert (found.cause, found.location.line) == (Cause.COLUMN_COUNT_INVALID, 3)


def test_columns_must_be_given_back_before_the_block_ends():
    body = "__shared__ u32 a;\nalloc(&a, 64);"
    found = fault("u32* out", body, 1, 32, (np.zeros(1, U32),))
    assert (found.cause, found.location.line) == (Cause.COLUMNS_NOT_FREED, 2)


def test_only_what_was_allocated_can_be_given_back():
    body = "__shared__ u32 a;\nalloc(&a, 64);\ndealloc(a, 32);"
    found = fault("u32* out", body, 1, 32, (np.zeros(1, U32),))
    assert (found.cause, found.location.line) == (Cause.COLUMNS_NOT_ALLOCATED, 3)
    assert "frees 32 columns from address 0x0, which isn't an allocation" in found.message


def test_nobody_allocates_after_the_permit_was_relinquished():
    body = "__shared__ u32 a;\nrelinquish();\nalloc(&a, 64);"
    found = fault("u32* out", body, 1, 32, (np.zeros(1, U32),))
    assert (found.cause, found.location.line) == (Cause.ALLOCATION_RELINQUISHED, 3)
    assert "relinquished the permit" in found.message and "kernel.cu:2" in found.message


def test_a_pair_of_blocks_allocates_together():
    out = np.zeros(4, U32)
    body = """__shared__ u32 a;
    if (blockIdx.x % 2) __nanosleep(1000);
    alloc<2>(&a, 128); __syncwarp();
    if (threadIdx.x == 0) out[blockIdx.x] = a + 1;
    cluster_sync();
    dealloc<2>(a, 128);"""
    run("u32* out", body, 4, 32, (out,), cluster=(2, 1, 1))
    assert out.tolist() == [1, 1, 1, 1]


def test_one_block_of_a_pair_alone_waits_for_ever():
    body = "__shared__ u32 a;\nif (blockIdx.x == 0) alloc<2>(&a, 128);"
    found = fault("u32* out", body, 2, 32, (np.zeros(1, U32),), cluster=(2, 1, 1))
    assert found.kind == DEADLOCK
    assert "for the other block of its pair to allocate too" in found.message


def test_a_pair_needs_a_cluster():
    body = "__shared__ u32 a;\nalloc<2>(&a, 128);"
    found = fault("u32* out", body, 2, 32, (np.zeros(1, U32),))
    assert found.kind == TENSOR_MEMORY and "needs a pair of blocks" in found.message


def test_a_kernel_stays_with_one_cta_group():
    body = "__shared__ u32 a;\nalloc<2>(&a, 128);\nalloc<1>(&a, 128);"
    found = fault("u32* out", body, 2, 32, (np.zeros(1, U32),), cluster=(2, 1, 1))
    assert (found.kind, found.location.line) == (TENSOR_MEMORY, 3)
    assert "mixes .cta_group::1 and .cta_group::2" in found.message


# --- who reaches what -----------------------------------------------------------------------------


@pytest.mark.parametrize("access", ["out[threadIdx.x] = ld1({});", "st1({}, 7);"])
def test_columns_that_were_not_allocated_are_out_of_bounds(access):
    body = KERNEL.format(columns=32, body=access.format("where + (threadIdx.x / 32 << 21) + 32"))
    found = fault("u32* out", body, 1, 128, (np.zeros(128, U32),))
    assert (found.kind, found.location.line, found.array) == (OUT_OF_BOUNDS, 5, "tensor memory")
    assert found.cause == Cause.OUTSIDE_ALLOCATED_COLUMNS


def test_a_warp_reaches_only_its_own_32_lanes():
    body = KERNEL.format(columns=32, body="out[threadIdx.x] = ld1(where + (32 << 16));")
    found = fault("u32* out", body, 1, 32, (np.zeros(128, U32),))
    assert (found.cause, found.location.line) == (Cause.LANES_OF_OTHER_WARP, 5)


def test_the_fifth_warp_reaches_the_lanes_of_the_first():
    out = np.zeros(160, U32)
    body = KERNEL.format(
        columns=32,
        body="""
    if (threadIdx.x < 32) { st1(where, threadIdx.x); wait_st(); }
    sync();
    if (threadIdx.x >= 128) { u32 x = ld1(where); wait_ld(); out[threadIdx.x] = x; }""",
    )
    result = run("u32* out", body, 1, 160, (out,), checks=ALL_CHECKS)
    assert out[128:].tolist() == list(range(32)) and result.findings == []


def test_lanes_of_the_other_block_of_a_pair_mean_its_own_and_are_reported():
    """Public kernels count the lanes of a pair on from one block to the other."""
    out = np.zeros(128, U32)
    body = """__shared__ u32 place;
cluster_sync(); if (threadIdx.x < 32) alloc<2>(&place, 32);
sync();
u32 own = place + (threadIdx.x / 32 << 21);
st1(own, 100 * rank() + threadIdx.x); wait_st();
u32 x = ld1(own + (rank() << 23)); wait_ld();
out[blockIdx.x * 64 + threadIdx.x] = x;
before(); cluster_sync(); after();
if (threadIdx.x < 32) dealloc<2>(place, 32);"""
    result = run("u32* out", body, 2, 64, (out,), cluster=(2, 1, 1), checks=ALL_CHECKS)
    assert out.reshape(2, 64).tolist() == [list(range(64)), list(range(100, 164))]
    assert [(f.kind, f.location.line) for f in result.findings] == [(TENSOR_MEMORY, 6)]
    assert "reads lanes 128 to 159 of tensor memory" in result.findings[0].message
    assert "has its own 128 lanes" in result.findings[0].message


def test_an_address_without_the_warps_lanes_means_its_own_and_is_reported():
    out = np.zeros(64, U32)
    body = KERNEL.format(
        columns=32,
        body="""st1(where, threadIdx.x); wait_st();
u32 x = ld1(where + (threadIdx.x / 32 << 21)); wait_ld(); out[threadIdx.x] = x;""",
    )
    result = run("u32* out", body, 1, 64, (out,), checks=ALL_CHECKS)
    assert out.tolist() == list(range(64))
    assert [(f.kind, f.location.line) for f in result.findings] == [(TENSOR_MEMORY, 5)]
    assert "its warp reaches lanes 32 to 63 only" in result.findings[0].message


@pytest.mark.parametrize(
    "text",
    [
        "tcgen05.ld.red.sync.aligned.32x32b.x2.u32.min",
        "tcgen05.ld.sync.aligned.32x32b.x3.b32",
        "tcgen05.mma.sp.cta_group::1.kind::f16",
        "tcgen05.mma.cta_group::1.kind::f16.ashift",
        "tcgen05.mma.kind::f16",
    ],
)
def test_a_form_that_is_not_known_is_an_error_that_names_it(text):
    ptx = f""".version 8.8
.target sm_100a
.address_size 64
.visible .entry f() {{
  .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p;
  {text} OPERANDS;
  ret;
}}"""
    operands = "[%r1], [%r3], %d1, %r4, %p" if "mma" in text else "{%r1, %r2}, [%r3]"
    ptx = ptx.replace("OPERANDS", operands)
    with pytest.raises(KernelFault) as caught:
        EmulatedModule(ptx).entry("f").launch(1, 32, (), options=Options())
    assert caught.value.finding.kind == UNKNOWN_INSTRUCTION
    assert text in caught.value.finding.message


# --- order ----------------------------------------------------------------------------------------


def lines(result):
    return [(f.kind, f.location.line, f.other_location.line) for f in result.findings]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("wait", ["wait_st();", ""])
def test_a_store_is_there_after_wait_st_only(wait, seed):
    out = np.zeros(32, U32)
    body = KERNEL.format(
        columns=32,
        body=f"""st1(where, threadIdx.x + 1);
{wait}
u32 x = ld1(where);
wait_ld(); out[threadIdx.x] = x; wait_st();""",
    )
    result = run("u32* out", body, 1, 32, (out,), checks=ALL_CHECKS, seed=seed)
    if wait:
        assert out.tolist() == list(range(1, 33)) and result.findings == []
        return
    assert lines(result) == [(DATA_RACE, 7, 5)]
    assert result.findings[0].cause == Cause.TENSOR_MEMORY_WAIT_MISSING
    assert seed or (out == 0xFFFFFFFF).all()  # at the latest moment the old value is read


def test_a_loaded_register_used_before_wait_ld_is_seen_with_both_lines():
    body = KERNEL.format(
        columns=32,
        body="""u32 x = ld1(where);
out[threadIdx.x] = x + 1;
wait_ld();""",
    )
    result = run("u32* out", body, 1, 32, (np.zeros(32, U32),), checks=ALL_CHECKS)
    assert lines(result) == [(DATA_RACE, 6, 5)]
    assert result.findings[0].cause == Cause.REGISTER_READ_BEFORE_WAIT


HAND_OVER = """if (threadIdx.x < 32) {{ st1(where, threadIdx.x);
{first}
}}
{middle}
if (threadIdx.x >= 128) {{ u32 x = ld1(where); wait_ld(); out[threadIdx.x] = x; }}
wait_st();"""


@pytest.mark.parametrize(
    "first, middle, missing",
    [
        ("wait_st(); before();", "__syncthreads(); after();", ""),
        ("", "before(); __syncthreads(); after();", "tcgen05.wait::st, and then a barrier"),
        ("wait_st(); before();", "after();", "tcgen05.wait::st, and then a barrier"),
        (
            "wait_st();",
            "__syncthreads(); after();",
            "tcgen05.fence::before_thread_sync between tcgen05.st and the barrier",
        ),
        (
            "wait_st(); before();",
            "__syncthreads();",
            "tcgen05.fence::after_thread_sync between the wait and tcgen05.ld",
        ),
    ],
    ids=["right", "no wait", "no barrier", "no fence before", "no fence after"],
)
def test_from_warp_to_warp_it_takes_a_wait_a_fence_a_barrier_and_a_fence(first, middle, missing):
    body = KERNEL.format(columns=32, body=HAND_OVER.format(first=first, middle=middle))
    result = run("u32* out", body, 1, 160, (np.zeros(160, U32),), checks=ALL_CHECKS)
    if not missing:
        assert result.findings == []
        return
    assert lines(result)[0] == (DATA_RACE, 9, 5)
    assert f"with no {missing}." in result.findings[0].message


def test_columns_freed_while_a_thread_may_still_read_them_are_a_race():
    body = """__shared__ u32 where;
if (threadIdx.x < 32) alloc(&where, 32);
sync();
if (threadIdx.x >= 32) { u32 x = ld1(where + (32 << 16)); wait_ld(); out[threadIdx.x] = x; }
if (threadIdx.x < 32) dealloc(where, 32);"""
    result = run("u32* out", body, 1, 64, (np.zeros(64, U32),), checks=ALL_CHECKS)
    assert [f.kind for f in result.findings] == [DATA_RACE]
    assert "frees it at kernel.cu:5 (tcgen05.dealloc)" in result.findings[0].message


# --- tcgen05.cp and shift -------------------------------------------------------------------------

COPY = """
extern __shared__ __align__(1024) unsigned char tile[];
__shared__ u32 where; __shared__ u64 bar;
u32 t = threadIdx.x;
for (u32 x = t; x < bytes / 16; x += 128) ((uint4*)tile)[x] = source[x];
if (t < 32) alloc(&where, 32);
if (t == 0) init(&bar, 1);
asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
sync();
if (t == 0) {{
    u64 desc = high | (smem(tile) >> 4);
    ASM("tcgen05.cp.cta_group::1.{form} [%0], %1;" :: "r"(where + to), "l"(desc) : "memory");
    commit_1(&bar);
}}
{wait}
dump(where, out, 32);
sync();
if (t < 32) dealloc(where, 32);"""


def copy(form, source, leading, stride, to=0, wait="wait(&bar, 0); after();", **options):
    out = np.zeros((128, 32), U32)
    high = np.uint64(leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46)
    body = COPY.format(form=form, wait=wait)
    result = run(
        "const uint4* source, u32* out, u64 high, u32 bytes, u32 to",
        body,
        1,
        128,
        (source, out, high, U32(source.size), U32(to)),
        shared=source.size,
        **options,
    )
    return out, result


def core_matrices(rows):
    """Rows of n 16-byte chunks as (n, rows / 8) blocks of 8 × 16 bytes: bytes, leading, stride."""
    chunks = rows.view(np.uint8).reshape(-1, 8, rows.shape[1] // 16, 16)
    data = np.ascontiguousarray(chunks.transpose(2, 0, 1, 3)).reshape(-1)
    return data, len(rows) * 16, 128


# Copy_Traits<SM100_UTCCP_…>: row of the source, for each lane of tensor memory; -1: none.
ROWS = {
    "128x256b": np.arange(128),
    "128x128b": np.arange(128),
    "64x128b.warpx2::02_13": layout((64, 2), (1, 0)),
    "64x128b.warpx2::01_23": layout((32, 2, 2), (1, 0, 32)),
    "32x128b.warpx4": layout((32, 4), (1, 0)),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", ROWS)
def test_cp_puts_every_row_where_cutlass_says(form, seed):
    rows, width = int(form.split("x")[0]), int(form.split("x")[1][:3]) // 8
    data = np.random.default_rng(1).integers(0, 256, (rows, width), np.uint8)
    out, result = copy(form, *core_matrices(data), checks=ALL_CHECKS, seed=seed)
    assert result.findings == []
    assert np.array_equal(out[:, : width // 4], data.view(U32)[ROWS[form]])
    assert (out[:, width // 4 :] == 0xFFFFFFFF).all()


def test_cp_of_4_rows_reaches_one_lane_in_each_32():
    data = np.arange(64, dtype=U32).reshape(8, 8).view(np.uint8)
    out, _ = copy("4x256b", *core_matrices(data), to=31 << 16)
    assert np.array_equal(out[31::32, :8], np.arange(32).reshape(4, 8))
    assert (np.delete(out, [31, 63, 95, 127], axis=0) == 0xFFFFFFFF).all()


def test_cp_steps_from_row_to_row_as_it_was_measured_on_a_b200():
    source = np.arange(1024, dtype=U32)
    out, _ = copy("128x256b", source.view(np.uint8), 16, 128)
    assert np.array_equal(out[:, 0], 4 * np.arange(128))


@pytest.mark.parametrize("bits, form", [(4, "b4x16_p64"), (6, "b6x16_p32")])
def test_cp_decompresses_4_and_6_bit_numbers(bits, form):
    codes = np.random.default_rng(2).integers(0, 1 << bits, (128, 16))
    padded = np.full((128, 16), 0xAA, np.uint8)
    for row, line in zip(padded, codes, strict=True):
        number = sum(int(code) << (bits * n) for n, code in enumerate(line))
        row[: 2 * bits] = np.frombuffer(number.to_bytes(2 * bits, "little"), np.uint8)
    out, _ = copy(f"128x128b.b8x16.{form}", *core_matrices(padded))
    expected = codes << (2 if bits == 4 else 0)
    assert np.array_equal(out[:, :4].copy().view(np.uint8), expected)


def test_a_copy_read_before_its_commit_was_waited_for_is_seen():
    data = np.zeros((128, 16), np.uint8)
    out, result = copy("128x128b", *core_matrices(data), wait="", checks=ALL_CHECKS)
    assert [f.kind for f in result.findings] == [DATA_RACE] * 2  # by the load and by dealloc
    assert "(tcgen05.cp)" in result.findings[0].message
    assert "with no tcgen05.commit to an mbarrier, and a wait for that mbarrier." in (
        result.findings[0].message
    )
    assert (out == 0xFFFFFFFF).all()


def test_shift_gives_each_lane_the_32_bytes_of_the_next_within_32_lanes():
    image = np.arange(128 * 32, dtype=U32).reshape(128, 32)
    out = np.zeros_like(image)
    body = KERNEL.format(
        columns=32,
        body="""__shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 1);
    fill(where, in, 32);
    sync();
    if (threadIdx.x == 0) {
        ASM("tcgen05.shift.cta_group::1.down [%0];" :: "r"(where + 4) : "memory");
        commit_1(&bar);
    }
    wait(&bar, 0); after();
    dump(where, out, 32);""",
    )
    result = run("const u32* in, u32* out", body, 1, 128, (image, out), checks=ALL_CHECKS)
    assert result.findings == []
    source = np.arange(128) + (np.arange(128) % 32 < 31)
    expected = image.copy()
    expected[:, 4:12] = image[source, 4:12]
    assert np.array_equal(out, expected)


def test_work_issued_by_a_whole_warp_is_reported():
    body = KERNEL.format(
        columns=32,
        body="""__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 32);
__syncwarp();
ASM("tcgen05.shift.cta_group::1.down [%0];" :: "r"(where) : "memory");
commit_1(&bar); wait(&bar, 0); after();""",
    )
    result = run("u32* out", body, 1, 32, (np.zeros(1, U32),), checks=ALL_CHECKS)
    found = [(f.cause, f.location.line) for f in result.findings]
    assert found == [(Cause.ISSUED_BY_SEVERAL_THREADS, 8)]
    assert "so do others of its warp" in result.findings[0].message


def test_load_compiles_for_sm_100a_where_it_is_asked_to():
    body = KERNEL.format(
        columns=32,
        body="""st1(where, threadIdx.x * 3); wait_st();
u32 x = ld1(where); wait_ld(); out[threadIdx.x] = x;""",
    )
    source = f'{PTX}{WRAPPERS}extern "C" __global__ void f(unsigned* out) {{{body}}}'
    out = emulated_cupy.zeros(32, U32)
    load(source=source, arch="sm_100a", device="emulator").f(1, 32, (out,))
    assert out.get().tolist() == list(range(0, 96, 3))


@pytest.mark.parametrize(
    "call, name",
    [("relinquish()", "relinquish_alloc_permit"), ("wait_ld()", "wait::ld"), ("ld1(a)", "ld")],
    ids=["relinquish", "wait", "load"],
)
@pytest.mark.parametrize("here, reported", [("< 31", True), (">= 0", False)], ids=["part", "all"])
def test_a_part_of_a_warp_may_not_execute_what_is_aligned(call, name, here, reported):
    body = f"""
__shared__ u32 a;
alloc(&a, 32); sync();
if (threadIdx.x {here}) {call};
sync(); dealloc(a, 32);"""
    if not reported:
        assert run("int n", body, 1, 32, (np.int32(1),), checks=()).findings == []
        return
    finding = fault("int n", body, 1, 32, (np.int32(1),))
    assert (
        finding.kind == TENSOR_MEMORY
        and f"only some threads of a warp reach tcgen05.{name} " in finding.message
    )
    assert finding.location.line == 4


def test_a_warp_with_fewer_threads_is_whole_when_all_of_them_have_come():
    body = """
__shared__ u32 a;
if (threadIdx.x >= 32) { alloc(&a, 32); relinquish(); }
sync();
if (threadIdx.x >= 32) dealloc(a, 32);"""
    assert run("int n", body, 1, 40, (np.int32(1),)).findings == []


@pytest.mark.parametrize(
    "mode, start, whole",
    [(2, 1024 + 96, True), (2, 1024 + 128, False), (4, 512, True), (6, 128, False), (0, 128, True)],
)
def test_a_swizzled_tile_starts_where_its_swizzle_begins_anew(mode, start, whole):
    found = SharedTile.of(mode << 61 | 1 << 46 | start >> 4)
    assert isinstance(found, SharedTile) == whole
    assert whole or "__align__(1024)" in found
