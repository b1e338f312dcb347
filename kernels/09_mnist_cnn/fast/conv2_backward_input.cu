// The way back from conv2's results to conv1's weights, in fp32: dc2 in shared memory, from there the
// gradient of pool1 by the turned filters, then at once what conv1's gradients need. Since dy1 is 0
// but at the windows' largest, these are 10 sums for each filter: dy1 times the pixel under each of
// the nine taps, and dy1; update.cu makes the gradients of them, with the sums of input_moments.cu.
// sums1 is [16][10][blocks].
// Half of the threads take 16 of conv2's 32 filters, the others the rest; a thread computes 7 pixels
// of 4 channels. Limit: fp32 arithmetic.
// grid (any), block 224, dynamic shared kSharedFloats * 4

#include "backward2.cuh"
#include "block1.cuh"
#include "conv_tile.cuh"

constexpr int kColumns = 7;
constexpr int kChannels = 4; // of a thread
constexpr int kHalves = 2;
constexpr int kRuns = kPixels1 / kColumns;
constexpr int kThreads = kRuns * kFilters1 / kChannels * kHalves;

extern "C" __global__ void __launch_bounds__(kThreads)
    conv2_backward_input(const unsigned char *images, const int *order, const int *clock,
                         const float *c2, const float *dy2, const unsigned char *code2,
                         const float *scale2, const float *sums2, const float *conv2,
                         const unsigned char *code1, float *sums1, int tiles, int N, int per_epoch)
{
    extern __shared__ float4 shared4[];
    float *weights = reinterpret_cast<float *>(shared4);   // [filter][turned tap][channel]
    float *dy1 = weights + kFilters2 * kTaps * kFilters1;  // [channel][pixel]
    float *x = dy1 + kFilters1 * kPixels1;                 // the image, with zeros around it
    float *dc2 = x + kImageFloats;                         // [filter], with zeros around it
    __shared__ Backward2 of_batch;

    int step = clock[1];
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
    int group = threadIdx.x / kRuns % (kFilters1 / kChannels);
    int half = threadIdx.x / (kThreads / kHalves);
    int row = run * kColumns / kSide1;
    int column = run * kColumns % kSide1;
    int own_channel = threadIdx.x / kSide1; // for the sums
    int own_row = threadIdx.x % kSide1;
    float found[kTaps + 1] = {};

    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        __syncthreads(); // the image before has been used
        load_image<kThreads>(images, image_number(order, step, per_epoch, N, image), x);
        load_gradient2<kThreads, kPlane, kRowStride>(dc2 + kRowStride + 1, of_batch, c2, dy2,
                                                     code2, image);
        __syncthreads();
        float sum[kChannels][kColumns] = {};
        const float *pixels = dc2 + row * kRowStride + column;
#pragma unroll 1
        for (int f = half; f < kFilters2; f += kHalves) {
            convolve<kFilters1>(sum, pixels + f * kPlane,
                                weights + f * kTaps * kFilters1 + group * kChannels);
        }
        for (int turn = kHalves - 1; turn >= 0; --turn) {
            if (half == turn) {
#pragma unroll
                for (int k = 0; k < kChannels; ++k) {
#pragma unroll
                    for (int i = 0; i < kColumns; ++i) {
                        float *to = dy1 + (group * kChannels + k) * kPixels1 + run * kColumns + i;
                        *to = turn == kHalves - 1 ? sum[k][i] : *to + sum[k][i];
                    }
                }
            }
            __syncthreads();
        }
        int first = own_row * kSide1;
        add_sums1(found, dy1 + own_channel * kPixels1 + first,
                  code1 + (image * kFilters1 + own_channel) * kPixels1 + first, x, own_row);
    }
    store_sums1(found, dy1, sums1);
}
