// In which order a grid whose blocks stay has the tiles of C, so that those which are computed at
// the same time share rows of A and B in the L2 cache. BAND rows of tiles are visited together,
// column by column.

#pragma once

// Where tile number `tile` is, of `down` rows and `across` columns of tiles: they go down the columns
// of a band, and then to the next band.
struct Place {
    int row, column;

    __device__ Place(int tile, int down, int across)
    {
        const unsigned number = tile, band = BAND * across; // unsigned ones are divided faster
        const unsigned in_band = number % band, head = number / band * BAND;
        const unsigned height = min(down - head, BAND);
        row = head + in_band % height;
        column = in_band / height;
    }
};
