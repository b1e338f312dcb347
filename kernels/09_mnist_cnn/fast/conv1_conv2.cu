// conv1 -> batch norm -> ReLU -> max pool -> conv2 of the batch, in fp32. conv1's results are never
// stored: its statistics are known before (input_moments.cu), so a block takes an image from its
// bytes to the pooled channels in shared memory, and convolves those from there. Writes pool1 (N x
// 16 x 196) and code1, the winner of each window, for the way back; c2 (N x 32 x 196); and of c2
// the mean and the squared distances from it, for each filter and image. Each of PARTS blocks takes
// as many rows of an image, and in it each of SPLITS groups of threads as many of conv2's 16
// channels; a thread computes ROWS x 7 pixels of 4 filters. Limit: fp32 arithmetic.
// grid (any, PARTS), block 224, dynamic shared kSharedFloats * 4

#include "early_launch.cuh"
#include "block1.cuh"
#include "conv_tile.cuh"
#include "results2.cuh"

#ifndef ROWS
#define ROWS 1
#endif
#ifndef PARTS
#define PARTS 1
#endif
#ifndef SPLITS
#define SPLITS 1
#endif
constexpr int kOfPart = kPixels1 / PARTS; // pixels of this block
constexpr int kRows = kSide1 / PARTS;
typedef ConvTile<kOfPart, kFilters2, ROWS, SPLITS> Tile;
constexpr int kThreads = Tile::kThreads;
constexpr int kWeightStride = kFilters2 + 4;
constexpr int kWeightFloats = kFilters1 * kTaps * kWeightStride;

extern "C" __global__ void __launch_bounds__(kThreads)
    conv1_conv2(const unsigned char *images, const int *order, int *clock, const long long *moments,
                const float *conv1, const float *gamma1, const float *beta1, const float *conv2,
                float *pool1, unsigned char *code1, float *c2, float *means, float *squares, int N)
{
    extern __shared__ float4 shared4[];
    float *weights = reinterpret_cast<float *>(shared4); // [channel][tap][filter]
    float *results = weights + kWeightFloats;            // [filter][pixel]
    float *pool = results + kFilters2 * kOfPart;         // [channel], with zeros around it
    float *x = pool + kFilters1 * kPlane;                // the image, with zeros around it
    __shared__ Statistics1 of_batch;
    __shared__ Filters1 filters;

    let_the_next_begin();
    int step = clock[0];
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        clock[1] = step;
    }
    int part = blockIdx.y;
#pragma unroll
    for (int i = threadIdx.x * 4; i < kFilters2 * kFilters1 * kTaps; i += kThreads * 4) {
        float four[4]; // of the same filter: 144 is a multiple of 4
        load_neighbours(four, conv2 + i);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int tap = (i + j) % (kFilters1 * kTaps); // of a channel
            weights[tap * kWeightStride + i / (kFilters1 * kTaps)] = four[j];
        }
    }
    for (int i = threadIdx.x; i < kFilters1 * kPlane; i += kThreads) {
        pool[i] = 0.0f;
    }
    find_statistics1(of_batch, moments, step, conv1, N, 0, kFilters1);
    find_filters1(filters, of_batch, gamma1, beta1);
    clear_image<kThreads>(x);
    __syncthreads();

    Tile tile;
    int first = max(part * kRows - 1, 0) * kSide1; // of the pixels of pool1 that this part needs
    int end = min((part + 1) * kRows + 1, kSide1) * kSide1;

    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        load_image<kThreads>(images, image_number(order, step, N, image), x);
        __syncthreads();

        for (int p = first + threadIdx.x; p < end; p += kThreads) { // a window of 2 x 2
            float patch[4][4];
            load_patch(patch, x, p);
            float *to = pool + (p / kSide1 + 1) * kRowStride + p % kSide1 + 1;
#pragma unroll 2
            for (int f = 0; f < kFilters1; ++f) {
                int code;
                float value = pooled(patch, filters, f, code);
                to[f * kPlane] = value;
                if (p / kOfPart == part) {
                    int at = (image * kFilters1 + f) * kPixels1 + p;
                    pool1[at] = value;
                    code1[at] = code;
                }
            }
        }
        __syncthreads();

        tile.add<kFilters1, kWeightStride>(pool + part * kRows * kRowStride, weights);
        tile.stage(results);
        store_results2<kThreads, PARTS>(results, c2, means, squares, N, image, part);
    }
}
