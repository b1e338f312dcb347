// Copies n fp32 elements: y[i] = x[i].
// The idea: nothing is computed and everything is coalesced, so it takes the time of the traffic.
// It is the measure for every kernel that reads as much as it writes.
// Limit: memory.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void copy(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i];
    }
}
