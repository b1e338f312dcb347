// The row of each assignment when they are sorted by expert, and stay in their order within an
// expert: places[i] = offsets[chosen[i]] + how many of chosen[0] to chosen[i - 1] are the same
// expert. offsets has the first row of each expert, also of expert 0. n is any number from 1 on. A
// warp has an expert.
// grid (experts), block (32), dynamic shared 0

extern "C" __global__ void stable_rows(const int *chosen, const int *offsets, int *places, int n)
{
    // TODO: the whole kernel. The warp looks at 32 assignments at a time
    // SOLUTION
    int lane = threadIdx.x, next = offsets[blockIdx.x];
    for (int begin = 0; begin < n; begin += 32) {
        int i = begin + lane;
        bool mine = i < n && chosen[i] == blockIdx.x;
        unsigned all = __ballot_sync(0xffffffff, mine);
        if (mine) {
            places[i] = next + __popc(all & ((1u << lane) - 1));
        }
        next += __popc(all);
    }
    // END
}
