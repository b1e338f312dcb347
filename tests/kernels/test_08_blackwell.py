"""The kernels for sm_100a, which no GPU has run: what the assembler and CuTe make of them."""

import re
from dataclasses import replace

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.benchmarks.cases import blackwell, block_scaled
from course_utils.benchmarks.tools import prove_blackwell
from course_utils.compiling.headers import cute_header_paths
from course_utils.needs import lacking

KERNELS = [
    *((file, blackwell.FOLDER, {}) for file in ("01_umma_tile.cu",)),
    *((rung.file, blackwell.FOLDER, {}) for rung in blackwell.RUNGS.values()),
    *((file, block_scaled.FOLDER, {}) for file in ("01_mxfp8_tile.cu", "02_nvfp4_tile.cu")),
    *(
        (file, block_scaled.FOLDER, {"NVFP4": nvfp4})
        for file in ("03_scaled_gemm.cu", "04_scaled_pair.cu")
        for nvfp4 in (0, 1)
    ),
]
HELD = "Function properties|bytes stack|Used|Compil|gmem|^$"  # lines of ptxas that warn of nothing


@pytest.mark.parametrize("file, folder, defines", KERNELS)
def test_a_kernel_becomes_a_cubin_for_sm_100a_that_spills_nothing(file, folder, defines):
    module = blackwell.blackwell_kernel(file, folder, **defines).module
    compiled = module.compiled(blackwell.ARCH, "--ptxas-options=-v")
    assert compiled.cubin[:4] == b"\x7fELF"
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in compiled.log
    assert [line for line in compiled.log.splitlines() if not re.search(HELD, line)] == []


# --- the command that proves them ---


def test_the_command_says_what_it_needs_where_there_is_no_such_gpu(capsys):
    if lacking(blackwell.ARCH) is None:
        pytest.skip("this is such a GPU")
    assert prove_blackwell.run(None) == 2
    assert "needs an sm_100a GPU (a B200)" in capsys.readouterr().out


def test_what_it_proves_is_right_on_the_emulator(capsys):
    shapes = {"shapes": ((1, 8, 8),), "scaled_shapes": ((1, 4, 32),)}
    assert prove_blackwell.all_right(**shapes, repeats=1, bn=64, stages=2)
    printed = capsys.readouterr().out
    kernels = len(blackwell.RUNGS) + len(prove_blackwell.SCALED)
    assert printed.count("right in 1 run") == 3 * len(prove_blackwell.TILES) + kernels


def test_a_space_follows_the_longest_label():
    rungs = blackwell.RUNGS, prove_blackwell.SHAPES
    scaled = prove_blackwell.SCALED, prove_blackwell.SCALED_SHAPES
    labels = [
        prove_blackwell._label(name, shape)
        for names, shapes in (rungs, scaled)
        for name in names
        for shape in shapes
    ]
    assert max(map(len, labels)) < prove_blackwell.WIDEST


@pytest.mark.parametrize("name", blackwell.RUNGS)
def test_it_finds_the_run_that_is_wrong(name):
    work = blackwell.product_work(name, (1, 8, 8), bn=64, stages=2, pairs=1)
    assert prove_blackwell.faults(work, 2) == ""
    wrong = replace(work, expected=lambda: cp.ones((1, 8)))
    assert "run 1 of 2" in prove_blackwell.faults(wrong, 2)


@pytest.mark.parametrize("pair", [False, True], ids=["alone", "pair"])
@pytest.mark.parametrize("form", block_scaled.FORMATS)
def test_it_finds_a_product_with_the_scales_of_other_blocks(form, pair):
    work = block_scaled.scaled_work(form, (2, 4, 96), pair=pair, bn=64, stages=2)
    assert prove_blackwell.faults(work, 1) == ""
    given = work.launches[0].args[2]
    scales = given.array.reshape(-1) if pair else given
    scales[:16] = scales[:16][::-1].copy()
    assert "run 1 of 1" in prove_blackwell.faults(work, 1)


# --- beside CuTe ---

