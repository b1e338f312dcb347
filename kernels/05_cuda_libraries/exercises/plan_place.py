# A plan of cuFFT for `batch` transforms of rank 1, 2 or 3 says where element `index` of transform
# `b` lies. With sizes n = (nx, ny, nz) and embed = (anything, ey, ez):
#     b * dist + ((x * ey + y) * ez + z) * stride
# and likewise with fewer axes; the first extent of embed is never used. Without an embed the
# transforms are packed, one after the other, and stride and dist are ignored. `half` is True for
# the complex side of a real transform, where the last axis has n // 2 + 1 elements.
def plan_place(b, index, n, embed, stride, dist, half):
    """How many elements precede it. `index` and `n` are tuples of one to three numbers, `embed`
    another of as many, or None."""
    # TODO: what are the extents, the stride and the distance, where there is no embed?
    # SOLUTION
    if embed is None:
        embed = (*n[:-1], n[-1] // 2 + 1) if half else n
        stride, dist = 1, 1
        for extent in embed:
            dist *= extent
    place = 0
    for at, extent in zip(index, embed, strict=True):
        place = place * extent + at
    return b * dist + place * stride
    # END
