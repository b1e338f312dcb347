// Copies n4 groups of four fp32 elements: y[i] = x[i]. Both arrays begin at a multiple of 16 bytes.
// Adds to copy.cu: a load and a store move 16 bytes for each thread, 512 for the warp, so a quarter
// of the instructions and of the blocks move the same bytes.
// Limit: memory bandwidth. It is the measure for every kernel that reads as much as it writes.
// grid (ceil(n4 / 256)), block (256), dynamic shared 0

extern "C" __global__ void copy_vector(const float4 *x, float4 *y, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        y[i] = x[i];
    }
}
