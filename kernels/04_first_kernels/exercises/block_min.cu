// The smallest element of each block's 256: smallest[b] = min(x[256 b], ..., x[256 b + 255]), for n
// floats. The last block may have fewer elements than threads.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void block_min(const float *x, float *smallest, int n)
{
    __shared__ float tree[kThreads];
    const int t = threadIdx.x;
    const int i = blockIdx.x * kThreads + t;
    const float infinity = __int_as_float(0x7f800000); // the bits of +infinity

    // TODO: put this thread's element into the tree; what does a thread without one put there?
    // SOLUTION
    tree[t] = i < n ? x[i] : infinity;
    // END
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
        // TODO: one step of the tree: the first `distance` threads keep the smaller of two elements
        // SOLUTION
        __syncthreads(); // what the step before wrote is there
        if (t < distance) {
            tree[t] = fminf(tree[t], tree[t + distance]);
        }
        // END
    }
    if (t == 0) {
        smallest[blockIdx.x] = tree[0];
    }
}
