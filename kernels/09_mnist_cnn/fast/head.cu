// The network's end, forward and backward, in fp32: linear3's sums from PARTS parts, ReLU, linear4,
// softmax and cross entropy, then the gradients of the logits and, through linear4 and ReLU, of
// linear3's results: dz3 (N x 128).
// A warp takes an image, and a block IMAGES of them. Over these the block adds up the gradients of
// weight4, bias3 and bias4 and the losses, into its row of kHeadSums numbers in `sums`.
// grid (ceil(N / IMAGES)), block 256, dynamic shared 0

#include "early_launch.cuh"
#include "head_sums.cuh"
#include "reduce.cuh"

#ifndef IMAGES
#define IMAGES 8
#endif
#ifndef PARTS
#define PARTS 32
#endif
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kColumns = kHidden / kWarpSize; // of a thread

extern "C" __global__ void __launch_bounds__(kThreads)
    head(const float *parts, const float *bias3, const float *weight4, const float *bias4,
         const unsigned char *labels, const int *order, const int *clock, float *dz3, float *sums,
         int N)
{
    __shared__ float weights[kClasses * kHidden];
    __shared__ float hidden[IMAGES][kHidden]; // linear3's results after ReLU
    __shared__ float back[IMAGES][kHidden];   // and their gradients
    __shared__ float dlogits[IMAGES][kClasses];
    __shared__ float losses[IMAGES];
    __shared__ int label_of[IMAGES];
    let_the_next_begin();
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    int first = blockIdx.x * IMAGES;
    if (threadIdx.x < IMAGES && first + threadIdx.x < N) {
        int number = image_number(order, clock[0], N, first + threadIdx.x);
        label_of[threadIdx.x] = labels[number];
    }
#pragma unroll
    for (int i = threadIdx.x; i < kClasses * kHidden; i += kThreads) {
        weights[i] = weight4[i];
    }
    wait_for_the_one_before();
    for (int i = threadIdx.x; i < IMAGES * kHidden; i += kThreads) {
        int image = first + i / kHidden;
        float sum = 0.0f;
        if (image < N) {
            sum = bias3[i % kHidden];
#pragma unroll
            for (int part = 0; part < PARTS; ++part) {
                sum += parts[(part * N + image) * kHidden + i % kHidden];
            }
        }
        hidden[i / kHidden][i % kHidden] = sum <= 0.0f ? 0.0f : sum;
    }
    __syncthreads();

    for (int own = warp; own < IMAGES; own += kWarps) {
        int image = first + own;
        if (image >= N) { // adds nothing to the block's sums
            for (int j = 0; j < kColumns; ++j) {
                back[own][j * kWarpSize + lane] = 0.0f;
            }
            if (lane < kClasses) {
                dlogits[own][lane] = 0.0f;
            }
            if (lane == 0) {
                losses[own] = 0.0f;
            }
            continue;
        }
        float z[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            z[j] = hidden[own][j * kWarpSize + lane];
        }
        int label = label_of[own];
        float logits[kClasses];
        float largest = 0.0f;
#pragma unroll
        for (int k = 0; k < kClasses; ++k) {
            float sum = 0.0f;
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
                sum += z[j] * weights[k * kHidden + j * kWarpSize + lane];
            }
            logits[k] = warp_sum(sum) + bias4[k];
            largest = k == 0 ? logits[0] : fmaxf(largest, logits[k]);
        }
        float total = 0.0f;
        float of_label = 0.0f;
#pragma unroll
        for (int k = 0; k < kClasses; ++k) {
            logits[k] -= largest;
            of_label = k == label ? logits[k] : of_label;
            total += expf(logits[k]);
        }
        float dz[kColumns] = {};
#pragma unroll
        for (int k = 0; k < kClasses; ++k) {
            float gradient = (expf(logits[k]) / total - (k == label ? 1.0f : 0.0f)) / N;
            if (lane == 0) {
                dlogits[own][k] = gradient;
            }
#pragma unroll
            for (int j = 0; j < kColumns; ++j) {
                dz[j] += gradient * weights[k * kHidden + j * kWarpSize + lane];
            }
        }
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            float gradient = z[j] <= 0.0f ? 0.0f : dz[j];
            back[own][j * kWarpSize + lane] = gradient;
            dz3[image * kHidden + j * kWarpSize + lane] = gradient;
        }
        if (lane == 0) {
            losses[own] = logf(total) - of_label;
        }
    }
    __syncthreads();

    float *row = sums + blockIdx.x * kHeadSums;
    for (int i = threadIdx.x; i < kHeadSums; i += kThreads) {
        float sum = 0.0f;
#pragma unroll 8
        for (int own = 0; own < IMAGES; ++own) {
            if (i < kHeadBias3) {
                sum += dlogits[own][i / kHidden] * hidden[own][i % kHidden];
            } else if (i < kHeadBias4) {
                sum += back[own][i - kHeadBias3];
            } else {
                sum += i < kHeadLoss ? dlogits[own][i - kHeadBias4] : losses[own];
            }
        }
        row[i] = sum;
    }
}
