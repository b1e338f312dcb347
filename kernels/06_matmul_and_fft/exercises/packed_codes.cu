// code[i] is x[i] / scale, rounded to the nearest integer (ties to even) and kept in -127 to 127,
// for n floats and as many bytes. scale is a power of two. Any n; both arrays begin at a multiple
// of 256 bytes.
// grid (ceil(n / 1024)), block 256, dynamic shared 0

constexpr int kThreads = 256;
constexpr int kEach = 4; // elements of a thread

__device__ inline signed char code_of(float x, float scale)
{
    return (signed char)fminf(fmaxf(rintf(x / scale), -127.0f), 127.0f);
}

extern "C" __global__ void packed_codes(const float *x, signed char *code, float scale, int n)
{
    const int first = blockIdx.x * kThreads * kEach;
    // TODO: this is right and coalesced, and takes a load and a store for each number
    // STARTER
    //| for (int k = 0; k < kEach; ++k) {
    //|     const int i = first + k * kThreads + threadIdx.x;
    //|     if (i < n) {
    //|         code[i] = code_of(x[i], scale);
    //|     }
    //| }
    // SOLUTION
    const int i = first + threadIdx.x * kEach;
    if (i + kEach <= n) {
        const float4 four = *reinterpret_cast<const float4 *>(x + i);
        *reinterpret_cast<char4 *>(code + i) =
            make_char4(code_of(four.x, scale), code_of(four.y, scale), code_of(four.z, scale),
                       code_of(four.w, scale));
    } else {
        for (int k = i; k < n; ++k) { // the last one to three
            code[k] = code_of(x[k], scale);
        }
    }
    // END
}
