// What not to do: thread i seeds a linear congruential generator with i, and draws `drawn` numbers
// of 32 bits, out[k][i] being its k-th. Each thread's row looks random; neighbouring threads' do not.
// grid ceil(threads / 256), block 256, dynamic shared 0

extern "C" __global__ void own_seeds(unsigned *out, int drawn, int threads)
{
    constexpr unsigned kFactor = 1664525, kStep = 1013904223; // those of "Numerical Recipes"
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= threads) {
        return;
    }
    unsigned state = i;
    for (int k = 0; k < drawn; ++k) {
        state = kFactor * state + kStep;
        out[k * threads + i] = state;
    }
}
