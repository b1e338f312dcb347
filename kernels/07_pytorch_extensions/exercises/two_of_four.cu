// Of each four neighbours of a row of x (rows x K) the two of largest magnitude, in their order, of
// equal ones the first: kept, rows x K / 2. Where they were goes to places, rows x K / 16: two bits
// for each number kept, eight numbers a word, the first in the lowest bits. K is a multiple of 16.
// A thread has 16 neighbours.
// grid (ceil(rows * K / 16 / 256)), block (256), dynamic shared 0

extern "C" __global__ void two_of_four(const float *x, float *kept, unsigned short *places,
                                       int rows, int K)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= rows * (K / 16)) {
        return;
    }
    const float *from = x + (long long)thread * 16;
    float *to = kept + (long long)thread * 8;
    unsigned word = 0;
    for (int four = 0; four < 4; ++four) {
        // TODO: find the two, store them, and put their places into the word
        // SOLUTION
        int first = 0, second = -1; // the largest two so far, by magnitude
        for (int i = 1; i < 4; ++i) {
            float size = fabsf(from[4 * four + i]);
            if (size > fabsf(from[4 * four + first])) {
                second = first;
                first = i;
            } else if (second < 0 || size > fabsf(from[4 * four + second])) {
                second = i;
            }
        }
        int low = min(first, second), high = max(first, second);
        to[2 * four] = from[4 * four + low];
        to[2 * four + 1] = from[4 * four + high];
        word |= (low | high << 2) << 4 * four;
        // END
    }
    places[thread] = word;
}
