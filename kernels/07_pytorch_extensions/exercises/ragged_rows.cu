// Sequences of different lengths are packed one after the other, without padding: sequence s has
// the tokens offsets[s] to offsets[s + 1] - 1. owner[t] = `first` + the sequence of token t, left[t]
// = how many tokens of it are left from t on, t included. Sequences may be empty; offsets[0] is 0. A
// thread a token.
// grid (ceil(tokens / 256)), block (256), dynamic shared 0

extern "C" __global__ void ragged_rows(const int *offsets, int *owner, int *left, int first,
                                       int sequences, int tokens)
{
    int token = blockIdx.x * blockDim.x + threadIdx.x;
    if (token >= tokens) {
        return;
    }
    // TODO: find the sequence, in steps whose number grows with the logarithm of how many there
    // are
    // SOLUTION
    int low = 0, high = sequences; // offsets[low] <= token < offsets[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (offsets[middle] <= token) {
            low = middle;
        } else {
            high = middle;
        }
    }
    owner[token] = first + low;
    left[token] = offsets[low + 1] - token;
    // END
}
