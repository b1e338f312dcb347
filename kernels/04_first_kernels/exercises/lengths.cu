// The lengths of n vectors, each the root of x^2 + y^2 + z^2; `vectors` holds x, y, z of vector 0,
// then x, y, z of vector 1, and so on. Takes any n.
// grid (ceil(n / 256)) or more, block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void lengths(const float *vectors, float *length, int n)
{
    const int first = blockIdx.x * kThreads;  // the block's first vector
    const int i = first + threadIdx.x;
    // TODO: the three loads of a warp touch the same 12 sectors, each of them all 12. Let the block
    //       copy its 768 floats into shared memory first, neighbours by neighbours
    // STARTER
    //| if (i < n) {
    //|     const float x = vectors[3 * i];
    //|     const float y = vectors[3 * i + 1];
    //|     const float z = vectors[3 * i + 2];
    //|     length[i] = sqrtf(x * x + y * y + z * z);
    //| }
    // SOLUTION
    __shared__ float mine[3 * kThreads];
    for (int k = threadIdx.x; k < 3 * kThreads; k += kThreads) {
        if (3 * first + k < 3 * n) {
            mine[k] = vectors[3 * first + k];
        }
    }
    __syncthreads();  // all vectors of the block are there

    if (i < n) {
        const float x = mine[3 * threadIdx.x];
        const float y = mine[3 * threadIdx.x + 1];
        const float z = mine[3 * threadIdx.x + 2];
        length[i] = sqrtf(x * x + y * y + z * z);
    }
    // END
}
