// Copies n fp32 elements: y[i] = x[i], ITEMS of them a thread (-D ITEMS=4).
// Adds to copy.cu: a thread loads all its elements before it stores the first. They wait in
// registers, so more ITEMS mean more registers a thread and, from some number on, fewer threads on
// an SM at a time.
// Limit: memory bandwidth, once enough bytes are in flight.
// grid (ceil(n / (256 * ITEMS))), block (256), dynamic shared 0

#ifndef ITEMS
#define ITEMS 4
#endif
constexpr int kThreads = 256;
constexpr int kItems = ITEMS;

extern "C" __global__ void copy_in_flight(const float *x, float *y, int n)
{
    int first = blockIdx.x * kThreads * kItems + threadIdx.x;
    float item[kItems];
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        int i = first + k * kThreads;
        item[k] = i < n ? x[i] : 0.0f;
    }
#pragma unroll
    for (int k = 0; k < kItems; ++k) {
        int i = first + k * kThreads;
        if (i < n) {
            y[i] = item[k];
        }
    }
}
