// Where n particles will be after falling for dt seconds: later[i] = z[i] + dt * vz[i]. Each of a
// particle's numbers lies in an array of its own (a struct of arrays).
// Adds to fall_aos.cu: what the threads of a warp want at the same time lies together. The arrays
// that the kernel does not use cost nothing.
// Limit: memory bandwidth. Twelve bytes move for each particle.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void fall_soa(const float *z, const float *vz, float *later, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        later[i] = z[i] + dt * vz[i];
    }
}
