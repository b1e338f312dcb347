// y holds the 32 x 64 tile x of 16-bit elements by columns of chunks. A chunk is 8 neighbours of a row,
// 16 bytes: first come the 32 rows' chunks 0, then their chunks 1, and so on.
// Idea: the tile passes through shared memory, and PLACE says where there, counted in chunks.
// Limit: bank conflicts, unless eight rows that follow one another have a chunk in eight places.
// grid 1, block 32, dynamic shared 0

#ifndef PLACE
#define PLACE(row, chunk) ((row) * 8 + (chunk))
#endif
#ifndef ROOM
#define ROOM (32 * 8) // chunks
#endif

constexpr int kChunks = 8; // of a row

extern "C" __global__ void chunk_columns(const uint4 *x, uint4 *y)
{
    __shared__ uint4 tile[ROOM];
    const unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < 32 * kChunks; i += 32) {
        tile[PLACE(i / kChunks, i % kChunks)] = x[i]; // eight lanes write a row
    }
    __syncwarp();
    for (int chunk = 0; chunk < kChunks; ++chunk) {
        y[chunk * 32 + lane] = tile[PLACE(lane, chunk)]; // a lane reads its row
    }
}
