// One step of gradient descent with momentum, for all parameters of a network in one launch:
// v = momentum v + g, and then w -= rate v, with the rate of the array that the element belongs to.
// The `arrays` arrays follow each other in w, v and g. Array a has its end at ends[a], begins
// where the one before ends, may be empty, and has the rate rates[a]. The last end is n.
// The kernel is called momentum, is extern "C", and has the parameters float *w, float *v,
// const float *g, const int *ends, const float *rates, int arrays, float momentum, int n.
// grid (3), or any other, block 256, dynamic shared 0

// TODO: the whole kernel
// SOLUTION
// The first array whose end is past element i.
__device__ int array_of(int i, const int *ends, int arrays)
{
    int low = 0, high = arrays - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (ends[middle] > i) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

extern "C" __global__ void momentum(float *w, float *v, const float *g, const int *ends,
                                    const float *rates, int arrays, float momentum, int n)
{
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        const float velocity = momentum * v[i] + g[i];
        v[i] = velocity;
        w[i] -= rates[array_of(i, ends, arrays)] * velocity;
    }
}
// END
