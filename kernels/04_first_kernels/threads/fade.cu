// Moves each of n fp32 elements `rounds` times a thousandth of the way towards 1, in place.
// The idea: work whose length one can choose. A round is arithmetic alone, so with enough of them
// the kernel takes about as long as copying its data over the link between host and device.
// Limit: arithmetic from some hundred rounds on, memory bandwidth below that. Takes any n.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void fade(float *x, int n, int rounds)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float value = x[i];
        for (int round = 0; round < rounds; ++round) {
            value += 0.001f * (1.0f - value);
        }
        x[i] = value;
    }
}
