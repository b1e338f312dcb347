// Back to tokens: y[t] = the sum over j of weights[t][j] times row places[t][j] of `rows`, for the k
// assignments of each token in their order. A place of -1 is an assignment that was dropped: it adds
// nothing. rows has rows of `width` floats, y is tokens x width. Any width, and up to
// 65,535 tokens.
// grid (ceil(width / 64), tokens), block (64), dynamic shared 0

extern "C" __global__ void rows_to_tokens(const float *rows, const int *places,
                                          const float *weights, float *y, int width, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, token = blockIdx.y;
    // TODO: add up the results of one token, for one column
    // SOLUTION
    if (column < width) {
        float sum = 0.0f;
        for (int j = 0; j < k; ++j) {
            int place = places[token * k + j];
            if (place >= 0) {
                sum += weights[token * k + j] * rows[(size_t)place * width + column];
            }
        }
        y[(size_t)token * width + column] = sum;
    }
    // END
}
