// out = the k largest of two lists a and b of k floats each, which fall, as out does; from[i] is 1
// where out[i] is from a, 2 where it is from b. Of equal elements those of a come first. No NaN.
// grid (ceil(2 k / 256)), block (256), dynamic shared 0

extern "C" __global__ void merge_lists(const float *a, const float *b, float *out, int *from, int k)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= 2 * k) {
        return;
    }
    // TODO: a thread has an element of a or of b. Its place in out is how many elements come before
    // it, in its own list and in the other one
    // SOLUTION
    bool of_b = thread >= k;
    int i = of_b ? thread - k : thread;
    float own = of_b ? b[i] : a[i];
    const float *others = of_b ? a : b;
    int low = 0, high = k; // how many of the others come before is one of low to high
    while (low < high) {
        int middle = (low + high) / 2;
        bool first = of_b ? others[middle] >= own : others[middle] > own;
        if (first) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (i + low < k) {
        out[i + low] = own;
        from[i + low] = of_b ? 2 : 1;
    }
    // END
}
