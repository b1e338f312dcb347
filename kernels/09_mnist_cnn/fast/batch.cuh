// What the kernels of a training step share: the sizes of the network's layers, and how an image of
// the batch is found and read.
//
// The images stay on the device as bytes, in the order of the file. `order` holds the numbers of
// the images of all steps, one batch after the other, and clock the number of the step: clock[0]
// tells it to conv1_conv2.cu, which tells it to the other kernels by clock[1], and
// conv2_backward.cu moves clock[0] on for the next step. So a step finds its batch with no word
// from the host.

#pragma once

constexpr int kSide = 28;                 // of an image
constexpr int kPixels = kSide * kSide;    // of an image, and of a channel of conv1's result
constexpr int kFilters1 = 16;             // of conv1
constexpr int kSide1 = kSide / 2;         // after the first pooling
constexpr int kPixels1 = kSide1 * kSide1; // also those of a channel of conv2's result
constexpr int kFilters2 = 32;             // of conv2
constexpr int kSide2 = kSide1 / 2;        // after the second pooling
constexpr int kPixels2 = kSide2 * kSide2;
constexpr int kInputs3 = kFilters2 * kPixels2; // of linear3
constexpr int kHidden = 128;                   // results of linear3
constexpr int kClasses = 10;
constexpr int kTaps = 9;
constexpr float kEps = 1e-5f;
constexpr float kMomentum = 0.1f;

// conv1's inputs as a block keeps them in shared memory: rows of an image with zeros around it.
// Nine neighbours lie in nine banks.
constexpr int kImageStride = 35;
constexpr int kImageFloats = (kSide + 2) * kImageStride;

// The number of the step's image `image` among all of them.
__device__ inline int image_number(const int *order, int step, int N, int image)
{
    return order[(size_t)step * N + image];
}

// Bring image `number` into `x`, normalised with MNIST's mean and deviation, by kThreads threads,
// of which this is `thread`: four pixels each, which lie in the same row.
template <int kThreads>
__device__ inline void load_image(const unsigned char *images, int number, float *x, int thread)
{
    constexpr float kScale = 1.0f / (255.0f * 0.3081f);
    constexpr float kShift = -0.1307f / 0.3081f;
    const uchar4 *fours = reinterpret_cast<const uchar4 *>(images + (size_t)number * kPixels);
#pragma unroll
    for (int i = thread; i < kPixels / 4; i += kThreads) {
        uchar4 four = fours[i];
        float *to = x + (i * 4 / kSide + 1) * kImageStride + i * 4 % kSide + 1;
        to[0] = fmaf(four.x, kScale, kShift);
        to[1] = fmaf(four.y, kScale, kShift);
        to[2] = fmaf(four.z, kScale, kShift);
        to[3] = fmaf(four.w, kScale, kShift);
    }
}

// The sums that conv1's statistics follow from: kTaps x kTaps products of two taps over all pixels
// of the batch, then the kTaps taps themselves. They are whole numbers of 2^-32, so that adding
// them up in any order gives the same bits. Three sets take turns: while
// one is read, the next step's is added up, and the last step's is zeroed for the step after that.
constexpr int kMoments = kTaps * kTaps + kTaps;
constexpr double kMomentUnit = 4294967296.0;

// Where those of a step are.
__device__ inline int moments_of(int step)
{
    return step % 3 * kMoments;
}

// conv1's statistics of step `step`'s batch, in shared memory.
struct Statistics1 {
    double sums[kMoments];
    double of_tap[kFilters1][kTaps]; // what each tap adds to a filter's sum of squares
    float taps[kFilters1][kTaps];    // the filters
    float mean[kFilters1];
    float rstd[kFilters1];
    float variance[kFilters1];
};

// What a thread of find_statistics1 begins with: one of the moments, and a tap of a filter.
struct Share1 {
    long long moment;
    float tap;
};

// Load it for the filters from `first` to `end`; the block has kFilters1 kTaps threads or more.
__device__ inline Share1 load_share1(const long long *moments, int step, const float *conv1,
                                     int first, int end)
{
    int i = threadIdx.x;
    Share1 share = {};
    if (i < kMoments) {
        share.moment = moments[moments_of(step) + i];
    }
    if (i < (end - first) * kTaps) {
        share.tap = conv1[first * kTaps + i];
    }
    return share;
}

// The sum of nine products, three at a time: a double's addition takes long.
template <typename First>
__device__ inline double product_of_nine(const First *first, const double *second)
{
    double sum[3] = {};
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
        sum[i % 3] += first[i] * second[i];
    }
    return sum[0] + sum[1] + sum[2];
}

// Fill `found` for the filters from `first` to `end`, by all threads; ends with a barrier.
__device__ inline void find_statistics1(Statistics1 &found, const Share1 &share, int N, int first,
                                        int end)
{
    int i = threadIdx.x;
    int f = first + i / kTaps;
    int t = i % kTaps;
    bool working = i < (end - first) * kTaps;
    if (i < kMoments) {
        found.sums[i] = share.moment * (1.0 / kMomentUnit);
    }
    if (working) {
        found.taps[f][t] = share.tap;
    }
    __syncthreads();
    if (working) {
        found.of_tap[f][t] = share.tap * product_of_nine(found.taps[f], found.sums + t * kTaps);
    }
    __syncthreads();
    f = first + i;
    if (f < end) {
        double count = (double)N * kPixels;
        double sum = product_of_nine(found.taps[f], found.sums + kTaps * kTaps);
        const double *of_tap = found.of_tap[f];
        double squares = (of_tap[0] + of_tap[1] + of_tap[2]) + (of_tap[3] + of_tap[4] + of_tap[5]) +
                         (of_tap[6] + of_tap[7] + of_tap[8]);
        double mean = sum * (1.0 / count);
        double variance = fmax(squares * (1.0 / count) - mean * mean, 0.0);
        found.mean[f] = (float)mean;
        found.variance[f] = (float)variance;
        found.rstd[f] = 1.0f / sqrtf((float)(variance + kEps));
    }
    __syncthreads();
}

// The sum of from[first], from[first + stride]... before from[end]. Loads that do not wait for each
// other are kAtOnce: a loop that ends somewhere would wait for each of its last ones.
template <int kAtOnce>
__device__ inline float strided_sum(const float *from, int first, int end, int stride)
{
    float sum = 0.0f;
    for (int i = first; i < end; i += kAtOnce * stride) {
        float value[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            int own = i + k * stride;
            value[k] = own < end ? from[own] : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
            sum += value[k];
        }
    }
    return sum;
}
