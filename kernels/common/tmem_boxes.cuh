// A tile of D on its way from tensor memory through shared memory to global memory, by TMA.

#pragma once

#include "tma_store.cuh"
#include "tmem_rows.cuh"

constexpr int kBoxColumns = 64, kBoxBytes = 32 * 128; // a warp's box: 32 rows of 64 bf16 numbers

// A warp fetches `width` columns of its 32 lanes, from tensor memory address `from` on, and stores
// them as bf16: columns `first` on, rows `row` on, of the matrix that D describes (box 32 x 64,
// swizzle 128 bytes). `width` is a multiple of 64. It writes boxes 0 and 1 at `boxes` in turn, and
// `turn` counts on from tile to tile. On return all has been fetched, and two boxes may be in
// flight.
__device__ inline void store_boxes(const TensorMap *D, int row, int first, int width, int columns,
                                   unsigned from, unsigned char *boxes, int &turn)
{
    const int lane = threadIdx.x % 32;
    for (int column = 0; column < width && first + column < columns; column += kBoxColumns) {
        unsigned char *box = boxes + turn++ % 2 * kBoxBytes;
        if (lane == 0) { // which has issued them all: a group belongs to its thread
            tma_wait_read<1>();
        }
        __syncwarp();
        for (int part = 0; part < kBoxColumns; part += 16) {
            unsigned value[16];
            tmem_load_16(value, from + column + part);
            tmem_wait_load(value);
            for (int i = 0; i < 16; i += 8) {
                const int piece = (part + i) / 8 ^ lane % 8; // as the swizzle has it
                *reinterpret_cast<uint4 *>(box + lane * 128 + piece * 16) = make_uint4(
                    bf16_pair(value[i], value[i + 1]), bf16_pair(value[i + 2], value[i + 3]),
                    bf16_pair(value[i + 4], value[i + 5]), bf16_pair(value[i + 6], value[i + 7]));
            }
        }
        writes_are_ready();
        __syncwarp();
        if (lane == 0) {
            tma_store(D, first + column, row, shared_address(box));
            tma_commit();
        }
    }
}
