// The way back from conv2's results to conv1's weights, in fp32: dc2 in shared memory, from there
// the gradient of pool1 by the turned filters, then at once what conv1's gradients need. Since dy1
// is 0 but at the windows' largest, these are 10 sums for each filter: dy1 times the pixel under
// each of the nine taps, and dy1; update.cu makes the gradients of them, with the sums of
// input_moments.cu. sums1 is [16][10][blocks]. Each of PARTS blocks takes as many rows of an image,
// and in it each of SPLITS groups of threads as many of conv2's 32 filters; a thread computes ROWS
// x 7 pixels of 4 channels. Limit: fp32 arithmetic.
// grid (any, PARTS), block 224, dynamic shared kSharedFloats * 4

#include "early_launch.cuh"
#include "backward2.cuh"
#include "block1.cuh"
#include "conv_tile.cuh"

#ifndef ROWS
#define ROWS 1
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef SPLITS
#define SPLITS 2
#endif
constexpr int kOfPart = kPixels1 / PARTS;
constexpr int kRows = kSide1 / PARTS;
constexpr int kWindowRows = PARTS == 1 ? kSide2 : 4; // of dc2 that the part needs
typedef ConvTile<kOfPart, kFilters1, ROWS, SPLITS> Tile;
constexpr int kThreads = Tile::kThreads;
constexpr int kSegment = kSide1 / PARTS; // pixels of a thread, for the sums
static_assert(PARTS <= 2, "a part of more than two would need other rows of dc2");
static_assert(kThreads == 224, "add_sums1 and store_sums1 take 14 threads for each filter");

extern "C" __global__ void __launch_bounds__(kThreads)
    conv2_backward_input(const unsigned char *images, const int *order, const int *clock,
                         const float *c2, const float *dy2, const unsigned char *code2,
                         const float *scale2, const float *sums2, const float *conv2,
                         const unsigned char *code1, float *sums1, int tiles, int N)
{
    extern __shared__ float4 shared4[];
    float *weights = reinterpret_cast<float *>(shared4);  // [filter][turned tap][channel]
    float *dy1 = weights + kFilters2 * kTaps * kFilters1; // [channel][pixel]
    float *x = dy1 + kFilters1 * kPixels1;                // the image, with zeros around it
    float *dc2 = x + kImageFloats;                        // [filter], with zeros around it
    __shared__ Backward2 of_batch;

    let_the_next_begin();
    int step = clock[0];
    int part = blockIdx.y;
#pragma unroll
    for (int i = threadIdx.x * 4; i < kFilters2 * kFilters1 * kTaps; i += kThreads * 4) {
        float four[4];
        load_neighbours(four, conv2 + i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int filter = i / (kFilters1 * kTaps);
            int channel = (i + j) / kTaps % kFilters1;
            int turned = kTaps - 1 - (i + j) % kTaps;
            weights[(filter * kTaps + turned) * kFilters1 + channel] = four[j];
        }
    }
    for (int i = threadIdx.x; i < kFilters2 * kPlane; i += kThreads) {
        dc2[i] = 0.0f;
    }
    clear_image<kThreads>(x);
    wait_for_the_one_before();
    find_backward2(of_batch, scale2, sums2, tiles, N);

    Tile tile;
    int own_channel = threadIdx.x / kSide1; // for the sums: 14 threads share a channel's pixels
    int own = threadIdx.x % kSide1 * kSegment;
    int own_row = part * kRows + own / kSide1;
    float found[kTaps + 1] = {};

    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        __syncthreads(); // the image before has been used
        load_image<kThreads>(images, image_number(order, step, N, image), x);
        load_gradient2<kThreads, kFilters2, kWindowRows, kPlane, kRowStride>(
            dc2 + kRowStride + 1, of_batch, c2, dy2, code2, image, 0, part * (kWindowRows - 1));
        __syncthreads();
        tile.add<kFilters2, kFilters1>(dc2 + part * kRows * kRowStride, weights);
        tile.stage(dy1);
        const unsigned char *codes = code1 + (image * kFilters1 + own_channel) * kPixels1;
        add_sums1<kSegment>(found, dy1 + own_channel * kOfPart + own, codes + part * kOfPart + own,
                            x, own_row, own % kSide1);
    }
    store_sums1(found, dy1, sums1);
}
