"""Tiles of matrices as wgmma and tcgen05.mma want them in shared memory, swizzled or not."""

import numpy as np


def k_major(raw, span):
    """(bytes, leading offset, stride, bytes from one k step to the next) of a tile (mn, k) whose k
    is contiguous.

    Swizzled: a line of ``span`` bytes for each row; the tile's k must be one span long. Not
    swizzled: 8 rows × 16 bytes make 128 contiguous bytes, which follow each other along k.
    """
    rows = raw.view(np.uint8).reshape(len(raw), -1, 16)  # (mn, chunks of k, 16)
    if span == 16:
        count = rows.shape[1]
        data = rows.reshape(-1, 8, count, 16).swapaxes(1, 2)  # (mn/8, chunk, 8, 16)
        return np.ascontiguousarray(data).reshape(-1), 128, 128 * count, 256
    line, chunk = np.mgrid[: rows.shape[0], : rows.shape[1]]
    assert rows.shape[1] * 16 == span
    data = np.zeros_like(rows)
    data[line, chunk ^ line // (128 // span) % (span // 16)] = rows
    return data.reshape(-1), 16, 8 * span, 32


def mn_major(raw, span):
    """The same for a tile whose mn is contiguous in shared memory; ``raw`` is (mn, k)."""
    lines = np.ascontiguousarray(raw.T)  # (k, mn)
    k, in_step = len(lines), 32 // raw.itemsize
    if span == 16:  # 8 lines × 16 bytes; along mn first, then along k
        data = lines.view(np.uint8).reshape(k // 8, 8, -1, 16).swapaxes(1, 2)
        stride, leading = 128, 128 * data.shape[1]
        return np.ascontiguousarray(data).reshape(-1), leading, stride, in_step // 8 * leading
    width = 128 if span == "wide" else span
    spans = lines.view(np.uint8).reshape(k, -1, width // 16, 16).swapaxes(0, 1)
    line, chunk = np.mgrid[:k, : width // 16]
    data = np.zeros_like(spans)
    if span == "wide":  # 32 bytes at once
        data[:, line, chunk ^ line % 4 * 2] = spans
        return data.reshape(-1), k * 128, 4 * 128, in_step * 128
    data[:, line, chunk ^ line // (128 // span) % (span // 16)] = spans
    return data.reshape(-1), k * span, 8 * span, in_step * span
