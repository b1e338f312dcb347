// The two linear layers, forward and backward, on tensor cores: batch norm 2 and ReLU of the
// windows' largest, linear3, ReLU, linear4, softmax and cross entropy. Then the gradients of the
// logits, of linear3's results, of its weights (dweight3) and of its inputs: dy2, [N][32][49],
// which is 0 where ReLU was closed. For batch norm's gradients also the sums of dy2 (dbeta) and of
// dy2 times the normalised best2 (dgamma), sums2, [clusters][2][32], and in scale2, [5][32], each
// channel's mean, 1 / deviation, gamma / deviation, the shift that goes with it, and the variance.
// A cluster of eight blocks takes 16 ROWS images at a time. Each block has the weights of four
// channels, 196 of linear3's inputs, in shared memory from beginning to end: it multiplies those
// forward, sends each image's sums to the block that has the image's end to do, gets all images'
// gradients back, and multiplies again. conv2_backward.cu waits for no more than dy2, sums2 and
// scale2: as soon as a block has those of its last images it counts itself in `arrived`. dweight3,
// [clusters] in the order of weight_of_sum3, comes after. It is added up in registers, and so are
// the sums for the head's gradients, `sums`, [blocks][kHeadSums].
// grid (8, clusters), block 512, dynamic shared as fast_network.py says

#include "block2.cuh"
#include "bulk.cuh"
#include "cluster.cuh"
#include "early_launch.cuh"
#include "head_sums.cuh"
#include "prepared.cuh"

#ifndef ROWS
#define ROWS 1
#endif
constexpr int kBlocks = kBlocks3;
constexpr int kThreads = kThreads3;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kImages = 16 * ROWS;      // of a cluster
constexpr int kOwn = kImages / kBlocks; // of which this block does the end
constexpr int kSplits = 2 / ROWS;       // warps that share a sum of the forward product
constexpr int kSumsOfBlock = kSplits * kOwn * kHidden; // that a block sends to another
constexpr int kChannels = kFilters2 / kBlocks;
constexpr int kColumns = kChannels * kPixels2;
constexpr int kSteps = (kColumns + 15) / 16;
constexpr int kPairs = kSteps;             // of tiles of 8 columns
constexpr int kStride = kStride3;          // eight rows begin in different banks
constexpr int kHiddenStride = kHidden + 8; // and here
constexpr int kPixelPlane = kImages * kStride;
constexpr int kGradientPlane = kImages * kHiddenStride;
constexpr int kOwnPairs = kTiles3 / 2; // of a warp, of dweight3
constexpr int kFours = kColumns / 4;   // of a row
static_assert(ROWS == 1 || ROWS == 2, "16 or 32 images");
static_assert(2 * kOwnPairs >= kPairs, "two warps have all columns");

// Call work(image, four) for this thread's copies of kImages images: a warp takes whole ones.
template <typename Work>
__device__ inline void for_own_fours(Work work)
{
#pragma unroll
    for (int image = threadIdx.x / kWarpSize; image < kImages; image += kWarps) {
#pragma unroll
        for (int four = threadIdx.x % kWarpSize; four < kFours; four += kWarpSize) {
            work(image, four);
        }
    }
}

// Start copies of best2 of the block's columns and of kImages images from `first` on.
__device__ inline void fetch(float *best, const float *best2, int first_column, int first, int N)
{
    for_own_fours([&](int image, int four) {
        if (first + image < N) {
            const float *from = best2 + (first + image) * kInputs3 + first_column + four * 4;
            cp_async_16(shared_address(best + image * kColumns + four * 4), from);
        }
    });
    cp_async_commit();
}

// The labels of the kOwn images from `first` on. The warp that loads them has no other work then.
__device__ inline void fetch_labels(int *near_labels, const unsigned char *labels, const int *order,
                                    int step, int first, int N)
{
    int own = (int)threadIdx.x - kThreads / 2;
    if (own >= 0 && own < kOwn) {
        int image = first + own;
        near_labels[own] = image < N ? labels[image_number(order, step, N, image)] : 0;
    }
}

