"""Tensor maps and the copies of boxes that go by them."""

import blackwell
import numpy as np
import pytest
from asynchrony import SEEDS, fault, run

from course_utils.emulator import ALL_CHECKS, Cause
from course_utils.launching import tensor_maps as module
from course_utils.launching.tensor_maps import TensorMapError, tensor_map

F32 = np.float32


@pytest.fixture(autouse=True)
def on_the_emulator(monkeypatch):
    monkeypatch.setattr(module, "ON_GPU", False)


LOAD = """__shared__ alignas(1024) char tile[SIZE]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, BYTES); TENSOR }
wait(&bar, 0);
for (int i = threadIdx.x; i < BYTES; i += blockDim.x) y[i] = tile[i];"""


def load(array, box, at, *, bytes_=None, seed=0, **options):
    """The shared memory, as bytes, after a load of the box at coordinates ``at`` (last first)."""
    size = int(np.prod(box)) * array.itemsize if bytes_ is None else bytes_
    y = np.zeros(size, np.uint8)
    names = ", ".join(str(c) for c in at)
    tensor = f"""asm volatile("cp.async.bulk.tensor.{len(at)}d.shared::cluster.global.tile"
".mbarrier::complete_tx::bytes [%0], [%1, {{{names}}}], [%2];"
:: "r"(smem(tile)), "l"(&map), "r"(smem(&bar)) : "memory");"""
    body = LOAD.replace("TENSOR", tensor).replace("SIZE", str(size)).replace("BYTES", str(size))
    run(
        "const __grid_constant__ TensorMap map, unsigned char* y",
        body,
        1,
        32,
        (tensor_map(array, box, **options), y),
        seed=seed,
    )
    return y


@pytest.mark.parametrize("seed", SEEDS)
def test_a_box_of_a_matrix(seed):
    x = np.arange(64 * 32, dtype=F32).reshape(64, 32)
    tile = load(x, (4, 8), (16, 12), seed=seed).view(F32).reshape(4, 8)
    assert np.array_equal(tile, x[12:16, 16:24])


def test_elements_outside_are_zero_and_still_counted():
    x = np.arange(1, 10 * 12 + 1, dtype=F32).reshape(10, 12)
    tile = load(x, (4, 8), (-4, 8)).view(F32).reshape(4, 8)
    expected = np.zeros((4, 8), F32)
    expected[:2, 4:] = x[8:, :4]
    assert np.array_equal(tile, expected)


def test_elements_outside_can_be_nan():
    tile = load(np.ones((4, 16), np.float16), (4, 16), (8, 0), fill="nan").view(np.float16)
    assert np.array_equal(np.isnan(tile.reshape(4, 16)), np.tile(np.arange(16) >= 8, (4, 1)))


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_one_to_five_dimensions(rank):
    shape, box, start = (5, 4, 6, 3, 8)[-rank:], (2, 2, 3, 2, 4)[-rank:], (1, 2, 1, 1, 4)[-rank:]
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    tile = load(x, box, start[::-1]).view(np.int32).reshape(box)
    inside = tuple(slice(s, s + b) for s, b in zip(start, box, strict=True))
    assert np.array_equal(tile, x[inside])


