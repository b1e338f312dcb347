// The matrix descriptors that CuTe makes of a tile of A, 128 x 128 bf16 numbers whose rows are
// swizzled in spans of 128, 64, 32 or 16 bytes, where 16 means none: words[span][tile][k], for
// each 64 rows and each 16 columns. The tile's own address is subtracted, so that every device has
// the same words. A fragment of wgmma is a layout of such words.
// Limit: it multiplies nothing.
// grid 1, block 1, dynamic shared 32768

#include <cute/tensor.hpp>

using namespace cute;

template <class EightRows>
__device__ void words_of(EightRows eight_rows, bfloat16_t *first, unsigned long long *words)
{
    auto layout = tile_to_shape(eight_rows, Shape<_128, _128>{});
    Tensor tile = make_tensor(make_smem_ptr(first), layout);
    auto mma = make_tiled_mma(SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{});
    auto products = mma.get_slice(0);
    Tensor a = products.make_fragment_A(products.partition_A(tile)); // (1, tiles, k)
    const unsigned start = cast_smem_ptr_to_uint(first) >> 4;
    for (int part = 0; part < size<1>(a); ++part) {
        for (int k = 0; k < size<2>(a); ++k) {
            words[part * size<2>(a) + k] = a(0, part, k).desc_ - start;
        }
    }
}

extern "C" __global__ void fragment_words(unsigned long long *words)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    bfloat16_t *first = reinterpret_cast<bfloat16_t *>(memory);
    words_of(GMMA::Layout_K_SW128_Atom<bfloat16_t>{}, first, words);
    words_of(GMMA::Layout_K_SW64_Atom<bfloat16_t>{}, first, words + 16);
    words_of(GMMA::Layout_K_SW32_Atom<bfloat16_t>{}, first, words + 32);
    words_of(GMMA::Layout_K_INTER_Atom<bfloat16_t>{}, first, words + 48);
}