extern "C" __global__ void __cluster_dims__(kBlocks) __launch_bounds__(kThreads, 1)
    linear_layers(const float *best2, const float *means, const float *squares, const float *gamma2,
                  const float *beta2, const Half *factors3, const float *bias3,
                  const float *weight4, const float *bias4, const unsigned char *labels,
                  const int *order, const int *clock, float *scale2, float *dy2, float *sums2,
                  float *dweight3, float *sums, int *arrived, int blocks, int N)
{
    extern __shared__ float4 shared4[];
    Half *weights = reinterpret_cast<Half *>(shared4); // [half][hidden][column]
    Half *pool = weights + kHalves * kPlane3;          // [half][image][column]
    Half *gradients = pool + kHalves * kPixelPlane;    // [half][image][hidden]
    float *best = reinterpret_cast<float *>(gradients + kHalves * kGradientPlane);
    float *slots = best + kImages * kColumns;             // [block][split][own image][hidden]
    float *sent = slots + kBlocks * kSumsOfBlock;         // the parts for each block
    float *head_weights = sent + kBlocks * kSumsOfBlock; // then both biases
    float *near_bias4 = head_weights + kClasses * kHidden;
    float *near_bias3 = near_bias4 + 16;
    __shared__ Statistics2<kChannels> of_batch;
    __shared__ unsigned long long full;     // the barriers of the copy of the weights, of the
    __shared__ unsigned long long sums_full; // sums for this block's images, and of all gradients
    __shared__ unsigned long long gradients_full;
    __shared__ __align__(16) float hidden[kOwn][kHidden]; // linear3's results after ReLU
    __shared__ __align__(16) float back[kOwn][kHidden];   // and their gradients
    __shared__ float dlogits[kOwn][kClasses];
    __shared__ float losses[kOwn];
    __shared__ int near_labels[kOwn];
    __shared__ float of_column[2][kPairs * 16];

    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int group = lane / 4; // rows and columns of an mma's tiles that a lane has
    int pair = lane % 4;
    int rank = blockIdx.x;
    int first_column = rank * kColumns;
    int step = clock[0];

    unsigned barrier = shared_address(&full);
    unsigned sums_barrier = shared_address(&sums_full);
    unsigned gradients_barrier = shared_address(&gradients_full);
    constexpr int kSumBytes = kSumsOfBlock * sizeof(float);
    constexpr int kRowBytes = kHidden * sizeof(Half); // of an image's gradients
    constexpr int kGradientBytes = (kBlocks - 1) * kOwn * kHalves * kRowBytes;
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarrier_init(sums_barrier, 1);
        mbarrier_init(gradients_barrier, 1 + kOwn); // and the block's own results
        mbarriers_are_ready();
        mbarrier_expect(sums_barrier, kBlocks * kSumBytes);
        mbarrier_expect(gradients_barrier, kGradientBytes);
    }
    cluster_arrive_relaxed(); // the others may write when all have said so
    if (threadIdx.x == 0) {
        constexpr int kBytes = kHalves * kPlane3 * sizeof(Half);
        mbarrier_expect(barrier, kBytes);
        bulk_load(weights, factors3 + rank * kHalves * kPlane3, kBytes, barrier);
    }
    constexpr int kFoursOfHead = kClasses * kHidden / 4; // copied together with fetch's
    static_assert(kFoursOfHead + kHidden / 4 + kClasses <= kThreads, "each thread copies once");
    int own_copy = threadIdx.x;
    if (own_copy < kFoursOfHead) {
        cp_async_16(shared_address(head_weights + own_copy * 4), weight4 + own_copy * 4);
    } else if (own_copy < kFoursOfHead + kHidden / 4) {
        own_copy -= kFoursOfHead;
        cp_async_16(shared_address(near_bias3 + own_copy * 4), bias3 + own_copy * 4);
    } else if (own_copy < kFoursOfHead + kHidden / 4 + kClasses) {
        own_copy -= kFoursOfHead + kHidden / 4;
        cp_async_4(shared_address(near_bias4 + own_copy), bias4 + own_copy);
    }
    int own_channel = rank * kChannels + warp % kChannels; // of batch norm 2
    float gamma = gamma2[own_channel];
    float beta = beta2[own_channel];
    constexpr int kPad = kSteps * 16 - kColumns; // columns that hold zeros
    for (int i = threadIdx.x; i < kHalves * kImages * kPad; i += kThreads) {
        pool[i / kPad * kStride + kColumns + i % kPad] = 0;
    }
    fetch_labels(near_labels, labels, order, step, blockIdx.y * kImages + rank * kOwn, N);
    wait_for_the_one_before();
    let_the_next_begin();
    fetch(best, best2, first_column, blockIdx.y * kImages, N);
    find_statistics2(of_batch, means, squares, gamma, beta, scale2, blockIdx.y == 0,
                     rank * kChannels, blocks, N);
    __syncthreads();
    cluster_wait(); // all blocks have begun, and can be written into
    mbarrier_wait(barrier, 0);

    float of_images = gradient_scale(N);
    float of_flow = 1.0f / (of_images * kWeightScale);
    float product[kOwnPairs][2][4] = {}; // of dweight3
    float of_beta[2][2] = {};
    float of_gamma[2][2] = {};
    float head[(kHeadSums + kThreads - 1) / kThreads] = {};
    int of_warp = warp % 8; // 16 hidden results
    int second = warp / 8;  // another 16 images, another half of the columns
    unsigned turn = 0;      // of the barriers
    for (int first = blockIdx.y * kImages; first < N; first += gridDim.y * kImages) {
        int next = first + gridDim.y * kImages;
        int image = first + rank * kOwn + warp; // of the warps that do the end of one
        bool there = warp < kOwn && image < N;
        cp_async_wait<0>(); // each thread has its own copies
        for_own_fours([&](int own, int four) {
            float value[4] = {};
            if (first + own < N) {
                float4 given4 = *reinterpret_cast<const float4 *>(best + own * kColumns + four * 4);
                float given[] = {given4.x, given4.y, given4.z, given4.w};
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    int channel = (four * 4 + j) / kPixels2;
                    value[j] = relu2(given[j], of_batch.scale[channel], of_batch.shift[channel]);
                }
            }
            unsigned low[kHalves];
            unsigned high[kHalves];
            split(low, value[0] * kPixelScale, value[1] * kPixelScale);
            split(high, value[2] * kPixelScale, value[3] * kPixelScale);
            Half *to = pool + own * kStride + four * 4;
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                *reinterpret_cast<uint2 *>(to + h * kPixelPlane) = make_uint2(low[h], high[h]);
            }
        });
        __syncthreads();

        // linear3: 16 images x 16 results, over all columns or half of them
        float sum[2][4] = {};
        int row = (ROWS == 2 ? second * 16 : 0) + lane % 16;
        int from = ROWS == 2 ? 0 : second * (kSteps + 1) / 2;
        int to = ROWS == 2 ? kSteps : second == 0 ? (kSteps + 1) / 2 : kSteps;
