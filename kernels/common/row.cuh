// Neighbours of a row in one access, of any type of element, as far as they exist.

#pragma once

// The 16 bytes of a row of `columns` elements that begin at `column`, a multiple of 16 bytes.
// Those outside are 0, as all are unless `row_exists`. The matrix begins at a multiple of 16 bytes.
template <typename T>
__device__ inline uint4 load_row_16_bytes(const T *row, int column, int columns, bool row_exists)
{
    constexpr int kElements = 16 / sizeof(T);
    union {
        uint4 all;
        T elements[kElements];
    } chunk = {make_uint4(0, 0, 0, 0)};
    if (!row_exists || column >= columns) {
        return chunk.all;
    }
    if (columns % kElements == 0) { // then every row begins at a multiple of 16 bytes
        return *reinterpret_cast<const uint4 *>(row + column);
    }
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
        if (column + i < columns) {
            chunk.elements[i] = row[column + i];
        }
    }
    return chunk.all;
}

// Store two neighbours of a row of `columns` floats, as far as they exist. `column` is even.
__device__ inline void store_row_pair(float *row, int column, int columns, float first,
                                      float second)
{
    if (columns % 2 == 0 && column < columns) {
        *reinterpret_cast<float2 *>(row + column) = make_float2(first, second);
        return;
    }
    if (column < columns) {
        row[column] = first;
    }
    if (column + 1 < columns) {
        row[column + 1] = second;
    }
}
