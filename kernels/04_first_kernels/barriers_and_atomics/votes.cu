// One warp asks all its lanes three questions about 32 numbers of x; every lane stores the answers.
// The idea: a vote is one instruction in which all lanes of a warp take part, and each learns what
// all of them said. Bit number `lane` of a ballot is that lane's answer.
// Limit: none. A vote needs no memory.
// grid (1), block (32), dynamic shared 0

extern "C" __global__ void votes(const int *x, unsigned *ballot, int *any, int *all)
{
    int lane = threadIdx.x;
    const unsigned everyone = 0xffffffff;
    ballot[lane] = __ballot_sync(everyone, x[lane] % 5 == 0);
    any[lane] = __any_sync(everyone, x[lane] > 30);
    all[lane] = __all_sync(everyone, x[lane] > 30);
}
