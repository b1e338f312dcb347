// As conv2_backward_input.cu, with the gradient of pool1 on tensor cores: bf16 factors, fp32 sums.
// Each of PARTS blocks takes as many rows of an image; a warp takes all 16 channels and keeps the
// turned filters in registers.
// grid (any, PARTS), block 224, dynamic shared kSharedBytes

#include "../early_launch.cuh"
#include "../block1.cuh"
#include "gradient2_pairs.cuh"
#include "reduce.cuh"

#ifndef PARTS
#define PARTS 1
#endif
constexpr int kThreads = 224;
constexpr int kOfPart = kPixels1 / PARTS;
constexpr int kRows = kSide1 / PARTS;
constexpr int kWindowRows = PARTS == 1 ? kSide2 : 4; // of dc2 that the part needs
constexpr int kSegment = kSide1 / PARTS;             // pixels of a thread, for the sums
constexpr int kTiles = kFilters1 / 8;
constexpr int kHalves = kFilters2 / 16; // steps for a tap
constexpr int kSteps = kTaps * kHalves;
constexpr int kRowsOfWarp = kRows / (kThreads / kWarpSize);

extern "C" __global__ void __launch_bounds__(kThreads)
    conv2_backward_input_bf16(const unsigned char *images, const int *order, const int *clock,
                              const float *c2, const float *dy2, const unsigned char *code2,
                              const float *scale2, const float *sums2, const float *conv2,
                              const unsigned char *code1, float *sums1, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    Bf16 *dc2 = reinterpret_cast<Bf16 *>(shared4);   // [pixel][filter]
    Bf16 *weights = dc2 + kPaddedPixels * kStride32; // [tap][channel][filter], at first
    float *dy1 = reinterpret_cast<float *>(weights); // [channel][pixel]
    float *x = dy1 + kFilters1 * kPixels1;
    __shared__ Backward2 of_batch;

    let_the_next_begin();
    int step = clock[0];
    int part = blockIdx.y;
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
#pragma unroll 21
    for (int i = threadIdx.x; i < kFilters2 * kFilters1 * kTaps; i += kThreads) {
        int filter = i / (kFilters1 * kTaps);
        int channel = i / kTaps % kFilters1;
        int turned = kTaps - 1 - i % kTaps;
        weights[(turned * kFilters1 + channel) * kStride32 + filter] = rounded(conv2[i]);
    }
    unsigned *pairs = reinterpret_cast<unsigned *>(dc2);
    for (int i = threadIdx.x; i < kPaddedPixels * kStride32 / 2; i += kThreads) {
        pairs[i] = 0;
    }
    clear_image<kThreads>(x);
    wait_for_the_one_before();
    find_backward2(of_batch, scale2, sums2, tiles, N);
    __syncthreads();
    unsigned b[kSteps][kTiles][2];
#pragma unroll
    for (int i = 0; i < kSteps * kTiles * 2; ++i) {
        int k = i / (kTiles * 2);
        b[k][i / 2 % kTiles][i % 2] = weight_pair<kFilters1, kStride32>(
            weights + k % kHalves * 16, k / kHalves, i / 2 % kTiles, i % 2);
    }

    int own_channel = threadIdx.x / kSide1; // for the sums: 14 threads share a channel's pixels
    int own = threadIdx.x % kSide1 * kSegment;
    int own_row = part * kRows + own / kSide1;
    float found[kTaps + 1] = {};
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        __syncthreads(); // the weights, or the image before, have been used
        load_image<kThreads>(images, image_number(order, step, N, image), x);
        load_gradient2_pairs<kThreads, kFilters2, kWindowRows>(dc2, of_batch, c2, dy2, code2, image,
                                                               0, part * (kWindowRows - 1));
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < kRowsOfWarp; ++i) {
            int of_part = warp * kRowsOfWarp + i;
            int row = part * kRows + of_part;
            float sum[kTiles][4] = {};
            const Bf16 *pixels =
                dc2 + (row * kPaddedColumns + lane % 16) * kStride32 + lane / 16 * 8;
#pragma unroll
            for (int k = 0; k < kSteps; ++k) {
                int t = k / kHalves;
                int place = (t / 3 * kPaddedColumns + t % 3) * kStride32 + k % kHalves * 16;
                unsigned a[4];
                ldmatrix_4(a, shared_address(pixels + place));
#pragma unroll
                for (int tile = 0; tile < kTiles; ++tile) {
                    mma_bf16(sum[tile], a, b[k][tile][0], b[k][tile][1]);
                }
            }
#pragma unroll
            for (int j = 0; j < kTiles * 4; ++j) {
                int channel = j / 4 * 8 + lane % 4 * 2 + j % 2;
                int column = lane / 4 + j % 4 / 2 * 8;
                if (column < kSide1) {
                    dy1[channel * kOfPart + of_part * kSide1 + column] = sum[j / 4][j % 4];
                }
            }
        }
        __syncthreads();
        const unsigned char *codes = code1 + (image * kFilters1 + own_channel) * kPixels1;
        add_sums1<kSegment>(found, dy1 + own_channel * kOfPart + own, codes + part * kOfPart + own,
                            x, own_row, own % kSide1);
    }
    store_sums1(found, dy1, sums1);
}
