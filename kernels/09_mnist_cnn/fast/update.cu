// The end of a training step, in fp32: adds up the parts of every gradient, in a fixed order, and
// takes a step of plain stochastic gradient descent, also writes the weights as factors, moves the
// running statistics, stores the batch's mean loss, adds up the moments of the next step
// (input_moments.cuh) and zeroes those of the step after it. The learning rate falls evenly from
// `rate` to 0 over `total` steps. conv1's gradients follow from the 10 sums of conv2_backward.cu,
// called D here, and from the moments S and G over M pixels: dbeta = the sum of dy, dgamma = rstd
// (w D - mean dbeta), and dw_t = gamma rstd (D_t - dbeta S_t / M - dgamma rstd (w G_t - mean S_t) /
// M). Each block has a job: some images' moments, 1024 weights of linear3, 32 sums of the head,
// batch norm 2, and, once conv2_backward.cu has ended, a filter of conv1 or 32 weights of conv2.
// Those that wait keep this kernel from ending before the one before it. conv1's have most to do
// after that, and begin first. The others run beside conv2_backward.cu and make room for conv2's.
// grid (moment_blocks + 430), block 256, dynamic shared 0

#include "early_launch.cuh"
#include "head_sums.cuh"
#include "input_moments.cuh"
#include "prepared.cuh"
#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kBlocks = 8; // of a multiprocessor: as few registers as conv2_backward.cu leaves
constexpr int kResults2 = kFilters2 * kFilters1 * kTaps; // weights of conv2
constexpr int kSums1 = kTaps + 1;
constexpr int kConv1 = kFilters1; // the jobs' first blocks, or how many they are
constexpr int kHead = kFours3 / kThreads;
constexpr int kNorm2 = kHead + (kHeadSums + kWarpSize - 1) / kWarpSize;
constexpr int kConv2 = kNorm2 + 1;

// The sum over linear_layers's clusters of dbeta (kind 0) or dgamma (kind 1) of channel f.
__device__ inline float sum_of_tiles(const float *sums2, int tiles, int kind, int f)
{
    return strided_sum<8>(sums2 + kind * kFilters2 + f, 0, tiles * 2 * kFilters2, 2 * kFilters2);
}

// The sum of parts[...][column], `count` rows of `stride`: a warp for each eighth of the rows, a
// lane for each of 32 columns. In the first warp only.
__device__ inline float sum_of_parts(const float *parts, int count, int stride, int column)
{
    __shared__ float of_warp[kWarps][kWarpSize];
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int end = column < stride ? count * stride : 0;
    of_warp[warp][lane] = strided_sum<9>(parts + column, warp * stride, end, kWarps * stride);
    __syncthreads();
    float total = 0.0f;
    if (warp == 0) {
#pragma unroll
        for (int i = 0; i < kWarps; ++i) {
            total += of_warp[i][lane];
        }
    }
    return total;
}

// The number by which a variance over `count` values becomes the running one's.
__device__ inline float of_sample(double count)
{
    return (float)(count / (count - 1.0));
}

__device__ inline float moved(float running, float of_batch)
{
    return running + kMomentum * (of_batch - running);
}

extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    update(float *conv1, float *gamma1, float *beta1, float *conv2, float *gamma2, float *beta2,
           float *weight3, float *bias3, float *weight4, float *bias4, float *mean1,
           float *variance1, float *mean2, float *variance2, long long *moments, const float *sums1,
           int blocks1, const float *scale2, const float *sums2, int tiles, const float *dconv2,
           int blocks2, const float *head_sums, int head_blocks, const float *dweight3, int parts3,
           int *arrived, Half *forward2, Half *turned2, Half *factors3, float *losses,
           const unsigned char *images, const int *order, const int *clock, double rate, int total,
           int moment_blocks, int N)
{
    int step = clock[1];
    float now = (float)(rate * (1.0 - (double)step / total));
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int job = blockIdx.x; // kConv1, then the moments, then the rest

    if (job < kConv1) {
        __shared__ Statistics1 of_batch;
        __shared__ float sums[kSums1];
        int f = job;
        Share1 share = load_share1(moments, step, conv1, f, f + 1);
        float gamma = gamma1[f];
        float beta = beta1[f];
        float running_mean = mean1[f];
        float running_variance = variance1[f];
        find_statistics1(of_batch, share, N, f, f + 1);
        int own = min((int)threadIdx.x, kTaps - 1); // a thread takes a tap
        double count = (double)N * kPixels;
        double inverse = 1.0 / count;
        float for_sample = of_sample(count);
        double mean = of_batch.mean[f];
        double rstd = of_batch.rstd[f];
        double of_tap = of_batch.sums[kTaps * kTaps + own];
        double covariance = product_of_nine(of_batch.taps[f], of_batch.sums + own * kTaps);
        covariance -= mean * of_tap;
        // all that needs a double's digits is done: these are per pixel
        float tap_mean = (float)(of_tap * inverse);
        float tap_covariance = (float)(covariance * inverse);
        float near_mean = (float)mean;
        float near_rstd = (float)rstd;
        wait_for_the_one_before();
        let_the_next_begin();
        // a warp has one of the sums, or two
        const float *from = sums1 + f * kSums1 * blocks1;
        float two[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            int t = warp + i * kWarps;
            two[i] = strided_sum<5>(from + t * blocks1, lane, t < kSums1 ? blocks1 : 0, kWarpSize);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            int t = warp + i * kWarps;
            float sum = warp_sum(two[i]);
            if (lane == 0 && t < kSums1) {
                sums[t] = sum;
            }
        }
        __syncthreads();
        int t = threadIdx.x;
        if (t < kTaps) {
            float dbeta = sums[kTaps];
            float of_taps[3] = {-near_mean * dbeta};
#pragma unroll
            for (int s = 0; s < kTaps; ++s) {
                of_taps[s % 3] += of_batch.taps[f][s] * sums[s];
            }
            float dgamma = near_rstd * (of_taps[0] + of_taps[1] + of_taps[2]);
            float through = dbeta * tap_mean + dgamma * near_rstd * tap_covariance;
            float gradient = gamma * near_rstd * (sums[t] - through);
            conv1[f * kTaps + t] = of_batch.taps[f][t] - now * gradient;
            if (t == 0) {
                gamma1[f] = gamma - now * dgamma;
                beta1[f] = beta - now * dbeta;
                mean1[f] = moved(running_mean, of_batch.mean[f]);
                variance1[f] = moved(running_variance, of_batch.variance[f] * for_sample);
            }
        }
        return;
    }
    job -= kConv1;
    if (job < moment_blocks) {
        add_moments(images, order, step + 1, moments, job, moment_blocks, N);
        return;
    }
    job -= moment_blocks;
    if (job == kNorm2) {
        int f = threadIdx.x;
        if (f < kFilters2) {
            beta2[f] -= now * sum_of_tiles(sums2, tiles, 0, f);
            gamma2[f] -= now * sum_of_tiles(sums2, tiles, 1, f);
            mean2[f] = moved(mean2[f], scale2[f]);
            float variance = scale2[4 * kFilters2 + f] * of_sample((double)N * kPixels1);
            variance2[f] = moved(variance2[f], variance);
        }
        if (f == 0) {
            *arrived = 0; // conv2_backward.cu has waited for them
        }
        if (f < kMoments) {
            moments[moments_of(step + 2) + f] = 0; // last read in the step before
        }
    } else if (job >= kConv2) {
        int i = (job - kConv2) * kWarpSize + lane;
        int weight = weight_of_sum(i);
        float before = conv2[weight];
        wait_for_the_one_before();
        let_the_next_begin();
        float gradient = sum_of_parts(dconv2, blocks2, kResults2, i);
        if (warp == 0) {
            float changed = before - now * gradient;
            conv2[weight] = changed;
            prepare_conv2(forward2, turned2, weight, changed);
        }
    } else if (job >= kHead) {
        int i = (job - kHead) * kWarpSize + lane;
        float sum = sum_of_parts(head_sums, head_blocks, kHeadSums, i);
        if (warp == 0) {
            if (i < kHeadBias3) {
                weight4[i] -= now * sum;
            } else if (i < kHeadBias4) {
                bias3[i - kHeadBias3] -= now * sum;
            } else if (i < kHeadLoss) {
                bias4[i - kHeadBias4] -= now * sum;
            } else if (i == kHeadLoss) {
                losses[step] = sum / N;
            }
        }
    } else {
        int four = job * kThreads + threadIdx.x;
        const float4 *parts = reinterpret_cast<const float4 *>(dweight3) + four;
        constexpr int kAtOnce = 4; // loads that do not wait for each other, as in strided_sum
        float4 sum = {};
        for (int part = 0; part < parts3; part += kAtOnce) {
            float4 more[kAtOnce];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                bool there = part + k < parts3;
                more[k] = there ? parts[(size_t)(part + k) * kFours3] : make_float4(0, 0, 0, 0);
            }
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                sum.x += more[k].x;
                sum.y += more[k].y;
                sum.z += more[k].z;
                sum.w += more[k].w;
            }
        }
        int row;
        int column;
        weight_of_sum3(four, row, column);
        if (column < kInputs3) {
            float2 gradients[] = {make_float2(sum.x, sum.y), make_float2(sum.z, sum.w)};
#pragma unroll
            for (int k = 0; k < 2; ++k) {
                int own = row + k * kFarRow;
                float2 *place = reinterpret_cast<float2 *>(weight3 + own * kInputs3 + column);
                float2 two = *place;
                two.x -= now * gradients[k].x;
                two.y -= now * gradients[k].y;
                *place = two;
                prepare_linear3(factors3, own, column, two);
            }
        }
    }
}
