# A row-major tensor of `shape` is padded: from one entry of its last axis but one to the next there
# are `pitch` bytes. A tensor map lists everything with the last axis first.
def map_fields(shape, pitch, element_bytes, box, swizzle):
    """(sizes, strides, box) as the map has them, or () where TMA can not copy that box."""
    # TODO: sizes in elements; strides in bytes, of all axes but the last; the box in elements. ()
    # where a stride or a row of the box is no multiple of 16 bytes, a side of the box is not 1 to
    # 256, or a row of the box is longer than the swizzle, if there is one (0: none)
    # SOLUTION
    strides = [pitch]
    for extent in shape[-2:0:-1]:
        strides.append(strides[-1] * extent)
    row = box[-1] * element_bytes
    if any(stride % 16 for stride in strides) or row % 16:
        return ()
    if not all(1 <= side <= 256 for side in box) or (swizzle and row > swizzle):
        return ()
    return tuple(shape[::-1]), tuple(strides), tuple(box[::-1])
    # END
