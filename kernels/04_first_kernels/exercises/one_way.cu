// y[i] is what becomes of x[i]: if it is not negative, in `rounds` rounds of v = 0.95 v + 1, and if
// it is, in 8 rounds more, of v = 0.9 v - 1. Takes any n.
// grid (ceil(n / 256)) or more, block (256), dynamic shared 0

extern "C" __global__ void one_way(const float *x, float *y, int rounds, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float v = x[i];
    // TODO: a warp whose numbers differ in sign diverges. Let all its threads go through the same
    // loop, each with its own numbers
    // STARTER
    //| if (v < 0.0f) {
    //|     for (int round = 0; round < rounds + 8; ++round) {
    //|         v = 0.9f * v - 1.0f;
    //|     }
    //| } else {
    //|     for (int round = 0; round < rounds; ++round) {
    //|         v = 0.95f * v + 1.0f;
    //|     }
    //| }
    // SOLUTION
    const bool negative = v < 0.0f;
    const int trips = negative ? rounds + 8 : rounds;
    const float factor = negative ? 0.9f : 0.95f;
    const float term = negative ? -1.0f : 1.0f;
    for (int round = 0; round < trips; ++round) {
        v = factor * v + term;
    }
    // END
    y[i] = v;
}
