"""Block scales for sm_100a: our words and layouts beside CuTe's."""

import numpy as np
import pytest

from course_utils import cp, load
from course_utils.benchmarks.cases.block_scaled import reference_formats
from course_utils.compiling.headers import cute_header_paths

CUTE = r"""
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>
#include "block_scaled.cuh"
using namespace cute;
using Eight = cutlass::float_e4m3_t;
using Four = cutlass::float_e2m1_t;
using Power = cutlass::float_ue8m0_t;
using Small = cutlass::float_ue4m3_t;

template <class T, class Scale, int N>
__device__ uint32_t instruction(int block)
{
    constexpr UMMA::Major K = UMMA::Major::K;
    auto word = UMMA::make_instr_desc_block_scaled<T, T, float, Scale, 128, N, K, K>();
    word.a_sf_id_ = word.b_sf_id_ = block;
    return uint32_t(word);
}

// CuTe's instruction descriptors, each followed by ours.
extern "C" __global__ void instructions(uint32_t *words)
{
    for (int block = 0; block < 4; ++block) {
        words[4 * block] = instruction<Eight, Power, 64>(block);
        words[4 * block + 1] = umma_mxfp8(128, 64, block);
        words[4 * block + 2] = instruction<Eight, Power, 256>(block);
        words[4 * block + 3] = umma_mxfp8(128, 256, block);
    }
    words[16] = instruction<Four, Small, 128>(0);
    words[17] = umma_nvfp4(128, 128);
}

// Where the scale of each block of a matrix (rows, 16 blocks) lies, by CUTLASS's layout.
template <int kBlock>
__device__ void place(int *places, int rows)
{
    using Config = cutlass::detail::Sm1xxBlockScaledConfig<kBlock>;
    auto layout = Config::tile_atom_to_shape_SFA(make_shape(rows, 128, 16 * kBlock, 1));
    for (int i = threadIdx.x; i < rows * 16; i += blockDim.x) {
        places[i] = layout(make_coord(i / 16, i % 16 * kBlock, 0));
    }
}

// The copies of the scales of A for a tile of 128 x 128 bytes: CuTe's descriptor of each and its
// address in tensor memory, followed by ours. Then where each product finds them, with the byte.
template <class Op, class Scale, int kBlock, int kSteps>
__device__ void copy(unsigned long long *words, int *products, unsigned char *shared)
{
    using Config = cutlass::detail::Sm1xxBlockScaledConfig<kBlock>;
    using Mma = decltype(make_tiled_mma(Op{}));
    auto layout = Config::deduce_smem_layoutSFA(Mma{}, Shape<_128, Int<64>, Int<kSteps>>{});
    Tensor tile = make_tensor(make_smem_ptr((Scale *)shared), layout);
    Tensor there = make_tensor<typename Mma::FrgTypeSFA>(shape(layout));
    there.data() = 0u;
    Tensor from = make_tensor(tile.data(), filter_zeros(tile.layout()));
    Tensor to = make_tensor(there.data(), filter_zeros(there.layout()));
    using Copy = SM100_UTCCP_4x32dp128bit_1cta;
    auto mine = make_utccp_copy(Copy{}, to).get_slice(0);
    auto sources = get_utccp_smem_desc_tensor<Copy>(mine.partition_S(from));
    auto targets = mine.partition_D(to);
    auto all = group_modes<1, decltype(rank(sources))::value>(sources);
    auto cells = group_modes<1, decltype(rank(targets))::value>(targets);
    for (int i = 0; i < size<1>(all); ++i) {
        UMMA::SmemDescriptor word = all(_, i)(0);
        words[4 * i] = word.desc_;
        words[4 * i + 1] = scale_tile(shared_address(shared) + i * kScaleTile);
        words[4 * i + 2] = raw_pointer_cast(cells(_, i).data());
        words[4 * i + 3] = i * kScaleColumns;
    }
    for (int k = 0; k < 4; ++k) {
        products[k] = raw_pointer_cast(there(_, _, k).data());
    }
}

extern "C" __global__ void copies(unsigned long long *eight, unsigned long long *four,
                                  int *products)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    constexpr UMMA::Major K = UMMA::Major::K;
    using One = SM100_MMA_MXF8F6F4_SS<Eight, Eight, float, Power, 128, 64, K, K>;
    using Two = SM100_MMA_MXF4_SS<Four, Four, float, Small, 128, 64, 16, K, K>;
    copy<One, Power, 32, 128>(eight, products, shared);
    copy<Two, Small, 16, 256>(four, products + 4, shared);
}

extern "C" __global__ void places(int *of_32, int *of_16, int rows)
{
    place<32>(of_32, rows);
    place<16>(of_16, rows);
}
"""


@pytest.fixture(scope="module")
def cute():
    if not cute_header_paths():
        pytest.skip("needs the extra cute (pip install -e .[cpu,cute])")
    options = ("-DCUTLASS_ARCH_MMA_SM100A_ENABLED",)
    return load(source=CUTE, arch="sm_100a", options=options, device="emulator")


@pytest.mark.gpu  # the compiler takes seconds for CuTe's headers
def test_our_descriptors_of_scaled_products_are_cutes(cute):
    words = cp.zeros((9, 2), np.uint32)
    cute.instructions(1, 1, (words,))
    words = words.get()
    assert (words[:, 0] == words[:, 1]).all() and len(set(words[:, 0].tolist())) == 9


@pytest.mark.gpu
def test_our_tiles_of_scales_are_cutlasss(cute):
    rows = 256
    of_32, of_16 = (cp.full((rows, 16), -1, np.int32) for _ in range(2))
    cute.places(1, 128, (of_32, of_16, np.int32(rows)))
    expected = reference_formats().scale_places(rows, 16)
    assert (of_32.get() == expected).all() and (of_16.get() == expected).all()


@pytest.mark.gpu
def test_our_copies_of_scales_are_cutes(cute):
    eight, four = cp.zeros((1, 4), np.uint64), cp.zeros((4, 4), np.uint64)
    products = cp.full((2, 4), -1, np.int32)
    cute.copies(1, 1, (eight, four, products), shared_mem=4096)
    for words in (eight.get(), four.get()):
        assert (words[:, 0] == words[:, 1]).all() and (words[:, 2] == words[:, 3]).all()
    by_byte, by_column = products.get().view(np.uint32)
    assert (by_byte == np.arange(4) << 30).all()  # the byte in the two highest bits
    assert (by_column == 4 * np.arange(4)).all()
