// C = A B^T for one block's tile, as in block_by_hand.
// Idea: a TiledMMA repeats the atom over 2 x 2 warps; ldmatrix is a copy atom whose TiledCopy is made
// to fit it, and `retile_D` shows the same registers in the shape that this copy fills.
// grid 1, block 128, dynamic shared 0
#include <cute/tensor.hpp>

using namespace cute;

extern "C" __global__ void block_by_layout(const half_t *A, const half_t *B, float *C)
{
    auto rows = Layout<Shape<_64, _32>, Stride<Int<40>, _1>>{}; // a gap of 16 bytes after each row
    __shared__ __align__(16) half_t memory_a[cosize(rows)], memory_b[cosize(rows)];
    for (int i = threadIdx.x; i < 64 * 4; i += 128) {
        const int to = rows(i / 4, i % 4 * 8);
        *reinterpret_cast<uint4 *>(memory_a + to) = reinterpret_cast<const uint4 *>(A)[i];
        *reinterpret_cast<uint4 *>(memory_b + to) = reinterpret_cast<const uint4 *>(B)[i];
    }
    __syncthreads();
    Tensor tile_a = make_tensor(make_smem_ptr(memory_a), rows);
    Tensor tile_b = make_tensor(make_smem_ptr(memory_b), rows);
    Tensor tile_c = make_tensor(make_gmem_ptr(C), Layout<Shape<_64, _64>, Stride<_64, _1>>{});

    auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{},
                              Tile<_32, _32, _16>{});
    auto part = mma.get_slice(threadIdx.x);
    Tensor a = part.partition_fragment_A(tile_a); // (8 values, 2 down, 2 along K)
    Tensor b = part.partition_fragment_B(tile_b); // (4 values, 4 across, 2 along K)
    Tensor sum = part.partition_fragment_C(tile_c); // (4 values, 2 down, 4 across)

    Copy_Atom<SM75_U32x4_LDSM_N, half_t> ldmatrix;
    auto reader_a = make_tiled_copy_A(ldmatrix, mma);
    auto reader_b = make_tiled_copy_B(ldmatrix, mma);
    auto reads_a = reader_a.get_slice(threadIdx.x);
    auto reads_b = reader_b.get_slice(threadIdx.x);
    copy(reader_a, reads_a.partition_S(tile_a), reads_a.retile_D(a));
    copy(reader_b, reads_b.partition_S(tile_b), reads_b.retile_D(b));
    clear(sum);
    gemm(mma, a, b, sum);
    copy(sum, part.partition_C(tile_c));
}
