// Read a sequence out of its pages: y[t] is row t of the sequence, of 32 floats. Token t is in page
// table[t / 16], at row t % 16 of it; pages is pages x 16 x 32. n tokens from 1 on, and a table of
// ceil(n / 16) pages in any order.
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
