// Gradient of dropout: dx[i] = mask[i] ? dy[i] / keep : 0, for n fp32 elements, n a multiple of
// four; the arrays begin at multiples of 16 bytes. The forward pass stored the mask, a byte of 0 or
// 1 for each element.
// The idea: what the forward pass decided is read back. Four elements a thread, as in
// chain_fused_vector.cu, so that enough bytes are in flight and a byte less shows.
// Limit: memory bandwidth. Nine bytes move for each element, and the forward pass wrote one more.
// grid (ceil(n / 1024)), block (256), dynamic shared 0

extern "C" __global__ void dropout_backward_stored(const float *dy, const unsigned char *mask,
                                                   float *dx, float keep, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        float inverse = 1.0f / keep;
        float4 in = *reinterpret_cast<const float4 *>(&dy[i]);
        uchar4 kept = *reinterpret_cast<const uchar4 *>(&mask[i]);
        float4 out;
        out.x = kept.x ? in.x * inverse : 0.0f;
        out.y = kept.y ? in.y * inverse : 0.0f;
        out.z = kept.z ? in.z * inverse : 0.0f;
        out.w = kept.w ? in.w * inverse : 0.0f;
        *reinterpret_cast<float4 *>(&dx[i]) = out;
    }
}