CUTE = r"""
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/copy_traits_sm100.hpp>
#include "ptx.cuh"
#include "tcgen05.cuh"
using namespace cute;
using T = bfloat16_t;
constexpr UMMA::Major K = UMMA::Major::K;
using One = SM100_MMA_F16BF16_SS<T, T, float, 128, 64, K, K>;
using Two = SM100_MMA_F16BF16_2x1SM_SS<T, T, float, 256, 64, K, K>;

template <int M, int N>
__device__ void instruction(unsigned *words, int number)
{
    words[2 * number] = uint32_t(UMMA::make_instr_desc<T, T, float, M, N, K, K>());
    words[2 * number + 1] = umma_bf16(M, N);
}

// CuTe's instruction descriptors, each followed by ours.
extern "C" __global__ void instructions(unsigned *words)
{
    instruction<128, 32>(words, 0);
    instruction<128, 256>(words, 1);
    instruction<256, 64>(words, 2);
    instruction<256, 256>(words, 3);
}

// Of block `rank`: the descriptors of A for the four steps of K, CuTe's followed by ours; where in
// shared memory each element of A lies, 128 x 64; the row and column of A, B and D that it holds.
template <class Op, int M>
__device__ void parts(int rank, unsigned long long *words, int *offsets, int *a, int *b, int *d)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    TiledMMA mma = make_tiled_mma(Op{});
    auto mine = mma.get_slice(rank);
    auto shape = partition_shape_A(mma, Shape<Int<M>, _64>{});
    auto layout = UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<T>{}, shape);
    Tensor tile = make_tensor(make_smem_ptr((T *)shared), layout);
    Tensor descriptors = mine.make_fragment_A(tile);
    for (int k = 0; k < 4; ++k) {
        UMMA::SmemDescriptor word = descriptors(_, _, k)[0];
        words[2 * k] = word.desc_;
        words[2 * k + 1] = umma_tile(shared_address(shared)) + 2 * k;
    }
    Tensor rows_a = mine.partition_A(make_identity_tensor(Shape<Int<M>, _64>{}));
    Tensor rows_b = mine.partition_B(make_identity_tensor(Shape<_64, _64>{}));
    Tensor rows_d = mine.partition_C(make_identity_tensor(Shape<Int<M>, _64>{}));
    for (int i = threadIdx.x; i < 128 * 64; i += blockDim.x) {
        int row = i / 64, k = i % 64;
        offsets[i] = &tile(make_coord(row, k % 16), 0, k / 16) - (T *)shared;
        auto from = rows_a(make_coord(row, k % 16), 0, k / 16);
        a[i] = get<0>(from) * 64 + get<1>(from);
        auto to = rows_d(make_coord(row, k), 0, 0);
        d[i] = get<0>(to) * 64 + get<1>(to);
    }
    constexpr int kRows = size<0, 0>(decltype(rows_b.layout()){});
    for (int i = threadIdx.x; i < kRows * 64; i += blockDim.x) {
        auto from = rows_b(make_coord(i / 64, i % 16), 0, i % 64 / 16);
        b[i] = get<0>(from) * 64 + get<1>(from);
    }
}

extern "C" __global__ void alone(unsigned long long *words, int *offsets, int *a, int *b, int *d)
{
    parts<One, 128>(0, words, offsets, a, b, d);
}

extern "C" __global__ void even(unsigned long long *words, int *offsets, int *a, int *b, int *d)
{
    parts<Two, 256>(0, words, offsets, a, b, d);
}

extern "C" __global__ void odd(unsigned long long *words, int *offsets, int *a, int *b, int *d)
{
    parts<Two, 256>(1, words, offsets, a, b, d);
}

// The row and column of D that each register of a thread gets, by the load that we use.
extern "C" __global__ void fetched(int *cells)
{
    TiledMMA mma = make_tiled_mma(One{});
    auto block = mma.get_slice(0);
    Tensor d = block.partition_C(make_identity_tensor(Shape<_128, _64>{}));
    Tensor sums = block.make_fragment_C(d);
    sums.data() = 0u;
    TiledCopy load = make_tmem_copy(SM100_TMEM_LOAD_32dp32b16x{}, sums);
    Tensor mine = load.get_slice(threadIdx.x).partition_D(d);
    for (int i = 0; i < size(mine); ++i) {
        cells[threadIdx.x * 64 + i] = get<0>(mine(i)) * 64 + get<1>(mine(i));
    }
}
"""
ROW, COLUMN = np.mgrid[:128, :64]


@pytest.fixture(scope="module")
def cute():
    if not cute_header_paths():
        pytest.skip("needs the extra cute (pip install -e .[cpu,cute])")
    options = ("-DCUTLASS_ARCH_MMA_SM100A_ENABLED",)
    return load(source=CUTE, arch=blackwell.ARCH, options=options, device="emulator")


@pytest.mark.gpu  # the compiler takes seconds for CuTe's headers
def test_our_descriptors_of_instructions_are_cutes(cute):
    words = cp.zeros((4, 2), np.uint32)
    cute.instructions(1, 1, (words,))
    words = words.get()
    assert (words[:, 0] == words[:, 1]).all() and len(set(words[:, 0].tolist())) == 4


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name, first_a, first_b", [("alone", 0, 0), ("even", 0, 0), ("odd", 128, 32)]
)
def test_our_tiles_and_their_descriptors_are_cutes(cute, name, first_a, first_b):
    words = cp.zeros((4, 2), np.uint64)
    offsets, a, b, d = (cp.full((128, 64), -1, np.int32) for _ in range(4))
    cute[name](1, 128, (words, offsets, a, b, d), shared_mem=1 << 15)
    words, offsets, a, b, d = (each.get() for each in (words, offsets, a, b, d))
    assert (words[:, 0] == words[:, 1]).all()
    # A box of 128 x 64 as TMA's swizzle of 128 bytes writes it.
    assert (offsets == ROW * 64 + (COLUMN // 8 ^ ROW % 8) * 8 + COLUMN % 8).all()
    held = 64 if name == "alone" else 32  # rows of B
    assert (a == (first_a + ROW) * 64 + COLUMN).all() and (d == a).all()
    assert (b[:held] == ((first_b + ROW) * 64 + COLUMN)[:held]).all() and (b[held:] == -1).all()


@pytest.mark.gpu
def test_a_thread_fetches_the_row_of_its_lane_as_cutes_does(cute):
    cells = cp.full((128, 64), -1, np.int32)
    cute.fetched(1, 128, (cells,))
    assert (cells.get() == ROW * 64 + COLUMN).all()
