// Read a sequence out of its pages: y[t] is row t of the sequence, of 32 floats. A page has 16
// tokens, and table has the numbers of the sequence's ceil(n / 16) pages in order. pages is pages x
// 16 x 32, and n any number of tokens from 1 on.
// grid (ceil(n / 8)), block (256), dynamic shared 0

constexpr int kPage = 16;  // tokens of a page
constexpr int kWidth = 32; // numbers of a row

extern "C" __global__ void page_edge(const float *pages, const int *table, float *y, int n)
{
    int token = blockIdx.x * (blockDim.x / kWidth) + threadIdx.x / kWidth;
    int column = threadIdx.x % kWidth;
    if (token < n) {
        // BUG
        //| int page = table[(token + 1) / kPage];
        // SOLUTION
        int page = table[token / kPage];
        // END
        size_t row = (size_t)page * kPage + token % kPage;
        y[(size_t)token * kWidth + column] = pages[row * kWidth + column];
    }
}
