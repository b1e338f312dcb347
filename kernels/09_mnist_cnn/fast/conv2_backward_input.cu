// The way back from conv2's results to conv1's weights, in fp32: dc2 in shared memory, from there the
// gradient of pool1 by the turned filters, then at once what conv1's gradients need. Since dy1 is 0
// but at the windows' largest, these are 10 sums for each filter: dy1 times the pixel under each of
// the nine taps, and dy1; update.cu makes the gradients of them, with the sums of input_moments.cu.
// sums1 is [16][10][blocks].
// Each of PARTS blocks takes as many rows of an image, and in it each of SPLITS groups of threads as
// many of conv2's 32 filters; a thread computes 7 pixels of 4 channels. Limit: fp32 arithmetic.
// grid (any, PARTS), block (112 * SPLITS / PARTS), dynamic shared kSharedFloats * 4

#include "backward2.cuh"
#include "block1.cuh"
#include "conv_tile.cuh"

#ifndef PARTS
#define PARTS 1
#endif
#ifndef SPLITS
#define SPLITS 2
#endif
constexpr int kColumns = 7;
constexpr int kChannels = 4; // of a thread
constexpr int kOfPart = kPixels1 / PARTS;
constexpr int kRows = kSide1 / PARTS;
constexpr int kWindowRows = PARTS == 1 ? kSide2 : 4; // of dc2 that the part needs
constexpr int kRuns = kOfPart / kColumns;
constexpr int kOfSplit = kRuns * kFilters1 / kChannels; // threads
constexpr int kThreads = kOfSplit * SPLITS;
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
    float *weights = reinterpret_cast<float *>(shared4);   // [filter][turned tap][channel]
    float *dy1 = weights + kFilters2 * kTaps * kFilters1;  // [channel][pixel]
    float *x = dy1 + kFilters1 * kPixels1;                 // the image, with zeros around it
    float *dc2 = x + kImageFloats;                         // [filter], with zeros around it
    __shared__ Backward2 of_batch;

    int step = clock[1];
    int part = blockIdx.y;
    for (int i = threadIdx.x; i < kFilters2 * kFilters1 * kTaps; i += kThreads) {
        int filter = i / (kFilters1 * kTaps);
        int channel = i / kTaps % kFilters1;
        int turned = kTaps - 1 - i % kTaps;
        weights[(filter * kTaps + turned) * kFilters1 + channel] = conv2[i];
    }
    for (int i = threadIdx.x; i < kFilters2 * kPlane; i += kThreads) {
        dc2[i] = 0.0f;
    }
    find_backward2(of_batch, scale2, sums2, tiles, N);

    int run = threadIdx.x % kRuns;
    int group = threadIdx.x % kOfSplit / kRuns;
    int split = threadIdx.x / kOfSplit;
    int row = part * kRows + run * kColumns / kSide1;
    int column = run * kColumns % kSide1;
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
        float sum[kChannels][kColumns] = {};
        const float *pixels = dc2 + row * kRowStride + column;
#pragma unroll 1
        for (int f = split; f < kFilters2; f += SPLITS) {
            convolve<kFilters1>(sum, pixels + f * kPlane,
                                weights + f * kTaps * kFilters1 + group * kChannels);
        }
        for (int turn = SPLITS - 1; turn >= 0; --turn) {
            if (split == turn) {
#pragma unroll
                for (int k = 0; k < kChannels; ++k) {
#pragma unroll
                    for (int i = 0; i < kColumns; ++i) {
                        float *to = dy1 + (group * kChannels + k) * kOfPart + run * kColumns + i;
                        *to = turn == SPLITS - 1 ? sum[k][i] : *to + sum[k][i];
                    }
                }
            }
            __syncthreads();
        }
        const unsigned char *codes = code1 + (image * kFilters1 + own_channel) * kPixels1;
        add_sums1<kSegment>(found, dy1 + own_channel * kOfPart + own, codes + part * kOfPart + own, x,
                            own_row, own % kSide1);
    }
    store_sums1(found, dy1, sums1);
}