#pragma unroll 4
        for (int k = from; k < to; ++k) {
            unsigned a[kHalves][4];
            unsigned b[kHalves][4];
            load_tiles<kPixelPlane>(a, pool + row * kStride + k * 16 + lane / 16 * 8);
            int result = of_warp * 16 + lane / 16 * 8 + lane % 8;
            load_tiles<kPlane3>(b, weights + result * kStride + k * 16 + lane / 8 % 2 * 8);
            multiply(sum[0], a, b, 0);
            multiply(sum[1], a, b, 1);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) { // two neighbouring results of an image
            int image = (ROWS == 2 ? second * 16 : 0) + i % 2 * 8 + group;
            int row = (image / kOwn * kSplits + (ROWS == 2 ? 0 : second)) * kOwn + image % kOwn;
            int result = of_warp * 16 + i / 2 * 8 + pair * 2;
            const float *two = sum[i / 2] + i % 2 * 2;
            *reinterpret_cast<float2 *>(sent + row * kHidden + (result ^ group * 8)) =
                make_float2(two[0], two[1]);
        }
        written_for_copies();
        __syncthreads(); // all sums of this block are there
        if (warp >= kWarps - kBlocks && lane == 0) {
            int to = warp - (kWarps - kBlocks);
            bulk_send(address_in_block(shared_address(slots + rank * kSumsOfBlock), to),
                      shared_address(sent + to * kSumsOfBlock), kSumBytes,
                      address_in_block(sums_barrier, to));
        }

        if (warp < kOwn) { // a warp does the end of an image, a lane four hidden results
            mbarrier_wait(sums_barrier, turn);
            if (threadIdx.x == 0 && next < N) {
                mbarrier_expect(sums_barrier, kBlocks * kSumBytes); // of the next images
            }
            __syncwarp();
            int own = warp;
            float z[4] = {};
            if (there) {
#pragma unroll
                for (int s = 0; s < kBlocks * kSplits; ++s) {
                    const float *four = slots + (s * kOwn + own) * kHidden;
                    four += lane * 4 ^ (rank * kOwn + own) % 8 * 8;
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        z[j] += four[j];
                    }
                }
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    z[j] =
                        fmaf(z[j], 1.0f / (kPixelScale * kWeightScale), near_bias3[lane * 4 + j]);
                    z[j] = z[j] <= 0.0f ? 0.0f : z[j];
                }
            }
            float logits[kClasses];
