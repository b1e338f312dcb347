// A barrier for a whole grid, made by hand: each block counts itself in and waits until all blocks
// have come. met[b] is 1 where block b saw them all, 0 where it polled `patience` times in vain.
// The idea: blocks wait for each other only if all are resident at once. Those that are not begin
// when others end, and whoever waits for them without a limit waits for ever.
// Limit: one word in global memory that every block polls. arrived is 0 before the launch.
// grid (any), block (any), dynamic shared 0

extern "C" __global__ void meet(int *arrived, int *met, int patience)
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        int looks = 0;
        while (atomicAdd(arrived, 0) < gridDim.x && looks < patience) {
            looks += 1;
        }
        met[blockIdx.x] = looks < patience;
    }
}
