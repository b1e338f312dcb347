// Four neighbours of a row in one access, where there are four.

#pragma once

// Elements column .. column + 3 of a row of `columns` floats. Those outside are 0, and all are 0
// unless `row_exists`. `column` is a multiple of 4, and the matrix begins at a multiple of 16 bytes.
__device__ inline float4 load_row4(const float *row, int column, int columns, bool row_exists)
{
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (!row_exists || column >= columns) {
        return four;
    }
    if (columns % 4 == 0) { // then every row begins at a multiple of 16 bytes
        return *reinterpret_cast<const float4 *>(row + column);
    }
    four.x = row[column];
    four.y = column + 1 < columns ? row[column + 1] : 0.0f;
    four.z = column + 2 < columns ? row[column + 2] : 0.0f;
    four.w = column + 3 < columns ? row[column + 3] : 0.0f;
    return four;
}

// Store four neighbours of a row, as far as they exist, the counterpart of load_row4.
__device__ inline void store_row4(float *row, int column, int columns, float4 four)
{
    if (columns % 4 == 0 && column < columns) {
        *reinterpret_cast<float4 *>(row + column) = four;
        return;
    }
    const float values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (column + i < columns) {
            row[column + i] = values[i];
        }
    }
}