#pragma unroll
            for (int k = 0; k < kClasses; ++k) {
                float total = 0.0f;
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    total += z[j] * head_weights[k * kHidden + lane * 4 + j];
                }
                logits[k] = warp_sum(total) + near_bias4[k];
            }
            float largest = logits[0];
#pragma unroll
            for (int k = 1; k < kClasses; ++k) {
                largest = fmaxf(largest, logits[k]);
            }
            float total = 0.0f;
            int label = near_labels[own];
            float of_label = 0.0f;
            float power[kClasses];
#pragma unroll
            for (int k = 0; k < kClasses; ++k) {
                logits[k] -= largest;
                of_label = k == label ? logits[k] : of_label;
                power[k] = __expf(logits[k]);
                total += power[k];
            }
            float inverse = 1.0f / total;
            float dz[4] = {};
#pragma unroll
            for (int k = 0; k < kClasses; ++k) {
                float gradient = (power[k] * inverse - (k == label ? 1.0f : 0.0f)) * (1.0f / N);
                gradient = there ? gradient : 0.0f;
                power[k] = gradient;
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    dz[j] += gradient * head_weights[k * kHidden + lane * 4 + j];
                }
            }
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                dz[j] = z[j] <= 0.0f ? 0.0f : dz[j];
            }
            unsigned low[kHalves];
            unsigned high[kHalves];
            split(low, dz[0] * of_images, dz[1] * of_images);
            split(high, dz[2] * of_images, dz[3] * of_images);
            Half *row = gradients + (rank * kOwn + own) * kHiddenStride;
#pragma unroll
            for (int h = 0; h < kHalves; ++h) {
                *reinterpret_cast<uint2 *>(row + h * kGradientPlane + lane * 4) =
                    make_uint2(low[h], high[h]);
            }
            written_for_copies();
            __syncwarp();
            int to = lane % kBlocks;
            int half = lane / kBlocks;
            if (half < kHalves && to != rank) {
                unsigned from = shared_address(row + half * kGradientPlane);
                bulk_send(address_in_block(from, to), from, kRowBytes,
                          address_in_block(gradients_barrier, to));
            }
            if (lane == 0) {
                mbarrier_arrive(gradients_barrier);
                losses[own] = there ? logf(total) - of_label : 0.0f;
#pragma unroll
                for (int k = 0; k < kClasses; ++k) {
                    dlogits[own][k] = power[k];
                }
            }
            *reinterpret_cast<float4 *>(hidden[own] + lane * 4) =
                make_float4(z[0], z[1], z[2], z[3]);
            *reinterpret_cast<float4 *>(back[own] + lane * 4) =
                make_float4(dz[0], dz[1], dz[2], dz[3]);
        }
        mbarrier_wait(gradients_barrier, turn);
        if (threadIdx.x == 0 && next < N) {
            mbarrier_expect(gradients_barrier, kGradientBytes);
        }
        turn ^= 1;

        // the gradient of linear3's inputs: a warp takes 16 columns of all images
        if (warp < kPairs) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                float flow[2][4] = {};
