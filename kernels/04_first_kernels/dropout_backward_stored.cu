// Gradient of dropout: dx[i] = mask[i] * dy[i] / keep, for n fp32 elements. The forward pass stored
// the mask, a byte of 0 or 1 for each element.
// The idea: what the forward pass decided is read back.
// Limit: starting blocks, as in copy.cu; then memory. Nine bytes move for each element, and the
// forward pass wrote one more.
// grid (ceil(n / 256)), block (256), dynamic shared 0

extern "C" __global__ void dropout_backward_stored(const float *dy, const unsigned char *mask,
                                                   float *dx, float keep, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        dx[i] = mask[i] * dy[i] / keep; // no branch: both loads are on their way at once
    }
}
