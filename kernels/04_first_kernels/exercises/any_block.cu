// sums[b] = the sum of the elements of block b, which are blockDim.x in a row: from x[b blockDim.x]
// on. The last block may have fewer. Takes any n, and any number of threads up to 1024.
// grid (ceil(n / threads)), block (any), dynamic shared 4 * threads

extern "C" __global__ void any_block(const float *x, float *sums, int n)
{
    // TODO: a tree in shared memory, also where halves aren't equal
    // SOLUTION
    extern __shared__ float tree[];
    const int t = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + t;
    tree[t] = i < n ? x[i] : 0.0f;

    for (int left = blockDim.x; left > 1;) {
        const int half = (left + 1) / 2; // rounded up: an odd one in the middle waits
        __syncthreads();
        if (t < left - half) {
            tree[t] += tree[t + half];
        }
        left = half;
    }
    if (t == 0) {
        sums[blockIdx.x] = tree[0];
    }
    // END
}