#pragma unroll 4
                for (int k = 0; k < kHidden; k += 16) {
                    unsigned a[kHalves][4];
                    unsigned b[kHalves][4];
                    const Half *own = gradients + (i * 16 + lane % 16) * kHiddenStride;
                    load_tiles<kGradientPlane>(a, own + k + lane / 16 * 8);
                    load_tiles_transposed<kPlane3>(b, weights + (k + lane % 16) * kStride +
                                                          warp * 16 + lane / 16 * 8);
                    multiply(flow[0], a, b, 0);
                    multiply(flow[1], a, b, 1);
                }
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    int image = i * 16 + j % 4 / 2 * 8 + group;
                    int column = warp * 16 + j / 4 * 8 + pair * 2 + j % 2;
                    if (column < kColumns && first + image < N) {
                        int channel = column / kPixels2;
                        float &place = best[image * kColumns + column];
                        float h = (place - of_batch.mean[channel]) * of_batch.rstd[channel];
                        float value =
                            relu2(place, of_batch.scale[channel], of_batch.shift[channel]);
                        float gradient = value == 0.0f ? 0.0f : flow[j / 4][j % 4] * of_flow;
                        of_beta[j / 4][j % 2] += gradient;
                        of_gamma[j / 4][j % 2] += gradient * h;
                        place = gradient;
                    }
                }
            }
        }
        __syncthreads(); // the gradients are there, and the pooled pixels have been used
        for_own_fours([&](int image, int four) {
            if (first + image < N) {
                int from = image * kColumns + four * 4;
                float *to = dy2 + (first + image) * kInputs3 + first_column + four * 4;
                *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(best + from);
            }
        });
        if (next < N) { // a thread fetches into what it has read
            fetch(best, best2, first_column, next, N);
            fetch_labels(near_labels, labels, order, step, next + rank * kOwn, N);
        } else {
            if (warp < kPairs) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    float dbeta = of_beta[j / 2][j % 2];
                    float dgamma = of_gamma[j / 2][j % 2];
#pragma unroll
                    for (int distance = 4; distance < kWarpSize; distance *= 2) {
                        dbeta += __shfl_xor_sync(kWholeWarp, dbeta, distance);
                        dgamma += __shfl_xor_sync(kWholeWarp, dgamma, distance);
                    }
                    if (group == 0) {
                        int column = warp * 16 + j / 2 * 8 + pair * 2 + j % 2;
                        of_column[0][column] = dbeta;
                        of_column[1][column] = dgamma;
                    }
                }
            }
            __syncthreads();
            if (warp < 2 * kChannels) { // two kinds of sums
                int kind = warp / kChannels;
                int channel = warp % kChannels;
                float total = 0.0f;
                for (int i = lane; i < kPixels2; i += kWarpSize) {
                    total += of_column[kind][channel * kPixels2 + i];
                }
                total = warp_sum(total);
                if (lane == 0) {
                    sums2[(blockIdx.y * 2 + kind) * kFilters2 + rank * kChannels + channel] = total;
                }
            }
            __syncthreads(); // this block has all that conv2_backward.cu waits for
            if (threadIdx.x == 0) {
                announce(arrived);
            }
        }

        // dweight3: a warp takes 16 hidden results and half of the columns
#pragma unroll
        for (int k = 0; k < ROWS; ++k) {
            unsigned a[kHalves][4];
            int image = k * 16 + lane % 8 + lane / 16 * 8;
            load_tiles_transposed<kGradientPlane>(a, gradients + image * kHiddenStride +
                                                         of_warp * 16 + lane / 8 % 2 * 8);
#pragma unroll
            for (int i = 0; i < kOwnPairs; ++i) {
                int columns = (second * kOwnPairs + i) * 16;
                if (columns < kPairs * 16) {
                    unsigned b[kHalves][4];
                    load_tiles_transposed<kPixelPlane>(b, pool + (k * 16 + lane % 16) * kStride +
                                                              columns + lane / 16 * 8);
                    multiply(product[i][0], a, b, 0);
                    multiply(product[i][1], a, b, 1);
                }
            }
        }
#pragma unroll
        for (int q = 0; q < (kHeadSums + kThreads - 1) / kThreads; ++q) {
            int i = q * kThreads + threadIdx.x;
#pragma unroll
            for (int own = 0; own < kOwn; ++own) {
                if (i < kHeadBias3) {
                    head[q] += dlogits[own][i / kHidden] * hidden[own][i % kHidden];
                } else if (i < kHeadBias4) {
                    head[q] += back[own][i - kHeadBias3];
                } else if (i < kHeadSums) {
                    head[q] += i < kHeadLoss ? dlogits[own][i - kHeadBias4] : losses[own];
                }
            }
        }
        __syncthreads(); // the pooled pixels have been used
    }

    float4 *to = reinterpret_cast<float4 *>(dweight3) +
                 (blockIdx.y * kBlocks + rank) * kTiles3 * kThreads + threadIdx.x;
    float unscale = 1.0f / (of_images * kPixelScale);
#pragma unroll
    for (int i = 0; i < kTiles3; ++i) {
        const float *four = product[i / 2][i % 2];
        to[i * kThreads] = make_float4(four[0] * unscale, four[1] * unscale,
                                       four[2] * unscale, four[3] * unscale);
    }
    cluster_arrive_relaxed(); // all gradients for this block are there
#pragma unroll
    for (int q = 0; q < (kHeadSums + kThreads - 1) / kThreads; ++q) {
        int i = q * kThreads + threadIdx.x;
        if (i < kHeadSums) {
            sums[(blockIdx.y * kBlocks + rank) * kHeadSums + i] = head[q];
        }
    }
    cluster_wait(); // and those that it has sent
}
