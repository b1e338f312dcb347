// out[i] is the state of the generator state = kFactor * state + kStep (modulo 2^32) after skip + i
// steps from `seed` on; for n states, skip any number of 64 bits that leaves room for n.
// grid ceil(n / 128), block 128, dynamic shared 0

extern "C" __global__ void skip_ahead(unsigned *out, unsigned seed, unsigned long long skip, int n)
{
    constexpr unsigned kFactor = 1664525, kStep = 1013904223;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned state = seed;
    // TODO: two steps in one are again a factor and a step. So are four, eight, ...
    // SOLUTION
    unsigned factor = kFactor, step = kStep; // those of 1, 2, 4, ... steps at once
    for (unsigned long long left = skip + i; left > 0; left /= 2) {
        if (left % 2 == 1) {
            state = factor * state + step;
        }
        step = factor * step + step;
        factor = factor * factor;
    }
    // END
    out[i] = state;
}