@pytest.mark.parametrize("span", [32, 64, 128])
def test_swizzles_exchange_16_byte_chunks(span):
    rows = 16
    x = np.arange(rows * span // 4, dtype=np.uint32).reshape(rows, -1)
    tile = load(x, x.shape, (0, 0), swizzle=span).view(np.uint32)
    for row in range(rows):
        for chunk in range(span // 16):
            # the bits above the 128-byte line choose which chunks are exchanged
            line = (row * span + chunk * 16) // 128
            place = row * span + (chunk ^ line % (span // 16)) * 16
            assert tile[place // 4] == x[row, chunk * 4]


def test_every_second_row_with_element_strides():
    x = np.arange(16 * 8, dtype=F32).reshape(16, 8)
    tile = load(x, (8, 8), (0, 4), element_strides=(2, 1), bytes_=128).view(F32).reshape(4, 8)
    assert np.array_equal(tile, x[4:12:2])


def test_rows_of_a_view_with_a_pitch():
    x = np.arange(16 * 32, dtype=F32).reshape(16, 32)[4:, 8:24]
    tile = load(x, (2, 16), (0, 1)).view(F32).reshape(2, 16)
    assert np.array_equal(tile, x[1:3])


STORE = """__shared__ alignas(128) float tile[4 * 8];
tile[threadIdx.x] = threadIdx.x + 1; fence(); __syncthreads();
if (threadIdx.x == 0) { INSTRUCTION bulk_commit(); bulk_wait(); }"""


def test_a_store_leaves_out_what_lies_outside():
    y = np.zeros((6, 12), F32)
    body = STORE.replace("INSTRUCTION", "store_2d(&map, 8, -2, tile);")
    run("const __grid_constant__ TensorMap map", body, 1, 32, (tensor_map(y, (4, 8)),))
    expected = np.zeros((6, 12), F32)
    expected[:2, 8:] = np.arange(1, 33).reshape(4, 8)[2:, :4]
    assert np.array_equal(y, expected)


def test_a_reduction_adds_a_box():
    y = np.full((8, 8), 100, F32)
    body = STORE.replace(
        "INSTRUCTION",
        """asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"
" [%0, {0, 4}], [%1];" :: "l"(&map), "r"(smem(tile)) : "memory");""",
    )
    run("const __grid_constant__ TensorMap map", body, 2, 32, (tensor_map(y, (4, 8)),))
    assert np.array_equal(y[4:], 100 + 2 * np.arange(1, 33).reshape(4, 8))
    assert (y[:4] == 100).all()


def test_a_prefetch_changes_nothing():
    y = np.zeros((8, 8), F32)
    body = """asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {0, 0}];"
"prefetch.tensormap [%0];" :: "l"(&map) : "memory");"""
    run("const __grid_constant__ TensorMap map", body, 1, 32, (tensor_map(y, (4, 8)),))
    assert not y.any()


def test_a_map_of_another_rank_or_none_at_all_is_reported():
    y = np.zeros((8, 8, 8), F32)
    body = STORE.replace("INSTRUCTION", "store_2d(&map, 0, 0, tile);")
    found = fault("const __grid_constant__ TensorMap map", body, 1, 32, (tensor_map(y, (1, 4, 8)),))
    assert found.message == (
        "Bad tensor map: thread (0, 0, 0) of block (0, 0, 0) uses one at kernel.cu:3, but the map "
        "has 3 dimensions and the instruction 2."
    )
    found = fault("const __grid_constant__ TensorMap map", body, 1, 32, (bytes(128),))
    assert "there is no tensor map at that address" in found.message


def test_a_box_must_start_at_a_multiple_of_128_bytes():
    y = np.zeros((8, 8), F32)
    body = STORE.replace("INSTRUCTION", "store_2d(&map, 0, 0, tile + 4);")
    found = fault("const __grid_constant__ TensorMap map", body, 1, 32, (tensor_map(y, (4, 4)),))
    assert "whose shared memory address isn't a multiple of 128 bytes" in found.message


@pytest.mark.parametrize(("column", "of"), [(-6, 4), (2, 4), (4, 8)])
def test_the_rows_of_a_box_must_begin_at_multiples_of_16_bytes(column, of):
    y = np.zeros((8, 16), {4: F32, 8: np.float16}[of])
    body = STORE.replace("INSTRUCTION", f"store_2d(&map, {column}, 3, tile);")
    found = fault("const __grid_constant__ TensorMap map", body, 1, 32, (tensor_map(y, (4, 8)),))
    assert found.message == (
        "Misaligned copy: thread (0, 0, 0) of block (0, 0, 0) starts a copy at kernel.cu:3 whose "
        f"box begins at {column} along the tensor's last axis: that must be a multiple of {of} "
        "elements (16 bytes)."
    )


def test_a_tile_too_small_for_its_box_is_reported():
    y = np.zeros((16, 8), F32)
    body = STORE.replace("INSTRUCTION", "store_2d(&map, 0, 0, tile);")
    found = fault("const __grid_constant__ TensorMap map", body, 1, 32, (tensor_map(y, (8, 8)),))
    assert found.message == (
        "Out of bounds: thread (0, 0, 0) of block (0, 0, 0) reads tile[32] in shared memory at "
        "kernel.cu:3, 1 element past its end: tile has 32 elements."
    )


@pytest.mark.parametrize(
    ("array", "box", "options", "text"),
    [
        (np.zeros((4, 6), F32), (2, 4), {}, "from one entry of axis 0 to the next must be"),
        (np.zeros((4, 8), F32), (2, 3), {}, "a row of the box must be a multiple of 16 bytes"),
        (np.zeros((4, 64), F32), (2, 64), {"swizzle": 128}, "more than the 128 of the swizzle"),
        (np.zeros((512, 8), F32), (512, 8), {}, "every side of the box must be 1 to 256"),
        (np.zeros((4, 8), F32), (4,), {}, "the array has 2 dimensions"),
        (np.zeros((4, 8), F32).T, (4, 4), {}, "the last axis of the array must be contiguous"),
        (np.zeros((4, 8), np.int32), (4, 4), {"fill": "nan"}, "needs floating-point elements"),
        (np.zeros((4, 8), np.complex64), (4, 4), {}, "no elements of type complex64"),
        (np.zeros((4, 8), F32), (4, 4), {"swizzle": 16}, "swizzle is None, 32, 64 or 128"),
        (np.zeros((4, 8), F32)[:, 1:], (4, 4), {}, "must start at a multiple of 16 bytes"),
    ],
)
def test_broken_rules_are_named(array, box, options, text):
    with pytest.raises(TensorMapError) as caught:
        tensor_map(array, box, **options)
    assert text in str(caught.value)


def test_the_map_is_128_bytes_on_a_64_byte_boundary():
    result = tensor_map(np.zeros((4, 8), F32), (4, 4))
    assert (result.shape, result.dtype) == ((1,), "V128")
    assert result.__array_interface__["data"][0] % 64 == 0


def test_a_kernel_loaded_by_name_takes_the_map_like_any_other_argument(tmp_path):
    from course_utils import cp, device, load

    if device() != "emulator":
        pytest.skip("needs the emulator")
    source = """
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
extern "C" __global__ void f(const __grid_constant__ CUtensorMap map, unsigned* y) {
    y[threadIdx.x] = reinterpret_cast<const unsigned*>(&map)[threadIdx.x];
}"""
    y, x = cp.zeros(32, cp.uint32), cp.zeros((4, 8), cp.float32)
    encoded = tensor_map(x, (4, 4))
    path = tmp_path / "takes_a_map.cu"
    path.write_text(source)
    load(path)(1, 32, (encoded, y))
    assert np.array_equal(cp.asnumpy(y), encoded.view(np.uint32))


def gemm_source(cluster):
    """C = A B^T in bf16: one thread loads with TMA, two warpgroups multiply, three stages between.
    In a cluster of two each block loads half of A's tile, for both."""
    d = ", ".join(f"%{v}" for v in range(64))
    out = ", ".join(f'"+f"(acc[{v}])' for v in range(64))
    load_a = "load_2d(to, &a, i * 64, blockIdx.y * 128, &full[s]);"
    free = "arrive(&empty[s]);"
    if cluster:
        load_a = """asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
            ".mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;"
            :: "r"(smem(to + rank() * 8192)), "l"(&a), "r"(smem(&full[s])), "r"(i * 64),
               "r"(blockIdx.y * 128 + rank() * 64), "h"((short)3) : "memory");"""
        free = "for (int r = 0; r < 2; ++r) arrive_remote(map_rank(&empty[s], r));"
    return f"""
extern __shared__ __align__(1024) unsigned char tile[];
__shared__ u64 full[3], empty[3];
constexpr int STAGE = 2 * 128 * 64 * 2;
int t = threadIdx.x, group = t / 128;
if (t == 0) {{
    for (int s = 0; s < 3; ++s) {{ init(&full[s], 1); init(&empty[s], {4 if cluster else 2}); }}
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}}
{"cluster_sync();" if cluster else "__syncthreads();"}
if (group == 0) {{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (t == 0)
        for (int i = 0; i < n / 64; ++i) {{
            int s = i % 3;
            unsigned char* to = tile + s * STAGE;
            wait(&empty[s], i / 3 & 1 ^ 1);
            expect(&full[s], STAGE);
            {load_a}
            load_2d(to + STAGE / 2, &b, i * 64, blockIdx.x * 128, &full[s]);
        }}
}} else {{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    float acc[64];
    for (int v = 0; v < 64; ++v) acc[v] = 0;
    for (int i = 0; i < n / 64; ++i) {{
        int s = i % 3;
        wait(&full[s], i / 3 & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < 4; ++step) {{
            u64 form = 1ull << 62 | 64ull << 32 | 1ull << 16;
            u32 place = smem(tile + s * STAGE + step * 32);
            u64 da = form | ((place + (group - 1) * 64 * 128) >> 4 & 0x3fff);
            u64 db = form | ((place + STAGE / 2) >> 4 & 0x3fff);
            asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{d}}}, "
                         "%64, %65, 1, 1, 1, 0, 0;" : {out} : "l"(da), "l"(db));
        }}
        asm volatile("wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;");
        if (t % 128 == 0) {{ {free} }}
    }}
    int lane = t % 32, top = blockIdx.y * 128 + (group - 1) * 64 + 16 * (t % 128 / 32);
    for (int v = 0; v < 64; ++v) {{
        int row = top + lane / 4 + 8 * ((v >> 1) & 1);
        c[row * n + blockIdx.x * 128 + 8 * (v >> 2) + 2 * (lane & 3) + (v & 1)] = acc[v];
    }}
}}
{"cluster_sync();" if cluster else ""}"""


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cluster", [False, True])
def test_a_warp_specialised_wgmma_product_is_right_and_quiet(cluster, seed):
    n = 256
    a, b = np.random.default_rng(0).integers(-3, 4, (2, n, n)).astype(F32)
    c = np.zeros((n, n), F32)
    halves = [(x.view(np.uint32) >> 16).astype(np.uint16) for x in (a, b)]  # bf16
    rows = (64 if cluster else 128, 128)
    maps = [tensor_map(x, (r, 64), swizzle=128) for x, r in zip(halves, rows, strict=True)]
    result = run(
        "const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c, int n",
        gemm_source(cluster),
        (2, 2),
        384,
        (*maps, c, np.int32(n)),
        3 * 32768,
        seed=seed,
        prefix="__cluster_dims__(2, 1, 1)" if cluster else "",
        checks=ALL_CHECKS,
    )
    assert np.array_equal(c, a @ b.T)
    assert result.findings == []


@pytest.mark.parametrize(
    ("mask", "home", "expected"),
    [(15, 0, {0: 2, 2: 2}), (6, 3, {1: 1, 3: 1}), (6, 2, {0: 1, 2: 1})],
)
def test_a_pair_multicast_tells_the_block_of_each_pair_that_the_mbarrier_names(
    mask, home, expected
):
    """PTX ISA, cp.async.bulk.tensor: under .cta_group::2 the parity of the mbarrier's own block
    says which block of each pair that gets data is told of it."""
    x, y = np.arange(32, dtype=F32), np.zeros((4, 32), F32)
    told = ", ".join(str(128 * expected.get(rank, 0)) for rank in range(4))
    body = f"""__shared__ alignas(128) float tile[32]; __shared__ u64 bar;
tile[threadIdx.x] = -1;
u32 told[4] = {{{told}}};
if (threadIdx.x == 0) {{ init(&bar, 1); fence(); if (told[rank()]) expect(&bar, told[rank()]); }}
cluster_sync();
if (threadIdx.x == 0 && rank() == 1)
    asm volatile("cp.async.bulk.tensor.1d.cta_group::2.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {{0}}], [%2], %3;"
                 :: "r"(smem(tile)), "l"(&map), "r"(map_rank(&bar, {home})), "h"((short){mask})
                 : "memory");
if (told[rank()]) wait(&bar, 0);
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];"""
    blackwell.run(
        "const __grid_constant__ TensorMap map, float* y",
        body,
        4,
        32,
        (tensor_map(x, (32,)), y),
        prefix="__cluster_dims__(4)",
        checks=ALL_CHECKS,
    )
    assert np.array_equal(y, np.where(mask >> np.arange(4)[:, None] & 1, x, -1))


MADE = """__shared__ alignas(1024) float tile[4 * 8]; __shared__ alignas(128) u32 made[32];
__shared__ u64 bar;
made[threadIdx.x] = 0;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncwarp();
if (threadIdx.x == 0) {
    u32 at = smem(made);
    ASM("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
        :: "r"(at), "l"(x) : "memory");
    ASM("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, 8;" :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 4;" :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;"
        :: "r"(at), "r"(columns) : "memory");
    ASM("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;"
        :: "r"(at), "r"(rows) : "memory");
    ASM("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;"
        :: "r"(at), "l"((u64)columns * 4) : "memory");
    ASM("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;"
        :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, STEP;"
        :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 7;" :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;"
        :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 0;"
        :: "r"(at) : "memory");
    ASM("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" :: "r"(at) : "memory");
}
__syncwarp();
ASM("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    " [%0], [%1], 128;" :: "l"(room), "r"(smem(made)) : "memory");
ASM("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(room) : "memory");
if (threadIdx.x == 0) {
    expect(&bar, sizeof(tile));
    load_2d(tile, (const TensorMap*)room, 8, 2, &bar);
}
wait(&bar, 0);
y[threadIdx.x] = tile[threadIdx.x];"""
PARAMETERS = "float* x, float* y, char* room, int rows, int columns"


def test_a_map_that_a_kernel_makes_itself():
    x, y, room = np.arange(5 * 16, dtype=F32).reshape(5, 16), np.zeros(32, F32), np.zeros(128, "u1")
    args = x, y, room, np.int32(5), np.int32(16)
    result = run(PARAMETERS, MADE.replace("STEP", "1"), 1, 32, args, checks=ALL_CHECKS)
    assert not result.findings
    assert np.array_equal(y.reshape(4, 8)[:3], x[2:, 8:]) and not y[24:].any()
    finding = fault(PARAMETERS, MADE.replace("STEP", "0"), 1, 32, args)
    assert finding.cause == Cause.TENSOR_MAP_INVALID
