// y[i] = x[i] / keep where dropout keeps element i, otherwise 0, for n fp32 elements. Element i
// takes number i % 4 of Philox block (subsequence i / 4, offset / 4) and is kept if uniform(it) <
// keep.
// grid any, block any, dynamic shared 0

#include "philox.cuh" // philox, uniform

extern "C" __global__ void dropout_anywhere(const float *x, float *y, float keep,
                                            unsigned long long seed, unsigned long long offset,
                                            int n)
{
    int threads = gridDim.x * blockDim.x;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: four neighbours in each turn of a loop, from one call of philox. The mask is to be the
    // same for every grid and block; this starter's is not
    //| for (int i = thread; i < n; i += threads) {
    //|     uint4 bits = philox(seed, thread, offset / 4 + i / threads);
    //|     y[i] = uniform(bits.x) < keep ? (1.0f / keep) * x[i] : 0.0f;
    //| }
    // SOLUTION
    for (int group = thread; 4 * group < n; group += threads) {
        uint4 bits = philox(seed, group, offset / 4);
        const unsigned each[4] = {bits.x, bits.y, bits.z, bits.w};
        for (int j = 0; j < 4 && 4 * group + j < n; ++j) {
            int i = 4 * group + j;
            y[i] = uniform(each[j]) < keep ? x[i] / keep : 0.0f;
        }
    }
    // END
}
