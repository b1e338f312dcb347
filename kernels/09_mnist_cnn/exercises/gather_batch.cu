// batch[b] = (images[order[b]] / 255 - mean) / deviation, pixel by pixel: images is n x P bytes,
// order has B image numbers from 0 to n - 1, batch is B x P in fp32. Takes any n, B and P with
// fewer than 2^31 bytes and results.
// grid (ceil(B P / 256)), block 256, dynamic shared 0

extern "C" __global__ void gather_batch(const unsigned char *images, const int *order, float *batch,
                                        int B, int P, float mean, float deviation)
{
    // TODO: one thread for each pixel of the batch; neighbours in a warp read neighbouring bytes
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * P) {
        const int row = i / P;
        const int pixel = i % P;
        const float value = images[order[row] * P + pixel];
        batch[i] = (value / 255.0f - mean) / deviation;
    }
    // END
}
